"""A claim about to be lodged, read from the request of its line (contract C1, C16)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Final

from pydantic import Field, ValidationInfo, field_validator

from core import money, seal
from core.covers import fields
from core.covers.claims import lines
from core.covers.claims.line import OWNER, Claimant, ClaimLine, Endpoint, LossRequest
from core.covers.claims.lines import INCIDENTS
from core.covers.credit_life import CREDIT_LIFE, LOAN
from core.covers.fields import fault
from core.covers.request import Request
from core.covers.request_parts import build_name_key
from core.services.claims.intake import submitted
from core.services.people import personal
from core.store.schema.tables import Policy

_EXAMPLE_UPLOAD: Final = "https://coverdesk.example/v1/files/vucaqgdumbkyy253yr3a3ihswu"
IncidentType = Annotated[str, fields.one_of(*INCIDENTS)]


class CreditLifeClaimRequest(Request):
    """A claim on a credit life policy; each document is the address of an upload of the same sender."""

    policy_number: Annotated[str, Field(min_length=1, max_length=60)] = Field(examples=["CLP/2026/000001"])
    incident_type: IncidentType = Field(examples=["Loss of job"])
    accidental: fields.Flag = Field(examples=["false"], description="The incident was caused by an accident.")
    loan_offer_date: Annotated[fields.Day, fields.ExampleInDays(-90), fields.Insured(LOAN)] = Field(
        description="The day the loan was paid out."
    )
    loan_repayment_date: Annotated[fields.Day, fields.ExampleInDays(275), fields.Insured(LOAN)] = Field(
        description="The end of repayment."
    )
    loan_amount: Annotated[fields.PositiveNaira, fields.Insured(LOAN)] = Field(examples=["100000.00"])
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
        found = {name: getattr(self, name, None) for name in (*submitted.DOCUMENTS, submitted.DEATH_CERTIFICATE)}
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
        if value is None and info.field_name in submitted.list_required_of_incident(incident, accidental=accidental):
            reason = "an accident" if info.field_name in submitted.REQUIRED_AFTER_ACCIDENT else incident
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


_CREDIT_LIFE_ENDPOINT: Final = (CREDIT_LIFE.prefix, CREDIT_LIFE.route)
ClaimRequest = CreditLifeClaimRequest | LossRequest


@dataclass(frozen=True, kw_only=True, slots=True)
class NewClaim:
    """A claim of any line to be written; `meta` is kept in `column`, without personal numbers, which are `sealed`."""

    line: ClaimLine | None = None
    policy_number: str
    claim_type: str
    incident_type: str
    happened_on: date | None
    loan_days: tuple[date, date] | None = None
    loan_amount: str | None = None
    documents: Mapping[str, str]
    column: str
    meta: Mapping[str, Any]
    sealed: str | None = None
    account_key: str | None = None
    claimant: Claimant | None

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """The endpoints that sell what such a claim can be lodged on."""
        return tuple(self.line.covers) if self.line else (_CREDIT_LIFE_ENDPOINT,)

    @property
    def claimed_minor(self) -> int:
        """The amount that was submitted as the loss, in kobo; 0 for a loan, of which the review says what is owed."""
        claimed = self.meta.get(self.line.amount) if self.line else None
        return money.to_minor(Decimal(claimed)) if claimed else 0

    @property
    def policy_words(self) -> str:
        """The kind of policy, for refusals: "credit life policy"."""
        return f"{self.claim_type.lower()} policy"

    def is_insured(self, endpoint: Endpoint, submitted: Mapping[str, Any]) -> bool:
        """Return True when the cover answers for the incident."""
        if self.line:
            return self.incident_type in self.line.covers.get(endpoint, ())
        return INCIDENTS[self.incident_type].benefit in submitted.get("benefit_coverage", ())


def build_claimant_columns(claimant: Claimant | None, policy: Policy) -> dict[str, Any]:
    """Return who claims as columns of a claim: the holder of the policy, unless somebody else is named.

    An owner who gives a phone is called back there. The name is that of the policy, as any later sale under the e-mail
    of a customer gives their record another one. Of somebody else only what they gave is known: what is for them never
    goes to the holder, who may have died. An e-mail that is not known is empty.
    """
    if claimant is None or claimant.claimant == OWNER:
        return {
            "claim_owner": OWNER,
            **{f"claim_owner_{name}": getattr(policy, name) for name in ("first_name", "last_name", "email")},
            "claim_owner_name_key": build_name_key(policy.first_name, policy.last_name),
            "claim_owner_phone_number": (claimant and claimant.claimant_phone_number) or policy.phone,
        }
    return {
        "claim_owner": claimant.claimant,
        "claim_owner_first_name": claimant.claimant_first_name,
        "claim_owner_last_name": claimant.claimant_last_name,
        "claim_owner_name_key": build_name_key(claimant.claimant_first_name or "", claimant.claimant_last_name or ""),
        "claim_owner_email": claimant.claimant_email or "",
        "claim_owner_phone_number": claimant.claimant_phone_number,
    }


def read(request: ClaimRequest) -> NewClaim:
    """Read a validated request of any line."""
    return _read_credit_life(request) if isinstance(request, CreditLifeClaimRequest) else _read_line(request)


def _read_credit_life(request: CreditLifeClaimRequest) -> NewClaim:
    return NewClaim(
        policy_number=request.policy_number,
        claim_type=submitted.CREDIT_LIFE,
        incident_type=request.incident_type,
        happened_on=request.incident_date,
        loan_days=(request.loan_offer_date, request.loan_repayment_date),
        loan_amount=f"{request.loan_amount:.2f}",
        documents=request.documents,
        column="credit_life_claim_meta",
        meta=_build_loan_meta(request),
        claimant=request if isinstance(request, Claimant) else None,
    )


def _build_loan_meta(request: CreditLifeClaimRequest) -> dict[str, Any]:
    extra = {name: link for name, link in request.documents.items() if name not in submitted.DOCUMENTS}
    if isinstance(request, Claimant) and request.claimant_relation:
        extra["claimant_relation"] = request.claimant_relation
    return {
        **{name: getattr(request, name) for name in submitted.DOCUMENTS},
        "loan_amount": f"{request.loan_amount:.2f}",
        "pending_repayment_amount": f"{request.pending_repayment_amount:.2f}",
        "incident_type": request.incident_type,
        "loan_offer_date": request.loan_offer_date.isoformat(),
        "loan_repayment_date": request.loan_repayment_date.isoformat(),
        "accidental": str(request.accidental).lower(),
        **extra,
    }


def _read_line(request: LossRequest) -> NewClaim:
    line = lines.get_line_by_request(type(request))
    meta, numbers = line.build_meta(request), personal.find_personal_numbers(request)
    account = request.account_number
    return NewClaim(
        line=line,
        policy_number=request.policy_number,
        claim_type=line.title,
        incident_type=request.incident_type,
        happened_on=request.incident_date,
        documents={name: link for name in line.documents if (link := getattr(request, name)) is not None},
        column=line.column,
        meta=personal.mask_personal_numbers(meta, numbers),
        sealed=personal.seal_personal_numbers({line.column: meta}, numbers),
        account_key=seal.build_account_key(account) if account else None,
        claimant=request,
    )
