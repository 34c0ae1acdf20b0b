"""Figures of a year for the data protection return, as a file (contract D4)."""

import csv
import io
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.errors import InvalidInput
from core.services.audit import log as audit
from core.services.compliance import breaches, figures
from core.services.compliance.request_forms import KINDS
from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.store.schema.tables import (
    AuditEntry,
    Breach,
    Claim,
    Customer,
    DataRequest,
    Erasure,
    Policy,
    Purchase,
    Staff,
    UploadedFile,
    WebhookEndpoint,
)

_FIRST_YEAR: Final = 2023
_CLASSES: Final[tuple[tuple[str, Any], ...]] = (
    ("Customers", Customer),
    ("Policies", Policy),
    ("Purchases", Purchase),
    ("Claims", Claim),
    ("Uploaded files", UploadedFile),
    ("Staff", Staff),
)


def count_year(session: ScopedSession, year: int) -> list[tuple[str, str, int]]:
    """Return the figures of a year: group, what is counted, and the number. InvalidInput for another year."""
    if not _FIRST_YEAR <= year <= clock.today().year:
        raise InvalidInput.for_field("year", f"must be from {_FIRST_YEAR} to this year")
    span = clock.lagos_midnight(date(year, 1, 1)), clock.lagos_midnight(date(year + 1, 1, 1))
    return [*_held(session, span), *_requests(session, span), *_breaches(session, span), *_disclosures(session, span)]


def write_file(session: ScopedSession, year: int, *, by: Person) -> bytes:
    """Return the figures as CSV and note who took them."""
    figures.require_role(by)
    rows = count_year(session, year)
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\r\n")
    writer.writerow(("year", "group", "figure", "number"))
    writer.writerows((year, *row) for row in rows)
    audit.write(
        session, actor=by.actor, action="yearly figures taken", subject=f"year {year}", after={"rows": len(rows)}
    )
    return target.getvalue().encode()


_Span = tuple[datetime, datetime]


def _held(session: ScopedSession, span: _Span) -> Iterator[tuple[str, str, int]]:
    for label, entity in _CLASSES:
        made = col(entity.created_at)
        yield "Held at the end of the year", label, _count(session, entity, made < span[1])
        yield "New in the year", label, _count(session, entity, made >= span[0], made < span[1])


def _requests(session: ScopedSession, span: _Span) -> Iterator[tuple[str, str, int]]:
    received = col(DataRequest.received_at)
    in_year = [received >= span[0], received < span[1]]
    for kind, label in KINDS.items():
        yield "Requests", label, _count(session, DataRequest, *in_year, col(DataRequest.kind) == kind)
    for state in ("answered", "refused", "withdrawn"):
        yield "Requests", f"Of them {state}", _count(session, DataRequest, *in_year, col(DataRequest.state) == state)
    closed = session.execute(
        sa.select(col(DataRequest.answered_at), col(DataRequest.due_on), col(DataRequest.extended_to)).where(
            *in_year, col(DataRequest.answered_at).is_not(None)
        )
    ).all()
    late = sum(clock.to_lagos_day(row.answered_at) > (row.extended_to or row.due_on) for row in closed)
    yield "Requests", "Of them closed after their last day", late
    done = [col(Erasure.state) == "erased", col(Erasure.decided_at) >= span[0], col(Erasure.decided_at) < span[1]]
    people = session.execute(sa.select(col(Erasure.customers)).where(*done)).scalars().all()
    yield "Erasures", "Carried out", len(people)
    yield "Erasures", "Records of people", sum(map(len, people))


def _breaches(session: ScopedSession, span: _Span) -> Iterator[tuple[str, str, int]]:
    known = col(Breach.known_at)
    rows = [row for row in breaches.list_breaches(session) if span[0] <= row.known_at < span[1]]
    yield "Breaches", "Registered", _count(session, Breach, known >= span[0], known < span[1])
    for risk, label in breaches.RISKS.items():
        yield "Breaches", label, sum(row.risk == risk for row in rows)
    in_time = sum(row.commission_at is not None and row.commission_at <= row.notify_by for row in rows)
    yield "Breaches", "Notified to the Commission in time", in_time
    yield "Breaches", "Notified late", sum(row.commission_at is not None for row in rows) - in_time


def _disclosures(session: ScopedSession, span: _Span) -> Iterator[tuple[str, str, int]]:
    at = col(AuditEntry.created_at)
    for action in breaches.OPENING:
        label = action.capitalize()
        number = _count(session, AuditEntry, at >= span[0], at < span[1], col(AuditEntry.action) == action)
        yield "Disclosures", label, number
    sent = (col(Policy.submitted_to_provider), col(Policy.created_at) >= span[0], col(Policy.created_at) < span[1])
    yield "Transfers", "Policies submitted to insurers", _count(session, Policy, *sent)
    open_ = (col(WebhookEndpoint.deleted_at).is_(None), col(WebhookEndpoint.created_at) < span[1])
    yield "Transfers", "Webhook endpoints of distributors", _count(session, WebhookEndpoint, *open_)


def _count(session: ScopedSession, entity: Any, *conditions: Any) -> int:
    live = [col(entity.is_live)] if "is_live" in entity.model_fields else []
    query = sa.select(sa.func.count()).select_from(entity).where(*conditions, *live)
    return int(session.execute(query).scalar_one())
