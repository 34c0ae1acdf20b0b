"""Requests of people about their data: registered, identified, answered within days that are counted (contract D1)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated, Any, ClassVar, Final
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock, ids
from core.covers import fields, request
from core.covers.request import Request
from core.errors import InvalidInput, StaleVersion, StateForbids
from core.services.audit import log as audit
from core.services.compliance import figures
from core.services.compliance.own_records import subject_key
from core.services.compliance.personal_values import ERASED_DOMAIN
from core.services.customers import merging
from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.store.rows import build_row
from core.store.schema.compliance import REQUEST_KINDS
from core.store.schema.tables import Customer, DataRequest, Distributor, LegalHold

KINDS: Final[Mapping[str, str]] = {
    "access": "Access",
    "copy": "Copy",
    "rectification": "Rectification",
    "erasure": "Erasure",
    "restriction": "Restriction",
    "objection": "Objection",
    "grievance": "Grievance notice",
}
REFUSALS: Final[Mapping[str, str]] = {
    "not_identified": "Identity not proven",
    "not_known": "No data of this person",
    "legal_obligation": "The law wants it kept",
    "legal_claim": "Needed for a claim or a dispute",
    "rights_of_others": "It would harm the rights of others",
    "repeated": "Repeated without a reason",
}
IDENTITIES: Final = ("Identity document seen", "Answer from the registered e-mail", "Call to the registered phone")


class NewRequest(Request):
    """Input: who asks for what, and how they are reached."""

    multiline_fields: ClassVar[frozenset[str]] = frozenset({"details"})

    kind: Annotated[str, fields.one_of(*REQUEST_KINDS)]
    name: Annotated[str, Field(min_length=2, max_length=200)]
    email: fields.Email | None = None
    phone: Annotated[str, Field(max_length=32)] | None = None
    details: Annotated[str, Field(min_length=5, max_length=2_000)]
    received_on: fields.Day | None = None


class Outcome(Request):
    """Input: how a request was answered."""

    multiline_fields: ClassVar[frozenset[str]] = frozenset({"outcome"})

    outcome: Annotated[str, Field(min_length=10, max_length=2_000)]


class Refusal(Outcome):
    """Input: why a request is refused."""

    refusal_code: Annotated[str, fields.one_of(*REFUSALS)]


class Identity(Request):
    """Input: how the identity of a person was checked."""

    method: Annotated[str, fields.one_of(*IDENTITIES)]


OPEN: Final = ("received", "acknowledged")
_MOST_FOUND: Final = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestRow:
    """One request; `due_on` is the day by which it is answered, with its extension."""

    id: UUID
    number: str
    kind: str
    state: str
    name: str
    email: str | None
    phone: str | None
    details: str
    customers: Sequence[str]
    received_at: datetime
    acknowledge_by: date
    due_on: date
    extended_to: date | None
    extension_reason: str | None
    acknowledged_at: datetime | None
    identity_method: str | None
    identity_at: datetime | None
    refusal_code: str | None
    outcome: str | None
    answered_at: datetime | None
    version: int

    @property
    def is_open(self) -> bool:
        """True until it is answered, refused or withdrawn."""
        return self.state in OPEN

    @property
    def last_day(self) -> date:
        """The day by which it has to be answered."""
        return self.extended_to or self.due_on

    @property
    def days_left(self) -> int | None:
        """Days until the last one, below zero when it is over; None for a closed request."""
        return (self.last_day - clock.today()).days if self.is_open else None


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundRecord:
    """A customer's record that may be the person's; `is_chosen` when the request names it.

    `holds` are the reasons of the legal holds that stand; `is_erased` when nobody is in it any more.
    """

    id: UUID
    name: str
    email: str
    phone: str | None
    distributor: str
    is_live: bool
    is_chosen: bool
    holds: Sequence[str]
    is_erased: bool


def register(session: ScopedSession, typed: Mapping[str, Any], *, by: Person) -> UUID:
    """Register a request; records with the same e-mail are taken as the person's. Returns its id."""
    figures.require_role(by)
    given: NewRequest = request.validate(NewRequest, {key: value for key, value in typed.items() if value})
    if not (given.email or given.phone):
        raise InvalidInput.for_field("email", "must be given, or a phone")
    received, received_at = figures.check_receipt(given.received_on)
    email = (given.email or "").lower()
    row = DataRequest(
        id=ids.new(),
        number=figures.new_number(session, "DR"),
        kind=given.kind,
        name=given.name,
        email=email or None,
        phone=given.phone,
        subject_key=subject_key(email or given.phone or ""),
        details=given.details,
        customers=_find_ids(session, email),
        received_at=received_at,
        acknowledge_by=figures.add_working_days(received, figures.get_figure(session, "acknowledge_working_days")),
        due_on=received + timedelta(days=figures.get_figure(session, "answer_days")),
        created_by=by.id,
    )
    session.insert(row)
    facts = {"number": row.number, "kind": row.kind}
    audit.note(session, "data_request", row.id, "data request registered", actor=by.actor, **facts)
    return row.id


def _find_ids(session: ScopedSession, email: str) -> list[str]:
    found = sa.select(col(Customer.id)).where(col(Customer.email_key) == email, col(Customer.email_key) != "")
    return sorted(map(str, merging.list_linked(session, list(session.execute(found).scalars()))))


def find_records(session: ScopedSession, row: RequestRow) -> list[FoundRecord]:
    """List the records that may be the person's: of the e-mail, the phone, those merged with them or chosen before."""
    chosen = [UUID(each) for each in row.customers]
    same: list[Any] = [col(Customer.id).in_(chosen)]
    if row.email:
        same.append(col(Customer.email_key) == row.email.lower())
    if row.phone:
        same.append(col(Customer.phone_number) == row.phone)
    found_ids = session.execute(sa.select(col(Customer.id)).where(sa.or_(*same)).limit(_MOST_FOUND)).scalars()
    return list_records(session, merging.list_linked(session, list(found_ids)), chosen=chosen)


def list_records(
    session: ScopedSession, everyone: Collection[UUID], *, chosen: Collection[UUID] = ()
) -> list[FoundRecord]:
    """List customers' records by distributor, with what a request has to know of them."""
    query = (
        sa.select(Customer, col(Distributor.business_name))
        .join(Distributor, col(Distributor.id) == col(Customer.distributor_id))
        .where(col(Customer.id).in_(everyone))
        .order_by(col(Distributor.business_name), col(Customer.created_at))
        .limit(_MOST_FOUND)
    )
    holds = _load_holds(session, everyone)
    return [
        FoundRecord(
            id=found.id,
            name=f"{found.first_name} {found.last_name}",
            email=found.email,
            phone=found.phone_number,
            distributor=distributor,
            is_live=found.is_live,
            is_chosen=found.id in chosen,
            holds=holds.get(found.id, ()),
            is_erased=found.email.endswith(f"@{ERASED_DOMAIN}"),
        )
        for found, distributor in session.execute(query)
    ]


def _load_holds(session: ScopedSession, customers: Collection[UUID]) -> dict[UUID, list[str]]:
    query = (
        sa.select(col(LegalHold.customer_id), col(LegalHold.reason))
        .where(col(LegalHold.customer_id).in_(customers), col(LegalHold.lifted_at).is_(None))
        .order_by(col(LegalHold.set_at))
    )
    holds: dict[UUID, list[str]] = {}
    for row in session.execute(query):
        holds.setdefault(row.customer_id, []).append(row.reason)
    return holds


def list_other_open(session: ScopedSession, customers: Sequence[str], *, besides: UUID | None) -> list[RequestRow]:
    """List the open requests that name one of these records, besides the one for which they are to be erased.

    An erasure takes name and address out of them too, so that nobody could answer them afterwards.
    """
    query = sa.select(DataRequest).where(col(DataRequest.state).in_(OPEN))
    rows = (_build(row) for row in session.execute(query).scalars() if row.id != besides)
    return _sort_open(row for row in rows if not set(row.customers).isdisjoint(customers))


def choose_records(
    session: ScopedSession, request_id: UUID, customers: Sequence[UUID], *, version: int, by: Person
) -> None:
    """Name the records that are the person's; only those that the e-mail or the phone of the request lead to."""
    row = _get_open(session, request_id, version, by)
    offered = {found.id for found in find_records(session, _build(row))}
    if not set(customers) <= offered:
        raise InvalidInput.for_field("customers", "must be records of this e-mail or phone")
    _change(session, row, "data request records chosen", by, {"customers": sorted(map(str, customers))})


def acknowledge(session: ScopedSession, request_id: UUID, *, version: int, by: Person) -> None:
    """Note that the person was told that the request is being worked on."""
    row = _get_open(session, request_id, version, by)
    if row.state != "received":
        raise StateForbids("This request was acknowledged already")
    _change(session, row, "data request acknowledged", by, {"state": "acknowledged", "acknowledged_at": clock.now()})


def note_identity(session: ScopedSession, request_id: UUID, *, method: str, version: int, by: Person) -> None:
    """Note how the identity of the person was checked; without it nothing is handed out and nothing erased."""
    row = _get_open(session, request_id, version, by)
    given: Identity = request.validate(Identity, {"method": method})
    values = {"identity_method": given.method, "identity_by": by.id, "identity_at": clock.now()}
    _change(session, row, "data request identity checked", by, values, method=given.method)


def extend(session: ScopedSession, request_id: UUID, *, reason: str, version: int, by: Person) -> None:
    """Take more time, once and with a reason."""
    row = _get_open(session, request_id, version, by)
    if row.extended_to is not None:
        raise StateForbids("This request was extended already: there is one extension")
    reason = request.validate_text("reason", reason, least=10, most=500, is_multiline=True)
    until = row.due_on + timedelta(days=figures.get_figure(session, "extension_days"))
    values = {"extended_to": until, "extension_reason": reason}
    _change(session, row, "data request extended", by, values, until=until.isoformat())


def answer(session: ScopedSession, request_id: UUID, *, outcome: str, version: int, by: Person) -> None:
    """Close a request with its outcome; one for erasure is closed by the erasure itself."""
    row = _get_open(session, request_id, version, by)
    given: Outcome = request.validate(Outcome, {"outcome": outcome})
    if row.kind == "erasure":
        raise StateForbids("A request for erasure is answered by the erasure, or refused with a code")
    if row.identity_by is None:
        raise StateForbids("First note how the identity of the person was checked")
    _change(session, row, "data request answered", by, _close("answered", by) | {"outcome": given.outcome})


def refuse(session: ScopedSession, request_id: UUID, *, code: str, outcome: str, version: int, by: Person) -> None:
    """Refuse a request with a code and the words that the person is told."""
    row = _get_open(session, request_id, version, by)
    given: Refusal = request.validate(Refusal, {"refusal_code": code, "outcome": outcome})
    changes = _close("refused", by) | {"outcome": given.outcome, "refusal_code": given.refusal_code}
    _change(session, row, "data request refused", by, changes, code=given.refusal_code)


def _close(state: str, by: Person) -> dict[str, Any]:
    return {"state": state, "answered_by": by.id, "answered_at": clock.now()}


def get_request(session: ScopedSession, request_id: UUID) -> RequestRow:
    """Return one request; NotFound for an unknown id."""
    query = sa.select(DataRequest).where(col(DataRequest.id) == request_id)
    row = session.find_scalar(query, otherwise="There is no such request")
    return _build(row)


def list_requests(session: ScopedSession) -> list[RequestRow]:
    """List every request: the open ones by the day they are due, then the closed ones, newest first."""
    rows = [_build(row) for row in session.execute(sa.select(DataRequest)).scalars()]
    open_ = _sort_open(row for row in rows if row.is_open)
    closed = sorted((row for row in rows if not row.is_open), key=lambda row: row.number, reverse=True)
    return [*open_, *closed]


def _sort_open(rows: Iterable[RequestRow]) -> list[RequestRow]:
    return sorted(rows, key=lambda row: (row.last_day, row.number))


def _build(row: DataRequest) -> RequestRow:
    return build_row(RequestRow, row)


def _get_open(session: ScopedSession, request_id: UUID, version: int, by: Person) -> DataRequest:
    row = figures.get_for_update(session, DataRequest, request_id, noun="request", by=by)
    if row.state not in OPEN:
        raise StateForbids("This request is closed")
    if row.version != version:
        raise StaleVersion(detail={"version": row.version})
    return row


def _change(
    session: ScopedSession, row: DataRequest, action: str, by: Person, values: Mapping[str, Any], **facts: Any
) -> None:
    for name, value in values.items():
        setattr(row, name, value)
    row.version += 1
    session.flush()
    audit.note(session, "data_request", row.id, action, actor=by.actor, number=row.number, **facts)
