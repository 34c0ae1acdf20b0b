"""The privacy desk: requests of people, erasures, holds, breaches, returns, complaints and their dated figures."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from core.store.schema.columns import Row, json_field, one_of

REQUEST_KINDS = ("access", "copy", "rectification", "erasure", "restriction", "objection", "grievance")
REQUEST_STATES = ("received", "acknowledged", "answered", "refused", "withdrawn")
ERASURE_STATES = ("open", "erased", "refused", "withdrawn")
BREACH_RISKS = ("unlikely", "likely", "high")
FILING_KINDS = ("brokerage", "client_account", "bordereaux", "data_protection")
FILING_STATES = ("prepared", "checked", "sent")
COMPLAINT_CATEGORIES = ("delay", "amount", "refusal", "service", "privacy", "other")


class ComplianceFigure(Row, table=True):
    """A figure of the law or of the house from a day on, with its source; rows are only ever added (contract D1-D5)."""

    __table_args__ = (sa.UniqueConstraint("name", "effective_on"),)
    id: UUID = Field(primary_key=True)
    name: str = Field(max_length=40)
    effective_on: date
    amount: int
    source: str
    set_by: UUID | None = Field(default=None, foreign_key="staff.id")
    created_at: datetime


class DataRequest(Row, table=True):
    """A person's request about their data; `customers` are the records that were found to be theirs (contract D1).

    After an erasure name, contact and texts are gone, and `subject_key` (a keyed hash of the e-mail) remains.
    """

    __table_args__ = (
        one_of("kind", REQUEST_KINDS, "kind"),
        one_of("state", REQUEST_STATES, "state"),
        sa.CheckConstraint("(state IN ('answered', 'refused')) = (answered_at IS NOT NULL)", name="answered"),
        sa.CheckConstraint("(extended_to IS NULL) = (extension_reason IS NULL)", name="extension"),
        sa.CheckConstraint("(identity_by IS NULL) = (identity_at IS NULL)", name="identity"),
        sa.Index(None, "state", "due_on"),
        sa.Index(None, "subject_key"),
    )
    id: UUID = Field(primary_key=True)
    number: str = Field(unique=True, max_length=20)
    kind: str = Field(max_length=15)
    state: str = Field(default="received", max_length=15)
    name: str
    email: str | None = Field(default=None, max_length=254)
    phone: str | None = Field(default=None, max_length=32)
    subject_key: str = Field(max_length=64)
    details: str
    customers: list[str] = json_field(list)
    received_at: datetime
    acknowledge_by: date
    due_on: date
    extended_to: date | None = None
    extension_reason: str | None = None
    acknowledged_at: datetime | None = None
    identity_method: str | None = Field(default=None, max_length=40)
    identity_by: UUID | None = Field(default=None, foreign_key="staff.id")
    identity_at: datetime | None = None
    refusal_code: str | None = Field(default=None, max_length=30)
    outcome: str | None = None
    answered_by: UUID | None = Field(default=None, foreign_key="staff.id")
    answered_at: datetime | None = None
    created_by: UUID = Field(foreign_key="staff.id")
    version: int = 1


class Erasure(Row, table=True):
    """An erasure that one person prepares and another carries out; its certificate is its outcome (contract D1, D2).

    It names records by id alone, so that a restored backup can be erased again; there it `is_restored` and names nobody
    of staff, whom the backup may not have.
    """

    __table_args__ = (
        one_of("state", ERASURE_STATES, "state"),
        sa.CheckConstraint("(state = 'open') = (decided_at IS NULL)", name="decided"),
        sa.CheckConstraint("state NOT IN ('erased', 'refused') OR decided_by <> prepared_by", name="two_people"),
        sa.CheckConstraint("(state = 'erased') = (sha256 IS NOT NULL)", name="certified"),
        sa.CheckConstraint(
            "is_restored OR (prepared_by IS NOT NULL AND (state <> 'erased' OR decided_by IS NOT NULL))", name="by_whom"
        ),
        sa.Index(None, "state", "prepared_at"),
    )
    id: UUID = Field(primary_key=True)
    number: str = Field(unique=True, max_length=20)
    record_class: str = Field(max_length=20)
    request_id: UUID | None = Field(default=None, foreign_key="data_request.id")
    customers: list[str] = json_field(list)
    before_at: datetime | None = None
    reason: str
    is_early: bool = False
    is_restored: bool = False
    prepared_by: UUID | None = Field(default=None, foreign_key="staff.id")
    prepared_at: datetime
    state: str = Field(default="open", max_length=10)
    decided_by: UUID | None = Field(default=None, foreign_key="staff.id")
    decided_at: datetime | None = None
    refusal: str | None = None
    outcome: dict[str, Any] = json_field()
    sha256: str | None = Field(default=None, max_length=64)


class ErasureWindow(Row, table=True):
    """Its one row stands while a transaction erases: texts of append-only tables may be changed then, and no figure."""

    id: int = Field(primary_key=True)


class Redaction(Row, table=True):
    """A hashed record whose texts an erasure took out; `seal` is the keyed hash of what remains of it."""

    __table_args__ = (sa.PrimaryKeyConstraint("kind", "record_id"),)
    kind: str = Field(max_length=20)
    record_id: UUID
    erasure_id: UUID = Field(foreign_key="erasure.id")
    seal: str = Field(max_length=64)


class LegalHold(Row, table=True):
    """A customer whose records nothing erases until the hold is lifted (contract D2)."""

    __table_args__ = (
        sa.CheckConstraint("(lifted_by IS NULL) = (lifted_at IS NULL)", name="lifted"),
        sa.CheckConstraint("lifted_by IS NULL OR lifted_by <> set_by", name="two_people"),
        sa.Index(None, "customer_id", "lifted_at"),
    )
    id: UUID = Field(primary_key=True)
    customer_id: UUID = Field(foreign_key="customer.id")
    reason: str
    set_by: UUID = Field(foreign_key="staff.id")
    set_at: datetime
    lifted_by: UUID | None = Field(default=None, foreign_key="staff.id")
    lifted_at: datetime | None = None


class Breach(Row, table=True):
    """A breach of personal data: the span it happened in, the risk to people, and who was told when (contract D3)."""

    __table_args__ = (
        sa.CheckConstraint("risk IS NULL OR risk IN ('unlikely', 'likely', 'high')", name="risk"),
        sa.CheckConstraint("(risk IS NULL) = (risk_reason IS NULL)", name="decided"),
        sa.CheckConstraint("until_at >= since_at", name="span"),
        sa.CheckConstraint("closed_by IS NULL OR closed_by <> decided_by", name="two_people"),
        sa.Index(None, "known_at"),
    )
    id: UUID = Field(primary_key=True)
    number: str = Field(unique=True, max_length=20)
    title: str = Field(max_length=120)
    description: str
    actor: str | None = Field(default=None, max_length=120)
    known_at: datetime
    since_at: datetime
    until_at: datetime
    people: int | None = None
    risk: str | None = Field(default=None, max_length=10)
    risk_reason: str | None = None
    decided_by: UUID | None = Field(default=None, foreign_key="staff.id")
    decided_at: datetime | None = None
    commission_at: datetime | None = None
    commission_reference: str | None = Field(default=None, max_length=60)
    people_at: datetime | None = None
    closed_by: UUID | None = Field(default=None, foreign_key="staff.id")
    closed_at: datetime | None = None
    created_by: UUID = Field(foreign_key="staff.id")
    created_at: datetime
    version: int = 1


class Filing(Row, table=True):
    """A return to an authority for a period: prepared, checked by somebody else, and sent (contract D5)."""

    __table_args__ = (
        sa.UniqueConstraint("kind", "period_ends_on"),
        one_of("kind", FILING_KINDS, "kind"),
        one_of("state", FILING_STATES, "state"),
        sa.CheckConstraint("checked_by <> prepared_by", name="two_people"),
        sa.CheckConstraint("(state = 'prepared') = (checked_by IS NULL)", name="checked"),
        sa.CheckConstraint("(state = 'sent') = (sent_at IS NOT NULL)", name="sent"),
    )
    id: UUID = Field(primary_key=True)
    kind: str = Field(max_length=20)
    period_ends_on: date
    due_on: date
    state: str = Field(default="prepared", max_length=10)
    prepared_by: UUID = Field(foreign_key="staff.id")
    prepared_at: datetime
    checked_by: UUID | None = Field(default=None, foreign_key="staff.id")
    checked_at: datetime | None = None
    sent_by: UUID | None = Field(default=None, foreign_key="staff.id")
    sent_at: datetime | None = None
    reference: str | None = Field(default=None, max_length=60)


class Complaint(Row, table=True):
    """A complaint: its category, the insurer and policy that it is about, and how it was answered (contract D5)."""

    __table_args__ = (
        one_of("category", COMPLAINT_CATEGORIES, "category"),
        sa.CheckConstraint("(answered_at IS NULL) = (outcome IS NULL)", name="answered"),
        sa.Index(None, "provider_id", "received_at"),
        sa.Index(None, "answered_at", "due_on"),
        sa.Index(None, "customer_id"),
    )
    id: UUID = Field(primary_key=True)
    number: str = Field(unique=True, max_length=20)
    category: str = Field(max_length=10)
    provider_id: UUID | None = Field(default=None, foreign_key="provider.id")
    policy_id: UUID | None = Field(default=None, foreign_key="policy.id")
    customer_id: UUID | None = Field(default=None, foreign_key="customer.id")
    name: str
    contact: str | None = Field(default=None, max_length=254)
    text: str
    received_at: datetime
    due_on: date
    outcome: str | None = None
    answered_by: UUID | None = Field(default=None, foreign_key="staff.id")
    answered_at: datetime | None = None
    created_by: UUID = Field(foreign_key="staff.id")
    # Its letters as they were sent, subject and text: what an admin makes of the templates later changes none.
    sent_acknowledgement: str | None = None
    sent_answer: str | None = None
