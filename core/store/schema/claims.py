"""Claims: the record, its documents, every status it ever had, and what officers said."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from core import clock
from core.states.claims import CLOSED, ClaimStatus
from core.store.expressions import last_digits, phone_key
from core.store.schema.columns import Owned, Record, Row, index_where, json_field, minor_field, one_of
from core.store.schema.finance import IS_MADE, Paid, is_payment

_CLOCK = ("is_live", "clock_stopped_at", "clock_from", "id", "claim_status", "assigned_to", "deleted_at")
_AMOUNTS = ("claim_amount_minor", "offer_amount_minor")
_LISTED = ", ".join(f"'{status}'" for status in sorted(CLOSED))
_UNSETTLED = sa.text(f"claim_status NOT IN ({_LISTED})")


class Claim(Record, Owned, table=True):
    """A claim on a policy; amounts in kobo, `version` guards against two officers (contract C1-C9).

    `claim_meta` is what was submitted, for the lines of cover that have no place of their own on the wire.
    `account_key` is the keyed hash of the account to be paid, by which claims on the same one are found,
    `claim_owner_name_key` the claimant's name as it is searched, written wherever the name is; `claim_owner_email` is
    empty where a claimant who is not the customer gave none.
    `clock_from` is the lodging, moved on by every stretch in which the statutory clock stood still, and
    `clock_stopped_at` the instant since which it does: for the claimant, or for good by a decision (contract C9).
    `second_of` is the claim that this one submits again.
    """

    __table_args__ = (
        one_of("claim_status", tuple(ClaimStatus), "status"),
        sa.Index(None, "distributor_id", "is_live", "created_at", "id"),
        *(sa.Index(None, "is_live", *columns) for columns in (("claim_status", "created_at"), ("updated_at",))),
        sa.Index(None, "customer_id", "created_at"),
        sa.Index(None, "claim_owner_phone_number"),
        sa.Index("ix_claim_claimant_phone", phone_key(sa.column("claim_owner_phone_number"))),
        sa.Index("ix_claim_claimant_email", sa.func.lower(sa.column("claim_owner_email"))),
        sa.Index("ix_claim_queue", *_CLOCK, "updated_at", "created_at", *_AMOUNTS),
        # What is left to do is bounded by the work of weeks, however many claims were settled before.
        index_where(_UNSETTLED, "ix_claim_unsettled", *_CLOCK, *_AMOUNTS),
        *(sa.Index(None, "is_live", column, "id") for column in ("created_at", *_AMOUNTS)),
        sa.Index("ix_claim_of_claimant", "is_live", "claim_owner_name_key", "claim_owner_email", "id", "deleted_at"),
        sa.Index("ix_claim_reference", "is_live", last_digits(sa.column("id"))),
        sa.CheckConstraint(
            "claim_amount_minor >= 0 AND estimate_amount_minor >= 0 AND repair_estimate_minor >= 0"
            " AND offer_amount_minor >= 0 AND betterment_deduction_amount_minor >= 0"
            " AND excess_deduction_amount_minor >= 0 AND approved_amount_minor >= 0",
            name="amounts",
        ),
    )
    policy_id: UUID = Field(foreign_key="policy.id", index=True)
    customer_id: UUID = Field(foreign_key="customer.id")
    product_id: UUID = Field(foreign_key="product.id")
    provider_id: UUID = Field(foreign_key="provider.id")
    inspection_id: UUID | None = Field(default=None, foreign_key="inspection.id")
    claim_type: str = Field(max_length=40)
    claim_status: str = Field(max_length=30)
    claim_description: str
    claim_owner: str = Field(max_length=40)
    claim_owner_first_name: str
    claim_owner_last_name: str
    claim_owner_name_key: str = Field(default="", sa_column_kwargs={"server_default": ""})
    claim_owner_email: str
    claim_owner_phone_number: str | None = None
    decline_reason: str = "None"
    claim_amount_minor: int = minor_field()
    estimate_amount_minor: int = minor_field()
    repair_estimate_minor: int = minor_field()
    offer_amount_minor: int = minor_field()
    betterment_deduction_amount_minor: int = minor_field()
    excess_deduction_amount_minor: int = minor_field()
    approved_amount_minor: int = minor_field()
    incident_date: str | None = None
    claim_invoice_url: str | None = None
    offer_form_url: str | None = None
    payment_reference: str | None = None
    assigned_to: UUID | None = Field(default=None, foreign_key="staff.id")
    approved_by: UUID | None = Field(default=None, foreign_key="staff.id")
    flags: list[str] = json_field(list)
    vehicle_claim_meta: dict[str, Any] | None = Field(default=None, sa_type=sa.JSON)
    gadget_claim_meta: dict[str, Any] | None = Field(default=None, sa_type=sa.JSON)
    credit_life_claim_meta: dict[str, Any] | None = Field(default=None, sa_type=sa.JSON)
    claim_meta: dict[str, Any] | None = Field(default=None, sa_type=sa.JSON)
    sealed: str | None = None
    account_key: str | None = Field(default=None, max_length=64, index=True)
    clock_from: datetime = Field(default_factory=clock.now)
    clock_stopped_at: datetime | None = None
    second_of: UUID | None = None
    version: int = 1


class ClaimEvent(Owned, table=True):
    """One status of a claim, kept for ever (contract C6)."""

    __table_args__ = (sa.Index(None, "is_live", "status", "created_at", "claim_id"),)
    id: UUID = Field(primary_key=True)
    claim_id: UUID = Field(foreign_key="claim.id", index=True)
    status: str = Field(max_length=30)
    note: str | None = None
    staff_id: UUID | None = Field(default=None, foreign_key="staff.id")
    created_at: datetime


class ClaimPayment(Paid, Owned, table=True):
    """Money that was paid on a claim, or came back; no transfer pays a claim twice (contract C10).

    Rows from before there were payees have none. `file_id` names the file that a payment was made from.
    """

    __table_args__ = (
        *is_payment(),
        sa.Index(None, "is_live", "created_at", "claim_id"),
        index_where(IS_MADE, "ix_claim_payment_once", "transfer_id", "claim_id", unique=True),
    )
    claim_id: UUID = Field(foreign_key="claim.id", index=True)
    provider_id: UUID = Field(foreign_key="provider.id")
    method: str | None = Field(default=None, max_length=20)
    file_id: UUID | None = None


class ClaimPaymentFile(Row, table=True):
    """A file of payments that was paid as a whole, kept for ever; the same content is never paid again in a mode."""

    __table_args__ = (sa.UniqueConstraint("is_live", "sha256"), sa.Index(None, "is_live", "paid_at"))
    id: UUID = Field(primary_key=True)
    is_live: bool
    file_name: str = Field(max_length=200)
    sha256: str = Field(max_length=64)
    payments: int
    amount_minor: int = minor_field()
    paid_by: UUID = Field(foreign_key="staff.id")
    paid_at: datetime


class ClaimReserve(Owned, table=True):
    """A change of what a claim is expected to cost still, kept for ever: the sum is its reserve (contract C11)."""

    __table_args__ = (
        sa.Index(None, "is_live", "created_at", "claim_id"),
        sa.CheckConstraint("change_minor <> 0", name="change"),
    )
    id: UUID = Field(primary_key=True)
    claim_id: UUID = Field(foreign_key="claim.id", index=True)
    change_minor: int = minor_field()
    reason: str
    staff_id: UUID | None = Field(default=None, foreign_key="staff.id")
    created_at: datetime


class ClaimReferral(Owned, table=True):
    """A decision that an officer prepared for a supervisor, or a payment that a supervisor handed to finance.

    `asks_role` is who is asked; open until the claim is moved (contract C15).
    """

    __table_args__ = (sa.Index(None, "closed_at", "claim_id"),)
    id: UUID = Field(primary_key=True)
    claim_id: UUID = Field(foreign_key="claim.id", index=True)
    to_status: str = Field(max_length=30)
    asks_role: str = Field(default="supervisor", max_length=10, sa_column_kwargs={"server_default": "supervisor"})
    amount_minor: int | None = Field(default=None, sa_type=sa.BigInteger)
    note: str
    staff_id: UUID = Field(foreign_key="staff.id")
    created_at: datetime
    closed_at: datetime | None = None
    closed_by: UUID | None = Field(default=None, foreign_key="staff.id")


class ClaimOverride(Owned, table=True):
    """A check that was not met when a claim was approved, and the reason why it was approved all the same.

    `duplicates` are the ids of the other claims for the loss that the approval knew of; `event_id` is the approval.
    Kept for ever (contract C13, C14).
    """

    __table_args__ = (sa.Index(None, "is_live", "created_at", "claim_id"),)
    id: UUID = Field(primary_key=True)
    claim_id: UUID = Field(foreign_key="claim.id", index=True)
    event_id: UUID = Field(foreign_key="claim_event.id")
    check_key: str = Field(max_length=30)
    is_failed: bool
    detail: str
    reason: str
    duplicates: list[str] = json_field(list)
    staff_id: UUID = Field(foreign_key="staff.id")
    created_at: datetime


class ClaimComment(Owned, table=True):
    """An officer's comment on a claim: for the desk alone, or for the claimant as well."""

    id: UUID = Field(primary_key=True)
    claim_id: UUID = Field(foreign_key="claim.id", index=True)
    staff_id: UUID = Field(foreign_key="staff.id")
    text: str
    for_claimant: bool = False
    created_at: datetime


class ClaimQuestion(Owned, table=True):
    """A question to the claimant; the statutory clock stands still until it is answered or closed (contract C9, C18).

    `answer` is what was answered, where it was written down; `closed_at` is when a move ended the wait for it.
    """

    id: UUID = Field(primary_key=True)
    claim_id: UUID = Field(foreign_key="claim.id", index=True)
    staff_id: UUID = Field(foreign_key="staff.id")
    text: str
    asked_at: datetime
    due_on: date | None = None
    answered_at: datetime | None = None
    answer: str | None = None
    closed_at: datetime | None = None


class ClaimTask(Owned, table=True):
    """Something to do on a claim: what, who and by when (contract C18)."""

    __table_args__ = (sa.Index(None, "assigned_to", "done_at"),)
    id: UUID = Field(primary_key=True)
    claim_id: UUID = Field(foreign_key="claim.id", index=True)
    text: str = Field(max_length=500)
    due_on: date
    assigned_to: UUID = Field(foreign_key="staff.id")
    made_by: UUID = Field(foreign_key="staff.id")
    created_at: datetime
    done_at: datetime | None = None
    done_by: UUID | None = Field(default=None, foreign_key="staff.id")


class UploadedFile(Owned, table=True):
    """A kept file: random name, judged type, the hash as kept and the hash as sent (contract L4).

    `field` is which document of its claim it is or was, `picture_hash` how a picture looks (contract K14).
    """

    code: str = Field(primary_key=True, max_length=32)
    file_name: str = Field(max_length=200)
    content_type: str = Field(max_length=40)
    size: int
    sha256: str = Field(max_length=64)
    sent_sha256: str = Field(max_length=64, index=True)
    claim_id: UUID | None = Field(default=None, foreign_key="claim.id", index=True)
    field: str | None = Field(default=None, max_length=40)
    picture_hash: str | None = Field(default=None, max_length=16)
    created_at: datetime


class FileMark(Row, table=True):
    """A mark of a kept file: a stretch of its picture's hash, or the hash of its text."""

    __table_args__ = (sa.PrimaryKeyConstraint("mark", "code"),)
    mark: str = Field(max_length=20)
    code: str = Field(max_length=32)


LETTER_WAYS = ("E-mail", "Post", "By hand", "Message")


class ClaimLetterSent(Owned, table=True):
    """The sending of a letter in the file of a claim: day, way and sender; a letter without a row is to be sent."""

    __table_args__ = (one_of("way", LETTER_WAYS, "way"),)
    code: str = Field(primary_key=True, max_length=32, foreign_key="uploaded_file.code")
    claim_id: UUID = Field(foreign_key="claim.id", index=True)
    way: str = Field(max_length=12)
    staff_id: UUID = Field(foreign_key="staff.id")
    created_at: datetime


class Approval(Row, table=True):
    """One approval by one person, kept for ever; the newest of a subject counts.

    `parts` are keyed hashes of what was approved, by the words for it, and empty for an approval from before there were
    parts. `role` and `limit_minor` are by which authority it was given, and `fingerprint` is made of all of it.
    """

    __table_args__ = (sa.Index(None, "subject_id", "approved_at"),)
    id: UUID = Field(primary_key=True)
    subject_kind: str = Field(max_length=20)
    subject_id: UUID
    amount_minor: int | None = Field(default=None, sa_type=sa.BigInteger)
    limit_minor: int | None = Field(default=None, sa_type=sa.BigInteger)
    role: str = Field(max_length=12)
    parts: dict[str, str] = json_field()
    fingerprint: str = Field(max_length=64)
    staff_id: UUID = Field(foreign_key="staff.id", index=True)
    approved_at: datetime


class ApprovalLapse(Row, table=True):
    """The end of an approval: when, why, and by whose act; kept for ever."""

    approval_id: UUID = Field(primary_key=True, foreign_key="approval.id")
    reason: str = Field(max_length=500)
    actor: str = Field(max_length=120)
    lapsed_at: datetime
