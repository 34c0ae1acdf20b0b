"""The draft of a sale on the screen: typed values are stored after each run and restored when the form opens."""

from datetime import date
from typing import Any, Final
from uuid import UUID

import streamlit as st

from core.services.people.staff import Person
from core.services.selling import drafts
from core.services.selling.drafts import Draft
from core.store.access import Scope, reading, writing
from core.ui.buying.selling import Counter
from core.ui.forms.forms import Form
from core.ui.kit import words

_PLAIN: Final = (str, int, float, bool)
# Kept beside the values: the sale's own state, files, and buttons.
_NOT_TYPED: Final = ("token", "reviewed", "receipt", "faults", "restored", "kept_draft", "chosen", "kept", "remove")


def list_mine(counter_is_live: bool, person: Person) -> list[Draft]:  # noqa: FBT001
    """Return the person's unfinished sales in this mode."""
    with reading(Scope.system()) as session:
        return drafts.list_drafts(session, is_live=counter_is_live, by=person)


def restore(form: Form, cover: str, counter: Counter) -> None:
    """Put the values of the person's draft into the form, once, unless something is typed there already."""
    if st.session_state.get(f"{form.key}.restored"):
        return
    st.session_state[f"{form.key}.restored"] = True
    found = _find(cover, counter)
    if found is not None and not _typed(form):
        for name, value in found.values.items():
            st.session_state[f"{form.key}.{name}"] = _decode(value)


def _find(cover: str, counter: Counter) -> Draft | None:
    return next((draft for draft in list_mine(counter.is_live, counter.person) if draft.cover == cover), None)


def store_draft(form: Form, cover: str, counter: Counter, product_id: UUID) -> None:
    """Store what is typed, if it has changed since it was stored last."""
    typed = _typed(form)
    mark = f"{counter.distributor_id} {product_id} {sorted(map(repr, typed.items()))}"
    if not typed or st.session_state.get(f"{form.key}.kept_draft") == mark:
        return
    st.session_state[f"{form.key}.kept_draft"] = mark
    with writing(Scope.system()) as session:
        drafts.keep_draft(
            session, cover, counter.distributor_id, product_id, typed, is_live=counter.is_live, by=counter.person
        )


def discard(form: Form | None, cover: str, counter_is_live: bool, person: Person) -> None:  # noqa: FBT001
    """Delete the draft of a cover, and clear its form if it is open."""
    with writing(Scope.system()) as session:
        drafts.discard_draft(session, cover, is_live=counter_is_live, by=person)
    if form is not None:
        for name in [name for name in st.session_state if str(name).startswith(f"{form.key}.")]:
            del st.session_state[name]


def draw_state(form: Form, cover: str, counter: Counter) -> None:
    """Draw the line that says since when the form is kept, with the button that discards it."""
    found = _find(cover, counter)
    if found is None:
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.caption(
            f":material/bookmark: Kept as your draft, {words.moment(found.updated_at)}. Files are chosen anew.",
            width="content",
        )
        st.button(
            "Discard the draft",
            type="tertiary",
            icon=":material/delete:",
            on_click=discard,
            args=(form, cover, counter.is_live, counter.person),
        )


def _typed(form: Form) -> dict[str, Any]:
    """Return what is typed into the form as plain JSON, by the rest of each widget key."""
    found = {}
    for key, value in st.session_state.items():
        name = str(key).removeprefix(f"{form.key}.")
        if name == key or name.rpartition(".")[2] in _NOT_TYPED:
            continue
        encoded = _encode(value)
        if encoded not in (None, "", []):
            found[name] = encoded
    # Numbers of empty lines alone are nothing typed.
    return found if any(not name.endswith(".lines") for name in found) else {}


def _encode(value: object) -> object:
    if isinstance(value, date):
        return {"day": value.isoformat()}
    if isinstance(value, list | tuple) and all(isinstance(each, _PLAIN) for each in value):
        return {"tuple": list(value)} if isinstance(value, tuple) else list(value)
    return value if isinstance(value, _PLAIN) else None


def _decode(value: object) -> object:
    if isinstance(value, dict):
        return date.fromisoformat(value["day"]) if "day" in value else tuple(value["tuple"])
    return value
