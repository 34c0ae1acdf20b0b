"""Figures of the law and of the house: dated, with their source, and never changed once written (contract D1-D5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated, Any, Final, TypeVar
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import SQLModel, col

from core import clock, ids
from core.covers import fields, request
from core.covers.request import Request
from core.errors import InvalidInput
from core.services.audit import log as audit
from core.services.people import staff
from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import ComplianceFigure

ROLES: Final = ("compliance",)
RowT = TypeVar("RowT", bound=SQLModel)
LABELS: Final[Mapping[str, str]] = {
    "acknowledge_working_days": "Working days to acknowledge a request",
    "answer_days": "Days to answer a request",
    "extension_days": "Days of the one extension of a request",
    "person_months": "Months a person's records are kept after the end of their last cover or claim",
    "lead_months": "Months somebody is kept who bought nothing",
    "session_days": "Days that ended sign-ins of staff are kept",
    "delivery_log_days": "Days that tries of deliveries are kept",
    "breach_hours": "Hours to notify the Commission of a breach",
    "data_protection_month_day": "Day of the yearly data protection return (331 is 31 March)",
    "brokerage_days": "Days to the quarterly brokerage return",
    "client_account_days": "Days to the quarterly client account return",
    "bordereaux_days": "Days to the monthly bordereaux",
    "premium_notice_hours": "Hours to notify the insurer of a premium",
    "premium_placed_days": "Days to place a cover that was paid",
    "complaint_days": "Days to answer a complaint",
}


class FigureInput(Request):
    """Input: a figure from a day on, and the source that says so."""

    name: Annotated[str, fields.one_of(*LABELS)]
    amount: Annotated[int, Field(ge=1, le=1231)]
    effective_on: fields.Day
    source: Annotated[str, Field(min_length=5, max_length=300)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """A figure that holds or will hold, with its source."""

    name: str
    label: str
    amount: int
    effective_on: date
    source: str


def require_role(by: Person) -> None:
    """NotAllowed for whoever is not of compliance."""
    by.require_role(*ROLES, otherwise="Only compliance works at the privacy desk")


def get_for_update(session: ScopedSession, entity: type[RowT], record_id: UUID, *, noun: str, by: Person) -> RowT:
    """Lock and return a record of the desk; NotAllowed for whoever is not of compliance, NotFound for an unknown id."""
    require_role(by)
    return session.lock(entity, record_id, noun)


def check_receipt(given: date | None) -> tuple[date, datetime]:
    """Return the day on which something was received, today if none is given, and its instant.

    InvalidInput for a day to come, or one of more than a year ago.
    """
    received = given or clock.today()
    if not clock.today() - timedelta(days=365) <= received <= clock.today():
        raise InvalidInput.for_field("received_on", "must be a day of the last year, or today")
    return received, clock.now() if received == clock.today() else clock.lagos_midnight(received)


def get_figure(session: ScopedSession, name: str, on: date | None = None) -> int:
    """Return the amount that holds on a day (in Lagos), today by default; KeyError for an unknown name."""
    query = (
        sa.select(col(ComplianceFigure.amount))
        .where(col(ComplianceFigure.name) == name, col(ComplianceFigure.effective_on) <= (on or clock.today()))
        .order_by(col(ComplianceFigure.effective_on).desc())
        .limit(1)
    )
    found = session.execute(query).scalar_one_or_none()
    if found is None:
        raise KeyError(name)
    return int(found)


def list_figures(session: ScopedSession) -> list[Figure]:
    """List every figure that was ever set, by name and the newest first."""
    query = sa.select(ComplianceFigure).order_by(col(ComplianceFigure.effective_on).desc())
    rows = sorted(session.execute(query).scalars(), key=lambda row: list(LABELS).index(row.name))
    return [build_row(Figure, row, label=LABELS[row.name]) for row in rows]


def set_figure(session: ScopedSession, typed: Mapping[str, Any], *, by: Person) -> None:
    """Add a figure from tomorrow on or later; InvalidInput names every wrong field, NotAllowed a wrong role."""
    require_role(by)
    staff.refuse_resting(by)
    given: FigureInput = request.validate(FigureInput, typed)
    if given.effective_on < clock.today() + timedelta(days=1):
        raise InvalidInput.for_field("effective_on", "must be tomorrow or later")
    row = ComplianceFigure(id=ids.new(), **given.model_dump(), set_by=by.id, created_at=clock.now())
    if not session.insert_if_absent(row):
        raise InvalidInput.for_field("effective_on", "has a figure of this name already")
    after = {"amount": row.amount, "effective_on": row.effective_on.isoformat(), "source": row.source}
    audit.write(session, actor=by.actor, action="figure set", subject=f"figure {row.name}", after=after)


def add_working_days(day: date, days: int) -> date:
    """Return the day that is some working days later; Saturdays and Sundays are none, public holidays count."""
    while days:
        day += timedelta(days=1)
        days -= day.weekday() < 5
    return day


def new_number(session: ScopedSession, prefix: str) -> str:
    """Return the next number of a register in this year, such as DR-2026-0001."""
    year = clock.today().year
    return f"{prefix}-{year}-{session.next_in_transaction(f'compliance {prefix} {year}'):04d}"
