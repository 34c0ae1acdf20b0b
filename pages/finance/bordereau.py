"""One bordereau: its control figures, its files, its first rows, and what may be done with it now."""

from collections.abc import Sequence
from datetime import date
from uuid import UUID

import streamlit as st

from core import clock, ids
from core.errors import InvalidInput, NotFound
from core.services.finance import parties
from core.services.finance.bordereaux import issuing
from core.services.finance.bordereaux import reading as bordereau_reading
from core.services.finance.bordereaux.columns import OF
from core.services.finance.bordereaux.reading import KIND_NAMES, BordereauRow
from core.services.finance.parties import Party
from core.services.lists.spreadsheets.columns import MONEY, SIGNED_MONEY
from core.states.finance import BORDEREAU_TRANSITIONS, BordereauState
from core.states.transitions import Transition
from core.store.access import reading
from core.ui.frame import frame, record_pages
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Action, Text
from core.ui.lists import tables
from pages.finance._shared import ROLE, action

SHOWN = 100


def issuing_one(provider_id: UUID, kind: str, month: date) -> Action:
    """Return the dialog that issues one bordereau."""
    return action(
        title=f"Issue the {KIND_NAMES[kind].lower()} bordereau of {month:%B %Y}",
        icon="assignment_turned_in",
        says="It is frozen with the next number of the insurer and a hash. A row that comes later goes into the next.",
        confirm="Issue it",
        work=lambda session, _, by: issuing.issue(session, provider_id, kind, month, by=by),
        done="The bordereau is issued.",
    )


def moving(row: BordereauRow, step: Transition[BordereauState]) -> Action:
    """Return the dialog of one step of a bordereau."""
    return action(
        title=step.label,
        icon="task_alt",
        says=f"**{row.number}** becomes **{step.to}**.",
        fields=[Text("note", "What the insurer said" if step.needs_note else "Note", longest=500)],
        work=lambda session, typed, by: issuing.move(session, row.id, step.to, by=by, note=typed["note"]),
        done=f"{row.number} is {step.to.lower()}.",
    )


def draft(kind: str, given: str, text: str) -> None:
    """Draw what a bordereau would hold now, and the button that issues it; once it is issued, the bordereau."""
    try:
        provider_id, month = ids.parse(given), date.fromisoformat(f"{text}-01")
        with reading(frame.scope()) as session:
            insurer = parties.get_name(session, Party("provider", provider_id))
            issued = bordereau_reading.list_bordereaux(session, month=month)
            row = next((row for row in issued if (row.provider_id, row.kind) == (provider_id, kind)), None)
            if row is None:
                rows, minor = issuing.count_draft(session, provider_id, kind, month)
                first = issuing.list_first_rows(session, provider_id, kind, month)[:SHOWN]
                due = issuing.find_due_month(session, provider_id, kind)
    except (InvalidInput, NotFound, KeyError, ValueError):
        st.error("The address names no bordereau.", icon=":material/link_off:")
        return
    if row is not None:
        st.query_params["id"] = str(row.id)
        whole(row)
        return
    frame.page_header(
        f"{words.plain(insurer)}, {month:%B %Y} {words.badge('Draft')}",
        f"{KIND_NAMES[kind]} bordereau: {words.counted(rows, 'row', 'rows')}, {words.naira(minor)}, which can change"
        " until it is issued.",
        tab=f"{insurer} · Draft bordereau",
    )
    actions.run()
    if due != month:
        st.caption(
            f"{due:%B %Y} comes first: months are reported one after the other." if due else "Nothing to report."
        )
    elif clock.lagos_midnight(clock.add_months(month, 1)) > clock.now():
        st.caption("The month is not over yet: it is issued when it is over.")
    else:
        actions.button("Issue it", issuing_one(provider_id, kind, month), type="primary")
    if first:
        st.subheader(f"Rows: the first {len(first)} of {words.count(rows)}" if len(first) < rows else "Rows")
        ledger(kind, first)
    else:
        st.caption("There is nothing to report: it would be a nil bordereau.")


def control(row: BordereauRow) -> None:
    with st.container(border=True, height="stretch"):
        st.markdown("**Control figures**")
        for label, value in bordereau_reading.facts_of(row)[2:-1]:
            facts.line(label, words.naira(round(value * 100)) if isinstance(value, float) else str(value))


def people(row: BordereauRow) -> None:
    with st.container(border=True, height="stretch"):
        st.markdown("**People and dates**")
        facts.line("Issued", f"{row.issuer}, {words.moment(row.issued_at)}")
        facts.line("Sent", f"{row.sender}, {words.moment(row.sent_at)}" if row.sender else "–")
        facts.line("Answered", f"{row.answerer}, {words.moment(row.answered_at)}" if row.answerer else "–")
        if row.note:
            facts.line("Note", row.note)


def rows_of(row: BordereauRow) -> None:
    if not row.rows:
        st.caption("A nil bordereau: nothing was written or claimed.")
        return
    with reading(frame.scope()) as session:
        first = next(bordereau_reading.batches_of(session, row.id), [])[:SHOWN]
    with st.expander(f"Rows: the first {len(first)} of {words.count(row.rows)}", icon=":material/table_rows:"):
        ledger(row.kind, first)


def ledger(kind: str, rows: Sequence[Sequence[str]]) -> None:
    """Draw printed rows under the headings of their kind."""
    names = [column.name.replace("_", " ").capitalize() for column in OF[kind]]
    columns = zip(names, OF[kind], strict=True)
    facts.ledger(
        [{name: words.plain(str(cell)) for name, cell in zip(names, cells, strict=True)} for cells in rows],
        right={name for name, column in columns if column.column_type in (MONEY, SIGNED_MONEY)},
    )


def whole(row: BordereauRow) -> None:
    with frame.header_with_buttons(
        f"{row.number} {words.badge(row.state)}",
        f"{KIND_NAMES[row.kind]} bordereau for {words.plain(row.party)}, {row.month:%B %Y}",
        tab=f"{row.number} {row.party} · Bordereau",
    ):
        for step in BORDEREAU_TRANSITIONS.list_from(row.state):
            look = "secondary" if step.needs_note else "primary"
            actions.button(step.label, moving(row, step), type=look, key=step.to)
    actions.run()
    with st.grid(2, min_column_width=320, gap="small"):
        control(row)
        people(row)
    with st.container(horizontal=True, gap="xsmall"):
        for format_ in ("xlsx", "csv"):
            st.link_button(format_.upper(), f"/bordereaux/{row.id}.{format_}", icon=":material/download:")
    st.code(f"SHA-256 {row.sha256}", language=None)
    rows_of(row)
    st.caption(f"Bordereau {row.id}")


def draw() -> None:
    frame.require(ROLE)
    tables.back_link("bordereaux", "finance/bordereaux.py", "Back to the bordereaux")
    given = st.query_params.get("id", "")
    kind, _, rest = given.partition(".")
    if rest:
        draft(kind, *rest.split(".", 1) if "." in rest else (rest, ""))
        return
    whole(record_pages.load("bordereau", bordereau_reading.get_bordereau, is_of_mode=True))
