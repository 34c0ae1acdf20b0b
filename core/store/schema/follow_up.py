"""Follow-up with customers: calls about the end of a term."""

from datetime import date, datetime
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from core import clock, ids
from core.store.schema.columns import Owned, among

CALL_OUTCOMES = ("will_renew", "thinking", "refused", "no_answer", "wrong_number")


class RenewalCall(Owned, table=True):
    """One call about the end of a term: what came of it, who called, who goes on, and when to call again."""

    __tablename__ = "renewal_call"
    __table_args__ = (
        among("outcome", CALL_OUTCOMES, "outcome"),
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
