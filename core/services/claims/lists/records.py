"""The claim record of the API: its fields on the wire, reading one, listing them (contract C4, C6, P2, P6, A3)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired, cast
from uuid import UUID

import sqlalchemy as sa
from pydantic import BaseModel, GetCoreSchemaHandler, WithJsonSchema, create_model
from pydantic_core import CoreSchema
from sqlmodel import col
from typing_extensions import TypedDict

from core import clock, money, seal
from core.covers import registry
from core.covers.claims.line import CLAIMANT_FIELDS, ClaimLine
from core.covers.claims.lines import GADGET, INCIDENTS, LINES
from core.errors import first_of
from core.services.claims.intake import submitted
from core.services.claims.lists.filter import ClaimFilter, build_conditions
from core.services.lists import records
from core.services.lists.paging import Page, Paging, fetch_newest
from core.services.lists.records import Day, Id, InspectionRecord, Link, Mode, Moment, PolicyRecord, Times
from core.services.policies import policies
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Claim, ClaimComment, ClaimEvent, ClaimQuestion, Customer, Policy, Product, Provider

ClaimStatus = Annotated[str, WithJsonSchema({"type": "string", "enum": list(submitted.CLAIM_STATUSES)})]
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
    claim_owner_email: str | None
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


_COPIED_FIELDS = (
    *("is_live", "claim_description", "claim_owner", "claim_owner_first_name", "claim_owner_last_name"),
    *("claim_owner_phone_number", "decline_reason", "claim_type", "claim_status"),
    *("incident_date", "claim_invoice_url", "offer_form_url", "version"),
)
AMOUNT_FIELDS = (
    *("claim_amount", "estimate_amount", "repair_estimate", "offer_amount"),
    *("betterment_deduction_amount", "excess_deduction_amount"),
)
_ID_FIELDS = ("product_id", "customer_id", "distributor_id", "provider_id", "policy_id")
_CLAIMANT_FIELDS = ("first_name", "last_name", "email", "phone_number")


def build_query(conditions: Iterable[sa.ColumnElement[bool]]) -> AnySelect:
    """Build the query of claims joined to everything that their records embed."""
    return (
        sa.select(Claim, Customer, Product, Provider, Policy)
        .join(Customer, col(Customer.id) == col(Claim.customer_id))
        .join(Product, col(Product.id) == col(Claim.product_id))
        .join(Provider, col(Provider.id) == col(Claim.provider_id))
        .join(Policy, col(Policy.id) == col(Claim.policy_id))
        .where(*conditions)
    )


def load_records(session: ScopedSession, query: AnySelect) -> list[ClaimRecord]:
    """Run such a query and return its records; four statements, however many claims there are."""
    rows = session.execute(query).all()
    claim_ids = [row.Claim.id for row in rows]
    histories, comments = _load_status_histories(session, claim_ids), _comments(session, claim_ids)
    questions = _load_questions(session, claim_ids)
    return [
        build_record(
            row, histories.get(row.Claim.id, []), comments.get(row.Claim.id, []), questions.get(row.Claim.id, ())
        )
        for row in rows
    ]


def build_record(
    row: Any, status_history: list[StatusTime], comments: list[CommentRecord], questions: Sequence[QuestionRecord] = ()
) -> ClaimRecord:
    """Build the record of one row, with its status history, its comments and what was asked, if anything was."""
    claim, customer, product, provider = row.Claim, row.Customer, row.Product, row.Provider
    gadget = mask_account_number(claim.gadget_claim_meta)
    fields = {
        "id": str(claim.id),
        "claim_id": str(claim.id),
        "app_mode": records.format_mode(claim.is_live),
        **{name: getattr(claim, name) for name in _COPIED_FIELDS},
        "claim_owner_email": claim.claim_owner_email or None,
        **{name: money.to_wire(getattr(claim, f"{name}_minor")) for name in AMOUNT_FIELDS},
        **{name: str(getattr(claim, name)) for name in _ID_FIELDS},
        "inspection_id": records.format_id(claim.inspection_id),
        "vehicle_claim_meta": mask_account_number(claim.vehicle_claim_meta),
        "gadget_claim_meta": gadget and {**gadget, "status_time_line": status_history},
        "credit_life_claim_meta": claim.credit_life_claim_meta,
        **({"claim_meta": mask_account_number(claim.claim_meta)} if claim.claim_meta is not None else {}),
        "status_time_line": status_history,
        "customer": {"id": str(customer.id), **{name: getattr(customer, name) for name in _CLAIMANT_FIELDS}},
        "provider": {"id": str(provider.id), "company_name": provider.company_name},
        "product": {"id": str(product.id), "route_name": product.route_name, "name": product.name},
        "policy": policies.build_record(row.Policy, registry.get_cover(product.prefix, product.route_name)),
        "inspection": None,
        "comments": comments,
        **({"questions": list(questions)} if questions else {}),
        **records.build_times(claim),
    }
    return cast(ClaimRecord, fields)


def format_time_stamp(instant: datetime) -> str:
    """Format an instant of a status history in Lagos time: "Nov 20, 2026 8:08 AM"."""
    there = instant.astimezone(clock.LAGOS)
    return f"{there:%b} {there.day}, {there.year} {there.hour % 12 or 12}:{there:%M %p}"


def _load_status_histories(session: ScopedSession, claim_ids: list[UUID]) -> Mapping[UUID, list[StatusTime]]:
    found: dict[UUID, list[StatusTime]] = {}
    for event in _load_rows(session, ClaimEvent, claim_ids):
        reached = StatusTime(name=event.status, time_stamp=format_time_stamp(event.created_at))
        found.setdefault(event.claim_id, []).append(reached)
    return found


def _comments(session: ScopedSession, claim_ids: list[UUID]) -> Mapping[UUID, list[CommentRecord]]:
    """Load the comments written for the claimant; internal notes are left out (contract C6)."""
    found: dict[UUID, list[CommentRecord]] = {}
    for row in _load_rows(session, ClaimComment, claim_ids, col(ClaimComment.for_claimant).is_(True)):
        comment = CommentRecord(id=str(row.id), text=row.text, created_at=clock.to_wire(row.created_at) or "")
        found.setdefault(row.claim_id, []).append(comment)
    return found


def _load_questions(session: ScopedSession, claim_ids: list[UUID]) -> Mapping[UUID, list[QuestionRecord]]:
    """Load what the claimants were asked, oldest first (contract C18)."""
    found: dict[UUID, list[QuestionRecord]] = {}
    for row in _load_rows(session, ClaimQuestion, claim_ids, order=ClaimQuestion.asked_at):
        found.setdefault(row.claim_id, []).append(
            {
                "id": str(row.id),
                "text": row.text,
                "status": "Answered" if row.answered_at else "Closed unanswered" if row.closed_at else "Open",
                "asked_at": clock.to_wire(row.asked_at) or "",
                "due_date": row.due_on.isoformat() if row.due_on else None,
                "answered_at": clock.to_wire(row.answered_at),
                "answer": row.answer,
            }
        )
    return found


def _load_rows(
    session: ScopedSession, table: Any, claim_ids: list[UUID], *conditions: sa.ColumnElement[bool], order: Any = None
) -> Iterable[Any]:
    if not claim_ids:
        return []
    query = sa.select(table).where(col(table.claim_id).in_(claim_ids), *conditions)
    return session.execute(query.order_by(col(table.created_at if order is None else order), col(table.id))).scalars()


def mask_account_number(meta: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the details of a claim with the account number masked to its last four characters (contract A3)."""
    if meta is None or not meta.get("account_number"):
        return meta
    return {**meta, "account_number": seal.mask(str(meta["account_number"]))}


UNFILTERED = ClaimFilter()


def list_claims(
    session: ScopedSession, criteria: ClaimFilter = UNFILTERED, paging: Paging = Paging()
) -> Page[ClaimRecord]:
    """Return a page of claims, newest first, with the exact total (contract P2)."""
    query = sa.select(col(Claim.id)).where(*build_conditions(criteria))

    def read(ids: list[UUID]) -> list[ClaimRecord]:
        return load_records(session, build_query([col(Claim.id).in_(ids)]))

    return fetch_newest(session, Claim, query, paging, read)


def get_claim(session: ScopedSession, claim_id: UUID) -> ClaimRecord:
    """Return one claim in full; NotFound when it does not exist in this scope."""
    conditions = [col(Claim.id) == claim_id, col(Claim.deleted_at).is_(None)]
    return first_of(load_records(session, build_query(conditions)), otherwise="Claim not found")
