"""Payees and payments of claims: append-only rows and their sums (contract C10)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Final
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock, seal
from core.covers import fields
from core.covers.request import Request, refuse_unless
from core.services.claims.intake import submitted
from core.services.people import transfers
from core.services.people.four_eyes import refuse_same
from core.services.people.staff import Person, join_names
from core.services.people.transfers import TypedReference
from core.states.claims import ClaimStatus
from core.store.access import AnySelect, ScopedSession
from core.store.expressions import sum_of
from core.store.schema.tables import (
    Approval,
    Claim,
    ClaimEvent,
    ClaimPayment,
    Distributor,
    PaymentPayee,
    Transfer,
)

AS_SUBMITTED: Final = "As submitted with the claim"
ACCOUNT_NUMBER: Final = transfers.ACCOUNT


BANK_TRANSFER: Final = "Bank transfer"
PAYMENT_METHODS: Final = (BANK_TRANSFER, "Cheque", "Credit to the loan")


class PaymentInput(Request):
    """Payment of a claim, and the day on which the bank counts it."""

    method: Annotated[str, fields.one_of(*PAYMENT_METHODS)] = PAYMENT_METHODS[0]
    value_on: fields.TodayOrEarlier = Field(default_factory=clock.today)


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
        sa.select(
            *(col(PaymentPayee.name), col(PaymentPayee.bank_name), col(PaymentPayee.hint), col(PaymentPayee.reason)),
            *(col(PaymentPayee.staff_id).label("set_by"), col(PaymentPayee.created_at).label("at")),
        )
        .where(col(PaymentPayee.claim_id) == claim.id)
        .order_by(col(PaymentPayee.created_at), col(PaymentPayee.id))
    )
    found = [Payee(**row._mapping) for row in session.execute(join_names(query, by=PaymentPayee.staff_id))]
    first = [] if any(payee.set_by is None for payee in found) else [_build_submitted_payee(session, claim)]
    return [*first, *found]


def is_claimant_paid(claim: Claim) -> bool:
    """True where the claim names no payee: whoever claims is paid by name, but of a loan its lender is."""
    return submitted.get_line(claim) is not None and not submitted.get_meta(claim).get("account_name")


def _build_submitted_payee(session: ScopedSession, claim: Claim) -> Payee:
    """Return the account that the claim named; without one the lender is paid, or the claimant."""
    meta = submitted.get_meta(claim)
    owner = f"{claim.claim_owner_first_name} {claim.claim_owner_last_name}"
    lender = sa.select(col(Distributor.business_name)).where(col(Distributor.id) == claim.distributor_id)
    default = owner if submitted.get_line(claim) else session.execute(lender).scalar_one()
    number = str(meta.get(ACCOUNT_NUMBER) or "")
    return Payee(
        name=str(meta.get("account_name") or default),
        bank_name=meta.get("bank_name"),
        hint=number[-4:] or None,
        reason=AS_SUBMITTED,
    )


def get_payee_for_payment(session: ScopedSession, claim: Claim, *, person: Person, at: datetime) -> UUID:
    """Return the id of the payee's row, made of what was submitted where there is none.

    NotAllowed where the payer has set the payee.
    """
    row = refuse_setter(session, claim, person)
    if row is not None:
        return row.id
    payee = _build_submitted_payee(session, claim)
    return insert_payee(session, claim, payee, number=find_submitted_number(claim), at=at)


def find_account(session: ScopedSession, claim: Claim) -> str | None:
    """Return the whole number of the account that is paid to; None where none is named."""
    row = _find_newest_payee(session, claim)
    return transfers.open_account(row.sealed) if row else find_submitted_number(claim)


def find_other_payee(session: ScopedSession, claim: Claim) -> PaymentPayee | None:
    """Return the newest payee where it is another one than the claim named; None where it is as submitted."""
    row = _find_newest_payee(session, claim)
    if row is None or row.staff_id is not None:
        return row
    named = _build_submitted_payee(session, claim)
    is_same = (row.name, row.bank_name, row.hint) == (named.name, named.bank_name, named.hint)
    is_same_number = transfers.open_account(row.sealed) == find_submitted_number(claim)
    return None if is_same and is_same_number else row


def find_submitted_number(claim: Claim) -> str | None:
    """Return the account number that the claim named."""
    return next((value for path, value in seal.unseal(claim.sealed).items() if path.endswith(ACCOUNT_NUMBER)), None)


def _find_newest_payee(session: ScopedSession, claim: Claim) -> PaymentPayee | None:
    query = sa.select(PaymentPayee).where(col(PaymentPayee.claim_id) == claim.id)
    newest = query.order_by(col(PaymentPayee.created_at).desc(), col(PaymentPayee.id).desc()).limit(1)
    row: PaymentPayee | None = session.execute(newest).scalar_one_or_none()
    return row


def refuse_setter(session: ScopedSession, claim: Claim, person: Person) -> PaymentPayee | None:
    """Return the payee's row, if there is one; NotAllowed for who has set the payee."""
    row = _find_newest_payee(session, claim)
    refuse_same(row.staff_id if row else None, person, "Paying needs another than who has set the payee")
    return row


def insert_payee(session: ScopedSession, claim: Claim, payee: Payee, *, number: str | None, at: datetime) -> UUID:
    """Write a payee, which is the one of the claim from then on; returns the id of its row."""
    given: dict[str, Any] = {"name": payee.name, "bank_name": payee.bank_name, "hint": payee.hint}
    given |= {"reason": payee.reason, "staff_id": payee.set_by, "created_at": at}
    return transfers.keep_payee(session, claim, "claim_id", number, **given)


_FIELD: Final = "payment_reference"
AMOUNT: Final = col(ClaimPayment.amount_minor)


@dataclass(frozen=True, kw_only=True, slots=True)
class Payment:
    """One payment as a review shows it."""

    at: datetime
    amount_minor: int
    reference: str
    by: str | None
    payee: str | None
    hint: str | None
    method: str | None
    value_on: date | None


@dataclass(frozen=True, slots=True)
class Source:
    """Origin of a payment that is one of several: a file, or a transfer that pays several claims."""

    file_id: UUID | None = None
    transfer_id: UUID | None = None


def pay(
    session: ScopedSession,
    claim: Claim,
    *,
    amount_minor: int,
    reference: str,
    details: PaymentInput,
    person: Person,
    at: datetime,
    source: Source | None = None,
) -> None:
    """Pay an amount to the payee of the claim.

    NotAllowed where the payer has set the payee; InvalidInput names a reference that another payment has.
    """
    _refuse_early(session, claim, details)
    of = source or Source()
    transfers.pay(
        session,
        ClaimPayment,
        TypedReference(reference, _FIELD),
        transfer_id=of.transfer_id,
        distributor_id=claim.distributor_id,
        is_live=claim.is_live,
        claim_id=claim.id,
        provider_id=claim.provider_id,
        amount_minor=amount_minor,
        payee_id=get_payee_for_payment(session, claim, person=person, at=at),
        method=details.method,
        value_on=details.value_on,
        file_id=of.file_id,
        paid_by=person.id,
        created_at=at,
    )


def check_free(session: ScopedSession, claim: Claim, *, reference: str, details: PaymentInput, person: Person) -> None:
    """Raise what `pay` would raise for this payee, day and reference; `pay` alone knows of whoever pays meanwhile."""
    _refuse_early(session, claim, details)
    refuse_setter(session, claim, person)
    transfers.check_free(session, TypedReference(reference, _FIELD), is_live=claim.is_live)


def _refuse_early(session: ScopedSession, claim: Claim, details: PaymentInput) -> None:
    """InvalidInput for a day before the claim was lodged, or before its payee was set: the bank paid another one."""
    lodged_on, payee = clock.to_lagos_day(claim.created_at), list_payees(session, claim)[-1]
    set_on = clock.to_lagos_day(payee.at) if payee.set_by and payee.at else lodged_on
    words = f"must not be before {set_on:%-d %B %Y}, on which the payee was set: the bank paid another one then"
    refuse_unless(
        [
            (details.value_on >= lodged_on, "value_on", "must not be before the claim was lodged"),
            (details.value_on >= set_on, "value_on", words),
            (details.value_on >= _find_approved_on(session, claim), "value_on", "must not be before it was approved"),
        ]
    )


def _find_approved_on(session: ScopedSession, claim: Claim) -> date:
    """Return the day of the first approval since the claim was declined last, if it was; the lodging without one."""
    declined = sa.select(sa.func.max(col(ClaimEvent.created_at))).where(
        col(ClaimEvent.claim_id) == claim.id, col(ClaimEvent.status) == ClaimStatus.DECLINED
    )
    declined_at = session.execute(declined).scalar_one() or claim.created_at
    first = sa.select(sa.func.min(col(Approval.approved_at))).where(
        col(Approval.subject_id) == claim.id, col(Approval.approved_at) >= declined_at
    )
    return clock.to_lagos_day(session.execute(first).scalar_one() or claim.created_at)


def reverse_last(
    session: ScopedSession, claim: Claim, *, reference: str, reason: str | None, person: Person, at: datetime
) -> int:
    """Write the return of the last payment that stands and return its amount in kobo; StateForbids without one.

    `reference` is that of the return: no other payment may have it, but the one that came back.
    """
    payment = transfers.find_standing(session, ClaimPayment, col(ClaimPayment.claim_id) == claim.id)
    typed = TypedReference(reference, _FIELD)
    transfers.take_back(session, payment, typed, reason=(reason or "")[:500] or None, by=person.id, at=at)
    return payment.amount_minor


def of_claim(session: ScopedSession, claim: Claim) -> Sequence[Payment]:
    """Every payment of a claim, oldest first."""
    query: AnySelect = (
        sa.select(
            *(col(ClaimPayment.created_at).label("at"), AMOUNT, col(Transfer.reference)),
            *(col(PaymentPayee.name).label("payee"), col(PaymentPayee.hint)),
            *(col(ClaimPayment.method), col(ClaimPayment.value_on)),
        )
        .join(Transfer, col(Transfer.id) == col(ClaimPayment.transfer_id))
        .outerjoin(PaymentPayee, col(PaymentPayee.id) == col(ClaimPayment.payee_id))
        .where(col(ClaimPayment.claim_id) == claim.id)
        .order_by(col(ClaimPayment.created_at), col(ClaimPayment.id))
    )
    return [Payment(**row._mapping) for row in session.execute(join_names(query, by=ClaimPayment.paid_by))]


def build_paid_column() -> sa.ScalarSelect[int]:
    """Column for `select(Claim)`: the amount paid on each claim, in kobo."""
    mine = sa.select(sum_of(AMOUNT)).where(col(ClaimPayment.claim_id) == col(Claim.id))
    return mine.correlate(Claim).scalar_subquery()
