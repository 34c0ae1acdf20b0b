"""Conversation on a claim: comments of officers, and questions to claimants (contract C9)."""

from datetime import datetime
from random import Random

from core.demo.audit_log import Log
from core.demo.bulk_rows import Rows, stamp
from core.demo.claims.claims import LOAN, Loss
from core.demo.market.sellers import Officer
from core.demo.random_source import dashed_id, new_id
from core.states.claims import ClaimStatus
from core.store.schema.claims import ClaimComment, ClaimQuestion

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


def file(loss: Loss, dice: Random, rows: Rows, log: Log) -> list[int]:
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
