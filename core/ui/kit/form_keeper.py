"""Forms: what was typed runs the page once it is left for a moment, missing fields are links, one gets the cursor.

A custom component (`browser/form_keeper.js`) with a payload of plain values:

    focus: container class of a field that gets the cursor, once for each `token`
    watches: True to run the page after typing
    says, fields: the words before the links, and label and container class of each field to jump to
"""

import re
from collections.abc import Sequence

import streamlit as st

from core.ui.frame import page_links

_mount = st.components.v2.component(
    "coverdesk_form_keeper",
    html='<div class="root"></div>',
    css=(page_links.BROWSER / "form_keeper.css").read_text(),
    js=(page_links.BROWSER / "form_keeper.js").read_text(),
)


def watch(key: str) -> None:
    """Run the page again when what was typed has been left for a moment."""
    _mount(key=f"{key} keeper", data={"watches": True}, height=1, on_typed_change=lambda: None)


def link_fields(key: str, says: str, fields: Sequence[tuple[str, str]]) -> None:
    """Draw a line of links to fields, each given by its label and its widget key."""
    links = [{"label": label, "key": _container_class(field)} for label, field in fields]
    _mount(key=f"{key} links", data={"watches": False, "says": says, "fields": links})


def focus(key: str, field: str, *, token: object) -> None:
    """Put the cursor into the field with this widget key, once for each token: nobody who types elsewhere is moved."""
    _mount(key=key, data={"watches": False, "focus": _container_class(field), "token": f"{key} {token}"}, height=1)


def _container_class(field: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "-", field)
