"""The payee of a claim, kept as it was at each payment (contract C10)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import seal
from core.services import transfers
from core.services.claims.intake import submitted
from core.services.people.four_eyes import refuse_same
from core.services.people.staff import Person
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Claim, Distributor, PaymentPayee, Staff

AS_SUBMITTED: Final = "As submitted with the claim"
NUMBER: Final = transfers.ACCOUNT


@dataclass(frozen=True, kw_only=True, slots=True)
class Payee:
    """A payee with the last four digits of the account; `by` is who set it, None where it is as submitted."""

    name: str
    bank_name: str | None
    hint: str | None
    reason: str
    by: str | None = None
    set_by: UUID | None = None
    at: datetime | None = None


def list_payees(session: ScopedSession, claim: Claim) -> list[Payee]:
    """List every payee of a claim, the one as submitted first and the one of now last."""
    query: AnySelect = (
        sa.select(PaymentPayee, col(Staff.name).label("by"))
        .outerjoin(Staff, col(Staff.id) == col(PaymentPayee.staff_id))
        .where(col(PaymentPayee.claim_id) == claim.id)
        .order_by(col(PaymentPayee.created_at), col(PaymentPayee.id))
    )
    rows = session.execute(query).all()
    first = [] if any(row.PaymentPayee.staff_id is None for row in rows) else [_as_submitted(session, claim)]
    return [*first, *(_payee(row.PaymentPayee, row.by) for row in rows)]


def _payee(row: PaymentPayee, by: str | None) -> Payee:
    return Payee(
        name=row.name,
        bank_name=row.bank_name,
        hint=row.hint,
        reason=row.reason,
        by=by,
        set_by=row.staff_id,
        at=row.created_at,
    )


def _as_submitted(session: ScopedSession, claim: Claim) -> Payee:
    """Return the account that the claim named; without one the lender is paid, or the claimant."""
    meta = submitted.get_meta(claim)
    owner = f"{claim.claim_owner_first_name} {claim.claim_owner_last_name}"
    lender = sa.select(col(Distributor.business_name)).where(col(Distributor.id) == claim.distributor_id)
    default = owner if submitted.get_line(claim) else session.execute(lender).scalar_one()
    number = str(meta.get(NUMBER) or "")
    return Payee(
        name=str(meta.get("account_name") or default),
        bank_name=meta.get("bank_name"),
        hint=number[-4:] or None,
        reason=AS_SUBMITTED,
    )


def get_for_payment(session: ScopedSession, claim: Claim, *, person: Person, at: datetime) -> UUID:
    """Return the id of the payee's row, made of what was submitted where there is none.

    NotAllowed where the payer has set the payee.
    """
    row = refuse_setter(session, claim, person)
    if row is not None:
        return row.id
    return insert(session, claim, _as_submitted(session, claim), number=find_submitted_number(claim), at=at)


def find_other(session: ScopedSession, claim: Claim) -> PaymentPayee | None:
    """Return the newest payee where it is another one than the claim named; None where it is as submitted."""
    row = _find_newest(session, claim)
    if row is None or row.staff_id is not None:
        return row
    named = _as_submitted(session, claim)
    is_same = (row.name, row.bank_name, row.hint) == (named.name, named.bank_name, named.hint)
    is_same_number = seal.unseal(row.sealed).get(NUMBER) == find_submitted_number(claim)
    return None if is_same and is_same_number else row


def find_submitted_number(claim: Claim) -> str | None:
    """Return the account number that the claim named."""
    return next((value for path, value in seal.unseal(claim.sealed).items() if path.endswith(NUMBER)), None)


def _find_newest(session: ScopedSession, claim: Claim) -> PaymentPayee | None:
    query = sa.select(PaymentPayee).where(col(PaymentPayee.claim_id) == claim.id)
    newest = query.order_by(col(PaymentPayee.created_at).desc(), col(PaymentPayee.id).desc()).limit(1)
    row: PaymentPayee | None = session.execute(newest).scalar_one_or_none()
    return row


def refuse_setter(session: ScopedSession, claim: Claim, person: Person) -> PaymentPayee | None:
    """Return the payee's row, if there is one; NotAllowed for who has set the payee."""
    row = _find_newest(session, claim)
    refuse_same(row.staff_id if row else None, person, "Paying needs another than who has set the payee")
    return row


def insert(session: ScopedSession, claim: Claim, payee: Payee, *, number: str | None, at: datetime) -> UUID:
    """Write a payee, which is the one of the claim from then on; returns the id of its row."""
    given: dict[str, Any] = {"name": payee.name, "bank_name": payee.bank_name, "hint": payee.hint}
    given |= {"reason": payee.reason, "staff_id": payee.set_by, "created_at": at}
    return transfers.keep_payee(session, claim, "claim_id", number, **given)
