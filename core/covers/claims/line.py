"""Lines of claims: the request that every line has in common, and what a line declares beside it (contract C16)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Any, ClassVar, Final

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from core.covers import fields, registry
from core.covers.fields import fault
from core.covers.request import Request

DEATH: Final = "Death"
OWNER: Final = "Owner"
CLAIMANTS: Final = (OWNER, "Next of kin", "Beneficiary", "Lender", "Third party", "Representative")
POLICE_REPORT: Final = "police_report"
# Kept in columns of the claim, not among what was submitted.
CLAIMANT_FIELDS: Final = (
    "claimant",
    *(f"claimant_{name}" for name in ("first_name", "last_name", "email", "phone_number")),
)


def _check_time(value: str) -> str:
    if not re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]", value):
        raise fault("must be a time of day as HH:MM")
    return value


TimeOfDay = Annotated[str, Field(max_length=5), AfterValidator(_check_time)]
Paper = fields.Document | None


class Claimant(Request):
    """The claimant, where it is not the insured person; after a death it never is."""

    claimant: Annotated[str, fields.one_of(*CLAIMANTS)] = Field(
        default=OWNER, validate_default=True, description="The role of who claims; after a death not the owner."
    )
    claimant_relation: fields.Text | None = Field(default=None, description="For example wife, son or bank.")
    claimant_first_name: fields.Name | None = Field(default=None, validate_default=True)
    claimant_last_name: fields.Name | None = Field(default=None, validate_default=True)
    claimant_email: fields.Email | None = None
    claimant_phone_number: fields.Phone | None = Field(default=None, validate_default=True)

    @field_validator("claimant")
    @classmethod
    def _alive(cls, value: str, info: ValidationInfo) -> str:
        if value == OWNER and info.data.get("incident_type") == DEATH:
            raise fault("must be another than the owner after a death")
        return value

    @field_validator("claimant_first_name", "claimant_last_name")
    @classmethod
    def _named(cls, value: str | None, info: ValidationInfo) -> str | None:
        role = info.data.get("claimant", OWNER)
        if value is None and role != OWNER:
            raise fault(f"is required for a claimant who is {role}")
        return value

    @field_validator("claimant_phone_number")
    @classmethod
    def _reachable(cls, value: str | None, info: ValidationInfo) -> str | None:
        role = info.data.get("claimant", OWNER)
        # An e-mail that is wrong is not here, and is told by itself.
        if value is None and role != OWNER and info.data.get("claimant_email", "wrong") is None:
            raise fault("or claimant_email is required, so that the claimant can be reached")
        return value


class Loss(Request):
    """An incident on a policy; papers may follow later."""

    multiline_fields: ClassVar[frozenset[str]] = frozenset({"incident_description"})

    policy_number: Annotated[str, Field(min_length=1, max_length=60)] = Field(examples=["ACC/AR/11/26/HQ/1"])
    incident_type: str
    incident_date: Annotated[fields.Day, fields.ExampleInDays(0)]
    incident_time: TimeOfDay | None = Field(default=None, examples=["14:30"])
    incident_place: fields.Place = Field(examples=["Third Mainland Bridge, Lagos"])
    incident_description: fields.LongText = Field(examples=["Described by the claimant on the phone"])
    no_police_report: fields.Text | None = Field(
        default=None,
        title="Why there is no police report",
        description="Stands in for the police report.",
    )


class LossRequest(Claimant, Loss):
    """The fields of a claim of any line; each document is a file or the address of an upload of the same sender."""

    bank_name: fields.Text | None = Field(default=None, examples=["Lagoon Bank"])
    bank_code: Annotated[str, Field(max_length=10)] | None = Field(default=None, examples=["901"])
    account_name: fields.Text | None = Field(default=None, examples=["Amaka Eze"])
    account_number: fields.AccountNumber | None = Field(default=None, examples=["0123456789"])
    police_report: Paper = None


Endpoint = tuple[str, str]
_NO_POLICE_REPORT: Final = "no_police_report"


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of a line's own check: the question, the answer (None when the records cannot tell) and the evidence."""

    question: str
    passed: bool | None
    detail: str


@dataclass(frozen=True, kw_only=True)
class ClaimLine:
    """The claims of one line of cover: endpoint, form, documents and checks follow from it.

    `covers` are the endpoints that sell it (prefix and route), each with the incidents that it insures; `incidents`
    are all that can be lodged, with the documents that each requires besides those in `always`. `column` is where the
    claim keeps what was submitted, `amount` the field with the amount claimed, and `stored_names` renames fields there.
    `same_thing` compares what was submitted with what was insured; a loss that nobody can look at, such as an injury,
    is not `is_inspected`.
    """

    route: str
    title: str
    request: type[LossRequest]
    column: str
    covers: Mapping[Endpoint, frozenset[str]]
    incidents: Mapping[str, tuple[str, ...]]
    always: tuple[str, ...] = ()
    amount: str = "amount_claimed"
    same_thing: Callable[[Mapping[str, Any], Mapping[str, Any]], Finding]
    stored_names: Mapping[str, str] = field(default_factory=dict)
    is_inspected: bool = True

    @cached_property
    def documents(self) -> tuple[str, ...]:
        """The fields that are documents, in the order of the form."""
        return tuple(
            name
            for name, each in self.request.model_fields.items()
            if any(isinstance(mark, fields.Upload) for mark in fields.get_metadata(each))
        )

    @cached_property
    def number_field(self) -> str | None:
        """The field that names the insured thing by its number; None where a claim names none."""
        return next(iter(fields.list_numbers(self.request)), None)

    def find_number(self, insured: Mapping[str, Any]) -> str | None:
        """Return the number of the thing that a policy of the line insures, as it was submitted; None without one."""
        requests = (registry.get_request(*endpoint) for endpoint in self.covers)
        names = (name for request in requests if request for name in fields.list_numbers(request))
        return next((str(insured[name]) for name in names if insured.get(name)), None)

    def compare_numbers(self, question: str, claimed: Mapping[str, Any], insured: Mapping[str, Any]) -> "Finding":
        """Compare the number that a claim names with that of the insured thing."""
        return compare(question, claimed.get(self.number_field or ""), self.find_number(insured))

    def list_required(self, incident_type: str | None, *, no_police_report: str | None = None) -> tuple[str, ...]:
        """Return the documents that an incident requires; a reason for having no police report stands in for it."""
        wanted = {*self.always, *self.incidents.get(incident_type or "", ())}
        return tuple(
            name for name in self.documents if name in wanted and not (name == POLICE_REPORT and no_police_report)
        )

    def list_required_of(self, meta: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the required documents of a lodged claim."""
        return self.list_required(meta.get("incident_type"), no_police_report=meta.get(_NO_POLICE_REPORT))

    def build_meta(self, request: LossRequest) -> dict[str, Any]:
        """Return what a claim keeps of a request: amounts and days as text, absent values as None."""
        return {
            self.stored_names.get(name, name): _to_plain(getattr(request, name))
            for name in self.request.model_fields
            if name not in CLAIMANT_FIELDS
        }


def _to_plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return f"{value:.2f}"
    return value.isoformat() if isinstance(value, date) else value


def compare(question: str, claimed: str | None, insured: str | None, *, differs: bool | None = False) -> Finding:
    """Compare two texts without case and punctuation.

    Unknown while one is missing; `differs` is the result when they do not agree.
    """
    if not claimed or not insured:
        return Finding(question, None, "not said" if not claimed else "the policy does not say")
    if normalise(claimed) == normalise(insured):
        return Finding(question, passed=True, detail=claimed)
    return Finding(question, differs, f"{claimed}, insured {insured}")


def normalise(text: str) -> str:
    """Return a text in lower case, letters and digits only."""
    return "".join(character for character in text.casefold() if character.isalnum())
