"""The request to lodge a claim of any line: policy, incident, claimant and payee (contract C16)."""

import re
from typing import Annotated, ClassVar, Final

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from core.covers import fields
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


def _check_account_number(value: str) -> str:
    if not re.fullmatch(r"[0-9]{10}", value):
        raise fault("must be the 10 digits of an account number")
    return value


TimeOfDay = Annotated[str, Field(max_length=5), AfterValidator(_check_time)]
AccountNumber = Annotated[str, Field(max_length=32), AfterValidator(_check_account_number), fields.Personal()]
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
        if value is None and role != OWNER and not info.data.get("claimant_email"):
            raise fault("or claimant_email is required, so that the claimant can be reached")
        return value


class Loss(Request):
    """An incident on a policy; papers may follow later."""

    multiline_fields: ClassVar[frozenset[str]] = frozenset({"incident_description"})

    policy_number: Annotated[str, Field(min_length=1, max_length=60)] = Field(examples=["ACC/AR/11/26/HQ/1"])
    incident_type: str
    incident_date: Annotated[fields.Day, fields.ExampleInDays(0)]
    incident_time: TimeOfDay | None = Field(default=None, examples=["14:30"])
    incident_place: fields.Address = Field(examples=["Third Mainland Bridge, Lagos"])
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
    account_number: AccountNumber | None = Field(default=None, examples=["0123456789"])
    police_report: Paper = None
