"""Agreements: the dated terms with a distributor or an insurer (contract F2)."""

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock, ids, money
from core.covers import fields, request
from core.covers.request import Request
from core.errors import FieldFault, InvalidInput, NotAllowed
from core.services.audit import log as audit
from core.services.catalogue.distributor_terms import has_ended
from core.services.finance import parties
from core.services.finance.parties import Party
from core.services.people.accounts import require_admin
from core.services.people.four_eyes import refuse_one_with
from core.services.people.staff import Person
from core.states.finance import StatementState
from core.store.access import AnySelect, ScopedSession
from core.store.schema.finance import COLLECTS as HOLDERS
from core.store.schema.tables import (
    Agreement,
    CommissionShare,
    CreditNote,
    CreditNotePayment,
    Distributor,
    Refund,
    Staff,
    Statement,
    StatementLine,
    TaxRate,
)

# Who may hold the premium of a distributor's sales; the first is usual.
COLLECTS = HOLDERS
# Days before its end at which a licence is spoken of, the most urgent first.
WARNED_DAYS = (7, 30, 60)
_CALCULATION = ("collects", "is_resident", "is_small", "charges_vat", "tin")
# Of two that begin on one day the newer one holds.
_SINCE = (col(Agreement.starts_on), col(Agreement.created_at), col(Agreement.id))
_Short = Annotated[str, Field(max_length=60)]


class _Terms(Request):
    number: Annotated[str, Field(min_length=1, max_length=60)]
    starts_on: fields.Day
    ends_on: fields.Day | None = None
    contact_email: fields.Email | None = None


class DistributorTerms(_Terms):
    """The terms with a distributor."""

    licence_number: _Short | None = None
    licence_expires_on: fields.Day | None = None
    tin: Annotated[str, Field(min_length=8, max_length=20)] | None = None
    is_resident: fields.Flag = True
    is_small: fields.Flag = False
    charges_vat: fields.Flag = False
    collects: Literal["platform", "distributor"] = "platform"
    book_premium: fields.PositiveNaira | None = None


class InsurerTerms(_Terms):
    """The terms with an insurer."""

    class_of_business: _Short | None = None
    remittance_days: Annotated[int, Field(ge=1, le=365)] = 30
    bordereau_due_day: Annotated[int, Field(ge=1, le=28)] = 10


def add(session: ScopedSession, party: Party, typed: Mapping[str, Any], *, by: Person) -> UUID:
    """Add terms that hold from their first day on, and return their id; what held before is kept.

    NotAllowed for anybody but an admin, and for one whose own the party is. InvalidInput for every wrong field, where
    a distributor would hold the premium from a day on of whose month we paid a refund, and where it would hold that of
    a month that has begun no more.
    """
    require_other(session, party, by, "agreement")
    terms: Any = request.validate(DistributorTerms if party.account == "distributor" else InsurerTerms, typed)
    if terms.ends_on and terms.ends_on < terms.starts_on:
        raise InvalidInput([FieldFault("ends_on", "must not be before its first day")])
    before = get_in_force(session, party, terms.starts_on)
    given = terms.model_dump()
    if before is not None and before.collects == COLLECTS[1] and given.get("collects") == COLLECTS[0]:
        _refuse_premium_of_before(session, party, terms.starts_on)
    if given.get("collects") == COLLECTS[1] and (before is None or before.collects != COLLECTS[1]):
        _refuse_paid_refunds(session, party, terms.starts_on)
    premium = given.pop("book_premium", None)
    row = Agreement(
        id=ids.new(),
        **party.columns,
        **given,
        book_premium_minor=None if premium is None else money.to_minor(premium),
        made_by=by.id,
        created_at=clock.now(),
    )
    session.insert(row)
    audit.write(
        session,
        actor=by.actor,
        action="agreement added",
        subject=audit.subject_of(party.subject, party.id),
        before=_facts(before) if before else None,
        after=_facts(row),
    )
    return row.id


def require_other(session: ScopedSession, party: Party, by: Person, act: str) -> None:
    """NotAllowed for anybody but an admin, and for one with an e-mail, phone or account of the party (contract K12)."""
    require_admin(by)
    parties.get_name(session, party)
    with audit.keep_refusal(actor=by.actor, action=act, subject=audit.subject_of(party.subject, party.id)):
        parties.refuse_own_party(session, party, by=by)


def _refuse_premium_of_before(session: ScopedSession, party: Party, starts_on: date) -> None:
    """InvalidInput where a distributor would not owe the premium that it holds of a month that has begun (contract F2).

    Terms that were typed today are corrected today.
    """
    free = clock.add_months(clock.today().replace(day=1), 1)
    before_today = clock.lagos_midnight(clock.today())
    held = get_in_force(session, party, starts_on, known_at=before_today)
    if starts_on < free and held is not None and held.collects == COLLECTS[1]:
        message = f"must be {free} or later: until then the distributor holds the premium of its sales, and owes it"
        raise InvalidInput.for_field("starts_on", message)


def _refuse_paid_refunds(session: ScopedSession, party: Party, starts_on: date) -> None:
    """InvalidInput where a distributor would have refunds back on its statement that we paid to customers (K2)."""
    parties.lock(session, party)
    paid = (
        sa.select(col(CreditNotePayment.credit_note_id))
        .group_by(col(CreditNotePayment.credit_note_id))
        .having(sa.func.sum(col(CreditNotePayment.amount_minor)) > 0)
    )
    stated = sa.and_(col(StatementLine.movement_id) == col(Refund.id), col(StatementLine.released_by).is_(None))
    query: AnySelect = (
        sa.select(col(Refund.created_at), col(Statement.month))
        .join(CreditNote, col(CreditNote.refund_id) == col(Refund.id))
        .outerjoin(StatementLine, sa.and_(stated, col(StatementLine.account) == party.account))
        .outerjoin(Statement, col(Statement.id) == col(StatementLine.statement_id))
        .where(col(Refund.distributor_id) == party.id, col(Refund.is_live), col(CreditNote.id).in_(paid))
    )
    is_valid = col(Statement.state) != StatementState.VOID, col(Statement.reverses_id).is_(None)
    last = session.execute(
        sa.select(sa.func.max(col(Statement.month))).where(party.owns(Statement), *is_valid)
    ).scalar()
    due = clock.add_months(last, 1) if last else date.min
    months = [
        row.month or max(clock.to_lagos_day(row.created_at).replace(day=1), due) for row in session.execute(query)
    ]
    if months and starts_on < (free := clock.add_months(max(months), 1)):
        message = f"must be {free} or later: we paid refunds to customers that it would have back on its statements"
        raise InvalidInput.for_field("starts_on", message)


def get_in_force(
    session: ScopedSession, party: Party, on: date, *, known_at: datetime | None = None
) -> Agreement | None:
    """Return the terms that hold on a day: the newest that have begun by then; None before the first.

    With `known_at` it is by the terms that had been made before that instant.
    """
    known = [col(Agreement.created_at) < known_at] if known_at else []
    query = (
        sa.select(Agreement)
        .where(party.owns(Agreement), col(Agreement.starts_on) <= on, *known)
        .order_by(*(column.desc() for column in _SINCE))
        .limit(1)
    )
    found: Agreement | None = session.execute(query).scalar_one_or_none()
    return found


def refuse_who_changed(session: ScopedSession, stated: Statement, by: Person) -> None:
    """NotAllowed for who changed the terms by which a statement is calculated, since the one before (contract K3).

    Terms of before the first statement count where they are other than the usual ones, and so do those that were made
    before the last statement and begin after its month. The same holds for who proposed a commission share of the
    distributor, also one that has ended again, and of a rate of tax that begins in the month.
    """
    party = parties.party_of(stated)
    last = clock.add_days(clock.add_months(stated.month, 1), -1)
    before = sa.select(sa.func.max(col(Statement.prepared_at))).where(
        party.owns(Statement), col(Statement.month) < stated.month, col(Statement.reverses_id).is_(None)
    )
    since = session.execute(before).scalar_one()
    rows = [row for row, _ in reversed(list_history(session, party)) if row.starts_on <= last]
    held: Agreement | None = None
    changed: list[tuple[UUID, datetime]] = []
    for row in rows:
        is_new = since is None or row.created_at > since or row.starts_on >= stated.month
        if is_new and _list_calculation(row) != _list_calculation(held):
            if row.made_by == by.id:
                raise NotAllowed(
                    f"You changed the terms by agreement {row.number}, by which it is calculated: somebody else of"
                    " finance approves it"
                )
            changed.append((row.made_by, row.created_at))
        held = row
    did = "changed the terms by which it is calculated"
    refuse_one_with(session, changed, by, did=did, does="approves it")
    if party.account == "distributor":
        _refuse_who_proposed_share(session, stated, by, is_first=since is None)
        _refuse_who_proposed_rate(session, stated, by)


def _refuse_who_proposed_share(session: ScopedSession, stated: Statement, by: Person, *, is_first: bool) -> None:
    first, following = (clock.lagos_midnight(day) for day in (stated.month, clock.add_months(stated.month, 1)))
    share = CommissionShare
    # The one before was prepared in the month or later, and a share begins after it was decided.
    is_new = sa.true() if is_first else col(share.effective_at) >= first
    query = sa.select(col(share.proposed_by), col(share.proposed_at)).where(
        col(share.distributor_id) == stated.distributor_id,
        col(share.state) == "confirmed",
        col(share.effective_at) < following,
        is_new,
    )
    proposed = [(row.proposed_by, row.proposed_at) for row in session.execute(query)]
    if by.id in {first for first, _ in proposed}:
        raise NotAllowed(
            "You proposed a commission share of this distributor, by which it is calculated: somebody else of finance"
            " approves it"
        )
    refuse_one_with(session, proposed, by, did="proposed a commission share of it", does="approves it")


def _refuse_who_proposed_rate(session: ScopedSession, stated: Statement, by: Person) -> None:
    rate = TaxRate
    query = sa.select(col(rate.proposed_by), col(rate.proposed_at)).where(
        col(rate.effective_on) == stated.month, col(rate.state) == "confirmed"
    )
    proposed = [(row.proposed_by, row.proposed_at) for row in session.execute(query)]
    if by.id in {first for first, _ in proposed}:
        raise NotAllowed(
            "You proposed a rate of tax that begins in its month, by which it is calculated: somebody else of finance"
            " approves it"
        )
    refuse_one_with(session, proposed, by, did="proposed a rate of tax that begins in its month", does="approves it")


def _list_calculation(row: Agreement | None) -> list[Any]:
    """Return what of the terms a statement is calculated by; without terms the usual ones hold."""
    return [COLLECTS[0], True, False, False, None] if row is None else [getattr(row, name) for name in _CALCULATION]


# What of the terms moves money, by what people call it.
_MOVES_MONEY = {
    "collects": "who holds the premium",
    "is_resident": "residence",
    "is_small": "size",
    "charges_vat": "VAT",
    "tin": "tax number",
    "book_premium_minor": "premium of loan books that its key confirms",
}


def list_changed(session: ScopedSession, *, since: datetime, until: datetime) -> Iterator[str]:
    """Describe the terms with distributors that were added in this time and have another say on money than before.

    One admin adds them. The first terms are compared with the usual ones.
    """
    query = (
        sa.select(Agreement, col(Staff.name), col(Distributor.business_name))
        .join(Staff, col(Staff.id) == col(Agreement.made_by))
        .join(Distributor, col(Distributor.id) == col(Agreement.distributor_id))
        .where(col(Agreement.created_at) >= since, col(Agreement.created_at) < until)
        .order_by(col(Agreement.created_at), col(Agreement.id))
    )
    usual = [*_list_calculation(None), None]
    for row, maker, distributor in session.execute(query):
        held = get_in_force(session, parties.party_of(row), row.starts_on, known_at=row.created_at)
        before = usual if held is None else [getattr(held, name) for name in _MOVES_MONEY]
        pairs = zip(_MOVES_MONEY.items(), before, strict=True)
        changed = [words for (name, words), was in pairs if getattr(row, name) != was]
        if changed:
            from_then = clock.format_day(row.starts_on)
            yield f"{distributor}, {', '.join(changed)} by agreement {row.number} from {from_then}: {maker}"


def load_in_force(session: ScopedSession, on: date, *, known_at: datetime | None = None) -> Mapping[Party, Agreement]:
    """Return the terms that hold on a day, of every party that has some, by what was made until an instant or now."""
    known = [col(Agreement.created_at) <= known_at] if known_at else []
    query = sa.select(Agreement).where(col(Agreement.starts_on) <= on, *known).order_by(*_SINCE)
    return {parties.party_of(row): row for row in session.execute(query).scalars()}


def list_history(session: ScopedSession, party: Party) -> list[tuple[Agreement, str]]:
    """List all terms with who made them, the newest first."""
    query = (
        sa.select(Agreement, col(Staff.name))
        .join(Staff, col(Staff.id) == col(Agreement.made_by))
        .where(party.owns(Agreement))
        .order_by(*(column.desc() for column in _SINCE))
    )
    return [(row, name) for row, name in session.execute(query)]


def list_expiring(session: ScopedSession) -> list[tuple[UUID, str, date, int]]:
    """List the distributors whose licence ends within 60 days or is over: id, name, last day and days left."""
    today, found = clock.today(), []
    for distributor_id, name, terms in _load_of_active(session, today):
        if terms.licence_expires_on and (terms.licence_expires_on - today).days <= max(WARNED_DAYS):
            found.append((distributor_id, name, terms.licence_expires_on, (terms.licence_expires_on - today).days))
    return sorted(found, key=lambda each: (each[3], each[1]))


def list_ended(session: ScopedSession) -> list[tuple[str, date]]:
    """List the names of the distributors that sell although their agreement is over, with its last day."""
    today = clock.today()
    held = _load_of_active(session, today)
    return sorted((name, terms.ends_on) for _, name, terms in held if terms.ends_on and has_ended(terms, today))


def _load_of_active(session: ScopedSession, on: date) -> Iterator[tuple[UUID, str, Agreement]]:
    held = load_in_force(session, on)
    active = sa.select(col(Distributor.id), col(Distributor.business_name)).where(col(Distributor.active))
    for distributor_id, name in session.execute(active):
        if terms := held.get(Party("distributor", distributor_id)):
            yield distributor_id, name, terms


def warned_at(days_left: int) -> int | None:
    """Return the bound of the warning that holds, 7, 30 or 60 days; 0 once the licence is over, None before them."""
    return 0 if days_left < 0 else next((bound for bound in WARNED_DAYS if days_left <= bound), None)


def _facts(row: Agreement) -> dict[str, Any]:
    hidden = {"id", "made_by", "created_at", "account", "distributor_id", "provider_id"}
    held = {name: getattr(row, name) for name in type(row).model_fields if name not in hidden}
    return {name: str(value) if isinstance(value, date) else value for name, value in held.items() if value is not None}
