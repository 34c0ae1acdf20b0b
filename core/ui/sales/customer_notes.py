"""Notes on a customer's page: the form for a new one, and those before it."""

from collections.abc import Sequence
from uuid import UUID

import streamlit as st

from core.errors import InvalidInput
from core.services.people.staff import Person
from core.services.sales import customer_notes
from core.services.sales.customer_notes import KINDS, Note
from core.store.access import reading, transact
from core.ui.frame import frame
from core.ui.kit import attempts, words

_PLACE, _TEXT, _KIND = "customer_notes", "note_text", "note_kind"


def draw(customer_id: UUID, person: Person, *, also: Sequence[UUID] = ()) -> None:
    """Draw the notes on a customer, the newest first, below the form for another; `also` are merged records."""
    with reading(frame.scope()) as session:
        notes = customer_notes.list_notes(session, customer_id, *also)
    st.subheader(f"Notes · {words.count(len(notes))}", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        st.selectbox("Kind", list(KINDS), key=_KIND, format_func=KINDS.__getitem__, width=150)
        st.text_input("Note", key=_TEXT, max_chars=1_000, autocomplete="off", placeholder="What was said or done")
        st.button("Add", key="add_note", icon=":material/add:", on_click=_add, args=(customer_id, person))
    attempts.blame(_PLACE, "text")
    if refusal := attempts.get_refusal(_PLACE).text:
        st.error(words.plain(f"{refusal}."), icon=":material/block:")
    for note in notes:
        _line(note)


def _line(note: Note) -> None:
    with st.container(border=True, gap="xsmall"):
        st.text(note.text)
        st.caption(f"{KINDS[note.kind]} · {words.plain(note.author)}, {words.moment(note.created_at)}")


def _add(customer_id: UUID, person: Person) -> None:
    frame.require(*customer_notes.ROLES)
    typed = {"text": st.session_state.get(_TEXT, "").strip(), "kind": st.session_state.get(_KIND) or "note"}

    def work() -> str:
        if not typed["text"]:
            raise InvalidInput.for_field("text", "write what was said or done")
        transact(frame.scope(), lambda session: customer_notes.add_note(session, customer_id, typed, by=person))
        return "added"

    if attempts.carry_out(_PLACE, work):
        st.session_state[_TEXT] = ""
