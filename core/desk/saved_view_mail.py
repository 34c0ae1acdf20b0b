"""Messages that a person wants about a saved view: figures every day, week or month, warnings about a bound.

A message holds figures and links, never rows: who opens a link signs in, and the role is looked at again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlencode
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock, money
from core.covers import fields, request
from core.covers.request import Request
from core.desk import exported_lists
from core.errors import CoverdeskError, InvalidInput, NotFound
from core.services.audit import log as audit
from core.services.claims.lists.filter import ClaimFilter
from core.services.lists import exports
from core.services.lists.dimensions import load_choices
from core.services.lists.filters.declaration import Filter
from core.services.lists.listing import Listing
from core.services.lists.records import format_mode
from core.services.lists.windows import named_window
from core.services.mail import mail
from core.services.mail.mail import TEMPLATES
from core.services.people import saved_views, staff
from core.services.people.staff import Person
from core.settings import settings
from core.store.access import ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import SavedView, ViewWatch

Every = Literal["day", "week", "month"]
Figure = Literal["rows", "sum"]
# The lists whose selection can be counted and summed as it is exported.
KINDS: Final[Mapping[str, str]] = {
    "sales/purchases.py": "purchases",
    "sales/renewals.py": "renewals",
    "sales/customers.py": "customers",
    "policies/search.py": "policies",
    "claims/queue.py": "claims",
    "finance/movements.py": "movements",
}
FIGURES: Final = {"rows above": ("rows", True), "rows below": ("rows", False)} | {
    "sum above": ("sum", True),
    "sum below": ("sum", False),
}
_LARGEST: Final = Decimal(10) ** 13


class WatchInput(Request):
    """Input: how often the figures are mailed, and the bound of a warning: a number of rows, or a sum in naira."""

    every: Annotated[str, fields.one_of("day", "week", "month")] | None = None
    warn: Annotated[str, fields.one_of(*FIGURES)] | None = None
    bound: Annotated[Decimal, Field(ge=0, le=_LARGEST, decimal_places=2)] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Watch:
    """One wish; `bound` is a number of rows, or naira."""

    id: UUID
    view_id: UUID
    is_live: bool
    every: Every | None
    sent_on: date | None
    warn: str | None
    bound: Decimal | None
    is_crossed: bool
    checked_at: datetime | None
    last_error: str | None


def get_kind(screen: str) -> Listing[Any] | None:
    """Return the export of a list whose views can be watched."""
    return exported_lists.get_kind(KINDS[screen]) if screen in KINDS else None


def get_watch(session: ScopedSession, view_id: UUID, *, by: Person) -> Watch | None:
    """Return what the person is mailed of a view."""
    row: ViewWatch | None = session.execute(_query(view_id, by)).scalar_one_or_none()
    return None if row is None else build(row)


def set_watch(session: ScopedSession, view_id: UUID, inputs: Mapping[str, Any], *, is_live: bool, by: Person) -> None:
    """Set what the person is mailed of a view; nothing at all takes the wish away.

    NotFound for a view that the person does not see, NotAllowed without the role of its export, InvalidInput names what
    is wrong. The first message comes with the next day, week or month, the first warning with the next look.
    """
    view = saved_views.get_view(session, view_id, by=by)
    kind = _require_kind(view, by)
    validated: WatchInput = request.validate(WatchInput, dict(inputs))
    figure, is_above, bound = _check_warning(validated, kind)
    row = _find(session, view_id, by)
    if validated.every is None and figure is None:
        if row is not None:
            session.delete(row)
            session.flush()
            _record(session, "view no longer mailed", view, {}, by)
        return
    if row is None:
        session.insert_if_absent(ViewWatch(view_id=view_id, staff_id=by.id, is_live=is_live))
        row = _find(session, view_id, by)
        assert row is not None, "it was inserted"  # noqa: S101 - the key has just been claimed
    row.every, row.figure, row.is_above, row.bound, row.is_live = validated.every, figure, is_above, bound, is_live
    row.sent_on = latest_due(validated.every, clock.today()) if validated.every else None
    row.is_crossed, row.checked_at, row.last_error = False, None, None
    session.flush()
    facts = {"every": validated.every, "warn": validated.warn, "mode": format_mode(is_live)}
    _record(session, "view mailed", view, facts, by)


def _require_kind(view: SavedView, person: Person) -> Listing[Any]:
    kind = get_kind(view.screen)
    if kind is None:
        raise NotFound("The views of this list are not mailed")
    kind.require_role(person)
    return kind


def _check_warning(inputs: WatchInput, kind: Listing[Any]) -> tuple[Figure | None, bool, int | None]:
    if inputs.warn is None:
        return None, True, None
    figure, is_above = FIGURES[inputs.warn]
    if inputs.bound is None:
        raise InvalidInput.for_field("bound", "is needed for a warning")
    if figure == "sum" and kind.summed is None:
        raise InvalidInput.for_field("warn", "must be of the rows: this list has no sum")
    if figure == "rows":
        if inputs.bound != int(inputs.bound):
            raise InvalidInput.for_field("bound", "must be a whole number of rows")
        return "rows", is_above, int(inputs.bound)
    return "sum", is_above, money.to_minor(inputs.bound)


def latest_due(every: str, today: date) -> date:
    """Return the last day on which a message was due: today, Monday, or the first of the month."""
    days = {"day": 0, "week": today.weekday(), "month": today.day - 1}
    return clock.add_days(today, -days[every])


def build(row: ViewWatch) -> Watch:
    """Return a row as the desk reads it."""
    warn = next(
        (name for name, (figure, is_above) in FIGURES.items() if (figure, is_above) == (row.figure, row.is_above)), None
    )
    bound = None if row.bound is None else money.to_naira(row.bound) if row.figure == "sum" else Decimal(row.bound)
    return build_row(Watch, row, warn=warn, bound=bound)


def list_all(session: ScopedSession) -> Sequence[ViewWatch]:
    """Return the rows of everybody."""
    return list(session.execute(sa.select(ViewWatch).order_by(col(ViewWatch.created_at))).scalars())


def _find(session: ScopedSession, view_id: UUID, by: Person) -> ViewWatch | None:
    found: ViewWatch | None = session.execute(_query(view_id, by).with_for_update()).scalar_one_or_none()
    return found


def _query(view_id: UUID, by: Person) -> Any:
    return sa.select(ViewWatch).where(col(ViewWatch.view_id) == view_id, col(ViewWatch.staff_id) == by.id)


def _record(session: ScopedSession, action: str, view: SavedView, facts: Mapping[str, Any], by: Person) -> None:
    audit.note(session, "staff", by.id, action, actor=by.actor, screen=view.screen, name=view.name, **facts)


REGULAR, WARNING = "saved view", "saved view warning"
ACTOR: Final = "saved views"
# The hour of Lagos from which the messages of a day are sent, and how often bounds are looked at.
FIRST_HOUR: Final = 7
CHECK_EVERY: Final = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of a view at this moment; the sum in kobo, None for a list without one."""

    rows: int
    sum_minor: int | None

    @property
    def text(self) -> str:
        """Both in words: "34 rows, ₦1,068.75"."""
        rows = f"{self.rows:,} {'row' if self.rows == 1 else 'rows'}"
        return rows if self.sum_minor is None else f"{rows}, {money.format_naira(self.sum_minor)}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """A watched view with its person and the export whose selection it is."""

    view: SavedView
    person: Person
    kind: Listing[Any]
    selection: Filter


def list_due(session: ScopedSession) -> Sequence[tuple[UUID, bool]]:
    """Return the watches that have to be looked at now, each with its mode."""
    return [(row.id, row.is_live) for row in list_all(session) if _is_message_due(row) or _is_look_due(row)]


def _is_message_due(row: ViewWatch) -> bool:
    if row.every is None or int(clock.format_lagos(clock.now(), "%H")) < FIRST_HOUR:
        return False
    return row.sent_on is None or row.sent_on < latest_due(row.every, clock.today())


def _is_look_due(row: ViewWatch) -> bool:
    return row.figure is not None and (row.checked_at is None or row.checked_at <= clock.now() - CHECK_EVERY)


def read_figures(session: ScopedSession, watch_id: UUID) -> Figures | str:
    """Return the figures of a watched view in the session's mode, or why it has none any more."""
    try:
        subject = _load(session, watch_id)
    except CoverdeskError as error:
        return str(error) or "The role for this list is gone"
    return compute(session, subject.kind, subject.selection)


def compute(session: ScopedSession, kind: Listing[Any], selection: Filter) -> Figures:
    """Count and add up the rows that an export of this selection has."""
    value = sa.literal(0) if kind.summed is None else kind.summed
    rows = kind.rows([value.label("value")], selection, load_choices(session)).order_by(None).subquery()
    number, minor = session.count_and_sum(rows.c.value)
    return Figures(number, None if kind.summed is None else minor)


def send(session: ScopedSession, watch_id: UUID, found: Figures | str) -> int:
    """Queue what is due of a watch with these figures; returns the number of e-mails, none when asked for again."""
    query = sa.select(ViewWatch).where(col(ViewWatch.id) == watch_id).with_for_update()
    row: ViewWatch | None = session.execute(query).scalar_one_or_none()
    if row is None:
        return 0
    is_message_due, is_look_due = _is_message_due(row), _is_look_due(row)
    if not (is_message_due or is_look_due):
        return 0
    row.last_error = found[:200] if isinstance(found, str) else None
    if is_message_due and row.every:
        row.sent_on = latest_due(row.every, clock.today())
    row.checked_at = clock.now()
    sent = 0
    if not isinstance(found, str):
        subject = _load(session, watch_id)
        if is_message_due:
            sent += _mail(session, REGULAR, row, subject, found)
        if is_look_due:
            is_crossed = _is_crossed(row, found)
            if is_crossed and not row.is_crossed:
                sent += _mail(session, WARNING, row, subject, found)
            row.is_crossed = is_crossed
    session.flush()
    return sent


def _is_crossed(row: ViewWatch, found: Figures) -> bool:
    value = found.rows if row.figure == "rows" else found.sum_minor
    if value is None or row.bound is None:
        return False
    return value > row.bound if row.is_above else value < row.bound


def _load(session: ScopedSession, watch_id: UUID) -> Subject:
    """Return the subject of a watch; NotFound and NotAllowed say why there is none any more."""
    row = session.execute(sa.select(ViewWatch).where(col(ViewWatch.id) == watch_id)).scalar_one_or_none()
    person = staff.find_by_id(session, row.staff_id) if row else None
    if row is None or person is None:
        raise NotFound("The person has left")
    view = saved_views.get_view(session, row.view_id, by=person)
    kind = _require_kind(view, person)
    return Subject(view=view, person=person, kind=kind, selection=read_selection(kind, view.parameters, person))


def read_selection(kind: Listing[Any], parameters: Mapping[str, Sequence[str]], person: Person) -> Filter:
    """Return the filter of a view as its screen has it today: a named period ends today, "mine" is the person's."""
    known = {parameter.name for parameter in kind.parameters}
    address = {name: list(given) for name, given in parameters.items() if name in known}
    if kind.filter is ClaimFilter:
        return ClaimFilter.read({"view": ["mine"], **address}, me=person.id)
    period = next(iter(parameters.get("period", ())), "all")
    if period not in ("all", "custom"):
        window = named_window(period, clock.today())
        address |= {"from": [str(window.start)], "to": [str(window.last)]}
    selection: Filter = kind.read(address)
    return selection


def _mail(session: ScopedSession, template: str, row: ViewWatch, subject: Subject, found: Figures) -> int:
    values = {
        "name": subject.person.name,
        "view": subject.view.name,
        "list": subject.kind.title,
        "day": clock.format_lagos(clock.now()),
        "figures": found.text,
        "warning": _describe_bound(row),
        **_links(row, subject),
    }
    used = {name: value for name, value in values.items() if name in TEMPLATES[template].names}
    mail.send(session, subject.person.email, template, used, about=f"view {subject.view.id}", by=ACTOR)
    return 1


def _describe_bound(row: ViewWatch) -> str:
    if row.bound is None:
        return ""
    bound = money.format_naira(row.bound) if row.figure == "sum" else f"{row.bound:,} rows"
    return f"{'more' if row.is_above else 'less'} than {bound}"


def _links(row: ViewWatch, subject: Subject) -> dict[str, str]:
    """Return the links to the list as the view has it, and to the file of the same selection."""
    base, mode = settings().base_url.rstrip("/"), {} if row.is_live else {"mode": [format_mode(row.is_live)]}
    page = subject.view.screen.rpartition("/")[2].removesuffix(".py")
    order = next(iter(subject.view.parameters.get("order", ())), None)
    shown = exports.follow_list(subject.kind, subject.view.parameters.get("show", ()), order)
    selection = {**subject.selection.address(), **shown, **mode}
    return {
        "link": f"{base}/{page}?{urlencode({**subject.view.parameters, **mode}, doseq=True)}",
        "file": f"{base}/exports/{subject.kind.name}.xlsx?{urlencode(selection, doseq=True)}",
    }
