"""Replacement of API field names in messages by the labels on the screen (contract E4)."""

import re
from collections.abc import Mapping

from pydantic import BaseModel

from core.ui.forms import questions


def of(model: type[BaseModel]) -> Mapping[str, str]:
    """Return the label of each field of a model, without its unit."""
    return {asked.name: re.sub(r" \([^)]*\)$", "", asked.label) for asked in questions.of(model)}


def instead_of_names(message: str, named: Mapping[str, str]) -> str:
    """Replace field names in a message by quoted labels; one-word names are kept, as they may be ordinary words."""
    return re.sub(
        r"\b[a-z]+(?:_[a-z]+)+\b", lambda found: f"“{named[found[0]]}”" if found[0] in named else found[0], message
    )
