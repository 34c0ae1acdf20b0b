"""Follow-up of policies and customers: endorsements, calls, reminders, notes, and owners of waiting work."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from core import clock, ids
from core.store.schema.columns import Owned, Row, json_field, minor_field, one_of

NOTE_KINDS = ("note", "call", "message", "visit")
CALL_OUTCOMES = ("will_renew", "thinking", "refused", "no_answer", "wrong_number")


class PolicyEndorsement(Owned, table=True):
    """One change of a sold policy, never changed itself; those of a policy count from 1 (contract S21).

    `changes` are the changed fields by their names in the request of the sale: `field`, `before`, `after`. No
    endorsement moves money: `premium_minor` is 0.
    """

    __tablename__ = "policy_endorsement"
    __table_args__ = (
        sa.UniqueConstraint("policy_id", "number"),
        sa.CheckConstraint("number > 0", name="number"),
        sa.CheckConstraint("premium_minor = 0", name="premium"),
        sa.Index(None, "is_live", "created_at"),
    )
    id: UUID = Field(default_factory=ids.new, primary_key=True)
    policy_id: UUID = Field(foreign_key="policy.id")
    number: int
    effective_on: date
    changes: list[dict[str, Any]] = json_field(list)
    reason: str = Field(max_length=500)
    requested_by: str = Field(max_length=200)
    premium_minor: int = minor_field()
    made_by: UUID = Field(foreign_key="staff.id")
    created_at: datetime = Field(default_factory=clock.now)


class EndorsementNotice(Owned, table=True):
    """The note that the insurer was told of an endorsement: by whom, when and how."""

    __tablename__ = "endorsement_notice"
    endorsement_id: UUID = Field(foreign_key="policy_endorsement.id", primary_key=True)
    policy_id: UUID = Field(foreign_key="policy.id", index=True)
    note: str = Field(max_length=200)
    told_by: UUID = Field(foreign_key="staff.id")
    created_at: datetime = Field(default_factory=clock.now)


class RenewalCall(Owned, table=True):
    """One call about the end of a term: what came of it, who called, who goes on, and when to call again."""

    __tablename__ = "renewal_call"
    __table_args__ = (
        one_of("outcome", CALL_OUTCOMES, "outcome"),
        sa.Index(None, "policy_id", "expiration_at", "created_at"),
        sa.Index(None, "is_live", "created_at"),
    )
    id: UUID = Field(default_factory=ids.new, primary_key=True)
    policy_id: UUID = Field(foreign_key="policy.id")
    # The end of the term that the call was about: a renewed policy begins without calls.
    expiration_at: datetime
    outcome: str = Field(max_length=20)
    note: str | None = Field(default=None, max_length=500)
    caller_id: UUID
    owner_id: UUID
    call_again_on: date | None = None
    created_at: datetime = Field(default_factory=clock.now)


class RenewalReminder(Owned, table=True):
    """One reminder of the end of a term; each is sent once."""

    __tablename__ = "renewal_reminder"
    __table_args__ = (sa.UniqueConstraint("policy_id", "expiration_at", "days_before"),)
    id: UUID = Field(default_factory=ids.new, primary_key=True)
    policy_id: UUID = Field(foreign_key="policy.id")
    expiration_at: datetime
    days_before: int
    mail_id: UUID
    created_at: datetime = Field(default_factory=clock.now)


class ReminderOptOut(Owned, table=True):
    """A customer who wants no reminders."""

    __tablename__ = "reminder_opt_out"
    customer_id: UUID = Field(foreign_key="customer.id", primary_key=True)
    created_at: datetime = Field(default_factory=clock.now)


class CustomerMerge(Owned, table=True):
    """Two records of one person: `merged_id` is shown as part of `kept_id`; each keeps its id, sales and e-mail."""

    __tablename__ = "customer_merge"
    __table_args__ = (sa.CheckConstraint("merged_id <> kept_id", name="two_records"),)
    merged_id: UUID = Field(foreign_key="customer.id", primary_key=True)
    kept_id: UUID = Field(foreign_key="customer.id", index=True)
    merged_by: UUID = Field(foreign_key="staff.id")
    created_at: datetime = Field(default_factory=clock.now)


class CustomerNote(Owned, table=True):
    """One note on a customer, or one contact with them; notes are added and never changed."""

    __tablename__ = "customer_note"
    __table_args__ = (one_of("kind", NOTE_KINDS, "kind"), sa.Index(None, "customer_id", "created_at"))
    id: UUID = Field(default_factory=ids.new, primary_key=True)
    customer_id: UUID = Field(foreign_key="customer.id")
    kind: str = Field(default="note", max_length=10)
    text: str = Field(max_length=1000)
    author_id: UUID
    created_at: datetime = Field(default_factory=clock.now)


class SubmissionOwner(Owned, table=True):
    """The person who goes on with a policy that waits for its insurer."""

    __tablename__ = "submission_owner"
    policy_id: UUID = Field(foreign_key="policy.id", primary_key=True)
    owner_id: UUID = Field(foreign_key="staff.id", index=True)
    created_at: datetime = Field(default_factory=clock.now)


class Automation(Row, table=True):
    """A daily job of the worker that an admin switches on and off, and how far its pass of a day has come.

    The pass goes by `after_at` and `after_id`, those of the last record it looked at, so that any worker continues it.
    """

    __tablename__ = "automation"
    name: str = Field(primary_key=True, max_length=40)
    is_on: bool = False
    changed_by: str | None = Field(default=None, max_length=120)
    changed_at: datetime = Field(default_factory=clock.now)
    day: date | None = None
    is_finished: bool = False
    after_at: datetime | None = None
    after_id: UUID | None = None
    done: int = 0
