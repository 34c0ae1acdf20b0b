"""Request body of a credit life claim (contract C1, C2)."""

from datetime import date
from decimal import Decimal
from typing import Annotated, Final

from pydantic import Field, ValidationInfo, field_validator

from core.covers import fields
from core.covers.claims.lines import INCIDENTS
from core.covers.claims.request import Claimant
from core.covers.fields import fault
from core.covers.request import Request
from core.services.claims.intake import requirements

_EXAMPLE_UPLOAD: Final = "https://coverdesk.example/v1/files/vucaqgdumbkyy253yr3a3ihswu"
IncidentType = Annotated[str, fields.one_of(*INCIDENTS)]


class CreditLifeClaimRequest(Request):
    """A claim on a credit life policy; each document is the address of an upload of the same sender."""

    policy_number: Annotated[str, Field(min_length=1, max_length=60)] = Field(examples=["CLP/2026/000001"])
    incident_type: IncidentType = Field(examples=["Loss of job"])
    accidental: fields.Flag = Field(examples=["false"], description="The incident was caused by an accident.")
    loan_offer_date: Annotated[fields.Day, fields.ExampleInDays(-90)] = Field(
        description="The day the loan was paid out."
    )
    loan_repayment_date: Annotated[fields.Day, fields.ExampleInDays(275)] = Field(description="The end of repayment.")
    loan_amount: fields.PositiveNaira = Field(examples=["100000.00"])
    pending_repayment_amount: fields.Naira = Field(examples=["75000.00"])
    incident_date: Annotated[fields.Day, fields.ExampleInDays(-1)] | None = Field(default=None)
    loan_offer_letter: fields.Document = Field(examples=[_EXAMPLE_UPLOAD])
    police_report: fields.Document | None = Field(
        default=None, validate_default=True, description="Required when the incident was an accident."
    )
    medical_report: fields.Document | None = Field(
        default=None, validate_default=True, description="Required for death, disability and critical illness."
    )
    employment_termination_letter: fields.Document | None = Field(
        default=None, validate_default=True, examples=[_EXAMPLE_UPLOAD], description="Required for loss of job."
    )

    @property
    def documents(self) -> dict[str, str]:
        """The submitted documents, by field."""
        found = {name: getattr(self, name, None) for name in (*requirements.DOCUMENTS, requirements.DEATH_CERTIFICATE)}
        return {name: link for name, link in found.items() if link is not None}

    @field_validator("loan_repayment_date")
    @classmethod
    def _after_offer(cls, value: date, info: ValidationInfo) -> date:
        offered = info.data.get("loan_offer_date")
        if offered is not None and value < offered:
            raise fault("must not be before loan_offer_date")
        return value

    @field_validator("pending_repayment_amount")
    @classmethod
    def _within_loan(cls, value: Decimal, info: ValidationInfo) -> Decimal:
        loan = info.data.get("loan_amount")
        if loan is not None and value > loan:
            raise fault("must not be more than loan_amount")
        return value

    @field_validator("police_report", "medical_report", "employment_termination_letter")
    @classmethod
    def _there_when_required(cls, value: str | None, info: ValidationInfo) -> str | None:
        incident, accidental = info.data.get("incident_type", ""), info.data.get("accidental", False)
        if value is None and info.field_name in requirements.list_required_documents(incident, accidental=accidental):
            reason = "an accident" if info.field_name in requirements.REQUIRED_AFTER_ACCIDENT else incident
            raise fault(f"is required for {reason}")
        return value


class CreditLifeDeskRequest(Claimant, CreditLifeClaimRequest):
    """A credit life claim taken in at the desk: its papers may follow, and somebody else may claim (contract C16)."""

    loan_offer_letter: fields.Document | None = Field(default=None)  # type: ignore[assignment]
    death_certificate: fields.Document | None = Field(default=None)

    @field_validator("police_report", "medical_report", "employment_termination_letter")
    @classmethod
    def _there_when_required(cls, value: str | None, _: ValidationInfo) -> str | None:
        return value
