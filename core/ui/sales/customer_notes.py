"""Notes on a customer's page: the form for a new one, and those before it."""

from collections.abc import Sequence
from functools import partial
from uuid import UUID

import streamlit as st

from core.errors import InvalidInput
from core.services.customers.notes import KINDS, ROLES, Note, add_note, list_notes
from core.services.people.staff import Person
from core.store.access import ScopedSession, reading
from core.ui.frame import frame
from core.ui.kit import actions, words
from core.ui.kit.actions import Action, Choice, Text, Values

_PLACE, _PREFIX = "customer_notes", "note_"
_TEXT, _KIND = f"{_PREFIX}text", f"{_PREFIX}kind"


def draw(customer_id: UUID, *, also: Sequence[UUID] = ()) -> None:
    """Draw the notes on a customer, the newest first, below the form for another; `also` are merged records."""
    with reading(frame.scope()) as session:
        notes = list_notes(session, customer_id, *also)
    st.subheader(f"Notes · {words.count(len(notes))}", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        st.selectbox("Kind", list(KINDS), key=_KIND, format_func=KINDS.__getitem__, width=150)
        st.text_input("Note", key=_TEXT, max_chars=1_000, autocomplete="off", placeholder="What was said or done")
        add = _adding(customer_id)
        st.button(add.title, key="add_note", icon=":material/add:", on_click=add.do, args=(_PLACE, _PREFIX))
    actions.blame(_PLACE, "text")
    actions.complain(_PLACE, "text")
    for note in notes:
        _line(note)


def _line(note: Note) -> None:
    with st.container(border=True, gap="xsmall"):
        st.text(note.text)
        st.caption(f"{KINDS[note.kind]} · {words.plain(note.author)}, {words.moment(note.created_at)}")


def _adding(customer_id: UUID) -> Action:
    return Action(
        title="Add",
        fields=[Text("text", "Note", longest=1_000), Choice("kind", "Kind", options=KINDS)],
        roles=ROLES,
        work=partial(_add, customer_id),
        done="The note is kept.",
    )


def _add(customer_id: UUID, session: ScopedSession, typed: Values, by: Person) -> None:
    text = typed["text"].strip()
    if not text:
        raise InvalidInput.for_field("text", "write what was said or done")
    add_note(session, customer_id, {"text": text, "kind": typed["kind"] or "note"}, by=by)
