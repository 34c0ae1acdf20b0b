"""The chain of acts on a claim, each with its author: nobody is two links of what is paid (contract K3, K13)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlmodel import col

from core.services.audit import log as audit
from core.services.people.staff import Person
from core.states.claims import AskedRole, ClaimStatus
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import AuditEntry, Claim, ClaimEvent, ClaimPayment, ClaimReferral, PaymentPayee, Staff

LODGED: Final = "Lodged"
ESTIMATED: Final = "Estimate set"
CORRECTED: Final = "Amounts corrected"
DEDUCTED: Final = "Deductions set"
APPROVED: Final = ClaimStatus.APPROVED
OFFERED: Final = ClaimStatus.OFFER_SENT
PAYEE_SET: Final = "Payee set"
HANDED_OVER: Final = "Handed to finance"
DECLINED: Final = ClaimStatus.DECLINED
PAID: Final = ClaimStatus.PAID
_STATUSES: Final[Mapping[str, str]] = {
    ClaimStatus.ESTIMATE_SUBMITTED: ESTIMATED,
    ClaimStatus.APPROVED: APPROVED,
    ClaimStatus.OFFER_SENT: OFFERED,
    ClaimStatus.DECLINED: DECLINED,
}
_AUDITED: Final[Mapping[str, str]] = {
    "claim lodged": LODGED,
    "claim corrected": CORRECTED,
    "claim deductions set": DEDUCTED,
    "claim approved anew": APPROVED,
}
# Who set a figure or the account of a claim does not pay it.
_SETS: Final = (LODGED, ESTIMATED, CORRECTED, DEDUCTED, PAYEE_SET)


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """One act on a claim that leads to its payment; `by` is a name, or the distributor's key."""

    act: str
    actor: str
    by: str
    at: datetime


def list_links(session: ScopedSession, claim: Claim) -> list[Link]:
    """List every act that leads to the payment of a claim, oldest first."""
    found = [*_list_events(session, claim), *_list_rows(session, claim), *_list_audited(session, claim)]
    return sorted(found, key=lambda each: each.at)


def _list_events(session: ScopedSession, claim: Claim) -> Iterator[Link]:
    query = _with_staff(ClaimEvent).where(
        col(ClaimEvent.claim_id) == claim.id, col(ClaimEvent.status).in_(list(_STATUSES))
    )
    for row in session.execute(query):
        yield _build(_STATUSES[row.ClaimEvent.status], row, row.ClaimEvent.created_at)


def _list_rows(session: ScopedSession, claim: Claim) -> Iterator[Link]:
    for row in session.execute(_with_staff(PaymentPayee).where(col(PaymentPayee.claim_id) == claim.id)):
        yield _build(PAYEE_SET, row, row.PaymentPayee.created_at)
    handed = _with_staff(ClaimReferral).where(
        col(ClaimReferral.claim_id) == claim.id, col(ClaimReferral.asks_role) == AskedRole.FINANCE
    )
    for row in session.execute(handed):
        yield _build(HANDED_OVER, row, row.ClaimReferral.created_at)

    paid = sa.select(ClaimPayment, col(Staff.name), col(Staff.email)).join(Staff, col(Staff.id) == ClaimPayment.paid_by)
    for row in session.execute(paid.where(col(ClaimPayment.claim_id) == claim.id, col(ClaimPayment.amount_minor) > 0)):
        yield _build(PAID, row, row.ClaimPayment.created_at)


def _with_staff(table: Any) -> AnySelect:
    return sa.select(table, col(Staff.name), col(Staff.email)).join(Staff, col(Staff.id) == col(table.staff_id))


def _build(act: str, row: Any, at: datetime) -> Link:
    return Link(act=act, actor=f"staff {row.email}", by=row.name, at=at)


def _list_audited(session: ScopedSession, claim: Claim) -> Iterator[Link]:
    query = (
        sa.select(AuditEntry, col(Staff.name))
        .outerjoin(Staff, sa.literal("staff ") + col(Staff.email) == col(AuditEntry.actor))
        .where(
            col(AuditEntry.subject) == audit.subject_of("claim", claim.id), col(AuditEntry.action).in_(list(_AUDITED))
        )
    )
    for row in session.execute(query):
        entry = row.AuditEntry
        name = row.name or ("the distributor" if entry.actor.startswith("key ") else entry.actor)
        yield Link(act=_AUDITED[entry.action], actor=entry.actor, by=name, at=entry.created_at)


def list_shown(links: Sequence[Link]) -> list[Link]:
    """Return the latest of each act, in the order in which they were done: what a payer sees before paying."""
    latest = {link.act: link for link in links if link.act not in (DECLINED, PAID)}
    return sorted(latest.values(), key=lambda each: each.at)


def describe_payer(links: Iterable[Link], person: Person) -> str | None:
    """Say what forbids this person to pay; None where nothing does.

    Who gave the approval that stands is another need; who gave an earlier one does not pay by it either.
    """
    found = list(links)
    standing = max((link.at for link in found if link.act == APPROVED), default=None)
    parts = (link for link in found if link.act in _SETS or (link.act == APPROVED and link.at != standing))
    done = next((link for link in parts if link.actor == person.actor), None)
    return None if done is None else f"a payer who has no other part in it (yours: {done.act.lower()})"


def describe_approver(links: Sequence[Link], person: Person) -> str | None:
    """Say what forbids this person to approve: they set the payee of now, or ever declined or paid the claim."""
    set_last = next((link for link in reversed(links) if link.act == PAYEE_SET), None)
    if set_last is not None and set_last.actor == person.actor:
        return "an approver other than who set the payee"
    done = {link.act for link in links if link.actor == person.actor}
    if DECLINED in done:
        return "an approver other than who declined it"
    return "an approver other than who paid it before" if PAID in done else None


def describe_appeal(links: Sequence[Link], person: Person) -> str | None:
    """Say who takes up an appeal where this person declined the claim; None where they did not."""
    declined = next((link for link in reversed(links) if link.act == DECLINED), None)
    is_own = declined is not None and declined.actor == person.actor
    return "somebody other than who declined it" if is_own else None
