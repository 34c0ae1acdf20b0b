"""A claim of the demonstration as rows: the claim, every status, comments, and its lines of the audit log."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random
from typing import Any

from core import money, seal
from core.covers.claims.line import DEATH
from core.covers.claims.lines import MOTOR
from core.demo.audit_log import Log
from core.demo.bulk_rows import Rows, Values, stamp
from core.demo.claims import submitted
from core.demo.claims.claims import DEVICE, LOAN, Loss
from core.demo.claims.paths import Reached, clock_of
from core.demo.claims.submitted import Specimens
from core.demo.market.sellers import Officer
from core.demo.random_source import dashed_id, new_id
from core.states.claims import DECIDED, NOTE, RULES, AskedRole, ClaimStatus, ClockEffect, Effect
from core.store.schema.claims import (
    Approval,
    Claim,
    ClaimComment,
    ClaimEvent,
    ClaimOverride,
    ClaimPayment,
    ClaimQuestion,
    ClaimReferral,
    ClaimReserve,
    ClaimTask,
)
from core.store.schema.finance import PaymentPayee, Transfer

_EXCESS_BP, _BETTERMENT_BP = 1_000, 500


def amounts(loss: Loss) -> dict[str, int]:
    """The amount columns of a claim; each is 0 until the claim has come to where it is set (contract C4)."""
    owed, is_device = loss.owed_minor, loss.kind != LOAN
    judged = is_device or any(map(loss.came_to, (ClaimStatus.REVIEWING, ClaimStatus.APPROVED)))
    excess = money.share(owed, _EXCESS_BP) if is_device and loss.came_to(ClaimStatus.APPROVED) else 0
    betterment = money.share(owed, _BETTERMENT_BP) if excess and loss.is_worn else 0
    return {
        "claim_amount_minor": owed if judged else 0,
        "estimate_amount_minor": owed if is_device else 0,
        "repair_estimate_minor": owed if loss.came_to(ClaimStatus.ESTIMATE_SUBMITTED) else 0,
        "approved_amount_minor": owed if loss.is_approved else 0,
        "excess_deduction_amount_minor": excess,
        "betterment_deduction_amount_minor": betterment,
        "offer_amount_minor": owed - excess - betterment if loss.came_to(ClaimStatus.OFFER_SENT) else 0,
    }


_NOTES: Mapping[ClaimStatus, tuple[str, ...]] = {
    ClaimStatus.VIEWED: ("Opened for review",),
    ClaimStatus.REVIEWING: ("Checking the documents with %(verifier)s", "Asked the claimant for a clearer copy"),
    ClaimStatus.INSPECTION_SUBMITTED: ("Inspector's report received",),
    ClaimStatus.ESTIMATE_SUBMITTED: ("Estimate of the repair shop received",),
    ClaimStatus.APPROVED: ("Documents complete and within cover", "Benefit confirmed against the policy"),
    ClaimStatus.OFFER_SENT: ("Offer sent by e-mail",),
    ClaimStatus.OFFER_ACCEPTED: ("Claimant signed the offer",),
    ClaimStatus.OFFER_REJECTED: (
        "Claimant asks for more than was offered",
        "Claimant does not agree with the deductions",
    ),
    ClaimStatus.PAID: ("Paid by bank transfer",),
    ClaimStatus.SETTLED: ("Discharge voucher received, file closed",),
}
_WHY: Mapping[str, str] = {
    "documents missing": "The documents asked for did not come within 30 days",
    "exclusion": "The cause is excluded by the policy wording",
    "misrepresentation": "The documents do not agree with what was declared",
    "claimant withdrew": "The claimant withdrew the claim",
    "not covered": "The policy does not hold the benefit for this incident",
    "outside period": "The incident lies outside the period of cover",
}
_DUPLICATE = "duplicate"
_FLAGGED = {
    _DUPLICATE: "claimant withdrew",
    "benefit_not_bought": "not covered",
    "outside_cover": "outside period",
    "policy_cancelled": "not covered",
}
_FOUND = ("documents missing", "exclusion", "misrepresentation", "claimant withdrew")
_REFERRED, _TWICE, _TASKED = 0.5, 0.1, 0.4
_TASKS: Mapping[str, tuple[str, ...]] = {
    LOAN: ("Call the lender about the balance", "Ask the lender for the account of the loan"),
    DEVICE: ("Ask the repair shop for its estimate", "Check the serial number with the shop that sold it"),
    MOTOR.route: ("Ask the surveyor for the report", "Ask the workshop for its estimate"),
    "contents": ("Ask the surveyor for the report", "Ask for the receipts of what was lost"),
    "marine": ("Ask the surveyor for the report", "Ask the carrier for the bill of lading"),
    "travel": ("Ask the airline for its record of the flight", "Check the dates of the trip in the passport"),
    "personal-accident": ("Ask the hospital for its report", "Check the account with the bank"),
}
_IN_DEATH = ("Ask the family for the death certificate", "Check who the next of kin is")


def file(loss: Loss, dice: Random, specimens: Specimens, rows: Rows, log: Log) -> None:
    """Add everything that a claim writes."""
    reason = _reason(loss, dice)
    if loss.status is ClaimStatus.DECLINED:
        loss = replace(loss, is_undocumented=reason == "documents missing")
    claim = _claim(loss, reason, {**submitted.build_meta(loss, dice, specimens, rows)})
    for step, officer in zip(loss.reached, loss.officers, strict=True):
        otherwise = step.status if NOTE in RULES[step.status].needs else ""
        note = (
            _WHY[reason] if step.status == ClaimStatus.DECLINED else dice.choice(_NOTES.get(step.status, (otherwise,)))
        )
        event_id = loss.event_ids[step.status] = new_id(dice, step.at)
        words = note % {"verifier": loss.verifier} or None
        event = {"id": event_id, "claim_id": loss.id, "status": step.status, "note": words}
        staff_id = officer.id if officer else None
        rows.add(ClaimEvent, {**loss.sale.owner, **event, "staff_id": staff_id, "created_at": stamp(step.at)})
        if step.status == ClaimStatus.PAID:
            paid = _payment(loss, new_id(dice, step.at), staff_id, stamp(step.at))
            rows.add(Transfer, _transfer(loss, paid))
            rows.add(ClaimPayment, paid)
            rows.add(PaymentPayee, _payee(loss, claim, stamp(step.at)))
        if step.status == ClaimStatus.APPROVED and officer and loss.is_approved:
            rows.add(Approval, _approval(loss, step.at, officer))
    _reserve(loss, rows)
    _extras(loss, specimens, rows, log)
    questioned = add_conversation(loss, dice, rows, log)
    began_at, stopped_at = clock_of(loss.reached, questioned)
    kept = {"clock_from": stamp(began_at), "clock_stopped_at": stamp(stopped_at) if stopped_at else None}
    rows.add(Claim, {**claim, **kept})
    _note(loss, log)


def _extras(loss: Loss, specimens: Specimens, rows: Rows, log: Log) -> None:
    """Refer some open claims to a supervisor, approve some against a check, and lodge some a second time.

    A supervisor refers nothing, as it is they who decide.
    """
    dice = Random(f"extras {loss.id}")  # noqa: S311 - invented data
    made = {**loss.sale.owner, "claim_id": loss.id}
    handled = [(step, officer) for step, officer in zip(loss.reached, loss.officers, strict=True) if officer]
    approval = next(((step, by) for step, by in handled if step.status is ClaimStatus.APPROVED), None)
    if handled and loss.status in {ClaimStatus.VIEWED, ClaimStatus.REVIEWING} and dice.random() < _REFERRED:
        step, officer = handled[-1]
        request = {
            "to_status": ClaimStatus.APPROVED,
            "asks_role": AskedRole.SUPERVISOR,
            "amount_minor": loss.owed_minor,
        }
        referral = _referral(dice, step.at, officer, note="Please decide it with me", **request)
        if officer.limit_minor is not None:
            rows.add(ClaimReferral, {**made, **referral})
    if approval and loss.status is ClaimStatus.OFFER_ACCEPTED and approval[1].limit_minor is None:
        own, offered = Random(f"hand over {loss.id}"), amounts(loss)["offer_amount_minor"]  # noqa: S311 - invented data
        paying = {"to_status": ClaimStatus.PAID, "asks_role": AskedRole.FINANCE, "amount_minor": offered}
        rows.add(ClaimReferral, {**made, **_referral(own, handled[-1][0].at, approval[1], note="", **paying)})
    if handled and loss.status not in DECIDED and dice.random() < _TASKED:
        step, officer = handled[-1]
        tasks = _IN_DEATH if loss.incident == DEATH else _TASKS[loss.kind]
        todo = {"text": dice.choice(tasks), "due_on": f"{step.at + timedelta(days=dice.randint(1, 9)):%Y-%m-%d}"}
        by = {"id": new_id(dice, step.at), "assigned_to": officer.id, "made_by": officer.id}
        rows.add(ClaimTask, {**made, **todo, **by, "created_at": stamp(step.at)})
    if handled and _DUPLICATE not in loss.flags and not loss.sale.life.ended and dice.random() < _TWICE:
        step, officer = approval or handled[-1]
        twin = _build_twin(loss, dice, step.at, officer)
        if approval:
            rows.add(ClaimOverride, {**made, **_override(loss, twin, dice, step, officer)})
        file(twin, dice, specimens, rows, log)


def _approval(loss: Loss, at: datetime, officer: Officer) -> Values:
    """Return an approval; its parts are frozen when its claim is first changed, as with every one from before."""
    approval_id = new_id(Random(f"approval {loss.id} {at}"), at)  # noqa: S311 - invented data
    approved: dict[str, Any] = {
        "subject_id": loss.id,
        "amount_minor": amounts(loss)["approved_amount_minor"],
        "limit_minor": officer.limit_minor,
        "role": "supervisor" if officer.limit_minor is None else "claims",
        "staff_id": officer.id,
    }
    sealed = seal.fingerprint_approval(approval_id=approval_id, kind="claim", approved_at=at, parts={}, **approved)
    kept = {"approved_at": stamp(at), "parts": "{}", "fingerprint": sealed}
    return {"id": approval_id, "subject_kind": "claim", **approved, **kept}


def _build_twin(loss: Loss, dice: Random, judged_at: datetime, officer: Officer) -> Loss:
    """Return the same loss lodged again: declined once the first is decided, and waiting until then."""
    at, viewed_at = (
        (loss.lodged_at + (judged_at - loss.lodged_at) * part).replace(microsecond=0) for part in (0.25, 0.5)
    )
    reached = [Reached(ClaimStatus.PENDING, at)]
    if loss.status in DECIDED:
        declined_at = min(judged_at + timedelta(minutes=20), loss.reached[-1].at)
        reached += [Reached(ClaimStatus.VIEWED, viewed_at), Reached(ClaimStatus.DECLINED, declined_at)]
    officers = [None, officer, officer][: len(reached)]
    flags = [*loss.flags, _DUPLICATE]
    return replace(loss, id=new_id(dice, at), reached=reached, officers=officers, flags=flags, event_ids={})


def _override(loss: Loss, twin: Loss, dice: Random, approval: Reached, officer: Officer) -> Values:
    """Return the reason for approving a claim while its twin was open."""
    stood = ClaimStatus.VIEWED if twin.status is ClaimStatus.DECLINED else ClaimStatus.PENDING
    other = f"C-{twin.id[-8:].upper()} ({stood})"
    return {
        "id": new_id(dice, approval.at),
        "event_id": loss.event_ids[approval.status],
        "check_key": _DUPLICATE,
        "is_failed": True,
        "detail": f"No other claim for this loss: {other} has the same kind of incident on this policy",
        "reason": "Lodged twice by the claimant: the second one will be declined",
        "duplicates": json.dumps([dashed_id(twin.id)]),
        "staff_id": officer.id,
        "created_at": stamp(approval.at),
    }


def _referral(dice: Random, at: datetime, giver: Officer, **request: object) -> Values:
    """Return what is asked of a supervisor or of finance, as it waits for them."""
    return {**request, "id": new_id(dice, at), "staff_id": giver.id, "created_at": stamp(at)}


def _reserve(loss: Loss, rows: Rows) -> None:
    """Reserve what is owed when the work begins, and release it at the decision."""
    # Dice of its own: the rest of the demonstration stays as it was without reserves.
    dice, reserve = Random(loss.id), 0  # noqa: S311 - invented data
    for step, officer in zip(loss.reached, loss.officers, strict=True):
        rule = RULES[step.status]
        ends = rule.clock is ClockEffect.ENDS
        change = -reserve if ends else loss.owed_minor if not reserve and Effect.SETS_RESERVE in rule.effects else 0
        reserve += change
        if change:
            row = {"id": new_id(dice, step.at), "claim_id": loss.id, "change_minor": change}
            reason = f"The claim is {step.status}" if ends else "What is claimed and not paid yet"
            made = {"reason": reason, "staff_id": officer.id if officer else None, "created_at": stamp(step.at)}
            rows.add(ClaimReserve, {**loss.sale.owner, **row, **made})


def _payee(loss: Loss, claim: Values, at: str) -> Values:
    """Return who was paid: the account that the claim named, or the lender."""
    number = next(iter(seal.unseal(claim.get("sealed")).values()), None)
    return {
        **loss.sale.owner,
        "id": _payee_id(loss),
        "claim_id": loss.id,
        "name": submitted.name_claimant(loss) if number else "The lender",
        "hint": number and number[-4:],
        "sealed": seal.seal({"account_number": number}) if number else None,
        "reason": "As submitted with the claim",
        "created_at": at,
    }


def _payee_id(loss: Loss) -> str:
    # Dice of its own: the rest of the demonstration stays as it was without payees.
    return new_id(Random(f"payee {loss.id}"), loss.lodged_at)  # noqa: S311 - invented data


def _payment(loss: Loss, payment_id: str, staff_id: str | None, at: str) -> Values:
    return {
        **loss.sale.owner,
        "id": payment_id,
        "claim_id": loss.id,
        "provider_id": loss.sale.offer.ids["provider_id"],
        "amount_minor": amounts(loss)["offer_amount_minor"],
        "transfer_id": payment_id,
        "paid_by": staff_id,
        "payee_id": _payee_id(loss),
        "method": "Bank transfer",
        "value_on": at[:10],
        "created_at": at,
    }


def _transfer(loss: Loss, paid: Values) -> Values:
    shared = {name: paid[name] for name in ("id", "is_live", "amount_minor", "created_at")}
    reference = _reference(loss)
    named = {"reference": reference, "reference_key": reference.casefold()}
    return {**shared, **named, "lines": 1, "made_by": paid["paid_by"]}


def _reference(loss: Loss) -> str:
    return f"TRF-{loss.id[-12:].upper()}"


def _reason(loss: Loss, dice: Random) -> str:
    """Return the reason of a declined claim: that of its flags, or a finding in its documents."""
    flagged = next((reason for flag, reason in _FLAGGED.items() if flag in loss.flags), None)
    return flagged or dice.choice(_FOUND)


def _claim(loss: Loss, reason: str, meta: Values) -> Values:
    sale = loss.sale
    return {
        **sale.owner,
        **amounts(loss),
        **meta,
        "id": loss.id,
        "created_at": stamp(loss.lodged_at),
        "updated_at": stamp(loss.reached[-1].at),
        "policy_id": sale.policy_id,
        "customer_id": sale.customer.id,
        "product_id": sale.offer.ids["product_id"],
        "provider_id": sale.offer.ids["provider_id"],
        "claim_type": loss.line.title if loss.line else "Credit life",
        "claim_status": loss.status,
        "claim_description": f"{loss.incident}, policy {sale.policy_number}",
        **submitted.build_claimant(loss),
        "decline_reason": reason if loss.status == ClaimStatus.DECLINED else "None",
        "incident_date": str(loss.happened_on),
        "payment_reference": _reference(loss) if loss.came_to(ClaimStatus.PAID) else None,
        "assigned_to": next((officer.id for officer in loss.officers if officer), None),
        "approved_by": _officer_at(loss, ClaimStatus.APPROVED) if loss.is_approved else None,
        "flags": json.dumps(loss.flags),
        "version": len(loss.reached),
    }


def _officer_at(loss: Loss, status: ClaimStatus) -> str | None:
    made = zip(loss.reached, loss.officers, strict=True)
    return next((officer.id for step, officer in made if officer and step.status == status), None)


def _note(loss: Loss, log: Log) -> None:
    subject = f"claim {dashed_id(loss.id)}"
    lodged = {"policy_id": dashed_id(loss.sale.policy_id), "claim_status": ClaimStatus.PENDING, "flags": loss.flags}
    log.add(loss.lodged_at, loss.sale.actor, "claim lodged", subject, after=lodged)
    steps = zip(loss.reached, loss.reached[1:], loss.officers[1:], strict=False)
    for version, (before, after, officer) in enumerate(steps, 1):
        log.add(
            after.at,
            officer.actor if officer else loss.sale.actor,
            "claim moved",
            subject,
            before={"claim_status": before.status, "version": version},
            after={"claim_status": after.status, "version": version + 1},
        )


_COMMENTS = (
    "Called the claimant, the original comes by courier.",
    "The bank confirms the account name.",
    "Second opinion of the supervisor asked for.",
    "Claimant asks to be called after 4 pm.",
    "Copy of the document is hard to read.",
)
_QUESTIONS = (
    "Please send a clearer copy of %s.",
    "Please confirm the account to be paid, in the name of the claimant.",
    "Please send the date of the incident as the authority recorded it.",
)
_HOW_MANY = (0, 0, 1, 2)
_ASKED = 0.35


def add_conversation(loss: Loss, dice: Random, rows: Rows, log: Log) -> list[int]:
    """Add the comments on a claim, and what its claimant was asked while it was reviewed: the places of those steps."""
    handled = [(step, officer) for step, officer in zip(loss.reached, loss.officers, strict=True) if officer]
    for step, officer in dice.sample(handled, min(len(handled), dice.choice(_HOW_MANY))):
        _comment(loss, officer, step.at, dice, rows, log)
    next_at = [*(step.at for step in loss.reached[1:]), None]
    questioned = []
    steps = zip(loss.reached, loss.officers, next_at, strict=True)
    for place, (step, asking, answered_at) in enumerate(steps):
        if asking and step.status == ClaimStatus.REVIEWING and dice.random() < _ASKED:
            _ask(loss, asking, step.at, answered_at, dice, rows, log)
            questioned.append(place)
    return questioned


def _comment(loss: Loss, officer: Officer, at: datetime, dice: Random, rows: Rows, log: Log) -> None:
    comment = {"id": new_id(dice, at), "text": dice.choice(_COMMENTS), "created_at": stamp(at)}
    by = {"claim_id": loss.id, "staff_id": officer.id, "for_claimant": False}
    rows.add(ClaimComment, {**loss.sale.owner, **comment, **by})
    noted = {"comment_id": dashed_id(comment["id"]), "for_claimant": False}
    log.add(at, officer.actor, "claim commented", f"claim {dashed_id(loss.id)}", after=noted)


def _fill(question: str, loss: Loss) -> str:
    """Name a document that the claim has, where a question asks for one."""
    letter = "offer letter" if loss.kind == LOAN else loss.papers[0].replace("_", " ") if loss.papers else "document"
    return question.replace("%s", f"the {letter}")


def _ask(
    loss: Loss, officer: Officer, at: datetime, answered_at: datetime | None, dice: Random, rows: Rows, log: Log
) -> None:
    """A question; moving the claim on ends the wait for its answer."""
    question_id = new_id(dice, at)
    questioned = {
        "id": question_id,
        "claim_id": loss.id,
        "staff_id": officer.id,
        "text": _fill(dice.choice(_QUESTIONS), loss),
    }
    answered = stamp(answered_at) if answered_at else None
    rows.add(ClaimQuestion, {**loss.sale.owner, **questioned, "asked_at": stamp(at), "answered_at": answered})
    rows.add(ClaimComment, {**loss.sale.owner, **questioned, "for_claimant": True, "created_at": stamp(at)})
    noted = {"question_id": dashed_id(question_id)}
    log.add(at, officer.actor, "claimant asked", f"claim {dashed_id(loss.id)}", after=noted)
