"""Every type of event, declared once: its object, its data, and the audited actions or dates that make it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from core.states.claims import DECIDED, ClaimStatus

_ID = "01a1f7c0-3c00-7000-8000-0000000000f1"
_AMOUNT = r"^-?[0-9]+\.[0-9]{2}$"


def _id(describes: str) -> Any:
    return Field(description=describes, examples=[_ID], json_schema_extra={"format": "uuid"})


def _instant(describes: str) -> Any:
    return Field(default=None, description=describes, examples=["2026-11-20T00:00:00.000Z"])


def _naira(describes: str) -> Any:
    return Field(default=None, description=describes, pattern=_AMOUNT, examples=["5000.00"])


class Data(BaseModel):
    """Base of the data of events; absent facts are left out."""

    model_config = ConfigDict(extra="forbid")


class PurchaseData(Data):
    """A purchase, by what it bought."""

    purchase_id: str = _id("The purchase.")
    policy_id: str = _id("The policy that it bought.")
    customer_id: str = _id("The customer.")
    product_id: str = _id("The product.")
    provider_id: str = _id("The insurer.")
    total: str | None = _naira("The premium in naira.")
    refund: str | None = _naira("What goes back, in naira.")


class PolicyData(Data):
    """A policy after the change."""

    policy_id: str = _id("The policy.")
    purchase_id: str = _id("The purchase that bought it.")
    customer_id: str = _id("The customer.")
    product_id: str = _id("The product.")
    provider_id: str = _id("The insurer.")
    policy_number: str | None = Field(default=None, examples=["AXA/PA/11/26/HQ/1"])
    start_date: str | None = _instant("Where cover starts.")
    expiration_date: str | None = _instant("Where cover ends.")
    certificate_url: str | None = Field(default=None, examples=["https://desk.example/certificates/abc.pdf"])
    renewal_id: str | None = Field(default=None, description="The renewal that paid for the term.", examples=[_ID])
    total: str | None = _naira("The premium of the term in naira.")
    refund: str | None = _naira("What goes back, in naira.")
    submitted_to_provider: bool | None = Field(default=None, description="True once its insurer knows of it.")
    days: int | None = Field(default=None, description="Days until cover ends.", examples=[30])
    endorsement: int | None = Field(default=None, description="The number of the endorsement.", examples=[1])
    hours: int | None = Field(default=None, description="Hours that the insurer has not answered.", examples=[24])


class CustomerData(Data):
    """A customer; who it is, the API tells."""

    customer_id: str = _id("The customer.")


class ClaimData(Data):
    """A claim after the change."""

    claim_id: str = _id("The claim.")
    policy_id: str = _id("The policy.")
    customer_id: str = _id("The customer.")
    product_id: str = _id("The product.")
    provider_id: str = _id("The insurer.")
    claim_status: str | None = Field(default=None, examples=[ClaimStatus.APPROVED.value])
    decline_reason: str | None = Field(default=None, description="The code of the reason.")
    claim_amount: str | None = _naira("What is claimed.")
    repair_estimate: str | None = _naira("The estimate.")
    approved_amount: str | None = _naira("What was approved.")
    offer_amount: str | None = _naira("What is offered.")
    paid: str | None = _naira("What was paid now.")
    document: str | None = Field(
        default=None, description="The document that was added.", examples=["death_certificate"]
    )
    version: int | None = Field(default=None, description="The version of the claim.", examples=[3])
    days: int | None = Field(default=None, description="Days of the statutory clock that have run.", examples=[45])


class StatementData(Data):
    """A statement of yours; its lines, the API tells."""

    statement_id: str = _id("The statement.")
    number: str = Field(description="Its number, as it is printed.", examples=["CS-0007"])
    month: str = Field(description="The month that it is about.", examples=["2026-10"])
    closing_balance: str = Field(
        description="What we owe you in naira; negative where you owe us.", pattern=_AMOUNT, examples=["45000.00"]
    )
    state: str | None = Field(default=None, examples=["Sent"])


class LoanBookData(Data):
    """A loan book; its rows, the API tells."""

    loan_book_id: str = _id("The loan book.")
    status: str | None = Field(default=None, description="Its status.", examples=["validated"])
    rows: int | None = Field(default=None, description="How many rows are valid, or were carried out.", examples=[9872])
    premium: str | None = _naira("What they come to, in naira.")
    refusal: str | None = Field(
        default=None,
        description="Why it was refused or stopped, as `refusal` of the book says it.",
        examples=["file has rows in several sheets (Loans 1, Loans 2): put the loans into one called Loans"],
    )


class ExportData(Data):
    """A file of the records of one distributor."""

    export_id: str = _id("The export; its receipt at the desk has the same id.")
    kind: str = Field(description="The kind of records.", examples=["purchases"])
    format: str = Field(description="The form of the file.", examples=["csv"])
    rows: int = Field(description="How many records it holds.", examples=[1250])
    total: str | None = _naira("The sum of their amounts in naira, where the kind has one.")
    sha256: str = Field(description="The SHA-256 of the file, in hex.", examples=["9f86d081884c7d65" * 4])


class ProductData(Data):
    """A product of the catalogue."""

    product_id: str = _id("The product.")
    provider_id: str = _id("The insurer.")
    effective_at: str | None = _instant("From when on the rates hold.")
    price: str | None = Field(default=None, description="The list price.", examples=["5000.00"])


class EndpointData(Data):
    """An endpoint of yours."""

    endpoint_id: str = _id("The endpoint.")
    state: str | None = Field(default=None, examples=["failing"])
    reason: str | None = Field(
        default=None, description="Why its state changed.", examples=["The receiver answered 500"]
    )


Facts = Mapping[str, Any]


@dataclass(frozen=True)
class EventType:
    """One type of event; `applies` judges what the audit entry says before and after."""

    name: str
    data: type[Data]
    when: str
    actions: tuple[str, ...] = ()
    applies: Callable[[Facts, Facts], bool] = field(default=lambda _before, _after: True)

    @property
    def object(self) -> str:
        """The kind of its object: "claim.paid" is about a claim."""
        return self.name.partition(".")[0]


def _refunded(_: Facts, after: Facts) -> bool:
    return after.get("refund", "0.00") not in {"0.00", "0"}


def _status(*statuses: str) -> Callable[[Facts, Facts], bool]:
    """True of a move to one of the statuses; a payment that came back is no answer of the claimant."""
    return lambda _, after: after.get("claim_status") in statuses and "reversed" not in after


def _sold(**facts: Any) -> Callable[[Facts, Facts], bool]:
    """True of every action but a sale, and of a sale of which the log says so."""
    return lambda _, after: "purchase_id" not in after or all(after.get(name) == value for name, value in facts.items())


PING: Final = "endpoint.ping"
_SOLD, _MOVED = "policy sold", "claim moved"
_ISSUED = ("policy activated", "policy issued by hand")
_P, _C = PolicyData, ClaimData
EVENT_TYPES: Final = (
    EventType("purchase.created", PurchaseData, "A policy was sold.", actions=(_SOLD,)),
    EventType(
        "purchase.refunded",
        PurchaseData,
        "Premium goes back, because the policy was declined or cancelled.",
        actions=("policy declined", "policy cancelled"),
        applies=_refunded,
    ),
    EventType(
        "policy.activated", _P, "A policy came into force.", actions=(_SOLD, *_ISSUED), applies=_sold(activated=True)
    ),
    EventType("policy.declined", _P, "The insurer does not want it.", actions=("policy declined",)),
    EventType("policy.submission_delayed", _P, "The insurer has not answered for 24 hours."),
    EventType(
        "policy.certificate_ready",
        _P,
        "A term has its certificate.",
        actions=(_SOLD, *_ISSUED, "policy renewed"),
        applies=_sold(activated=True),
    ),
    EventType(
        "policy.updated",
        _P,
        "Its insurer took a policy that was in force, or was told of it another way.",
        actions=("policy accepted", "noted as reported"),
    ),
    EventType(
        "policy.endorsed",
        _P,
        "Name, contact, address or vehicle of a policy in force were changed; the policy names the changes.",
        actions=("policy endorsed",),
    ),
    EventType("policy.cancelled", _P, "A policy was ended early.", actions=("policy cancelled",)),
    EventType("policy.expiring", _P, "Cover ends in 90, 60, 30, 7 or 0 days; once each."),
    EventType("policy.expired", _P, "Cover is over."),
    EventType("policy.renewed", _P, "One more term was paid for.", actions=("policy renewed",)),
    EventType(
        "customer.created",
        CustomerData,
        "A first purchase made a customer.",
        actions=(_SOLD,),
        applies=_sold(customer="created"),
    ),
    EventType(
        "customer.updated",
        CustomerData,
        "A later purchase brought newer details.",
        actions=(_SOLD,),
        applies=_sold(customer="updated"),
    ),
    EventType(
        "customer.erased",
        CustomerData,
        "A customer's personal data was erased here; erase what you keep of them without a duty to.",
        actions=("customer erased",),
    ),
    EventType("claim.lodged", _C, "A claim was made.", actions=("claim lodged",)),
    EventType("claim.status_changed", _C, "Every move of a claim.", actions=(_MOVED,)),
    *(
        EventType(f"claim.{name}", _C, when, actions=(_MOVED,), applies=_status(status))
        for name, status, when in (
            ("approved", ClaimStatus.APPROVED, "A claim was approved."),
            ("declined", ClaimStatus.DECLINED, "A claim was declined."),
            ("offer_sent", ClaimStatus.OFFER_SENT, "An offer was made."),
            ("offer_accepted", ClaimStatus.OFFER_ACCEPTED, "The claimant accepted the offer."),
            ("offer_rejected", ClaimStatus.OFFER_REJECTED, "The claimant rejected the offer."),
            ("paid", ClaimStatus.PAID, "A claim was paid."),
            ("settled", ClaimStatus.SETTLED, "A claim is settled."),
        )
    ),
    EventType(
        "claim.reopened",
        _C,
        "A claim that had ended is reviewed again.",
        actions=(_MOVED,),
        # Leaving a status that ended the claim is an appeal or a mistake put right.
        applies=lambda before, after: (
            before.get("claim_status") in DECIDED and after["claim_status"] == ClaimStatus.REVIEWING
        ),
    ),
    EventType("claim.information_requested", _C, "The claimant was asked.", actions=("claimant asked",)),
    EventType("claim.document_added", _C, "A document was added.", actions=("claim document added",)),
    EventType("claim.due_soon", _C, "45, then 55 days of the statutory clock have run."),
    EventType("claim.overdue", _C, "60 days of the statutory clock have run."),
    EventType(
        "statement.issued",
        StatementData,
        "Your statement of a month was sent.",
        actions=("statement sent",),
        # A dispute that was settled sends nothing anew.
        applies=lambda before, _: before.get("state") == "Approved",
    ),
    EventType("statement.paid", StatementData, "A statement is paid in full.", actions=("statement paid",)),
    *(
        EventType(f"loan_book.{name}", LoanBookData, when, actions=(f"loan book {name}",))
        for name, when in (
            ("validated", "A loan book was read: look at its preview, and confirm it."),
            ("refused", "A loan book cannot be read; `refusal` says why."),
            ("confirmed", "A loan book was confirmed and is carried out."),
            ("paused", "A loan book stopped, for the reason in `refusal`; what was sold until then stays sold."),
            ("done", "A loan book was carried out, or a snapshot compared; its report has what became of each row."),
            ("cancelled", "A loan book was given up."),
            ("expired", "A loan book was given up, as nobody confirmed it in time."),
        )
    ),
    EventType(
        "export.ready",
        ExportData,
        "A file of your records alone was made at the desk; rows, sum and hash tell what you are handed.",
        actions=("export finished",),
    ),
    EventType(
        "product.price_changed",
        ProductData,
        "Other rates were confirmed; they hold from `effective_at`.",
        actions=("rates confirmed",),
    ),
    EventType(
        "product.withdrawn",
        ProductData,
        "A product is not on sale any more, for all or for you.",
        actions=("product switched off", "product withheld from a distributor"),
    ),
    EventType(
        PING,
        EndpointData,
        "You or the desk tried an endpoint; sent to that endpoint alone, and in no feed and no replay.",
    ),
    EventType(
        "endpoint.failing",
        EndpointData,
        "For an hour every delivery to another endpoint of yours failed.",
        actions=("endpoint failing",),
    ),
    EventType(
        "endpoint.disabled",
        EndpointData,
        "Another endpoint of yours takes no events any more; they are held.",
        actions=("endpoint disabled",),
    ),
)
BY_NAME: Final[Mapping[str, EventType]] = {each.name: each for each in EVENT_TYPES}


@cache
def by_action() -> Mapping[str, tuple[EventType, ...]]:
    """The types that each audited action can make."""
    actions = {action for each in EVENT_TYPES for action in each.actions}
    return {action: tuple(each for each in EVENT_TYPES if action in each.actions) for action in actions}


@cache
def is_pattern(pattern: str) -> bool:
    """True for "*" and for a pattern such as "claim.*" or "claim.paid" that a type of event fits."""
    return set(pattern) <= set("abcdefghijklmnopqrstuvwxyz_.*") and any(fits(pattern, name) for name in BY_NAME)


# Names of older interfaces. An endpoint that has one among its events wants the type, and is sent it under that name
# in the classic form (contract W7).
OLDER_NAMES: Final[Mapping[str, str]] = {"renewal.successful": "policy.renewed", "claim.rejected": "claim.declined"}


@cache
def fits(pattern: str, name: str) -> bool:
    """True when a type of event fits a pattern."""
    return fnmatchcase(name, OLDER_NAMES.get(pattern, pattern))
