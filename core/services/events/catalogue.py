"""Every type of event, declared once: its object, its data, and the audited actions or dates that make it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Final

from core.services.events import payloads
from core.services.events.payloads import Data
from core.states.claims import DECIDED, ClaimStatus

Facts = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
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
_P, _C = payloads.PolicyData, payloads.ClaimData
EVENT_TYPES: Final = (
    EventType(name="purchase.created", data=payloads.PurchaseData, when="A policy was sold.", actions=(_SOLD,)),
    EventType(
        name="purchase.refunded",
        data=payloads.PurchaseData,
        when="Premium goes back, because the policy was declined or cancelled.",
        actions=("policy declined", "policy cancelled"),
        applies=_refunded,
    ),
    EventType(
        name="policy.activated",
        data=_P,
        when="A policy came into force.",
        actions=(_SOLD, *_ISSUED),
        applies=_sold(activated=True),
    ),
    EventType(name="policy.declined", data=_P, when="The insurer does not want it.", actions=("policy declined",)),
    EventType(name="policy.submission_delayed", data=_P, when="The insurer has not answered for 24 hours."),
    EventType(
        name="policy.certificate_ready",
        data=_P,
        when="A term has its certificate.",
        actions=(_SOLD, *_ISSUED, "policy renewed"),
        applies=_sold(activated=True),
    ),
    EventType(
        name="policy.updated",
        data=_P,
        when="Its insurer took a policy that was in force, or was told of it another way.",
        actions=("policy accepted", "noted as reported"),
    ),
    EventType(
        name="policy.endorsed",
        data=_P,
        when="Name, contact, address or vehicle of a policy in force were changed; the policy names the changes.",
        actions=("policy endorsed",),
    ),
    EventType(name="policy.cancelled", data=_P, when="A policy was ended early.", actions=("policy cancelled",)),
    EventType(name="policy.expiring", data=_P, when="Cover ends in 90, 60, 30, 7 or 0 days; once each."),
    EventType(name="policy.expired", data=_P, when="Cover is over."),
    EventType(name="policy.renewed", data=_P, when="One more term was paid for.", actions=("policy renewed",)),
    EventType(
        name="customer.created",
        data=payloads.CustomerData,
        when="A first purchase made a customer.",
        actions=(_SOLD,),
        applies=_sold(customer="created"),
    ),
    EventType(
        name="customer.updated",
        data=payloads.CustomerData,
        when="A later purchase brought newer details.",
        actions=(_SOLD,),
        applies=_sold(customer="updated"),
    ),
    EventType(
        name="customer.erased",
        data=payloads.CustomerData,
        when="A customer's personal data was erased here; erase what you keep of them without a duty to.",
        actions=("customer erased",),
    ),
    EventType(name="claim.lodged", data=_C, when="A claim was made.", actions=("claim lodged",)),
    EventType(name="claim.status_changed", data=_C, when="Every move of a claim.", actions=(_MOVED,)),
    *(
        EventType(name=f"claim.{name}", data=_C, when=when, actions=(_MOVED,), applies=_status(status))
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
        name="claim.reopened",
        data=_C,
        when="A claim that had ended is reviewed again.",
        actions=(_MOVED,),
        # Leaving a status that ended the claim is an appeal or a mistake put right.
        applies=lambda before, after: (
            before.get("claim_status") in DECIDED and after["claim_status"] == ClaimStatus.REVIEWING
        ),
    ),
    EventType(name="claim.information_requested", data=_C, when="The claimant was asked.", actions=("claimant asked",)),
    EventType(name="claim.document_added", data=_C, when="A document was added.", actions=("claim document added",)),
    EventType(name="claim.due_soon", data=_C, when="45, then 55 days of the statutory clock have run."),
    EventType(name="claim.overdue", data=_C, when="60 days of the statutory clock have run."),
    EventType(
        name="statement.issued",
        data=payloads.StatementData,
        when="Your statement of a month was sent.",
        actions=("statement sent",),
        # A dispute that was settled sends nothing anew.
        applies=lambda before, _: before.get("state") == "Approved",
    ),
    EventType(
        name="statement.paid",
        data=payloads.StatementData,
        when="A statement is paid in full.",
        actions=("statement paid",),
    ),
    *(
        EventType(name=f"loan_book.{name}", data=payloads.LoanBookData, when=when, actions=(f"loan book {name}",))
        for name, when in (
            ("validated", "A loan book was read: look at its preview, and confirm it."),
            ("refused", "A loan book cannot be read; `refusal` of the book says why."),
            ("confirmed", "A loan book was confirmed and is carried out."),
            ("paused", "A loan book stopped; what was sold until then stays sold."),
            (
                "done",
                "A loan book was carried out, or a snapshot compared; its report has what became of each row.",
            ),
            ("cancelled", "A loan book was given up."),
            ("expired", "A loan book was given up, as nobody confirmed it in time."),
        )
    ),
    EventType(
        name="export.ready",
        data=payloads.ExportData,
        when="A file of your records alone was made at the desk; rows, sum and hash tell what you are handed.",
        actions=("export finished",),
    ),
    EventType(
        name="product.price_changed",
        data=payloads.ProductData,
        when="Other rates were confirmed; they hold from `effective_at`.",
        actions=("rates confirmed",),
    ),
    EventType(
        name="product.withdrawn",
        data=payloads.ProductData,
        when="A product is not on sale any more, for all or for you.",
        actions=("product switched off", "product withheld from a distributor"),
    ),
    EventType(
        name=PING,
        data=payloads.EndpointData,
        when="You or the desk tried an endpoint; sent to that endpoint alone, and in no feed and no replay.",
    ),
    EventType(
        name="endpoint.failing",
        data=payloads.EndpointData,
        when="For an hour every delivery to another endpoint of yours failed.",
        actions=("endpoint failing",),
    ),
    EventType(
        name="endpoint.disabled",
        data=payloads.EndpointData,
        when="Another endpoint of yours takes no events any more; they are held.",
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


# Audited actions that make no event, each with its reason; a test finds the actions of the source here or above.
UNTOLD: Final[Mapping[str, str]] = (
    dict.fromkeys(
        (
            *("claim commented", "claim assigned", "claim incident dated", "claim deductions set", "claimant answered"),
            *("claim referral given back", "claim approval lapsed", "difference assigned"),
            *("claim reserve set", "claim referred", "claim payee set", "claim paid in part", "claim part taken back"),
            *("claim corrected", "claimant set", "claim task made", "claim task done"),
            *("claim letter written", "claim letter sent", "claim handed to finance", "claim taken back from finance"),
            *(
                "claims paid from a file",
                "claims paid by one transfer",
                "claim approved anew",
                "claim moved by command",
                "credit note approval lapsed",
            ),
            *("resent to the insurer", "all set aside resent", "submission set aside", "insurer answered late"),
            *("adjustment proposed", "adjustment confirmed", "adjustment refused", "adjustment taken back"),
            *("target set", "target changed", "target removed", "renewal call recorded", "agreement added"),
            *("bank account proposed", "bank account confirmed", "bank account refused", "bank account withdrawn"),
            *("commission share proposed", "commission share confirmed", "commission share refused"),
            "commission share taken back",
            *("statement prepared", "statement approved", "statement reversed", "statement disputed"),
            *("statement given up", "statement part paid", "statement payment returned"),
            *(
                "view saved",
                "view deleted",
                "view mailed",
                "view no longer mailed",
                "e-mail queued",
                "e-mail text changed",
                "e-mail text reset",
            ),
            *("reminders switched off", "reminders switched on", "customer noted", "insurer told of endorsement"),
            *("customers merged", "customers taken apart"),
            *("automation switched on", "automation switched off", "owner of a waiting policy set"),
            *("payment prepared", "payment approved", "payment confirmed", "payment returned", "payment given up"),
            *("bordereau issued", "bordereau sent", "bordereau acknowledged", "bordereau queried"),
            *("file reconciled", "difference explained", "difference adjusted", "write-off asked"),
            "difference written off",
            *(
                "month closing begun",
                "month closing given up",
                "month closed",
                "month reopening asked",
                "month reopened",
            ),
            *("credit note approved first", "credit note approved", "credit note paid", "credit note returned"),
            *("payout prepared", "payout approved", "payout approved anew", "payout given up", "bank file opened"),
            *("rates proposed", "rates refused", "rates taken back", "rates withdrawn", "product described"),
        ),
        "Work of the desk that changes nothing for a distributor",
    )
    | dict.fromkeys(
        (
            *("loan book uploaded", "loan book read again", "loan book resumed", "loan book report taken"),
            "loan book rows forgotten",
            *("file uploaded", "file opened", "export started", "personal numbers sealed anew"),
            *("distributor added", "distributor changed", "distributor switched on", "distributor switched off"),
            *(
                "insurer changed",
                "key issued",
                "key revoked",
                "product switched on",
                "product offered to a distributor",
            ),
            *("endpoint registered", "endpoint changed", "endpoint deleted", "endpoint enabled", "endpoint verified"),
            *("endpoint secret rotated", "endpoint replayed", "delivery sent again"),
            *("mail sent again", "store backed up", "store restored", "signed in", "signed out", "sessions ended"),
            *(
                "staff added",
                "staff changed",
                *("roles proposed", "roles confirmed", "roles refused", "roles taken back"),
                "staff saved",
                "first admin set up",
                "staff enabled",
                "staff disabled",
                "password link made",
                *("account change proposed", "account change confirmed", "account change refused"),
                *("account change taken back", "account confirmed", "staff details set", "password link"),
                "password chosen",
            ),
        ),
        "An act of whoever would be told of it, or of the installation",
    )
    | dict.fromkeys(
        (
            *("breach registered", "breach judged", "breach notified to the Commission", "breach told to people"),
            *("breach closed", "complaint registered", "complaint answered", "data pack made"),
            *("data request registered", "data request acknowledged", "data request extended", "data request answered"),
            *("data request refused", "data request identity checked", "data request records chosen"),
            *(
                "erasure prepared",
                "erasure carried out",
                "erasure refused",
                "erasure taken back",
                "erasures applied again",
            ),
            *("figure set", "legal hold set", "legal hold lifted", "yearly figures taken"),
            *("return prepared", "return checked", "return sent"),
        ),
        "Work of the privacy desk, which is nobody's business outside",
    )
)
