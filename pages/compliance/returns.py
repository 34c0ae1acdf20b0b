"""Returns to authorities and licences of distributors; and one return, prepared, checked and sent."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any, Final
from uuid import UUID

import streamlit as st

from core.services.compliance import filings
from core.services.compliance.filings import Figures, FilingRow, Licence
from core.services.compliance.return_figures import BORDEREAU_FIGURES, ReturnFigure
from core.services.finance.movements import MovementFilter
from core.services.people.staff import Person
from core.ui.frame import frame, menu, page_links
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Action, Text
from core.ui.lists import columns, tables
from core.ui.lists.tables import Table
from pages.compliance._shared import (
    LEFT,
    ROLE,
    STATES,
    action,
    days_left,
    draw_history,
    draw_register,
    late_badge,
    read,
)

CALENDAR: Table[FilingRow] = Table(
    name="filings",
    noun=("return", "returns"),
    opens="compliance/returns.py#filing",
    key=lambda row: row.key,
    narrow=("label", "due", "left", "state"),
    columns={
        "label": columns.text("Return", lambda row: row.label, 210),
        "period": columns.day("Period to", lambda row: row.period_ends_on),
        "due": columns.day("Due", lambda row: row.due_on),
        "left": LEFT,
        "state": columns.state("State", lambda row: STATES[row.state]),
        "preparer": columns.text("Prepared by", lambda row: row.preparer, 140),
        "checker": columns.text("Checked by", lambda row: row.checker, 140),
        "reference": columns.text("Reference", lambda row: row.reference, 140),
    },
    unsorted="Next due first",
)


LICENCES: Table[Licence] = Table(
    name="licences",
    noun=("distributor", "distributors"),
    key=lambda row: row.distributor_id,
    columns={
        "distributor": columns.text("Distributor", lambda row: row.distributor, 260),
        "number": columns.text("Licence", lambda row: row.number, 180),
        "expires": columns.day("Until", lambda row: row.expires_on),
        "state": columns.state("State", lambda row: row.state),
    },
)


def draw_calendar(rows: list[FilingRow]) -> None:
    """Draw the returns; where none is due yet, say from when on they are."""
    if rows:
        of = " of periods that ended in the last year"
        draw_register(CALENDAR, rows, is_open=lambda row: row.days_left is not None, closed="Sent", of=of)
        return
    first_on = read(filings.find_first_day)
    begun = f"Business began on {words.day(first_on)}" if first_on else "There is no live sale and no agreement yet"
    st.info(
        f"No return is due yet. {begun}: the first returns are those of the month, quarter and year of the first sale,"
        " and each is listed once its period has ended.",
        icon=":material/event_available:",
    )


def draw() -> None:
    frame.require(ROLE)
    frame.page_header(
        "Returns and licences", "What is due to authorities: prepared, checked by somebody else, and sent."
    )
    with st.skeleton(height=300):
        rows, licences = read(filings.list_calendar), read(filings.list_licences)
    draw_calendar(rows)
    st.subheader("Licences", anchor=False)
    if licences:
        st.caption("From the agreement of each distributor that is active; an admin keeps it.")
        tables.draw_short(LICENCES, licences)
    else:
        st.info("There is no active distributor.")


def preparing_return(kind: str, ends_on: date, found: Figures) -> Action:
    """Return the dialog that notes a return as prepared, with the figures of the page behind it."""
    return action(
        title="The return is prepared",
        icon="draw",
        says="\n\n".join(
            ["The figures on this page are kept with it. Somebody else checks it.", *describe_missing(found)]
        ),
        confirm="Note it",
        work=lambda session, _, by: filings.prepare(session, kind, ends_on, seen=found.rows, by=by),
        done="The return is noted as prepared.",
    )


def checking_return(filing_id: UUID, found: Figures) -> Action:
    """Return the dialog that notes a return as checked; it names the figures that have moved."""
    return action(
        title="The return was checked",
        icon="fact_check",
        says="\n\n".join(
            [
                "You have compared it with the books. The figures on this page are kept as checked.",
                *describe_missing(found),
                *describe_moved(found),
            ]
        ),
        confirm="Note it",
        work=lambda session, _, by: filings.check(session, filing_id, seen=found.rows, by=by),
        done="The return is noted as checked.",
    )


def sending_return(row: FilingRow, filing_id: UUID) -> Action:
    """Return the dialog that notes a return as sent."""
    return action(
        title=f"{row.label} was sent",
        icon="outgoing_mail",
        says="The authority's reference proves it.",
        confirm="Note it",
        fields=[Text("reference", "Reference", longest=60)],
        work=lambda session, typed, by: filings.send(session, filing_id, reference=typed["reference"], by=by),
        done="The return is noted as sent.",
    )


def buttons(row: FilingRow, person: Person, found: Figures) -> None:
    if row.id is None:
        preparing_return(row.kind, row.period_ends_on, found).button("Mark as prepared", icon="draw", type="primary")
    elif row.state == "prepared" and row.prepared_by != person.id:
        checking_return(row.id, found).button("Mark as checked", icon="fact_check", type="primary")
    elif row.state == "checked":
        sending_return(row, row.id).button("Mark as sent", icon="outgoing_mail", type="primary")


def _colour(row: ReturnFigure) -> str:
    return "orange" if row.is_missing else ""


FIGURES: Table[ReturnFigure] = Table(
    name="return_figures",
    noun=("figure", "figures"),
    key=lambda row: " ".join(map(str, row.name)),
    narrow=("figure", "group", "value"),
    columns={
        "group": columns.text("Group", lambda row: row.group, 260),
        "figure": columns.text("Figure", lambda row: row.figure, 320),
        "value": columns.text("Value", lambda row: row.text, right=True, colour=_colour),
    },
)
_MOST_NAMED: Final = 10
# Where the figures of a return are looked up.
_SOURCES: Final[Mapping[str, tuple[str, ...]]] = {
    "brokerage": ("finance/movements.py", "sales/dashboard.py"),
    "client_account": ("finance/movements.py", "finance/statements.py", "finance/payments.py"),
    "bordereaux": ("finance/bordereaux.py",),
    "data_protection": ("compliance/figures.py", "compliance/requests.py", "compliance/breaches.py"),
}


def describe_missing(found: Figures) -> list[str]:
    """Return in amber how much has to be done before the return, such as bordereaux to be issued; nothing if none."""
    missing = sorted({row.figure for row in found.rows if row.is_missing})
    if not missing:
        return []
    number = sum(row.is_missing for row in found.rows)
    what = ", ".join(words.plain(figure.lower()) for figure in missing)
    first = words.counted(number, "figure in amber says", "figures in amber say")
    return [f":orange[:material/warning: {first} what is to be done first: {what}.]"]


def describe_moved(found: Figures) -> list[str]:
    """Return in amber which figures have moved, with what they were and are; nothing where none has."""
    if not found.moved:
        return []
    number = len(found.moved)
    head = f"{words.counted(number, 'figure has', 'figures have')} moved since the return was {found.kept_as}:"
    lines = [f"- :orange[{words.plain(moved.text)}]" for moved in found.moved[:_MOST_NAMED]]
    more = [f"- :orange[and {number - _MOST_NAMED} more]"] if number > _MOST_NAMED else []
    return [f":orange[:material/warning: {head}]", "\n".join((*lines, *more))]


def draw_figures(row: FilingRow, found: Figures) -> None:
    """Draw the figures of a return in one table, as a file, and the screens on which each is looked up."""
    st.subheader("Figures", anchor=False)
    for part in describe_moved(found):
        st.markdown(part)
    st.caption(_describe_time(row, found))
    if not found.rows:
        st.info("The books have no figure for this period: nothing was sold, stated or paid.")
    else:
        table, then = FIGURES, {moved.figure.name: moved.then for moved in found.moved}
        if then:
            was = columns.text(
                f"When {found.kept_as}",
                lambda each: (before.text if (before := then[each.name]) else "None") if each.name in then else None,
                right=True,
                colour=lambda each: "orange",
            )
            value = replace(
                FIGURES.columns["value"], colour=lambda each: "orange" if each.name in then else _colour(each)
            )
            table = replace(table, columns={**FIGURES.columns, "value": value, "was": was})
        st.link_button("Download as CSV", f"/returns/{row.kind}/{row.period_ends_on}.csv", icon=":material/download:")
        tables.draw_short(_link_rows(table, row, found), found.rows)
    draw_sources(row)


def _describe_time(row: FilingRow, found: Figures) -> str:
    days = f"{words.day(row.window.start)} to {words.day(row.window.last)}, live records"
    if row.state != "sent":
        return f"{days}, as they are now."
    if found.kept_as:
        return f"{days}, as they were when the return was {found.kept_as}."
    return f"{days}, as they are now: when this return was sent, its figures were not kept with it."


def _link_rows(table: Table[ReturnFigure], row: FilingRow, found: Figures) -> Table[ReturnFigure]:
    """Return the table with each row a link to what it is looked up by, for people who may open that."""
    path = {"brokerage": "finance/movements.py", "bordereaux": "finance/bordereaux.py#bordereau"}.get(row.kind)
    if path is None or not page_links.can_open(path):
        return table
    queries: dict[str, dict[str, Any] | None] = {}
    for each in found.rows:
        if row.kind == "brokerage":
            insurers = (each.insurer_id,) if each.insurer_id else ()
            queries[str(table.key(each))] = MovementFilter(created=row.window.span, provider_ids=insurers).address()
        elif each.insurer_id:
            kind = next(kind for kind, figures in BORDEREAU_FIGURES.items() if each.figure in figures)
            queries[str(table.key(each))] = {"id": f"{kind}.{each.insurer_id}.{row.window.start:%Y-%m}"}
    return replace(table, opens=path, query=lambda key: queries.get(str(key)))


def draw_sources(row: FilingRow) -> None:
    """Draw the links to the screens that have the figures; name those that the person may not open."""
    days, month = MovementFilter(created=row.window.span).address(), {"month": f"{row.window.last:%Y-%m}"}
    queries: dict[str, dict[str, Any]] = {
        "finance/movements.py": days,
        "sales/dashboard.py": days,
        "finance/statements.py": month,
        "finance/bordereaux.py": month,
    }
    screens = [screen for screen in menu.SCREENS if screen.path in _SOURCES[row.kind]]
    with st.container(horizontal=True):
        for screen in screens:
            if page_links.can_open(screen.path):
                page_links.link_to(screen.path, screen.title, screen.icon, **queries.get(screen.path, {}))
    if closed := [screen.title for screen in screens if not page_links.can_open(screen.path)]:
        *others, last = closed
        names = f"{', '.join(others)} and {last}" if others else last
        st.caption(f":material/lock: Finance looks them up under {names}.")


def draw_filing() -> None:
    person = frame.require(ROLE)
    tables.back_link("filings", "compliance/returns.py", "Back to the returns")
    key = st.query_params.get("id", "")
    row = read(lambda session: filings.find(session, key))
    if row is None:
        st.error("The address names no return of the calendar.", icon=":material/link_off:")
        return
    with st.skeleton(height=300):
        found = read(lambda session: filings.list_figures(session, row))
    with frame.header_with_buttons(
        f"{row.label} to {words.day(row.period_ends_on)} {words.badge(STATES[row.state])}{late_badge(row)}",
        "Whoever prepares a return cannot check it.",
        tab=f"{row.label} · Return",
    ):
        buttons(row, person, found)
    actions.run()
    if row.state == "prepared" and row.prepared_by == person.id:
        st.caption(":material/lock: You prepared it: somebody else checks it.")
    draw_facts(row)
    draw_figures(row, found)
    if row.id:
        draw_history(f"return {row.id}", without=filings.KEPT)


def draw_facts(row: FilingRow) -> None:
    """Draw the days and the people of a return."""
    with st.container(border=True):
        facts.grid(
            {
                "Due": words.day(row.due_on),
                "Left": days_left(row.days_left) or "–",
                "Prepared by": row.preparer or "–",
                "Checked by": row.checker or "–",
                "Sent": f"{row.sender}, {words.moment(row.sent_at)}" if row.sent_at else "–",
                "Reference": row.reference or "–",
            },
            columns=3,
        )
