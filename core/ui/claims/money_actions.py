"""Payments, payees and corrections from the review of a claim, each carried out once (contract C10, C12)."""

from collections.abc import Mapping
from typing import Any

from core.services.claims.paying import hand_overs
from core.services.claims.workflow import corrections as claim_corrections
from core.services.claims.workflow import part_payments, payee_changes
from core.store.access import ScopedSession
from core.ui.claims.review_actions import Hand, once


def pay_part(hand: Hand, *, amount: str, payment_reference: str, payment: Mapping[str, Any]) -> str:
    """Pay a part of the accepted offer."""

    def work(session: ScopedSession) -> str:
        part_payments.pay_part(
            session,
            hand.claim_id,
            amount=amount,
            payment_reference=payment_reference,
            payment=payment,
            person=hand.person,
            version=hand.version,
        )
        return "A part is paid; the rest of the offer is still to pay."

    return once(hand, work, "part", amount, payment_reference, str(sorted(payment.items())))


def take_back_part(hand: Hand, *, payment_reference: str, note: str) -> str:
    """Take back the last part that was paid."""

    def work(session: ScopedSession) -> str:
        part_payments.take_back_part(
            session,
            hand.claim_id,
            payment_reference=payment_reference,
            note=note,
            person=hand.person,
            version=hand.version,
        )
        return "The part is taken back, and can be paid again."

    return once(hand, work, "part back", payment_reference, note)


def set_payee(hand: Hand, *, name: str, bank_name: str, account_number: str, reason: str) -> str:
    """Set who is paid, and on which account."""

    def work(session: ScopedSession) -> str:
        payee_changes.set_payee(
            session,
            hand.claim_id,
            name=name,
            bank_name=bank_name,
            account_number=account_number,
            reason=reason,
            person=hand.person,
            version=hand.version,
        )
        return "The payee is kept. Somebody else has to pay."

    return once(hand, work, "payee", name, bank_name, account_number, reason)


def correct_amounts(hand: Hand, *, amounts: Mapping[str, str], reason: str) -> str:
    """Correct the submitted amounts."""

    def work(session: ScopedSession) -> str:
        given = {name: text for name, text in amounts.items() if text}
        claim_corrections.correct_amounts(
            session, hand.claim_id, amounts=given, reason=reason, person=hand.person, version=hand.version
        )
        return "The amounts are corrected, and the checks are made with them."

    return once(hand, work, "amounts", reason, *(f"{name} {text}" for name, text in amounts.items()))


def set_claimant(hand: Hand, *, claimant: Mapping[str, str], reason: str) -> str:
    """Set who claims."""

    def work(session: ScopedSession) -> str:
        claim_corrections.set_claimant(
            session, hand.claim_id, claimant=claimant, reason=reason, person=hand.person, version=hand.version
        )
        return "The claimant is kept."

    return once(hand, work, "claimant", reason, *(f"{name} {text}" for name, text in claimant.items()))


def hand_to_finance(hand: Hand, *, note: str) -> str:
    """Hand the payment to finance."""

    def work(session: ScopedSession) -> str:
        hand_overs.hand_over(session, hand.claim_id, note=note or None, person=hand.person, version=hand.version)
        return "The payment is with finance, under Claims to pay."

    return once(hand, work, "hand over", note)


def take_from_finance(hand: Hand) -> str:
    """Take the payment back from finance."""

    def work(session: ScopedSession) -> str:
        hand_overs.take_back(session, hand.claim_id, person=hand.person, version=hand.version)
        return "The payment is with the claims desk again."

    return once(hand, work, "take from finance")
