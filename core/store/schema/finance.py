"""Money: corrections of what was written, credit notes, steps of a month, and the view that lists every movement."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from core.states.finance import CreditNoteState, MonthState
from core.store.schema.columns import Owned, Row, json_field, minor_field, one_of
from core.store.schema.payments import Paid, is_payment

MOVEMENT_KINDS = ("purchase", "renewal", "refund", "adjustment")
PROPOSAL_STATES = ("open", "confirmed", "refused", "withdrawn")
# Under this key of `Table.info` a table says that it is a view: a migration makes it, and nothing writes to it.
VIEW = "view"


class Amounts(Row):
    """A signed premium in kobo with both commissions; what remains is the insurer's share."""

    total_minor: int = minor_field()
    mca_profit_minor: int = minor_field()
    distributor_profit_minor: int = minor_field()


class AdjustmentProposal(Owned, Amounts, table=True):
    """A correction that one person proposes and another decides; its figures never change (contract F1)."""

    __tablename__ = "adjustment_proposal"
    __table_args__ = (
        sa.Index("ix_adjustment_proposal_open", "is_live", "state", "proposed_at"),
        one_of("state", PROPOSAL_STATES, "state"),
        one_of("corrects_kind", MOVEMENT_KINDS, "corrects_kind"),
        sa.CheckConstraint("(state = 'open') = (decided_at IS NULL)", name="decided"),
        # Whoever proposes does not judge it; taking one's own proposal back is no judgement.
        sa.CheckConstraint("state NOT IN ('confirmed', 'refused') OR decided_by <> proposed_by", name="two_people"),
        sa.CheckConstraint(
            "total_minor <> 0 OR mca_profit_minor <> 0 OR distributor_profit_minor <> 0", name="changes_something"
        ),
    )
    id: UUID = Field(primary_key=True)
    corrects_kind: str = Field(max_length=10)
    corrects_id: UUID = Field(index=True)
    reason: str
    proposed_by: UUID = Field(foreign_key="staff.id")
    proposed_at: datetime
    state: str = Field(default="open", max_length=10)
    decided_by: UUID | None = Field(default=None, foreign_key="staff.id")
    decided_at: datetime | None = None
    refusal: str | None = None


class Adjustment(Owned, Amounts, table=True):
    """A confirmed correction of another movement, dated when it was confirmed; rows are only ever added."""

    __table_args__ = (
        sa.Index(None, "is_live", "created_at", "id"),
        one_of("corrects_kind", MOVEMENT_KINDS, "corrects_kind"),
        sa.CheckConstraint("approved_by <> proposed_by", name="two_people"),
    )
    id: UUID = Field(primary_key=True)
    proposal_id: UUID = Field(foreign_key="adjustment_proposal.id", unique=True)
    corrects_kind: str = Field(max_length=10)
    corrects_id: UUID = Field(index=True)
    policy_id: UUID = Field(foreign_key="policy.id", index=True)
    purchase_id: UUID = Field(foreign_key="purchase.id")
    renewal_id: UUID | None = Field(default=None, foreign_key="renewal.id")
    customer_id: UUID = Field(foreign_key="customer.id")
    product_id: UUID = Field(foreign_key="product.id")
    product_version_id: UUID = Field(foreign_key="product_version.id")
    product_category_id: UUID = Field(foreign_key="product_category.id")
    provider_id: UUID = Field(foreign_key="provider.id")
    reason: str
    proposed_by: UUID = Field(foreign_key="staff.id")
    approved_by: UUID = Field(foreign_key="staff.id")
    created_at: datetime


class CreditNote(Owned, table=True):
    """The credit note of a refund: the figures never change, only its state (contract F8).

    `number` has no gaps within an insurer and mode. `made_by` is the actor who ended the policy; `first_by` approved it
    first where the amount needs two people, and `payee_id` is who is paid. Its payments are in `CreditNotePayment`.
    """

    __tablename__ = "credit_note"
    __table_args__ = (
        one_of("state", tuple(CreditNoteState), "state"),
        sa.UniqueConstraint("provider_id", "is_live", "number"),
        sa.Index(None, "is_live", "created_at", "id"),
        sa.Index(None, "is_live", "state", "created_at"),
        sa.CheckConstraint("total_minor > 0", name="amount"),
        sa.CheckConstraint("approved_by <> first_by", name="two_people"),
        sa.CheckConstraint(
            "state NOT IN ('Approved', 'Paid', 'Returned') OR (approved_by IS NOT NULL AND approved_at IS NOT NULL)",
            name="approved",
        ),
        sa.CheckConstraint("state NOT IN ('Approved', 'Paid', 'Returned') OR payee_id IS NOT NULL", name="payee"),
    )
    id: UUID = Field(primary_key=True)
    refund_id: UUID = Field(foreign_key="refund.id", unique=True)
    provider_id: UUID = Field(foreign_key="provider.id")
    number: int
    total_minor: int = minor_field()
    created_at: datetime
    made_by: str = Field(max_length=120)
    state: str = Field(default=CreditNoteState.COMPUTED, max_length=20)
    first_by: UUID | None = Field(default=None, foreign_key="staff.id")
    first_at: datetime | None = None
    approved_by: UUID | None = Field(default=None, foreign_key="staff.id")
    approved_at: datetime | None = None
    payee_id: UUID | None = None


class CreditNotePayment(Paid, Owned, table=True):
    """Money that was paid on a credit note to the payee that was approved, or came back (contract K2)."""

    __tablename__ = "credit_note_payment"
    __table_args__ = (*is_payment(), sa.CheckConstraint("reverses IS NULL OR reason IS NOT NULL", name="reason"))
    credit_note_id: UUID = Field(foreign_key="credit_note.id", index=True)


class Movement(Owned, Amounts, table=True):
    """A view: every purchase, renewal that took effect, refund and adjustment, with its sign (contract F1).

    `total_minor` = `provider_share_minor` + `mca_profit_minor` + `distributor_profit_minor` on every row.
    """

    __table_args__ = ({"info": {VIEW: True}},)
    id: UUID = Field(primary_key=True)
    kind: str
    created_at: datetime
    policy_id: UUID
    purchase_id: UUID
    renewal_id: UUID | None
    customer_id: UUID
    product_id: UUID
    product_version_id: UUID
    product_category_id: UUID
    provider_id: UUID
    # That of the purchase, also on what followed it.
    request_source: str | None
    provider_share_minor: int = minor_field()


class MonthStep(Row, table=True):
    """One step of a month; the last one is its state. `sha256` is that of the journal at its closing.

    Steps are counted within the month, so that of two at the same instant the second is refused. Whoever makes the
    second of a pair is not who made the first (`before_by`). `facts_kept`: a reopening was given up, and the month is
    closed as it was.
    """

    __tablename__ = "month_step"
    __table_args__ = (
        sa.UniqueConstraint("month", "position"),
        one_of("state", tuple(MonthState), "state"),
        sa.CheckConstraint(
            "(state <> 'Reopened' AND (state <> 'Closed' OR facts_kept))"
            " OR (before_by IS NOT NULL AND before_by <> by)",
            name="two_people",
        ),
        sa.CheckConstraint("state <> 'Closed' OR sha256 IS NOT NULL", name="journal"),
    )
    id: UUID = Field(primary_key=True)
    month: date
    position: int
    state: str = Field(max_length=9)
    by: UUID = Field(foreign_key="staff.id")
    before_by: UUID | None = Field(default=None, foreign_key="staff.id")
    at: datetime
    note: str | None = None
    sha256: str | None = Field(default=None, max_length=64)
    facts_kept: bool = False
    facts: dict[str, Any] = json_field()
