"""The claim record of the specification: fields and types on the wire."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired

from pydantic import BaseModel, GetCoreSchemaHandler, WithJsonSchema, create_model
from pydantic_core import CoreSchema
from typing_extensions import TypedDict

from core.covers.claims.line import CLAIMANT_FIELDS, ClaimLine
from core.covers.claims.lines import GADGET, INCIDENTS, LINES
from core.services.claims.intake import requirements
from core.services.lists.records import Day, Id, InspectionRecord, Link, Mode, Moment, PolicyRecord, Times

ClaimStatus = Annotated[str, WithJsonSchema({"type": "string", "enum": list(requirements.CLAIM_STATUSES)})]
Incident = Annotated[str, WithJsonSchema({"type": "string", "enum": list(INCIDENTS)})]


class StatusTime(TypedDict):
    """One status of a claim and when it was reached, formatted in Lagos time."""

    name: str
    time_stamp: str


class CommentRecord(TypedDict):
    """A comment of an officer for the claimant."""

    id: Id
    text: str
    created_at: Moment


class QuestionRecord(TypedDict):
    """A question to the claimant, by when it is due, and what became of it."""

    id: Id
    text: str
    status: Literal["Open", "Answered", "Closed unanswered"]
    asked_at: Moment
    due_date: Day | None
    answered_at: Moment | None
    answer: str | None


class CreditLifeClaimMeta(TypedDict):
    """Submitted data of a credit life claim; documents are URLs."""

    loan_offer_letter: Link | None
    employment_termination_letter: Link | None
    police_report: Link | None
    medical_report: Link | None
    loan_amount: str
    pending_repayment_amount: str
    incident_type: Incident
    loan_offer_date: Day
    loan_repayment_date: Day
    accidental: Literal["true", "false"]


@dataclass(frozen=True, slots=True)
class _Submitted:
    """Documents a record's object as what claims keep there of their requests: the names of every line that has it."""

    name: str
    column: str

    def __get_pydantic_core_schema__(self, _: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        lines = [line for line in LINES if line.column == self.column]
        titles = " or ".join(line.title.lower() for line in lines)
        # An erasure takes what was submitted: any of it may be missing.
        fields: dict[str, Any] = {name: (kind | None, None) for line in lines for name, kind in _list_submitted(line)}
        model: type[BaseModel] = create_model(
            self.name, __doc__=f"Submitted data of a {titles} claim; documents are URLs.", **fields
        )
        return handler.generate_schema(model)


def _list_submitted(line: ClaimLine) -> Iterator[tuple[str, Any]]:
    for name in line.request.model_fields:
        if name not in CLAIMANT_FIELDS:
            kind = Link if name in line.documents else Day if name == "incident_date" else str
            yield line.stored_names.get(name, name), kind
    if line is GADGET:
        yield "status_time_line", list[StatusTime]


class ClaimantRecord(TypedDict):
    """The customer embedded in a claim."""

    id: Id
    first_name: str
    last_name: str
    email: str
    phone_number: str | None


class ClaimProviderRecord(TypedDict):
    """The insurer embedded in a claim."""

    id: Id
    company_name: str


class ClaimProductRecord(TypedDict):
    """The product embedded in a claim."""

    id: Id
    route_name: str
    name: str


class ClaimRecord(Times):
    """A claim; a change must name its `version` (contract C7)."""

    id: Id
    app_mode: Mode
    is_live: bool
    claim_description: str
    claim_owner: str
    claim_owner_first_name: str
    claim_owner_last_name: str
    claim_owner_email: str
    claim_owner_phone_number: str | None
    decline_reason: str
    claim_type: str
    claim_status: ClaimStatus
    claim_amount: str
    estimate_amount: str
    repair_estimate: str
    offer_amount: str
    betterment_deduction_amount: str
    excess_deduction_amount: str
    incident_date: Day | None
    claim_invoice_url: Link | None
    offer_form_url: Link | None
    vehicle_claim_meta: Annotated[dict[str, Any], _Submitted("VehicleClaimMeta", "vehicle_claim_meta")] | None
    gadget_claim_meta: Annotated[dict[str, Any], _Submitted("GadgetClaimMeta", "gadget_claim_meta")] | None
    credit_life_claim_meta: CreditLifeClaimMeta | None
    claim_meta: NotRequired[Annotated[dict[str, Any], _Submitted("LossClaimMeta", "claim_meta")]]
    status_time_line: list[StatusTime]
    product_id: Id
    customer_id: Id
    distributor_id: Id
    provider_id: Id
    policy_id: Id
    inspection_id: Id | None
    claim_id: Id
    version: int
    customer: ClaimantRecord
    provider: ClaimProviderRecord
    product: ClaimProductRecord
    policy: PolicyRecord
    inspection: InspectionRecord | None
    comments: list[CommentRecord]
    questions: NotRequired[list[QuestionRecord]]
