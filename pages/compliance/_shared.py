"""Shared by the screens of the privacy desk: reading and changing over every record, and their tables."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

import streamlit as st

from core import clock
from core.services.audit import log as audit
from core.services.audit.log import AuditEvent
from core.services.compliance import requests
from core.services.compliance.complaints import ComplaintRow
from core.services.compliance.erasures import ErasureRow
from core.services.compliance.filings import FilingRow
from core.services.compliance.requests import KINDS, RequestRow
from core.services.compliance.retention import CLASSES
from core.store.access import Scope, ScopedSession, read_in
from core.ui.frame import frame, page_links
from core.ui.kit import facts, url_state, words
from core.ui.kit.actions import Action
from core.ui.lists import columns, tables
from core.ui.lists.columns import TableColumn
from core.ui.lists.tables import Table

Result = TypeVar("Result")
_FIND = "find"
ROLE = "compliance"
# A person's records are at several distributors and in both modes.
_EVERYTHING = Scope.system()
action = partial(Action, roles=(ROLE,), scope=Scope.system)


def read(work: Callable[[ScopedSession], Result]) -> Result:
    """Read over every record; only for people of compliance."""
    frame.require(ROLE)
    return read_in(_EVERYTHING, work)


def record(get: Callable[[ScopedSession, UUID], Result], noun: str) -> Result:
    """Return the record named in the URL; if there is none, show a message and stop the page."""
    frame.require(ROLE)
    return page_links.load_record(noun, get, scope=_EVERYTHING)


def warn_of_open(customers: Sequence[str], *, besides: UUID | None) -> None:
    """Name the open requests that an erasure of these records would leave without a person to answer."""
    for row in read(lambda session: requests.list_other_open(session, customers, besides=besides)):
        st.warning(
            f"{row.number} ({KINDS[row.kind].lower()}) of the same records is open: answer it first. The erasure takes"
            " name, e-mail and words out of it too.",
            icon=":material/contact_mail:",
        )


def draw_history(subject: str, *, without: str = "") -> None:
    """Draw the entries of the audit log about a record, without the fact of this name."""
    entries = read(lambda session: audit.list_history(session, subject))
    facts.history(
        [
            AuditEvent(
                at=row.created_at,
                actor=row.actor,
                action=row.action,
                facts={name: value for name, value in (row.after or {}).items() if name != without},
            )
            for row in entries
        ]
    )


STATES = {
    "received": "Waiting",
    "acknowledged": "Acknowledged",
    "answered": "Answered",
    "refused": "Refused",
    "withdrawn": "Withdrawn",
    "open": "Proposed",
    "erased": "Erased",
    "due": "Planned",
    "prepared": "Prepared",
    "checked": "Checked",
    "sent": "Sent",
}


# An insurer that has acknowledged a bordereau is done with it; a request is only begun.
_TONES = {"acknowledged": "blue"}


def state_tone(state: str) -> str:
    """Return the colour of a state of the desk."""
    return _TONES.get(state) or words.colour(STATES[state])


def state_badge(state: str) -> str:
    """Return the badge of a state of the desk."""
    return words.badge(STATES[state], state_tone(state))


def day_or_moment(at: datetime) -> str:
    """Return an instant in words; the day alone where a day was typed, which is kept as its midnight in Lagos."""
    return words.day(at) if at == clock.lagos_midnight(clock.to_lagos_day(at)) else words.moment(at)


def days_left(days: int | None) -> str | None:
    """Return the days left in words: "3 days", "2 days late"; None when nothing is due."""
    if days is None:
        return None
    plural = "" if abs(days) == 1 else "s"
    return f"{-days} day{plural} late" if days < 0 else f"{days} day{plural}"


def _is_late(row: RequestRow | FilingRow | ComplaintRow) -> bool:
    return (row.days_left or 0) < 0


# What is late is red, as on every other list.
LEFT: TableColumn[Any] = TableColumn(
    "Left",
    lambda row: days_left(row.days_left),
    110,
    is_right=True,
    colour=lambda row: "red" if _is_late(row) else "",
    sort_key=lambda row: row.days_left,
)


def late_badge(row: RequestRow | FilingRow | ComplaintRow) -> str:
    """Return the badge that says how late a record is; "" for one that is not."""
    return f" {words.badge(days_left(row.days_left) or '', 'red')}" if _is_late(row) else ""


def draw_register(
    table: Table[Any],
    rows: Sequence[Any],
    *,
    is_open: Callable[[Any], bool],
    is_late: Callable[[Any], bool] = _is_late,
    closed: str = "Closed",
    searched: Sequence[str] = (),
    of: str = "",
) -> None:
    """Draw a register below how many of it are open and late; a click shows those alone, and a text those that have it.

    `closed` is the word for the others, `searched` are the columns that are searched, and `of` says of which time the
    records are.
    """
    groups: dict[str, tuple[str, Callable[[Any], bool]]] = {
        "open": ("Open", is_open),
        "late": ("Late", is_late),
        "closed": (closed, lambda row: not is_open(row)),
    }
    names = {key: f"{label}: {sum(map(belongs, rows))}" for key, (label, belongs) in groups.items()}
    text = st.query_params.get(_FIND, "").strip()
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="filter_chips"):
        if searched:
            url_state.search_box(_FIND, "Find", text=text, placeholder=_build_placeholder(table, searched), longest=100)
        chosen = url_state.choose_one("standing", "Standing", names)
        url_state.reset_button(shown=bool(chosen or text))
    shown = [row for row in rows if chosen is None or groups[chosen][1](row)]
    if searched and text:
        shown = [row for row in shown if _has_text(table, row, searched, text)]
    st.markdown(f"{table.count_text(len(shown))}{of}")
    if shown:
        tables.draw_held(table, shown)
    else:
        tables.show_no_match(table)


def _build_placeholder(table: Table[Any], searched: Sequence[str]) -> str:
    labels = [table.columns[name].label.lower() for name in searched]
    return f"{', '.join(labels[:-1])} or {labels[-1]}".capitalize()


def _has_text(table: Table[Any], row: Any, searched: Sequence[str], text: str) -> bool:  # noqa: ANN401 a row of any register
    has = " ".join(table.columns[name].of(row) or "" for name in searched).casefold()
    return all(word in has for word in text.casefold().split())


ERASURES: Table[ErasureRow] = Table(
    name="erasures",
    noun=("erasure", "erasures"),
    opens="compliance/retention.py#erasure",
    columns={
        "number": columns.text("Number", lambda row: row.number, 120),
        "class": columns.text("Of", lambda row: CLASSES[row.record_class][0], 240),
        "people": columns.number("Records of people", lambda row: len(row.customers)),
        "state": columns.state("State", lambda row: STATES[row.state]),
        "preparer": columns.text("Prepared by", lambda row: row.preparer, 150),
        "prepared": columns.moment("Prepared", lambda row: row.prepared_at),
        "decider": columns.text("Decided by", lambda row: row.decider, 150),
    },
    unsorted="Newest first",
)
