"""Messages that a person wants about a saved view: figures every day, week or month, warnings about a bound.

A message holds figures and links, never rows: who opens a link signs in, and the role is looked at again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Final, Literal
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock, money
from core.covers import fields, request
from core.covers.request import Request
from core.errors import InvalidInput, NotFound
from core.services.audit import log as audit
from core.services.exports import registry
from core.services.lists.listing import Listing
from core.services.lists.records import format_mode
from core.services.people import saved_views
from core.services.people.staff import Person
from core.store.access import ScopedSession
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
    return registry.get_kind(KINDS[screen]) if screen in KINDS else None


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
    kind = get_kind(view.screen)
    if kind is None:
        raise NotFound("The views of this list are not mailed")
    kind.require_role(by)
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
    kept = ("id", "view_id", "is_live", "every", "sent_on", "is_crossed", "checked_at", "last_error")
    return Watch(**{name: getattr(row, name) for name in kept}, warn=warn, bound=bound)


def list_all(session: ScopedSession) -> Sequence[ViewWatch]:
    """Return the rows of everybody."""
    return list(session.execute(sa.select(ViewWatch).order_by(col(ViewWatch.created_at))).scalars())


def _find(session: ScopedSession, view_id: UUID, by: Person) -> ViewWatch | None:
    found: ViewWatch | None = session.execute(_query(view_id, by).with_for_update()).scalar_one_or_none()
    return found


def _query(view_id: UUID, by: Person) -> Any:
    return sa.select(ViewWatch).where(col(ViewWatch.view_id) == view_id, col(ViewWatch.staff_id) == by.id)


def _record(session: ScopedSession, action: str, view: SavedView, facts: Mapping[str, Any], by: Person) -> None:
    audit.write(
        session,
        actor=by.actor,
        action=action,
        subject=audit.subject_of("staff", by.id),
        after={"screen": view.screen, "name": view.name, **facts},
    )
