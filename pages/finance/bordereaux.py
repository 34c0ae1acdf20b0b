"""Bordereaux: premium and claims of a month, as each insurer is told; and one with its figures, files and rows."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Final
from uuid import UUID

import streamlit as st

from core import ids, money
from core.errors import InvalidInput, NotFound
from core.services.finance import parties
from core.services.finance.bordereaux import bordereaux
from core.services.finance.bordereaux.bordereaux import DRAFT, KIND_NAMES, BordereauRow, BordereauSummary
from core.services.finance.bordereaux.columns import OF
from core.services.finance.parties import Party
from core.services.finance.statements import reading as statement_reading
from core.services.lists.spreadsheets import DATE, INSTANT, MONEY, SIGNED_MONEY, SheetColumn
from core.services.lists.windows import Window
from core.states.finance import BORDEREAU_TRANSITIONS, BordereauState
from core.states.transitions import Transition
from core.store.access import read_in, reading, store
from core.ui.frame import frame, page_links
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Action, Text
from core.ui.lists import columns, tables
from core.ui.lists.columns import TableColumn
from core.ui.lists.tables import Table
from pages.finance._shared import ROLE, action, choose_month, count_states, downloads, lead_to_first, overdue_beside


def _due(row: BordereauSummary) -> str:
    if not row.is_overdue:
        return words.day(row.due_on)
    return f"{words.day(row.due_on)}, overdue: {'send it' if row.bordereau_id else 'issue it'}"


BORDEREAUX: Table[BordereauSummary] = Table(
    name="bordereaux",
    noun=("bordereau", "bordereaux"),
    opens="finance/bordereaux.py#bordereau",
    narrow=("party", "kind", "state", "main"),
    key=lambda row: row.key,
    columns={
        "party": columns.text("Insurer", lambda row: row.party, 190),
        "kind": columns.text("Kind", lambda row: row.kind_label, 90),
        "number": columns.text("Number", lambda row: row.number, 90),
        "state": columns.state("State", lambda row: row.state),
        "rows": columns.number("Rows", lambda row: row.rows),
        "main": columns.naira("Gross premium, or incurred", lambda row: row.main_minor),
        "due": TableColumn(
            "Due",
            _due,
            190,
            colour=lambda row: "red" if row.is_overdue else "",
            sort_key=lambda row: row.due_on,
        ),
    },
    unsorted="By insurer and kind",
)


def issuing_all(month: date, number: int) -> Action:
    """Return the dialog that issues every bordereau of a month that is next."""
    return action(
        title=f"Issue {month:%B %Y}",
        icon="assignment_turned_in",
        says=f"{number} are frozen, each with the next number of its insurer and a hash. A row that comes later goes"
        " into the next one.",
        confirm="Issue them",
        items=lambda: ((name, (provider_id, kind)) for provider_id, name, kind in _list_due(month)),
        work=lambda session, due, by: bordereaux.issue(session, due[0], due[1], month, by=by),
        done=lambda count: f"{words.counted(count, 'bordereau is', 'bordereaux are')} issued",
    )


def _list_due(month: date) -> Sequence[tuple[UUID, str, str]]:
    with store().reading(frame.scope()) as session:
        return bordereaux.list_due(session, month)


def sending_all(month: date, rows: Sequence[BordereauRow]) -> Action:
    """Return the dialog that marks the issued bordereaux of a month as sent."""
    return action(
        title=f"Mark {len(rows)} of {month:%B %Y} as sent",
        icon="outgoing_mail",
        says=", ".join(f"**{row.number}** to {words.plain(row.party)}" for row in rows) + ".",
        confirm="Mark them as sent",
        items=lambda: ((f"{row.number} of {row.party}", row.id) for row in rows),
        work=lambda session, bordereau_id, by: bordereaux.move(session, bordereau_id, BordereauState.SENT, by=by),
        done=lambda count: f"{words.counted(count, 'bordereau is', 'bordereaux are')} sent",
    )


def month_buttons(month: date) -> None:
    with reading(frame.scope()) as session:
        months, unsent = bordereaux.list_due_months(session), bordereaux.list_unsent(session, month)
    due = [each for *_, each in months]
    if (number := due.count(month)) and Window.of_month(month).is_over:
        issuing_all(month, number).button(f"Issue {number} of {month:%B %Y}", type="primary")
    if unsent:
        look = "secondary" if number else "primary"
        sending_all(month, unsent).button(f"Mark {len(unsent)} as sent", type=look)
    lead_to_first("finance/bordereaux.py", due, month)


def draw() -> None:
    frame.require(ROLE)
    beside = frame.header_with_views("Bordereaux", "Premium and claims reported to each insurer, month by month.")
    if not frame.mode():
        st.info("Bordereaux are made of live records: switch to Live in the menu.", icon=":material/science:")
        return
    months = read_in(frame.scope(), statement_reading.list_months)
    with beside:
        month = choose_month(months, is_labelled=False)
        month_buttons(month)
        overdue_beside()
    actions.run()
    with st.skeleton(height=300), reading(frame.scope()) as session:
        rows = bordereaux.list_month(session, month)
    if not rows:
        st.info("There is nothing to report for this month. Choose another month above.", icon=":material/event_busy:")
        return
    draw_head(rows)
    tables.draw_held(BORDEREAUX, rows)
    if any(row.state == DRAFT for row in rows):
        st.caption("The rows of a draft change until it is issued; months are reported one after the other.")


def draw_head(rows: Sequence[BordereauSummary]) -> None:
    """Draw how many bordereaux stand in which state, and what each kind comes to."""
    states = count_states([row.state for row in rows])
    sums = {
        name: sum(row.main_minor or 0 for row in rows if row.kind_label == name)
        for name in dict.fromkeys(row.kind_label for row in rows)
    }
    kinds = " · ".join(f"{name}: {words.naira(minor)}" for name, minor in sums.items())
    tables.head(f"{BORDEREAUX.count_text(len(rows))} · {states} · {kinds}", BORDEREAUX)


def issuing_one(provider_id: UUID, kind: str, month: date) -> Action:
    """Return the dialog that issues one bordereau."""
    return action(
        title=f"Issue the {KIND_NAMES[kind].lower()} bordereau of {month:%B %Y}",
        icon="assignment_turned_in",
        says="It is frozen with the next number of the insurer and a hash. A row that comes later goes into the next.",
        confirm="Issue it",
        work=lambda session, _, by: bordereaux.issue(session, provider_id, kind, month, by=by),
        done="The bordereau is issued.",
    )


def moving(row: BordereauRow, step: Transition[BordereauState]) -> Action:
    """Return the dialog of one step of a bordereau."""
    return action(
        title=step.label,
        icon="task_alt",
        says=f"**{row.number}** becomes **{step.to}**.",
        fields=[Text("note", "What the insurer said" if step.needs_note else "Note", longest=500)],
        work=lambda session, typed, by: bordereaux.move(session, row.id, step.to, by=by, note=typed["note"]),
        done=f"{row.number} is {step.to.lower()}.",
    )


def draft(kind: str, given: str, text: str) -> None:
    """Draw what a bordereau would hold now, and the button that issues it; once it is issued, the bordereau."""
    try:
        provider_id, month = ids.parse(given), date.fromisoformat(f"{text}-01")
        with reading(frame.scope()) as session:
            insurer = parties.get_name(session, Party("provider", provider_id))
            issued = bordereaux.list_bordereaux(session, month=month)
            row = next((row for row in issued if (row.provider_id, row.kind) == (provider_id, kind)), None)
            if row is None:
                rows, minor = bordereaux.count_draft(session, provider_id, kind, month)
                first = bordereaux.list_first_rows(session, provider_id, kind, month)
                due = bordereaux.find_due_month(session, provider_id, kind)
    except (InvalidInput, NotFound, KeyError, ValueError):
        st.error("The address names no bordereau.", icon=":material/link_off:")
        return
    if row is not None:
        st.query_params["id"] = str(row.id)
        whole(row)
        return
    is_over = Window.of_month(month).is_over
    with frame.header_with_buttons(
        f"{words.plain(insurer)}, {month:%B %Y} {words.badge('Draft')}",
        f"{KIND_NAMES[kind]} bordereau: {words.counted(rows, 'row', 'rows')}, {words.naira(minor)}, which can change"
        " until it is issued.",
        tab=f"{insurer} · Draft bordereau",
    ):
        if due == month and is_over:
            actions.button("Issue it", issuing_one(provider_id, kind, month), type="primary")
    actions.run()
    if due != month:
        st.caption(
            f"{due:%B %Y} comes first: months are reported one after the other." if due else "Nothing to report."
        )
    elif not is_over:
        st.caption("The month is not over yet: it is issued when it is over.")
    if first:
        draw_rows(kind, first, rows)
    else:
        st.caption("There is nothing to report: it would be a nil bordereau.")


def rows_of(row: BordereauRow) -> None:
    if not row.rows:
        st.caption("A nil bordereau: nothing was written or claimed.")
        return
    with reading(frame.scope()) as session:
        first = next(bordereaux.batches_of(session, row.id), [])
    draw_rows(row.kind, first, row.rows, row.totals)


# What is seen of a row at first, in its sequence; the choice of columns and the files have all that is reported.
_SEEN: Final[Mapping[str, Sequence[str]]] = {
    "premium": (
        *("policy_number", "insured_full_name", "type_of_insurance", "transaction_type", "transaction_on"),
        *("gross_premium", "commission", "net"),
    ),
    "claims": (
        *("claim_reference", "policy_number", "insured", "date_of_loss", "claim_status"),
        *("paid_this_month_indemnity", "reserve", "total_incurred"),
    ),
}
_NARROW: Final[Mapping[str, Sequence[str]]] = {
    "premium": ("policy_number", "insured_full_name", "transaction_on", "gross_premium"),
    "claims": ("claim_reference", "insured", "claim_status", "total_incurred"),
}
# Shorter and narrower than they are in the file, so that all that is seen has room at 1280 pixels.
_LABELS: Final = {
    "insured_full_name": "Insured",
    "transaction_type": "Transaction",
    "transaction_on": "Date",
    "paid_this_month_indemnity": "Paid this month",
}
_WIDTHS: Final = {"insured_full_name": 130, "insured": 130}
_SHARES: Final = frozenset({"commission_percent"})
_WORDS: Final = frozenset({"new_or_renewal", "transaction_type"})
# What the rows come to, beside their number.
_TOTALS: Final = {"premium": ("gross_premium", "final_net"), "claims": ("reserve", "total_incurred")}


def build_rows(kind: str) -> Table[Sequence[str]]:
    """Return the table of the printed rows of a kind; those of premium lead to their movements."""
    places = {column.name: place for place, column in enumerate(OF[kind])}
    names = [*_SEEN[kind], *(name for name in places if name not in _SEEN[kind])]
    return Table(
        name=f"bordereau_rows_{kind}",
        noun=("row", "rows"),
        opens="finance/movements.py#movement" if kind == "premium" else None,
        home=("finance/bordereaux.py#bordereau", "Back to the bordereau"),
        narrow=tuple(_NARROW[kind]),
        # The last column is the id of the movement or claim.
        key=lambda cells: cells[-1],
        columns={name: _column(OF[kind][places[name]], places[name], usual=name in _SEEN[kind]) for name in names},
        unsorted="As reported",
    )


def _column(printed: SheetColumn, place: int, *, usual: bool) -> TableColumn[Sequence[str]]:
    """Return a column of what is printed at a place of each row, in the form of the screens."""
    label = _LABELS.get(printed.name) or printed.name.replace("_", " ").capitalize()
    if printed.name in _SHARES:
        return columns.text(label, lambda cells: f"{cells[place]} %" if cells[place] else None, right=True, usual=usual)
    if printed.column_type in (MONEY, SIGNED_MONEY):
        return columns.naira(
            label, lambda cells: money.to_minor(Decimal(cells[place])) if cells[place] else None, usual=usual
        )
    if printed.column_type == DATE:
        return columns.day(label, lambda cells: cells[place] or None, usual=usual)
    if printed.column_type == INSTANT:
        return columns.moment(label, lambda cells: cells[place] or None, usual=usual)
    if printed.name in _WORDS:
        return columns.text(label, lambda cells: cells[place].capitalize(), 110, usual=usual)
    return columns.text(label, lambda cells: cells[place], _WIDTHS.get(printed.name, 160), usual=usual)


def draw_rows(kind: str, shown: Sequence[Sequence[str]], total: int, sums: Mapping[str, int] | None = None) -> None:
    """Draw the first of the printed rows, below how many there are and, once it is issued, what they come to."""
    table, cells = build_rows(kind), [[str(cell) for cell in row] for row in shown]
    first = f" · the first {words.count(len(cells))} are shown" if len(cells) < total else ""
    parts = [f"{name.replace('_', ' ')} {words.naira(sums[name])}" for name in _TOTALS[kind]] if sums else []
    tables.head(f"{' · '.join([table.count_text(total), *parts])}{first}", table)
    tables.draw_held(table, cells)


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
        control = {
            label: words.naira(round(value * 100)) if isinstance(value, float) else str(value)
            for label, value in bordereaux.facts_of(row)[2:-1]
        }
        facts.card("**Control figures**", control)
        people = {
            "Issued": f"{row.issuer}, {words.moment(row.issued_at)}",
            "Sent": f"{row.sender}, {words.moment(row.sent_at)}" if row.sender else "–",
            "Answered": f"{row.answerer}, {words.moment(row.answered_at)}" if row.answerer else "–",
            "Note": row.note,
        }
        facts.card("**People and dates**", people)
    downloads(f"/bordereaux/{row.id}", "xlsx", "csv")
    rows_of(row)
    st.caption(f"Bordereau {row.id} · SHA-256 {row.sha256}")


def draw_bordereau() -> None:
    frame.require(ROLE)
    tables.back_link("bordereaux", "finance/bordereaux.py", "Back to the bordereaux")
    given = st.query_params.get("id", "")
    kind, _, rest = given.partition(".")
    if rest:
        draft(kind, *rest.split(".", 1) if "." in rest else (rest, ""))
        return
    whole(page_links.load_record("bordereau", bordereaux.get_bordereau, is_of_mode=True))
