"""Forms: what was typed runs the page once it is left for a moment, missing fields are links, one gets the cursor.

A custom component (`browser/form_keeper.js`) with a payload of plain values:

    focus: container class of a field that gets the cursor, once for each `token`
    watches: True to run the page after typing. What is typed in fields whose container class begins with `prefix` is
        noted in the tab for `holder` and `draft`, until a run that began at `kept` has stored it, but for fields whose
        container class is in `personal`; with `begun`, the draft is what was typed here before it had a number
    settled: True to forget what was noted of `draft`, or of every draft of the form
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
    js=page_links.NOTES + (page_links.BROWSER / "form_keeper.js").read_text(),
)


def watch(key: str, *, holder: str, draft: str, is_begun: bool, personal: Sequence[str]) -> None:
    """Run the page again when what was typed has been left for a moment; drawn after the draft of the form is stored.

    `holder` is the person, with the mode, and `draft` the stored draft of the form, empty while there is none;
    `is_begun` if this form began it. `personal` are the widget keys of personal numbers: the tab never notes them.
    """
    place, kept = f"{key} keeper", f"{key} keeper kept"

    def take() -> None:
        # A run that put the form away, such as a press of Review, may have dropped its state before.
        if typed := getattr(st.session_state.get(place), "typed", None):
            st.session_state[kept] = typed

    data = {
        "watches": True,
        "begun": is_begun,
        "kept": st.session_state.get(kept) or 0,
        "personal": [f"st-key-{_container_class(field)}" for field in personal],
        **_form(key, holder, draft),
    }
    _mount(key=place, data=data, height=1, on_typed_change=take)


def settle(key: str, *, holder: str, draft: str | None) -> None:
    """Forget what the tab has noted of a draft of the form, or of all: nothing of it is put back into the form."""
    _mount(key=f"{key} settled", data={"watches": False, "settled": True, **_form(key, holder, draft)}, height=1)


def _form(key: str, holder: str, draft: str | None) -> dict[str, str | None]:
    return {"prefix": _container_class(f"{key}."), "holder": holder, "draft": draft}


def link_fields(key: str, says: str, fields: Sequence[tuple[str, str]]) -> None:
    """Draw a line of links to fields, each given by its label and its widget key."""
    links = [{"label": label, "key": _container_class(field)} for label, field in fields]
    _mount(key=f"{key} links", data={"watches": False, "says": says, "fields": links})


def focus(key: str, field: str, *, token: object) -> None:
    """Put the cursor into the field with this widget key, once for each token: nobody who types elsewhere is moved."""
    _mount(key=key, data={"watches": False, "focus": _container_class(field), "token": f"{key} {token}"}, height=1)


def _container_class(field: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "-", field)
