"""Fields by the labels that a screen gives them, where a message calls them by the names of the API (contract E4)."""

import re
from collections.abc import Mapping

from pydantic import BaseModel

from core.ui.forms import questions


def of(model: type[BaseModel]) -> Mapping[str, str]:
    """The label of each field of a model, without its unit."""
    return {asked.name: re.sub(r" \([^)]*\)$", "", asked.label) for asked in questions.of(model)}


def instead_of_names(message: str, named: Mapping[str, str]) -> str:
    """A message with labels in quotes; a name of one word may be just a word, and stays."""
    return re.sub(
        r"\b[a-z]+(?:_[a-z]+)+\b", lambda found: f"“{named[found[0]]}”" if found[0] in named else found[0], message
    )
