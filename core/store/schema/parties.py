"""The parties: distributors, staff, insurers, customers, and how customers are followed up."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from core import clock, ids
from core.store.expressions import join_lines
from core.store.schema.columns import (
    ONE_DATABASE,
    Owned,
    Proposed,
    Record,
    Row,
    json_field,
    minor_field,
    one_of,
    one_open,
    proposal_checks,
)

ROLES = ("operations", "claims", "finance", "supervisor", "compliance", "admin")


class Distributor(Record, table=True):
    """A business that sells through the API, or the desk itself."""

    business_name: str = Field(unique=True, max_length=100)
    email: str | None = None
    active: bool = True


class ApiKey(Record, table=True):
    """A distributor's key; only its keyed hash is kept (contract M3)."""

    distributor_id: UUID = Field(foreign_key="distributor.id", index=True)
    is_live: bool
    name: str = Field(max_length=100)
    hint: str = Field(max_length=24)
    key_hash: str = Field(unique=True, max_length=64)
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None


class Staff(Record, table=True):
    """A person who signs in to the desk (contract A1, A2).

    `link_until` names the one link that may set a password, `link_by` who made it; before `approves_from` the
    person approves nothing, because somebody else has reset the password. `made_by` is who proposed the account, or
    the role of an admin; before `confirms_from` an admin confirms no change of an account. Until `limit_holds_from` a
    raised limit counts as it was before.
    """

    email: str = Field(unique=True, max_length=254)
    name: str = Field(max_length=100)
    roles: list[str] = json_field(list)
    password_hash: str | None = None
    claim_limit_minor: int | None = Field(default=None, sa_type=sa.BigInteger)
    disabled_at: datetime | None = None
    link_until: datetime | None = None
    link_by: UUID | None = None
    approves_from: datetime | None = None
    made_by: UUID | None = None
    confirms_from: datetime | None = None
    limit_before_minor: int | None = Field(default=None, sa_type=sa.BigInteger)
    limit_holds_from: datetime | None = None
    phone_number: str | None = Field(default=None, max_length=32)
    account_key: str | None = Field(default=None, max_length=64)
    sealed: str | None = None


class StaffDetail(Row, table=True):
    """A phone or account of a staff member, kept for ever: what was theirs counts as theirs (contract K12)."""

    __table_args__ = (sa.CheckConstraint("phone_number IS NOT NULL OR account_key IS NOT NULL", name="of_one"),)
    id: UUID = Field(primary_key=True)
    staff_id: UUID = Field(foreign_key="staff.id", index=True)
    phone_number: str | None = Field(default=None, max_length=32)
    account_key: str | None = Field(default=None, max_length=64)
    created_at: datetime


class RoleGrant(Proposed, table=True):
    """A change of an account, proposed by one admin and confirmed by another (contract K4).

    A person has one open proposal at most. `act` says what it does: "account" and "change" set roles and limit, "link"
    makes a password link, "disable" and "enable" do that; "roles" adds roles, in a proposal from before the others.
    """

    __table_args__ = (
        *proposal_checks(),
        sa.CheckConstraint("state <> 'confirmed' OR decided_by <> staff_id", name="not_oneself"),
        one_open("role_grant", "staff_id"),
    )
    id: UUID = Field(primary_key=True)
    staff_id: UUID = Field(foreign_key="staff.id", index=True)
    act: str = Field(default="change", max_length=10, sa_column_kwargs={"server_default": "roles"})
    roles: list[str] = json_field(list)
    claim_limit_minor: int | None = Field(default=None, sa_type=sa.BigInteger)


class StaffSession(Row, table=True):
    """One sign-in of one person; the cookie holds a token whose hash stands here."""

    __table_args__ = (sa.Index(None, "staff_id", "created_at"),)
    token_hash: str = Field(primary_key=True, max_length=64)
    staff_id: UUID = Field(foreign_key="staff.id")
    created_at: datetime
    seen_at: datetime
    ended_at: datetime | None = None


class SignInAttempt(Row, table=True):
    """Failed passwords of one e-mail or network address, so that guessing slows down."""

    email_hash: str = Field(primary_key=True, max_length=64)
    failures: int = 0
    last_failed_at: datetime


class OneTimeTicket(Row, table=True):
    """A ticket that was used: sign-in hand-overs and file links work once."""

    ticket_hash: str = Field(primary_key=True, max_length=64)
    used_at: datetime


class Provider(Record, table=True):
    """An insurer; `segment` is its part of the path ("insurer-a")."""

    segment: str = Field(unique=True, max_length=20)
    company_name: str = Field(max_length=100)
    number_series: str = Field(max_length=60)
    owner_id: UUID | None = None
    wallet_id: UUID | None = None
    bank_account_id: UUID | None = None
    first_name: str
    last_name: str
    email: str
    phone_number: str
    country: str
    verification_type: str | None = None
    verification_number: str | None = None
    bvn_number: str | None = None
    verification_images: str | None = None
    business_type: str | None = None
    claim_email: str | None = None
    business_email: str | None = None
    support_email: str | None = None
    sealed: str | None = None
    active: bool = True


_LISTED = ("created_at", "id", "deleted_at")
_SEARCHED = ("name_key", "email_key", "phone_number")
_LINES = join_lines(*map(sa.column, _SEARCHED))


class Customer(Record, Owned, table=True):
    """Somebody a distributor sold to, once per e-mail and mode (contract S2)."""

    __table_args__ = (
        sa.UniqueConstraint("distributor_id", "is_live", "email_key"),
        # As those of a policy's texts.
        sa.Index(None, "name_key", postgresql_include=["id", "is_live", "distributor_id"]),
        # All that is searched for a part, in one text: on SQLite the desk looks along it, as the index below is wide.
        sa.Index("ix_customer_text", _LINES, info={ONE_DATABASE: True}).ddl_if(dialect="sqlite"),
        # These hold all that a search reads, of the desk and of a distributor, newest first.
        sa.Index("ix_customer_search", "is_live", *_LISTED, *_SEARCHED, "distributor_id"),
        sa.Index("ix_customer_of_distributor", "distributor_id", "is_live", *_LISTED, "active", *_SEARCHED),
    )
    email: str = Field(max_length=254)
    email_key: str = Field(max_length=254, index=True)
    # Both names as they are searched; it is written wherever they are.
    name_key: str
    first_name: str
    last_name: str
    phone_number: str | None = Field(default=None, max_length=32, index=True)
    user_id: UUID
    wallet_id: UUID | None = None
    country: str | None = None
    gender: str | None = None
    title: str | None = None
    state_of_residence: str | None = None
    city: str | None = None
    address: str | None = None
    date_of_birth: str | None = None
    identity_verification: str | None = None
    verification_type: str | None = None
    face_image: str | None = None
    is_kyc_complete: bool = False
    active: bool = True


NOTE_KINDS = ("note", "call", "message", "visit")
CALL_OUTCOMES = ("will_renew", "thinking", "refused", "no_answer", "wrong_number")


class PolicyEndorsement(Owned, table=True):
    """One change of a sold policy, never changed itself; those of a policy count from 1 (contract S21).

    `changes` are the changed fields by their names in the request of the sale: `field`, `before`, `after`. No
    endorsement moves money: `premium_minor` is 0. `name_key` and `email_key` are the holder's name and e-mail from then
    on, as they are searched, where one of them was changed.
    """

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
    name_key: str = Field(default="", sa_column_kwargs={"server_default": ""})
    email_key: str = Field(default="", sa_column_kwargs={"server_default": ""})
    premium_minor: int = minor_field()
    made_by: UUID = Field(foreign_key="staff.id")
    created_at: datetime = Field(default_factory=clock.now)


class EndorsementNotice(Owned, table=True):
    """The note that the insurer was told of an endorsement: by whom, when and how."""

    endorsement_id: UUID = Field(foreign_key="policy_endorsement.id", primary_key=True)
    policy_id: UUID = Field(foreign_key="policy.id", index=True)
    note: str = Field(max_length=200)
    told_by: UUID = Field(foreign_key="staff.id")
    created_at: datetime = Field(default_factory=clock.now)


class RenewalCall(Owned, table=True):
    """One call about the end of a term: what came of it, who called, who goes on, and when to call again."""

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

    __table_args__ = (sa.UniqueConstraint("policy_id", "expiration_at", "days_before"),)
    id: UUID = Field(default_factory=ids.new, primary_key=True)
    policy_id: UUID = Field(foreign_key="policy.id")
    expiration_at: datetime
    days_before: int
    mail_id: UUID
    created_at: datetime = Field(default_factory=clock.now)


class ReminderOptOut(Owned, table=True):
    """A customer who wants no reminders."""

    customer_id: UUID = Field(foreign_key="customer.id", primary_key=True)
    created_at: datetime = Field(default_factory=clock.now)


class CustomerMerge(Owned, table=True):
    """Two records of one person: `merged_id` is shown as part of `kept_id`; each keeps its id, sales and e-mail."""

    __table_args__ = (sa.CheckConstraint("merged_id <> kept_id", name="two_records"),)
    merged_id: UUID = Field(foreign_key="customer.id", primary_key=True)
    kept_id: UUID = Field(foreign_key="customer.id", index=True)
    merged_by: UUID = Field(foreign_key="staff.id")
    created_at: datetime = Field(default_factory=clock.now)


class CustomerNote(Owned, table=True):
    """One note on a customer, or one contact with them; notes are added and never changed."""

    __table_args__ = (one_of("kind", NOTE_KINDS, "kind"), sa.Index(None, "customer_id", "created_at"))
    id: UUID = Field(default_factory=ids.new, primary_key=True)
    customer_id: UUID = Field(foreign_key="customer.id")
    kind: str = Field(default="note", max_length=10)
    text: str = Field(max_length=1000)
    author_id: UUID
    created_at: datetime = Field(default_factory=clock.now)


class SubmissionOwner(Owned, table=True):
    """The person who goes on with a policy that waits for its insurer."""

    policy_id: UUID = Field(foreign_key="policy.id", primary_key=True)
    owner_id: UUID = Field(foreign_key="staff.id", index=True)
    created_at: datetime = Field(default_factory=clock.now)


class Automation(Row, table=True):
    """A daily job of the worker that an admin switches on and off, and how far its pass of a day has come.

    The pass goes by `after_at` and `after_id`, those of the last record it looked at, so that any worker continues it.
    """

    name: str = Field(primary_key=True, max_length=40)
    is_on: bool = False
    changed_by: str | None = Field(default=None, max_length=120)
    changed_at: datetime = Field(default_factory=clock.now)
    day: date | None = None
    is_finished: bool = False
    after_at: datetime | None = None
    after_id: UUID | None = None
    done: int = 0
