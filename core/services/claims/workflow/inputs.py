"""Officer inputs on a claim, validated like every other input (contract C5, E4)."""

from datetime import date
from typing import Annotated, Any, ClassVar, Final

from pydantic import AfterValidator, BeforeValidator, Field

from core import clock
from core.covers import fields
from core.covers.fields import AccountNumber, fault
from core.covers.request import Request
from core.services.claims.intake import submitted
from core.services.people.transfers import Reference


def _normalise_reason(value: Any) -> Any:
    """Accept a reason in command-line spelling: documents-missing is documents missing."""
    return value.replace("-", " ").replace("_", " ") if isinstance(value, str) else value


def _refuse_future(value: date) -> date:
    if value > clock.today():
        raise fault("must not be in the future")
    return value


Reason = Annotated[str, Field(min_length=2, max_length=500)]
DeclineReason = Annotated[str, fields.one_of(*submitted.DECLINE_REASONS), BeforeValidator(_normalise_reason)]


class TransitionInput(Request):
    """Inputs of a transition; the transition table says which of them are required."""

    multiline_fields: ClassVar[frozenset[str]] = frozenset({"note"})

    amount: fields.Naira | None = None
    reason: DeclineReason | None = None
    note: fields.LongText | None = None
    payment_reference: Reference | None = None
    estimate_document: Annotated[str, Field(max_length=60)] | None = None
    reasons: dict[str, Reason] = Field(default_factory=dict)


ANSWER_DAYS: Final = 7
BANK_TRANSFER: Final = "Bank transfer"
PAYMENT_METHODS: Final = (BANK_TRANSFER, "Cheque", "Credit to the loan")


class PaymentInput(Request):
    """Payment of a claim, and the day on which the bank counts it."""

    method: Annotated[str, fields.one_of(*PAYMENT_METHODS)] = PAYMENT_METHODS[0]
    value_on: Annotated[fields.Day, AfterValidator(_refuse_future)] = Field(default_factory=clock.today)


class TransferInput(PaymentInput):
    """One transfer for several claims: its reference, and its total in naira."""

    payment_reference: Annotated[Reference, Field(min_length=2)]
    total: fields.PositiveNaira


class PayeeInput(Request):
    """A payee with their account, and the reason for setting it."""

    payee: fields.Text
    payee_bank: fields.Text
    payee_account: AccountNumber
    payee_reason: Reason


class CommentInput(Request):
    """A comment on a claim, or a question to the claimant."""

    multiline_fields: ClassVar[frozenset[str]] = frozenset({"text"})

    text: fields.LongText


class QuestionInput(CommentInput):
    """A question to the claimant, and by when it should be answered."""

    due_on: fields.TodayOrLater = Field(default_factory=lambda: clock.add_days(clock.today(), ANSWER_DAYS))


class AnswerInput(Request):
    """Answer of the claimant."""

    multiline_fields: ClassVar[frozenset[str]] = frozenset({"answer"})

    answer: fields.LongText = Field(examples=["The account was closed on 3 November; the bank's letter follows."])


class TaskInput(Request):
    """Something to do, and by when."""

    multiline_fields: ClassVar[frozenset[str]] = frozenset({"task"})

    task: Annotated[str, Field(min_length=2, max_length=500)]
    due_on: fields.TodayOrLater


class DeductionsInput(Request):
    """Deductions from an offer, in naira."""

    excess: fields.Naira
    betterment: fields.Naira


class ReasonInput(Request):
    """Reason for a correction."""

    correction_reason: Reason


class IncidentDateInput(Request):
    """The date of an incident, and why it is another one than what is known."""

    incident_date: Annotated[fields.Day, AfterValidator(_refuse_future)]
    correction_reason: Reason | None = None


class AmountsInput(ReasonInput):
    """Submitted amounts as they should have been, in naira."""

    loan_amount: fields.PositiveNaira | None = None
    pending_repayment_amount: fields.Naira | None = None
    cost_of_repair: fields.PositiveNaira | None = None
    amount_claimed: fields.PositiveNaira | None = None


class ReserveInput(Request):
    """A new reserve in naira, and why it changes."""

    reserve: fields.Naira
    reserve_reason: Reason


class ReferralInput(Request):
    """The decision that is referred, its amount, if it has one, and why a supervisor should decide."""

    multiline_fields: ClassVar[frozenset[str]] = frozenset({"referral_note"})

    referred_to: fields.Text
    referral_amount: fields.Naira | None = None
    referral_note: fields.LongText


class HandOverInput(Request):
    """Note on a payment that is handed to finance."""

    multiline_fields: ClassVar[frozenset[str]] = frozenset({"hand_over_note"})

    hand_over_note: fields.LongText | None = None
