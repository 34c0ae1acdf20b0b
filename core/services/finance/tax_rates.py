"""Rates of VAT and withholding tax: proposed by one person of finance, confirmed by another (contract F4).

A rate holds from the first day of a month that nobody has stated yet. What held is never changed: a newer rate of the
same day takes its place.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Final, Literal
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock, ids, money
from core.covers import fields, request
from core.covers.request import Request
from core.errors import FieldFault, StateForbids, raise_faults
from core.services.audit import log as audit
from core.services.catalogue.rate_changes import FARTHEST
from core.services.finance import tax
from core.services.people import approvals
from core.services.people.approvals import Subject
from core.services.people.four_eyes import OPEN, NotedProposals, refuse_faults
from core.services.people.staff import Person
from core.states.finance import StatementState
from core.store.access import ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import Statement, TaxRate

ROLE: Final = "finance"
KIND: Final = "tax rate"
_SHIPPED: Final = frozenset({UUID("01900000000070008000000000" + end) for end in ("0f0001", "0f0002")})
_FIGURES: Final = ("resident_bp", "non_resident_bp", "without_tin_factor", "small_limit_minor", "source")
_MOST_BP: Final = 10_000

_Percent = Annotated[Decimal, Field(ge=0, le=50, decimal_places=2)]
_SUBJECT: Final = "tax_rate"


def _require_finance(by: Person) -> None:
    by.require_role(ROLE, otherwise="Only finance proposes and confirms the rates of taxes")


def _note(session: ScopedSession, row: TaxRate, action: str, by: Person) -> None:
    facts = {
        "tax": tax.KINDS[row.kind],
        "effective_on": row.effective_on.isoformat(),
        "rate": f"{money.to_naira(row.resident_bp)} %",
        "non_residents": f"{money.to_naira(row.non_resident_bp)} %",
        "times_without_tax_number": row.without_tin_factor,
        "small_company_limit": None if row.small_limit_minor is None else money.to_wire(row.small_limit_minor),
        "source": row.source,
    }
    audit.note(session, _SUBJECT, row.id, action, actor=by.actor, **facts)


PROPOSALS: Final = NotedProposals(
    TaxRate,
    "rate",
    second="somebody else of finance",
    role=ROLE,
    allow=_require_finance,
    note=_note,
    actions={
        "confirmed": "tax rate confirmed",
        "refused": "tax rate refused",
        "withdrawn": "tax rate taken back",
    },
)
refuse, take_back = PROPOSALS.refuse, PROPOSALS.take_back


class _Rate(Request):
    """Input of both taxes: a percentage from the first day of a month on, and the law that says so."""

    effective_on: fields.Day
    resident: _Percent
    source: Annotated[str, Field(min_length=10, max_length=300)]


class VatInput(_Rate):
    """Input: a rate of VAT."""


class WithholdingInput(_Rate):
    """Input: a rate of withholding tax; the limit is what a small company may earn in a month without it, in naira."""

    non_resident: _Percent
    without_tin_factor: Annotated[int, Field(ge=1, le=4)] = 1
    small_limit: fields.PositiveNaira | None = None


_INPUTS: Final[Mapping[str, type[_Rate]]] = {"vat": VatInput, "withholding": WithholdingInput}


@dataclass(frozen=True, kw_only=True, slots=True)
class DatedRate:
    """One rate with who proposed and decided it; nobody did of those that came with the store.

    `is_held` says that it is the one of its tax that holds today, `is_unconfirmed` that two people did not confirm one
    that holds on its day.
    """

    id: UUID
    kind: Literal["vat", "withholding"]
    effective_on: date
    resident_bp: int
    non_resident_bp: int
    without_tin_factor: int
    small_limit_minor: int | None
    source: str
    state: str
    proposed_by: UUID | None
    proposer: str | None
    proposed_at: datetime | None
    decider: str | None
    decided_at: datetime | None
    is_held: bool
    is_unconfirmed: bool


def propose(session: ScopedSession, kind: str, typed: Mapping[str, Any], *, by: Person) -> UUID:
    """Propose a rate and return its id; it holds once somebody else of finance has confirmed it.

    InvalidInput names every fault, StateForbids says that nothing would change or that another proposal waits.
    """
    _require_finance(by)
    given: Any = request.validate(_INPUTS[kind], typed)
    resident = money.to_minor(given.resident)
    row = TaxRate(
        id=ids.new(),
        kind=kind,
        effective_on=given.effective_on,
        resident_bp=resident,
        non_resident_bp=resident if kind == "vat" else money.to_minor(given.non_resident),
        without_tin_factor=getattr(given, "without_tin_factor", 1),
        small_limit_minor=_to_minor(getattr(given, "small_limit", None)),
        source=given.source,
        state=OPEN,
        proposed_by=by.id,
        proposed_at=clock.now(),
    )
    raise_faults(list(_find_faults(session, row)))
    _refuse_no_change(session, row)
    _insert(session, row, by)
    return row.id


def adopt(session: ScopedSession, rate_id: UUID, *, by: Person) -> UUID:
    """Propose a rate that holds as it stands, where two people did not confirm it, and return the id of the proposal.

    Confirmed, it takes the place of the other: no figure changes, also not of a month that was stated.
    """
    _require_finance(by)
    standing = next((row for row in _list_adoptable(session) if row.id == rate_id), None)
    if standing is None:
        raise StateForbids("This is no rate that holds, or two people have confirmed it already")
    row = TaxRate(
        **{name: getattr(standing, name) for name in (*_FIGURES, "kind", "effective_on")},
        id=ids.new(),
        state=OPEN,
        proposed_by=by.id,
        proposed_at=clock.now(),
    )
    _insert(session, row, by)
    return row.id


def _insert(session: ScopedSession, row: TaxRate, by: Person) -> None:
    if not session.insert_if_absent(row):
        raise StateForbids(f"A new rate of {tax.IN_TEXT[row.kind]} waits for somebody else of finance: decide it first")
    _note(session, row, "tax rate proposed", by)


def confirm(session: ScopedSession, rate_id: UUID, *, by: Person) -> None:
    """Let a proposed rate hold from its day on; a month that was stated meanwhile is an error (StateForbids)."""
    row = PROPOSALS.open_for(session, rate_id, by)
    with audit.keep_refusal(actor=by.actor, action="tax rate confirmation", subject=audit.subject_of(_SUBJECT, row.id)):
        PROPOSALS.require_second(session, row, by)
        tax.hold_rates(session, is_changing=True)
        is_adopted = any(_is_same(row, standing) for standing in _list_adoptable(session))
        if not is_adopted:
            refuse_faults(_find_faults(session, row))
            _refuse_no_change(session, row)
    PROPOSALS.end(session, row, "confirmed", by)
    approvals.approve(session, build_subject(row), staff_id=by.id, role=ROLE, limit_minor=None, at=clock.now())


def list_rates(session: ScopedSession) -> list[DatedRate]:
    """List the rates of both taxes with who proposed and decided them, the newest day first."""
    held = {rate.id for kind in tax.KINDS if (rate := tax.get_rate(session, kind, clock.today())) is not None}
    query = PROPOSALS.select_with_names().order_by(
        col(TaxRate.effective_on).desc(), col(TaxRate.kind), col(TaxRate.proposed_at).desc(), col(TaxRate.id).desc()
    )
    unconfirmed = {row.id for row in _list_adoptable(session)}
    return [
        build_row(
            DatedRate,
            row,
            proposer=made_by,
            decider=decided_by,
            is_held=row.id in held,
            is_unconfirmed=row.id in unconfirmed,
        )
        for row, made_by, decided_by in session.execute(query)
    ]


def list_waiting(session: ScopedSession) -> list[str]:
    """List the taxes of which a rate waits for its second person, in words."""
    kinds = session.execute(sa.select(col(TaxRate.kind)).where(col(TaxRate.state) == OPEN).order_by(col(TaxRate.kind)))
    return [tax.IN_TEXT[kind] for kind in kinds.scalars()]


def build_subject(row: TaxRate) -> Subject:
    """Return what the confirmation of a rate is of: of which tax, from when, and how much."""
    parts = {
        "the tax": row.kind,
        "the beginning": row.effective_on.isoformat(),
        "the rate": [getattr(row, name) for name in _FIGURES],
    }
    return Subject(kind=KIND, id=row.id, amount_minor=None, parts=parts)


def find_unconfirmed(session: ScopedSession) -> Iterator[str]:
    """Rates that are not what two people confirmed, for `coverdesk check`; the store came with one of each tax."""
    for row, why in _list_unconfirmed(session):
        rate = f"{money.to_naira(row.resident_bp)} % of {tax.IN_TEXT[row.kind]}"
        yield f"the rate of {rate} from {clock.format_day(row.effective_on)}: {why}"


def _list_unconfirmed(session: ScopedSession) -> list[tuple[TaxRate, str]]:
    """List the rates that hold, or held, and are not what two people confirmed, each with why.

    One that two people have adopted since is left out: theirs, which is the same, has taken its place.
    """
    query = (
        sa.select(TaxRate)
        .where(col(TaxRate.state) == "confirmed", col(TaxRate.id).not_in(_SHIPPED))
        .order_by(col(TaxRate.effective_on), col(TaxRate.id))
    )
    rows = session.execute(query).scalars().all()
    approved = approvals.load_latest(session, KIND, [row.id for row in rows]) if rows else {}
    reasons = {row.id: approvals.describe_difference(approved.get(row.id), build_subject(row)) for row in rows}
    good = [row for row in rows if reasons[row.id] is None]
    return [(row, why) for row in rows if (why := reasons[row.id]) and not any(_is_same(row, each) for each in good)]


def _list_adoptable(session: ScopedSession) -> list[TaxRate]:
    """List those of them that hold on their day: of another, which a newer one has replaced, figures would change."""
    found = []
    for row, _ in _list_unconfirmed(session):
        held = tax.get_rate(session, row.kind, row.effective_on)
        if held is not None and held.id == row.id:
            found.append(row)
    return found


def _is_same(one: TaxRate, other: TaxRate) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name in (*_FIGURES, "kind", "effective_on"))


def _find_faults(session: ScopedSession, row: TaxRate) -> Iterator[FieldFault]:
    """Yield the faults of a rate that takes effect; checked when proposed and again when confirmed."""
    if row.effective_on.day != 1:
        yield FieldFault("effective_on", "must be the first day of a month: a statement is of a whole one")
    if row.effective_on > clock.add_days(clock.today(), FARTHEST.days):
        yield FieldFault("effective_on", "must be within five years")
    if (stated := _find_last_stated(session)) and row.effective_on <= stated:
        after = clock.add_months(stated, 1)
        yield FieldFault("effective_on", f"must be {clock.format_day(after)} or later: {stated:%B %Y} is stated")
    if max(row.resident_bp, row.non_resident_bp) * row.without_tin_factor > _MOST_BP:
        yield FieldFault("without_tin_factor", "must not make more than the whole commission of it")


def _find_last_stated(session: ScopedSession) -> date | None:
    """Return the last month of which a distributor has a statement that is not void."""
    query = sa.select(sa.func.max(col(Statement.month))).where(
        col(Statement.distributor_id).is_not(None),
        col(Statement.state) != StatementState.VOID,
        col(Statement.reverses_id).is_(None),
    )
    found: date | None = session.execute(query).scalar_one()
    return found


def _refuse_no_change(session: ScopedSession, row: TaxRate) -> None:
    before = tax.get_rate(session, row.kind, row.effective_on)
    if before is not None and all(getattr(before, name) == getattr(row, name) for name in _FIGURES):
        raise StateForbids("This is the rate that holds at that time already: nothing would change")


def _to_minor(naira: Decimal | None) -> int | None:
    return None if naira is None else money.to_minor(naira)
