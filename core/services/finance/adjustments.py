"""Adjustments: a movement is corrected by another one that two people made (contract F1, F9).

One person of finance proposes the amounts, another confirms them; the correction is dated when it is confirmed.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import astuple, dataclass
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Final
from uuid import UUID

import sqlalchemy as sa
from pydantic import BeforeValidator, Field
from sqlmodel import col

from core import clock, ids, money, reference
from core.covers import request
from core.covers.fields import fault
from core.covers.request import Request
from core.errors import FieldFault, InvalidInput, NotAllowed, StateForbids, raise_faults
from core.money import Split
from core.services.audit import log as audit
from core.services.finance import movements, parties
from core.services.finance.credit_notes.givers import number_of
from core.services.finance.parties import Party
from core.services.people import transfers
from core.services.people.four_eyes import NotedProposals, refuse_one_with
from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.store.expressions import sum_of
from core.store.rows import build_row
from core.store.schema.tables import (
    Adjustment,
    AdjustmentProposal,
    CreditNote,
    CreditNotePayment,
    Movement,
    Policy,
    Provider,
)


def _parse_signed(value: Any) -> Decimal:
    text = str(value).replace(",", "").replace("₦", "").replace("−", "-").strip()
    try:
        amount = Decimal(text)
    except InvalidOperation:
        raise fault("must be an amount in naira, such as -1,250.50") from None
    if not amount.is_finite() or abs(amount) > money.MAX_AMOUNT:
        raise fault("must be an amount in naira below ten trillion")
    exponent = amount.as_tuple().exponent
    if isinstance(exponent, int) and exponent < -2:
        raise fault("must have at most two decimals")
    return amount


SignedNaira = Annotated[Decimal, BeforeValidator(_parse_signed)]


ROLES: Final = ("finance",)
_COPIED: Final = (
    *("distributor_id", "is_live", "policy_id", "purchase_id", "renewal_id", "customer_id", "product_id"),
    *("product_version_id", "product_category_id", "provider_id"),
)
_AMOUNTS: Final = ("total_minor", "mca_profit_minor", "distributor_profit_minor")
_CONFIRMED: Final = "adjustment confirmed"
# What finance confirmed of a distributor without an admin counts together for so long.
COUNTS_FOR: Final = timedelta(days=30)


def _require_finance(by: Person) -> None:
    by.require_role(*ROLES, otherwise="Only finance corrects movements")


def _note(session: ScopedSession, proposal: AdjustmentProposal, action: str, by: Person, **more: str) -> None:
    amounts = {
        "premium": money.to_wire(proposal.total_minor),
        "platform_commission": money.to_wire(proposal.mca_profit_minor),
        "distributor_commission": money.to_wire(proposal.distributor_profit_minor),
    }
    corrects = f"{proposal.corrects_kind} {proposal.corrects_id}"
    audit.note(session, "adjustment", proposal.id, action, actor=by.actor, corrects=corrects, **amounts, **more)


PROPOSALS: Final = NotedProposals(
    AdjustmentProposal,
    "adjustment",
    second="somebody else",
    role="finance",
    allow=_require_finance,
    note=_note,
    actions={"refused": "adjustment refused", "withdrawn": "adjustment taken back"},
)
refuse, take_back = PROPOSALS.refuse_for_reason, PROPOSALS.take_back


class AdjustmentInput(Request):
    """The signed amounts of an adjustment in naira, and why it is made; the insurer's share is what remains."""

    premium: SignedNaira
    platform_commission: SignedNaira
    distributor_commission: SignedNaira
    reason: Annotated[str, Field(min_length=10, max_length=500)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    """A proposed adjustment with the people who proposed and decided it."""

    id: UUID
    corrects_id: UUID
    parts: Split
    reason: str
    state: str
    proposed_by: UUID
    proposer: str
    proposed_at: datetime
    decider: str | None
    decided_at: datetime | None
    refusal: str | None


def propose(session: ScopedSession, movement_id: UUID, typed: Mapping[str, Any], *, by: Person) -> UUID:
    """Propose the correction of a movement and return its id; nothing moves until somebody else confirms it.

    InvalidInput names every wrong field and a bound that is left (contract K10), NotFound says that there is no such
    movement.
    """
    _require_finance(by)
    corrected = movements.get_record(session, movement_id)
    given: AdjustmentInput = request.validate(AdjustmentInput, typed)
    parts = _parse_parts(given)
    with _keep_refusal(by, "adjustment proposal", corrected.id, parts):
        _refuse_own_money(session, corrected, by)
        _refuse_who_paid(session, corrected, parts, by)
        _refuse_unbounded(session, corrected, parts)
    proposal = AdjustmentProposal(
        id=ids.new(),
        distributor_id=corrected.distributor_id,
        is_live=corrected.is_live,
        corrects_kind=corrected.kind,
        corrects_id=corrected.id,
        **{name: getattr(parts, name) for name in _AMOUNTS},
        reason=given.reason,
        proposed_by=by.id,
        proposed_at=clock.now(),
    )
    session.insert(proposal)
    _note(session, proposal, "adjustment proposed", by, reason=given.reason)
    return proposal.id


def find_refusal(session: ScopedSession, proposal_id: UUID, by: Person) -> str | None:
    """Return why this person cannot confirm a proposal as it is now; None where nothing stands against it."""
    proposal: AdjustmentProposal = session.get_one(AdjustmentProposal, proposal_id)
    corrected, parts = movements.get_record(session, proposal.corrects_id), build_row(Split, proposal)
    try:
        _refuse_own_money(session, corrected, by)
        PROPOSALS.require_second(session, proposal, by)
        _refuse_who_paid(session, corrected, parts, by)
    except (NotAllowed, StateForbids) as refusal:
        return str(refusal)
    return _find_above_limit(session, corrected, parts, by)


def confirm(session: ScopedSession, proposal_id: UUID, *, by: Person) -> UUID:
    """Turn a proposal into a movement dated now, and return its id.

    NotAllowed for who proposed it, for who has a password that somebody else has just reset, and above one's limit.
    """
    proposal = PROPOSALS.open_for(session, proposal_id, by)
    corrected, parts = movements.get_record(session, proposal.corrects_id), build_row(Split, proposal)
    with _keep_refusal(by, "adjustment confirmation", corrected.id, parts):
        _refuse_own_money(session, corrected, by)
        PROPOSALS.require_second(session, proposal, by)
        _refuse_who_paid(session, corrected, parts, by)
        _refuse_unbounded(session, corrected, parts)
        _refuse_above_limit(session, corrected, parts, by)
    PROPOSALS.decide(session, proposal.id, "confirmed", by=by)
    adjustment = Adjustment(
        id=ids.new(),
        proposal_id=proposal.id,
        corrects_kind=proposal.corrects_kind,
        corrects_id=proposal.corrects_id,
        **{name: getattr(corrected, name) for name in _COPIED},
        **{name: getattr(proposal, name) for name in _AMOUNTS},
        reason=proposal.reason,
        proposed_by=proposal.proposed_by,
        approved_by=by.id,
        created_at=clock.now(),
    )
    session.insert(adjustment)
    role = "admin" if "admin" in by.roles else ROLES[0]
    limit = money.to_wire(reference.get_finance_limit("adjustment", by.roles))
    # `coverdesk check` holds the sum of a month against the limit of whoever confirmed it then.
    facts = {"adjustment_id": str(adjustment.id), "role": role, "limit": limit}
    _note(session, proposal, _CONFIRMED, by, **facts)
    return adjustment.id


def list_of_movement(session: ScopedSession, movement_id: UUID) -> list[Proposal]:
    """List every proposal to correct a movement, oldest first."""
    return _list(session, col(AdjustmentProposal.corrects_id) == movement_id)


def list_open(session: ScopedSession) -> list[Proposal]:
    """List the proposals that wait for a second person, oldest first."""
    return _list(session, col(AdjustmentProposal.state) == "open")


def _list(session: ScopedSession, *conditions: Any) -> list[Proposal]:
    query = (
        PROPOSALS.select_with_names()
        .where(*conditions)
        .order_by(col(AdjustmentProposal.proposed_at), col(AdjustmentProposal.id))
    )
    return [
        build_row(Proposal, row, parts=build_row(Split, row), proposer=made_by, decider=decided_by)
        for row, made_by, decided_by in session.execute(query)
    ]


def _parse_parts(given: AdjustmentInput) -> Split:
    amounts = (given.premium, given.platform_commission, given.distributor_commission)
    parts = Split(*(money.to_minor(amount) for amount in amounts))
    if not any(astuple(parts)):
        message = "must not be zero together with both commissions: nothing would change"
        raise InvalidInput([FieldFault("premium", message)])
    return parts


def _refuse_unbounded(session: ScopedSession, corrected: Movement, parts: Split) -> None:
    """StateForbids for the correction of a correction, InvalidInput for one that leaves its bounds (contract K10).

    Whoever confirms another correction of the movement at this instant waits here.
    """
    if corrected.kind == "adjustment":
        raise StateForbids("This is an adjustment itself: correct the movement that it corrects")
    session.execute(sa.select(col(Policy.id)).where(col(Policy.id) == corrected.policy_id).with_for_update())
    made = _sum(session, Adjustment, col(Adjustment.corrects_id) == corrected.id)
    all_, premium, before = made + parts, corrected.total_minor, made.total_minor
    if abs(all_.total_minor) > abs(premium):
        left = f": {money.format_naira(max(abs(premium) - abs(before), 0))} is left" if before else ""
        message = f"must not change the premium of {money.format_naira(premium)} by more than itself{left}"
        raise InvalidInput.for_field("premium", message)
    _refuse_commissions(corrected, all_)
    _refuse_beyond_term(session, corrected, parts)
    if corrected.kind == "refund" and parts.total_minor > 0:
        _refuse_paid_back(session, corrected)


def _refuse_who_paid(session: ScopedSession, corrected: Movement, parts: Split, by: Person) -> None:
    """NotAllowed, for the premium of a refund, for who noted a payment of it or a return, which may not be one."""
    if corrected.kind != "refund" or parts.total_minor <= 0:
        return
    noted = (
        sa.select(col(CreditNotePayment.paid_by), col(CreditNotePayment.created_at))
        .join(CreditNote, col(CreditNote.id) == col(CreditNotePayment.credit_note_id))
        .where(col(CreditNote.refund_id) == corrected.id)
    )
    steps = [(row.paid_by, row.created_at) for row in session.execute(noted)]
    if by.id in {staff_id for staff_id, _ in steps}:
        raise NotAllowed("You noted a payment of this refund, or that it came back: others of finance correct it")
    refuse_one_with(session, steps, by, did="noted a payment of this refund or a return", does="corrects it")


def _refuse_paid_back(session: ScopedSession, corrected: Movement) -> None:
    """StateForbids for the premium of a refund that the customer was paid: the parties would have it once more.

    Whoever pays its credit note at this instant waits here.
    """
    query = sa.select(CreditNote).where(col(CreditNote.refund_id) == corrected.id).with_for_update()
    note: CreditNote | None = session.execute(query).scalar_one_or_none()
    if note is None:
        return
    if paid := transfers.sum_paid(session, CreditNotePayment, col(CreditNotePayment.credit_note_id) == note.id):
        insurer = session.get_one(Provider, note.provider_id).company_name
        raise StateForbids(
            f"The customer was paid {money.format_naira(paid)} by {number_of(note.number)} of {insurer}: the premium"
            " that went back is not corrected. Correct the commissions alone, or let somebody of finance note first"
            " that it came back"
        )


def _refuse_beyond_term(session: ScopedSession, corrected: Movement, parts: Split) -> None:
    """InvalidInput where a term with all that was given back of it would be left with less premium than commission.

    A sale and its refund are each within their own bounds; together they could leave a commission on no premium.
    """
    renewal = col(Movement.renewal_id)
    of_term = renewal.is_(None) if corrected.renewal_id is None else renewal == corrected.renewal_id
    before = _sum(session, Movement, col(Movement.policy_id) == corrected.policy_id, of_term)
    after = before + parts
    if _measure_excess(after) > _measure_excess(before):
        left = f"the premium that its term is left with after refunds, {money.format_naira(after.total_minor)}"
        raise InvalidInput.for_field("premium", f"must leave both commissions within {left}")


def _measure_excess(left: Split) -> int:
    """Return by how much in kobo a term is beyond its bounds; the last kobo of a refund is rounded."""
    premium, *commissions = astuple(left)
    excess: int = max(0, -premium, -min(commissions), sum(commissions) - premium)
    return excess


def _refuse_commissions(corrected: Movement, all_: Split) -> None:
    """InvalidInput where the commissions of what remains would be above its premium, or on the other side of nought."""
    sign = -1 if corrected.total_minor < 0 else 1
    premium = sign * (corrected.total_minor + all_.total_minor)
    commissions = {
        "platform_commission": sign * (corrected.mca_profit_minor + all_.mca_profit_minor),
        "distributor_commission": sign * (corrected.distributor_profit_minor + all_.distributor_profit_minor),
    }
    left = f"the premium that is left, {money.format_naira(sign * premium)}"
    faults = [
        FieldFault(name, f"must leave a commission between nothing and {left}")
        for name, minor in commissions.items()
        if not 0 <= minor <= premium
    ]
    if not faults and sum(commissions.values()) > premium:
        faults = [FieldFault("platform_commission", f"must leave both commissions together within {left}")]
    raise_faults(faults)


def _sum(session: ScopedSession, entity: Any, *conditions: Any) -> Split:
    """Sum premium and both commissions of the rows that meet the conditions."""
    sums = [sum_of(col(getattr(entity, name))) for name in _AMOUNTS]
    return Split(*map(int, session.execute(sa.select(*sums).where(*conditions)).one()))


def _refuse_above_limit(session: ScopedSession, corrected: Movement, parts: Split, by: Person) -> None:
    """NotAllowed above what the person confirms, with what was confirmed before: a limit is not split over acts.

    All corrections of a policy count together, and for finance those of its distributor that no admin confirmed lately.
    Whoever of finance confirms another correction of the distributor at this instant waits here.
    """
    if "admin" not in by.roles:
        parties.lock(session, Party("distributor", corrected.distributor_id))
    if above := _find_above_limit(session, corrected, parts, by):
        raise NotAllowed(above)


def _find_above_limit(session: ScopedSession, corrected: Movement, parts: Split, by: Person) -> str | None:
    limit, is_admin = reference.get_finance_limit("adjustment", by.roles), "admin" in by.roles
    of_policy = (col(Adjustment.policy_id) == corrected.policy_id,)
    made = [_sum_sizes(session, *of_policy)]
    if not is_admin:
        since = clock.now() - COUNTS_FOR
        by_admins = audit.list_decided_as(session, _CONFIRMED, "admin", since=since)
        alone = (col(Adjustment.created_at) > since, col(Adjustment.proposal_id).not_in(by_admins))
        made.append(_sum_sizes(session, col(Adjustment.distributor_id) == corrected.distributor_id, *alone))
    size = max(map(abs, astuple(parts)))
    if size + max(made) <= limit:
        return None
    nobody = "nobody confirms that much: refuse it, and cancel the policy instead"
    whose = "this policy" if made[0] == max(made) else f"this distributor within {COUNTS_FOR.days} days"
    with_made = f", with the {money.format_naira(max(made))} corrected before of {whose}" if max(made) else ""
    who = nobody if is_admin else "an admin confirms it"
    return f"It is above {money.format_naira(limit)}{with_made}: {who}"


def _sum_sizes(session: ScopedSession, *conditions: Any) -> int:
    """Return the largest of premium and both commissions that confirmed corrections come to, without signs, in kobo."""
    sums = [sum_of(sa.func.abs(col(getattr(Adjustment, name)))) for name in _AMOUNTS]
    return max(int(minor) for minor in session.execute(sa.select(*sums).where(*conditions)).one())


def _refuse_own_money(session: ScopedSession, corrected: Movement, by: Person) -> None:
    """NotAllowed for whoever has an e-mail, phone or account of the distributor or the insurer (contract K12)."""
    for party in (Party("distributor", corrected.distributor_id), Party("provider", corrected.provider_id)):
        parties.refuse_own_party(session, party, by=by)


def _keep_refusal(by: Person, action: str, movement_id: UUID, parts: Split) -> AbstractContextManager[None]:
    subject = audit.subject_of("movement", movement_id)
    return audit.keep_refusal(actor=by.actor, action=action, subject=subject, premium=money.to_wire(parts.total_minor))
