"""Returns to authorities: prepared, checked by somebody else, sent; a year in figures; and licences (contract D5)."""

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.covers import request
from core.errors import InvalidInput, NotFound, StateForbids
from core.services.audit import log as audit
from core.services.compliance import breaches, figures, requests
from core.services.lists.windows import Span, Window
from core.services.people.four_eyes import require_second
from core.services.people.staff import Person
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import (
    Agreement,
    AuditEntry,
    Breach,
    Claim,
    Customer,
    DataRequest,
    Distributor,
    Erasure,
    Filing,
    Policy,
    Purchase,
    Staff,
    UploadedFile,
    WebhookEndpoint,
)

# The label of each return, and the months of its period.
KINDS: Final[Mapping[str, tuple[str, int]]] = {
    "brokerage": ("Quarterly brokerage", 3),
    "client_account": ("Client account", 3),
    "bordereaux": ("Bordereaux to insurers", 1),
    "data_protection": ("Data protection return", 12),
}
_MONTHS_SHOWN: Final = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class FilingRow:
    """One return of the calendar; without an `id` it is still to be prepared."""

    id: UUID | None
    kind: str
    label: str
    period_ends_on: date
    due_on: date
    state: str
    prepared_by: UUID | None = None
    preparer: str | None = None
    checker: str | None = None
    sender: str | None = None
    sent_at: datetime | None = None
    reference: str | None = None

    @property
    def key(self) -> str:
        """The kind and the last day of the period."""
        return f"{self.kind} {self.period_ends_on}"

    @property
    def days_left(self) -> int | None:
        """Days until it is due, below zero when it is late; None once it was sent."""
        return None if self.state == "sent" else (self.due_on - clock.today()).days


@dataclass(frozen=True, kw_only=True, slots=True)
class Licence:
    """The licence of a distributor under its agreement of today."""

    distributor_id: UUID
    distributor: str
    number: str | None
    expires_on: date | None

    @property
    def state(self) -> str:
        """The state in a word: a licence that ends within 60 days is worth a letter."""
        if self.number is None:
            return "Missing"
        if self.expires_on is None:
            return "Active"
        left = (self.expires_on - clock.today()).days
        return "Lapsed" if left < 0 else "Ends soon" if left <= 60 else "Active"


def list_calendar(session: ScopedSession) -> list[FilingRow]:
    """List the returns whose period ended in the last year, the next due first and those that were sent last.

    A period that ended before the first day of business owes no return; one that was prepared all the same is listed.
    """
    stored = {(row.kind, row.period_ends_on): row for row in _load(session)}
    first_on = find_first_day(session)
    rows = [
        stored.get((kind, ends_on)) or _planned(session, kind, ends_on)
        for kind in KINDS
        for ends_on in _periods(kind)
        if (kind, ends_on) in stored or _owes_return(ends_on, first_on)
    ]
    return sorted(rows, key=lambda row: (row.state == "sent", row.due_on, row.kind))


def find_first_day(session: ScopedSession) -> date | None:
    """Return the day of the first live purchase or of the first agreement that was entered; None before either."""
    firsts = (
        sa.select(sa.func.min(col(Purchase.created_at))).where(col(Purchase.is_live)),
        sa.select(sa.func.min(col(Agreement.created_at))),
    )
    found = [at for each in firsts if (at := session.execute(each).scalar()) is not None]
    return clock.to_lagos_day(min(found)) if found else None


def _owes_return(ends_on: date, first_on: date | None) -> bool:
    return first_on is not None and ends_on >= first_on


def _periods(kind: str) -> Iterator[date]:
    """Yield the last days of the periods of a kind that ended within the last year."""
    months = KINDS[kind][1]
    first = clock.today().replace(day=1)
    for back in range(_MONTHS_SHOWN + 1):
        ends_on = clock.add_months(first, -back) - timedelta(days=1)
        if ends_on.month % months == 0:
            yield ends_on


def _planned(session: ScopedSession, kind: str, ends_on: date) -> FilingRow:
    due_on = compute_due_day(session, kind, ends_on)
    return FilingRow(id=None, kind=kind, label=KINDS[kind][0], period_ends_on=ends_on, due_on=due_on, state="due")


def compute_due_day(session: ScopedSession, kind: str, ends_on: date) -> date:
    """Return the day by which the return of a period is due, by the figures of its last day."""
    if kind == "data_protection":
        month, day = divmod(figures.get_figure(session, "data_protection_month_day", ends_on), 100)
        return date(ends_on.year + 1, month, day)
    return ends_on + timedelta(days=figures.get_figure(session, f"{kind}_days", ends_on))


def prepare(session: ScopedSession, kind: str, ends_on: date, *, by: Person) -> UUID:
    """Note that a return is prepared; NotFound for a period that is not in the calendar."""
    figures.require_role(by)
    if kind not in KINDS or ends_on not in set(_periods(kind)) or not _owes_return(ends_on, find_first_day(session)):
        raise NotFound("There is no such return in the calendar")
    row = Filing(
        id=ids.new(),
        kind=kind,
        period_ends_on=ends_on,
        due_on=compute_due_day(session, kind, ends_on),
        prepared_by=by.id,
        prepared_at=clock.now(),
    )
    if not session.insert_if_absent(row):
        raise StateForbids("This return was prepared already")
    _note(session, row, "return prepared", by)
    return row.id


def check(session: ScopedSession, filing_id: UUID, *, by: Person) -> None:
    """Note that a return which somebody else prepared was checked."""
    row = _get(session, filing_id, "prepared", by)
    require_second(row.prepared_by, by, "You prepared this return: somebody else checks it")
    row.state, row.checked_by, row.checked_at = "checked", by.id, clock.now()
    session.flush()
    _note(session, row, "return checked", by)


def send(session: ScopedSession, filing_id: UUID, *, reference: str, by: Person) -> None:
    """Note that a checked return was sent, with the authority's reference."""
    row = _get(session, filing_id, "checked", by)
    given = request.validate_text("reference", reference, least=3, most=60)
    row.state, row.sent_by, row.sent_at, row.reference = "sent", by.id, clock.now(), given
    session.flush()
    _note(session, row, "return sent", by, reference=given)


def list_licences(session: ScopedSession) -> list[Licence]:
    """List the licence of every active distributor, the first to end first; those without one before them."""
    held: dict[UUID, Agreement] = {}
    begun = sa.select(Agreement).where(
        col(Agreement.distributor_id).is_not(None), col(Agreement.starts_on) <= clock.today()
    )
    for agreement in session.execute(begun.order_by(col(Agreement.starts_on))).scalars():
        held[agreement.distributor_id] = agreement
    query = sa.select(col(Distributor.id), col(Distributor.business_name)).where(
        col(Distributor.active), col(Distributor.deleted_at).is_(None)
    )
    found = []
    for row in session.execute(query):
        of = held.get(row.id)
        number, expires_on = (of.licence_number, of.licence_expires_on) if of else (None, None)
        found.append(
            Licence(distributor_id=row.id, distributor=row.business_name, number=number, expires_on=expires_on)
        )
    return sorted(found, key=lambda row: (row.number is not None, row.expires_on or date.max, row.distributor))


def _load(session: ScopedSession) -> list[FilingRow]:
    names = ("id", "kind", "period_ends_on", "due_on", "state", "prepared_by", "sent_at", "reference")
    query: AnySelect = sa.select(*(col(getattr(Filing, name)) for name in names))
    for role, name in (("preparer", "prepared_by"), ("checker", "checked_by"), ("sender", "sent_by")):
        person = sa.orm.aliased(Staff)
        query = query.add_columns(col(person.name).label(role))
        query = query.outerjoin(person, col(person.id) == col(getattr(Filing, name)))
    return [FilingRow(**row._mapping, label=KINDS[row.kind][0]) for row in session.execute(query)]


def _get(session: ScopedSession, filing_id: UUID, state: str, by: Person) -> Filing:
    row = figures.get_for_update(session, Filing, filing_id, noun="return", by=by)
    if row.state != state:
        raise StateForbids(f"This return is {row.state}")
    return row


def _note(session: ScopedSession, row: Filing, action: str, by: Person, **facts: str) -> None:
    period = {"kind": row.kind, "period_ends_on": row.period_ends_on.isoformat()}
    audit.note(session, "return", row.id, action, actor=by.actor, **period, **facts)


# The figures of a year, for the data protection return.

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
    span = Window(date(year, 1, 1), date(year + 1, 1, 1)).span
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


def _held(session: ScopedSession, span: Span) -> Iterator[tuple[str, str, int]]:
    for group, counted in (("Held at the end of the year", Span(end=span.end)), ("New in the year", span)):
        for label, entity in _CLASSES:
            yield group, label, _count(session, entity, *counted.on(col(entity.created_at)))


def _requests(session: ScopedSession, span: Span) -> Iterator[tuple[str, str, int]]:
    in_year = span.on(col(DataRequest.received_at))
    for kind, label in requests.KINDS.items():
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
    done = [col(Erasure.state) == "erased", *span.on(col(Erasure.decided_at))]
    people = session.execute(sa.select(col(Erasure.customers)).where(*done)).scalars().all()
    yield "Erasures", "Carried out", len(people)
    yield "Erasures", "Records of people", sum(map(len, people))


def _breaches(session: ScopedSession, span: Span) -> Iterator[tuple[str, str, int]]:
    rows = breaches.list_breaches(session, *span.on(col(Breach.known_at)))
    yield "Breaches", "Registered", len(rows)
    for risk, label in breaches.RISKS.items():
        yield "Breaches", label, sum(row.risk == risk for row in rows)
    in_time = sum(row.commission_at is not None and row.commission_at <= row.notify_by for row in rows)
    yield "Breaches", "Notified to the Commission in time", in_time
    yield "Breaches", "Notified late", sum(row.commission_at is not None for row in rows) - in_time


def _disclosures(session: ScopedSession, span: Span) -> Iterator[tuple[str, str, int]]:
    at = span.on(col(AuditEntry.created_at))
    for action in breaches.OPENING:
        yield "Disclosures", action.capitalize(), _count(session, AuditEntry, *at, col(AuditEntry.action) == action)
    sent = (col(Policy.submitted_to_provider), *span.on(col(Policy.created_at)))
    yield "Transfers", "Policies submitted to insurers", _count(session, Policy, *sent)
    open_ = (col(WebhookEndpoint.deleted_at).is_(None), *Span(end=span.end).on(col(WebhookEndpoint.created_at)))
    yield "Transfers", "Webhook endpoints of distributors", _count(session, WebhookEndpoint, *open_)


def _count(session: ScopedSession, entity: Any, *conditions: Any) -> int:
    live = [col(entity.is_live)] if "is_live" in entity.model_fields else []
    return session.count_rows(entity, *conditions, *live)
