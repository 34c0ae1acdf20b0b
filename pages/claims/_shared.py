"""Words that the queue and the review of a claim share: labels of transitions and of log entries."""

from collections.abc import Mapping
from typing import Any, Final

from core.services.audit.log import AuditEvent
from core.services.claims.intake import submitted
from core.services.claims.review.officers import Officer
from core.services.claims.workflow.clock import Clock
from core.ui.kit import words

_ACTIONS: Final = {
    "claim lodged": "Lodged",
    "claim moved": "Status changed",
    "claim commented": "Comment",
    "claim assigned": "Assigned",
    "claim incident dated": "Day of the incident",
    "claim document added": "Document added",
    "claim deductions set": "Deductions",
    "claim reserve set": "Reserve",
    "claim payee set": "Payee",
    "claim approved anew": "Approved again",
    "claim corrected": "Corrected",
    "claim letter written": "Letter",
    "claim letter sent": "Letter sent",
    "claim task made": "Task made",
    "claim task done": "Task done",
    "claimant set": "Claimant",
    "claim paid in part": "Paid in part",
    "claim part taken back": "A part came back",
    "claim referred": "Referred to a supervisor",
    "claim referral given back": "Referral given back with a question",
    "claim handed to finance": "Payment handed to finance",
    "claim taken back from finance": "Payment taken back from finance",
    "claimant asked": "Asked the claimant",
    "claimant answered": "The claimant's answer is in",
    "personal value shown": "Personal value shown",
}
_UNTOLD: Final = frozenset(
    {"version", "task_id", "comment_id", "question_id", "policy_id", "approved_by", "for_claimant"}
)
SUBMITTED: Final = ("loan_amount", "pending_repayment_amount", "cost_of_repair", "amount_claimed")
_AMOUNTS: Final = frozenset(
    {
        *("claim_amount", "repair_estimate", "approved_amount", "offer_amount", "excess_deduction_amount"),
        *("betterment_deduction_amount", "paid", "reversed", "reserve", "reserve_before", "referred_amount", "to_pay"),
        *(f"{name}{when}" for name in SUBMITTED for when in ("", "_before")),
    }
)


def action(event: AuditEvent) -> str:
    """Return the description of a log entry's action."""
    return _ACTIONS.get(event.action, words.title(event.action))


def actor(event: AuditEvent) -> str:
    """Return the display name of the actor."""
    kind, _, name = event.actor.partition(" ")
    # The invisible word joiner keeps an e-mail address from becoming a link.
    return {"staff": name.replace("@", "\u2060@"), "key": "the distributor, over the API"}.get(kind, event.actor)


def facts(event: AuditEvent, officers: Mapping[Any, str]) -> str:
    """Return the changed facts in one line; `officers` maps ids as text to names."""
    shown = {name: value for name, value in event.facts.items() if name not in _UNTOLD}
    if shown.get("decline_reason") == submitted.NOT_DECLINED:
        del shown["decline_reason"]
    return " · ".join(_fact(name, value, officers) for name, value in shown.items())


def names(officers: list[Officer]) -> Mapping[str, str]:
    """Return names by id as text, as the log stores them."""
    return {str(officer.id): officer.name for officer in officers}


def document(name: str) -> str:
    """Return a document's field as a label: "offer_form_url" -> "Offer form"."""
    return words.title(name.removesuffix("_url"))


def _fact(name: str, value: Any, officers: Mapping[Any, str]) -> str:  # noqa: ANN401 a value of any field
    if name == "assigned_to":
        return f"to {officers.get(value, 'a colleague')}" if value else "to nobody"
    if name == "flags":
        return "; ".join(submitted.FLAG_DESCRIPTIONS.get(flag, flag) for flag in value) or "no signal"
    if name in {"claim_status", "against"}:
        return str(value) if name == "claim_status" else f"against {', '.join(value)}"
    if name == "document":
        return ", ".join(map(document, str(value).split(", ")))
    label = words.title(name.removesuffix("_deduction_amount").replace("_", " "))
    if name in _AMOUNTS:
        return f"{label} {words.naira_of(value)}"
    return f"{label} {words.day(value) if name == 'incident_date' and value else value}"


def days_left(clock: Clock) -> str:
    """Return the time left of the 60 days, in a few words."""
    if clock.is_decided:
        return "Decided"
    days = abs(clock.days_left)
    number = words.counted(days, "day", "days")
    if clock.is_overdue:
        over = f"{number} over" if days else "Just over"
        return f"Paused, {over}" if clock.is_waiting else over
    return f"Paused, {days} left" if clock.is_waiting else number


def colour_of(clock: Clock) -> str:
    """Return the colour of the days left: red once they are over."""
    return "red" if clock.is_overdue and not clock.is_decided else ""
