"""Officer inputs on a claim, validated like every other input (contract C5, E4)."""

from datetime import date
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BeforeValidator, Field

from core import clock
from core.covers import fields
from core.covers.faults import fault
from core.covers.request import Request
from core.services.claims.intake import requirements


def _plain(value: Any) -> Any:
    """Accept a reason in command-line spelling: documents-missing is documents missing."""
    return value.replace("-", " ").replace("_", " ") if isinstance(value, str) else value


def _not_later(value: date) -> date:
    if value > clock.today():
        raise fault("must not be in the future")
    return value


Reason = Annotated[str, fields.one_of(*requirements.DECLINE_REASONS), BeforeValidator(_plain)]


class MoveInput(Request):
    """Inputs of a transition; the transition table says which of them are required."""

    prose: ClassVar[frozenset[str]] = frozenset({"note"})

    amount: fields.Naira | None = None
    reason: Reason | None = None
    note: fields.LongText | None = None
    payment_reference: Annotated[str, Field(max_length=60)] | None = None


class CommentInput(Request):
    """A comment on a claim, or a question to the claimant."""

    prose: ClassVar[frozenset[str]] = frozenset({"text"})

    text: fields.LongText


class IncidentDay(Request):
    """The date of an incident."""

    incident_date: Annotated[fields.Day, AfterValidator(_not_later)]


class Deductions(Request):
    """Deductions from an offer, in naira."""

    excess: fields.Naira
    betterment: fields.Naira
