"""Agreements: the dated terms with a distributor or an insurer (contract F2).

Terms with a distributor that decide money are proposed by one admin and confirmed by another; others hold at once.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from types import SimpleNamespace
from typing import Annotated, Any, Final, Literal
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock, ids, money
from core.covers import fields, request
from core.covers.request import Request
from core.errors import FieldFault, NotAllowed, StateForbids, raise_faults
from core.services.audit import log as audit
from core.services.catalogue.distributor_terms import has_ended
from core.services.finance import parties, tax
from core.services.finance.parties import Party
from core.services.people import approvals, role_grants
from core.services.people.accounts import require_admin
from core.services.people.approvals import Subject
from core.services.people.four_eyes import OPEN, NotedProposals, refuse_faults, refuse_one_with
from core.services.people.staff import Person
from core.states.finance import CLOSING, SHUT, StatementState
from core.store.access import AnySelect, ScopedSession
from core.store.schema.finance import COLLECTS as HOLDERS
from core.store.schema.tables import (
    Agreement,
    CommissionShare,
    CreditNote,
    CreditNotePayment,
    Distributor,
    MonthStep,
    Refund,
    Staff,
    Statement,
    StatementLine,
    TaxRate,
    TermsProposal,
)

# Who may hold the premium of a distributor's sales; the first is usual.
COLLECTS = HOLDERS
# Days before its end at which a licence is spoken of, the most urgent first.
WARNED_DAYS = (7, 30, 60)
KIND: Final = "terms"
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


# What of the terms moves money, by what people call it.
_MOVES_MONEY: Final = {
    "collects": "who holds the premium",
    "is_resident": "residence",
    "is_small": "size",
    "charges_vat": "VAT",
    "tin": "tax number",
    "book_premium_minor": "premium of loan books that its key confirms",
    "ends_on": "last day, until which its key confirms loan books",
}
# By these a statement is calculated.
_CALCULATED: Final = 5
# What holds without terms.
_USUAL: Final[Any] = SimpleNamespace(
    **{name: None if field.is_required() else field.default for name, field in DistributorTerms.model_fields.items()},
    book_premium_minor=None,
)


def _note(session: ScopedSession, row: TermsProposal, action: str, by: Person) -> None:
    audit.note(session, "distributor", row.distributor_id, action, actor=by.actor, **row.terms)


PROPOSALS: Final = NotedProposals(
    TermsProposal,
    "set of terms",
    allow=require_admin,
    note=_note,
    actions={"confirmed": "terms confirmed", "refused": "terms refused", "withdrawn": "terms taken back"},
)
refuse, take_back = PROPOSALS.refuse, PROPOSALS.take_back


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenTerms:
    """Terms that wait for a second admin, with each field that they change: as it holds, and as it will.

    `followed_by` is the day from which other terms hold instead, and their number.
    """

    id: UUID
    proposed_by: UUID
    proposer: str
    proposed_at: datetime
    starts_on: date
    changes: Mapping[str, tuple[Any, Any]]
    followed_by: tuple[date, str] | None


def add(session: ScopedSession, party: Party, typed: Mapping[str, Any], *, by: Person) -> UUID:
    """Add terms that hold from their first day on, and return their id; what held before is kept.

    Terms with a distributor that decide money, or begin after today, hold once another admin has confirmed them, by the
    same id, or at once where the firm has one admin and says so (contract K4).

    NotAllowed for anybody but an admin, for one whose own the party is, and where no other admin could confirm them.
    StateForbids while others wait. InvalidInput for every wrong field.
    """
    require_other(session, party, by, "agreement")
    terms: Any = request.validate(DistributorTerms if party.account == "distributor" else InsurerTerms, typed)
    _hold(session)
    if session.count_rows(TermsProposal, col(TermsProposal.distributor_id) == party.id, _WAITS):
        raise StateForbids("Other terms wait for a second admin already: they have to be decided first")
    row = _build(party, terms, ids.new(), made_by=by.id)
    raise_faults(_find_faults(session, party, row))
    # Those of a later day would end what two admins agree on until then.
    if not _list_changes(session, party, row) and (party.account == "provider" or row.starts_on <= clock.today()):
        _write(session, row, by=by)
    elif role_grants.holds_alone(session, by):
        alone = {role_grants.ALONE: True, "party": parties.get_name(session, party)}
        _write(session, row, by=by, **alone)
    else:
        given = {"terms": terms.model_dump(mode="json"), "proposed_by": by.id, "proposed_at": clock.now()}
        proposal = TermsProposal(id=row.id, distributor_id=party.id, **given)
        session.insert(proposal)
        _note(session, proposal, "terms proposed", by)
    return row.id


def confirm(session: ScopedSession, proposal_id: UUID, *, by: Person) -> None:
    """Let terms that another admin proposed hold from their day on; their bounds are checked again."""
    _hold(session)
    proposal = PROPOSALS.open_for(session, proposal_id, by)
    party = Party("distributor", proposal.distributor_id)
    subject = audit.subject_of(party.subject, party.id)
    with audit.keep_refusal(actor=by.actor, action="terms confirmation", subject=subject):
        parties.refuse_own_party(session, party, by=by)
        PROPOSALS.require_second(session, proposal, by)
        row = _read(proposal)
        refuse_faults(_find_faults(session, party, row))
    PROPOSALS.end(session, proposal, "confirmed", by)
    _write(session, row, by=by)


_WAITS: Final = col(TermsProposal.state) == OPEN


def find_waiting(session: ScopedSession, party: Party) -> OpenTerms | None:
    """Return the terms with a distributor that wait for a second admin."""
    query = PROPOSALS.select_with_names().where(col(TermsProposal.distributor_id) == party.id, _WAITS)
    found = session.execute(query).one_or_none()
    if found is None:
        return None
    proposal, proposer, _ = found
    row = _read(proposal)
    held = get_in_force(session, party, row.starts_on) or _USUAL
    later = [each for each, _ in list_history(session, party)]
    fields_of = {"number", *DistributorTerms.model_fields, "book_premium_minor"} - {"book_premium", "starts_on"}
    pairs = {name: (getattr(held, name), getattr(row, name)) for name in sorted(fields_of)}
    return OpenTerms(
        **{name: getattr(proposal, name) for name in ("id", "proposed_by", "proposed_at")},
        proposer=proposer,
        starts_on=row.starts_on,
        changes={name: (was, will) for name, (was, will) in pairs.items() if was != will},
        followed_by=min(
            ((each.starts_on, each.number) for each in later if each.starts_on > row.starts_on), default=None
        ),
    )


def _hold(session: ScopedSession) -> None:
    """Wait for whoever closes a month, or states one by the terms, at this instant."""
    session.next_in_transaction(CLOSING)
    tax.hold_rates(session, is_changing=True)


def _read(proposal: TermsProposal) -> Agreement:
    terms = request.validate(DistributorTerms, proposal.terms)
    return _build(Party("distributor", proposal.distributor_id), terms, proposal.id, made_by=proposal.proposed_by)


def _build(party: Party, terms: Any, row_id: UUID, *, made_by: UUID) -> Agreement:
    given = terms.model_dump()
    premium = given.pop("book_premium", None)
    return Agreement(
        id=row_id,
        **party.columns,
        **given,
        book_premium_minor=None if premium is None else money.to_minor(premium),
        made_by=made_by,
        created_at=clock.now(),
    )


def _write(session: ScopedSession, row: Agreement, *, by: Person, **more: Any) -> None:
    party = parties.party_of(row)
    before = get_in_force(session, party, row.starts_on)
    session.insert(row)
    audit.write(
        session,
        actor=by.actor,
        action="agreement added",
        subject=audit.subject_of(party.subject, party.id),
        before=_facts(before) if before else None,
        after=_facts(row) | more,
    )
    if row.distributor_id:
        at = row.created_at
        approvals.approve(session, build_subject(row), staff_id=by.id, role="admin", limit_minor=None, at=at)


def build_subject(row: Agreement) -> Subject:
    """Return what the confirmation of terms is of: whose, from when, and all that moves money."""
    parts = {"the distributor": row.distributor_id, "the beginning": str(row.starts_on)}
    parts |= {f"the {words}": str(getattr(row, name)) for name, words in _MOVES_MONEY.items()}
    return Subject(kind=KIND, id=row.id, amount_minor=None, parts=parts)


def find_unconfirmed(session: ScopedSession) -> Iterator[str]:
    """Terms with distributors that are not what the desk wrote, for `coverdesk check` (contract K3)."""
    rows = list(session.execute(_select_of_distributors()))
    known = approvals.load_latest(session, KIND, [row.id for row, *_ in rows])
    for row, _, _, distributor in rows:
        if why := approvals.describe_difference(known.get(row.id), build_subject(row)):
            yield f"agreement {row.number} with {distributor} from {clock.format_day(row.starts_on)}: {why}"


def require_other(session: ScopedSession, party: Party, by: Person, act: str) -> None:
    """NotAllowed for anybody but an admin, and for one with an e-mail, phone or account of the party (contract K12)."""
    require_admin(by)
    parties.get_name(session, party)
    with audit.keep_refusal(actor=by.actor, action=act, subject=audit.subject_of(party.subject, party.id)):
        parties.refuse_own_party(session, party, by=by)


def _find_faults(session: ScopedSession, party: Party, row: Agreement) -> list[FieldFault]:
    """List the faults of terms; checked when they are proposed and again when they are confirmed."""
    if row.ends_on and row.ends_on < row.starts_on:
        return [FieldFault("ends_on", "must not be before its first day")]
    if not _list_changes(session, party, row):
        return []
    held = get_in_force(session, party, row.starts_on) or _USUAL
    bounds = {
        "a statement of the distributor, or the close of the month, is by the terms of before": find_open_month(
            session, party
        )
    }
    if (held.collects, row.collects) == (COLLECTS[1], COLLECTS[0]):
        bounds["until then the distributor holds the premium of its sales, and owes it"] = _find_free(
            session, party, row.starts_on
        )
    elif held.collects != row.collects:
        bounds["we paid refunds to customers that it would have back on its statements"] = _find_without_refunds(
            session, party
        )
    wrong = [(day, why) for why, day in bounds.items() if row.starts_on < day]
    return [FieldFault("starts_on", f"must be {day} or later: {why}") for day, why in wrong]


def find_open_month(session: ScopedSession, party: Party) -> date:
    """Return the first month of which neither a statement of the party stands nor the books are closed."""
    query = sa.select(col(MonthStep.month), col(MonthStep.state)).order_by(
        col(MonthStep.month), col(MonthStep.position)
    )
    states = {row.month: row.state for row in session.execute(query)}
    last = [month for month, state in states.items() if state in SHUT]
    return clock.add_months(max([*last, *filter(None, [_find_last_stated(session, party)])], default=date.min), 1)


def _find_last_stated(session: ScopedSession, party: Party) -> date | None:
    is_valid = col(Statement.state) != StatementState.VOID, col(Statement.reverses_id).is_(None)
    last: date | None = session.execute(
        sa.select(sa.func.max(col(Statement.month))).where(party.owns(Statement), *is_valid)
    ).scalar()
    return last


def _find_free(session: ScopedSession, party: Party, starts_on: date) -> date:
    """Return the day from which a distributor may hold the premium no more: it owes that of each month that has begun.

    Terms that were typed today are corrected today.
    """
    held = get_in_force(session, party, starts_on, known_at=clock.lagos_midnight(clock.today()))
    is_of_before = held is not None and held.collects == COLLECTS[1]
    return clock.add_months(clock.today().replace(day=1), 1) if is_of_before else date.min


def _find_without_refunds(session: ScopedSession, party: Party) -> date:
    """Return the first month in which a distributor has no refund back that we paid to customers (contract K2)."""
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
    last = _find_last_stated(session, party)
    due = clock.add_months(last, 1) if last else date.min
    months = [
        row.month or max(clock.to_lagos_day(row.created_at).replace(day=1), due) for row in session.execute(query)
    ]
    return clock.add_months(max(months), 1) if months else date.min


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
    columns = (col(TermsProposal.id), col(TermsProposal.proposed_at))
    proposed = {row.id: row.proposed_at for row in session.execute(sa.select(*columns))}
    held: Agreement | None = None
    changed: list[tuple[UUID, datetime]] = []
    for row in rows:
        is_new = since is None or row.created_at > since or row.starts_on >= stated.month
        if is_new and _list_money(row)[:_CALCULATED] != _list_money(held)[:_CALCULATED]:
            if row.made_by == by.id:
                raise NotAllowed(
                    f"You changed the terms by agreement {row.number}, by which it is calculated: somebody else of"
                    " finance approves it"
                )
            changed.append((row.made_by, proposed.get(row.id, row.created_at)))
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


def _list_money(row: Agreement | None) -> list[Any]:
    """Return what of the terms moves money; without terms the usual ones hold."""
    held = row or _USUAL
    *values, last_on = [getattr(held, name) for name in _MOVES_MONEY]
    return [*values, last_on if held.book_premium_minor else None]


def _list_changes(
    session: ScopedSession, party: Party, row: Agreement, *, known_at: datetime | None = None
) -> list[str]:
    """List in words what of the terms with a distributor is another than what held, and moves money."""
    if party.account != "distributor":
        return []
    held = get_in_force(session, party, row.starts_on, known_at=known_at)
    pairs = zip(_MOVES_MONEY.values(), _list_money(held), _list_money(row), strict=True)
    return [words for words, was, will in pairs if was != will]


def list_changed(session: ScopedSession, *, since: datetime, until: datetime) -> Iterator[str]:
    """Describe the terms with distributors that were added in this time and have another say on money than before.

    The first terms are compared with the usual ones.
    """
    of_days = (col(Agreement.created_at) >= since, col(Agreement.created_at) < until)
    for row, maker, decider, distributor in session.execute(_select_of_distributors().where(*of_days)):
        if changed := _list_changes(session, parties.party_of(row), row, known_at=row.created_at):
            from_then = clock.format_day(row.starts_on)
            who = f"{maker}, confirmed by {decider}" if decider else f"{maker} alone"
            yield f"{distributor}, {', '.join(changed)} by agreement {row.number} from {from_then}: {who}"


def _select_of_distributors() -> Any:
    return (
        _select_with_names()
        .add_columns(col(Distributor.business_name))
        .join(Distributor, col(Distributor.id) == col(Agreement.distributor_id))
        .order_by(col(Agreement.created_at), col(Agreement.id))
    )


def _select_with_names() -> Any:
    maker, decider = sa.orm.aliased(Staff), sa.orm.aliased(Staff)
    return (
        sa.select(Agreement, col(maker.name), col(decider.name))
        .join(maker, col(maker.id) == col(Agreement.made_by))
        .outerjoin(TermsProposal, col(TermsProposal.id) == col(Agreement.id))
        .outerjoin(decider, col(decider.id) == col(TermsProposal.decided_by))
    )


def load_in_force(session: ScopedSession, on: date, *, known_at: datetime | None = None) -> Mapping[Party, Agreement]:
    """Return the terms that hold on a day, of every party that has some, by what was made until an instant or now."""
    known = [col(Agreement.created_at) <= known_at] if known_at else []
    query = sa.select(Agreement).where(col(Agreement.starts_on) <= on, *known).order_by(*_SINCE)
    return {parties.party_of(row): row for row in session.execute(query).scalars()}


def list_history(session: ScopedSession, party: Party) -> list[tuple[Agreement, str]]:
    """List all terms with who made them, and who confirmed them, the newest first."""
    query = _select_with_names().where(party.owns(Agreement)).order_by(*(column.desc() for column in _SINCE))
    return [
        (row, f"{maker}, confirmed by {decider}" if decider else maker)
        for row, maker, decider in session.execute(query)
    ]


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
