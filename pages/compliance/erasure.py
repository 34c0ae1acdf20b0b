"""One erasure: what it takes, who decided, and its certificate."""

from collections.abc import Sequence

import streamlit as st

from core.errors import StateForbids
from core.services.compliance import erasures, remembering
from core.services.compliance.erasures import ErasureRow
from core.services.compliance.retention import CLASSES
from core.services.people.staff import Person
from core.ui.frame import frame
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Action, Text
from core.ui.lists import tables
from pages.compliance._shared import ROLE, STATES, action, draw_history, read, record


def deciding(row: ErasureRow) -> Action:
    """Return the dialog that carries an erasure out; its files go once it is written."""
    return action(
        title="Carry the erasure out",
        icon="delete_forever",
        says=f"Prepared by **{words.plain(row.preparer)}**: {words.plain(row.reason)}. **This cannot be undone**, not"
        " even by restoring a backup: it is erased again then.",
        confirm="Erase now",
        work=lambda session, _, by: erasures.carry_out(session, row.id, by=by),
        done=lambda files: _remove_files(row, files),
    )


def _remove_files(row: ErasureRow, files: Sequence[str]) -> str:
    erasures.remove_files(files)
    done = f"{row.number} is carried out, with {len(files)} files. The certificate is on this page."
    try:
        return f"{done} {read(remembering.keep_list)} has it for a backup that is restored."
    except StateForbids as refusal:
        return (
            f"{done} Tell whoever makes the backups: until the next one is made, a backup that is restored brings"
            f" the person back. {refusal}."
        )


def refusing(row: ErasureRow) -> Action:
    """Return the dialog that refuses an erasure."""
    return action(
        title="Refuse the erasure",
        icon="block",
        says=f"Prepared by **{words.plain(row.preparer)}**: {words.plain(row.reason)}.",
        confirm="Refuse it",
        fields=[Text("reason", "Reason", longest=500)],
        work=lambda session, typed, by: erasures.refuse(session, row.id, reason=typed["reason"], by=by),
        done=f"{row.number} is refused.",
    )


def taking_back(row: ErasureRow) -> Action:
    """Return the dialog that withdraws one's own preparation."""
    return action(
        title="Take the erasure back",
        icon="undo",
        says="Nobody can carry it out any more.",
        confirm="Take it back",
        work=lambda session, _, by: erasures.take_back(session, row.id, by=by),
        done=f"{row.number} is taken back.",
    )


def buttons(row: ErasureRow, person: Person) -> None:
    with st.container(horizontal=True, gap="xsmall"):
        if row.prepared_by == person.id:
            taking_back(row).button("Take it back", icon="undo")
        else:
            deciding(row).button("Carry it out", icon="delete_forever", type="primary")
            refusing(row).button("Refuse", icon="block")


def certificate(row: ErasureRow) -> None:
    with st.container(border=True):
        st.markdown("**Certificate of erasure**")
        facts.line("Number", row.number)
        facts.line("Carried out", f"{words.moment(row.decided_at)} (Lagos)")
        facts.line("By", f"{row.preparer or 'another store'}, and {row.decider or 'a restore'}")
        for name, count in row.outcome.items():
            facts.line(f"Changed in {words.title(name).lower()}", words.count(count))
        st.code(f"SHA-256 {row.sha256}", language=None)


def draw() -> None:
    person = frame.require(ROLE)
    tables.back_link("erasures", "compliance/retention.py", "Back to retention")
    row = record(erasures.get_erasure, "erasure")
    frame.page_header(
        f"{row.number} {words.badge(STATES[row.state])}",
        "An erasure is prepared by one person and carried out by another; it cannot be undone.",
        tab=f"{row.number} · Erasure",
    )
    actions.run()
    if row.state == "open":
        buttons(row, person)
    with st.container(border=True):
        facts.grid(
            {
                "Of": CLASSES[row.record_class][0],
                "Records of people": words.count(len(row.customers)),
                "Reason": row.reason,
                "Prepared": f"{row.preparer or '–'}, {words.moment(row.prepared_at)}",
                **({"Before the end of its time": "Yes"} if row.is_early else {}),
                **({"Refused": row.refusal} if row.refusal else {}),
            },
            columns=3,
        )
    if row.state == "erased":
        certificate(row)
    draw_history(f"erasure {row.id}")
