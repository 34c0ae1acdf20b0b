"""Events, the endpoints that want them, and what waits to be sent: deliveries and mail (contract W1-W7)."""

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from core import clock, ids
from core.store.schema.columns import Owned, Record, Row, json_field, one_of

DELIVERY_STATES = ("queued", "held", "sent", "dead", "withdrawn")
MAIL_STATES = ("queued", "sent", "dead")
ENDPOINT_STATES = ("unverified", "active", "failing", "disabled")


class Event(Owned, table=True):
    """One event as it is sent, byte by byte; `position` is its place in the feed (contract W2, W6).

    `origin` names what made it, so that nothing makes it twice; `trace_id` is the trace of the request behind it.
    `occurred_at` is the `timestamp` of its body, `created_at` when it took its place in the feed, which may be later.
    """

    __table_args__ = (
        sa.Index("ix_event_feed", "distributor_id", "is_live", "position"),
        sa.UniqueConstraint("object_id", "object_type", "sequence"),
        sa.Index(None, "occurred_at"),
    )
    id: UUID = Field(default_factory=ids.new, primary_key=True)
    position: int = Field(sa_type=sa.BigInteger, nullable=False, unique=True)
    type: str = Field(max_length=40)
    object_type: str = Field(max_length=20)
    object_id: UUID
    sequence: int
    origin: str = Field(unique=True, max_length=120)
    body: bytes
    occurred_at: datetime
    created_at: datetime
    trace_id: str | None = Field(default=None, max_length=32)


class EventCursor(Row, table=True):
    """The position up to which one chain of the audit log has been made into events."""

    chain: int = Field(primary_key=True)
    position: int = Field(sa_type=sa.BigInteger, nullable=False)


class EventFeed(Row, table=True):
    """The one row with the last position of the feed; locked while events are added."""

    id: int = Field(primary_key=True)
    position: int = Field(sa_type=sa.BigInteger, nullable=False)
    swept_at: datetime | None = None


class WebhookEndpoint(Record, Owned, table=True):
    """An address that wants events (contract W3); `secret` and `old_secret` are sealed.

    `key_id` is the API key that registered it, none for one registered at the desk: it belongs to its distributor, and
    goes on when the key is revoked.
    `failing_since` is the first failure after the last success.
    """

    __table_args__ = (
        one_of("state", ENDPOINT_STATES, "state"),
        one_of("format", ("standard", "classic"), "format"),
        sa.Index(None, "distributor_id", "is_live"),
    )
    key_id: UUID | None = Field(default=None, foreign_key="api_key.id")
    url: str = Field(max_length=2000)
    description: str = Field(default="", max_length=200)
    events: list[str] = json_field(list)
    format: str = Field(default="standard", max_length=10)
    signature_header: str = Field(default="x-signature", max_length=64)
    state: str = Field(default="unverified", max_length=12)
    secret: str
    old_secret: str | None = None
    old_secret_until: datetime | None = None
    failing_since: datetime | None = None
    last_success_at: datetime | None = None
    last_failure_at: datetime | None = None
    last_error: str | None = None
    is_slow: bool = False
    disabled_at: datetime | None = None


class QueuedRow(Row):
    """A row of the outbox (contract W1): what any kind of it needs to be leased, retried and given up."""

    id: UUID = Field(default_factory=ids.new, primary_key=True)
    state: str = Field(default="queued", max_length=12)
    attempts: int = 0
    failures: int = 0
    next_try_at: datetime | None = Field(default_factory=clock.now)
    leased_until: datetime | None = None
    last_error: str | None = None
    created_at: datetime = Field(default_factory=clock.now)
    updated_at: datetime = Field(default_factory=clock.now)


class WebhookDelivery(QueuedRow, Owned, table=True):
    """One event for one endpoint."""

    __table_args__ = (
        one_of("state", DELIVERY_STATES, "state"),
        sa.UniqueConstraint("endpoint_id", "event_id"),
        # Holds all that finding due work reads.
        sa.Index("ix_webhook_delivery_due", "state", "endpoint_id", "next_try_at", "leased_until"),
        sa.Index("ix_webhook_delivery_log", "endpoint_id", "created_at", "id"),
        sa.Index(None, "event_id"),
    )
    endpoint_id: UUID = Field(foreign_key="webhook_endpoint.id")
    event_id: UUID = Field(foreign_key="event.id")
    event_type: str = Field(max_length=40)
    is_replay: bool = False
    status: int | None = None
    delivered_at: datetime | None = None


class WebhookTry(Owned, table=True):
    """One try of a delivery: when, how long, and what was answered."""

    __table_args__ = (sa.Index(None, "delivery_id", "started_at"), sa.Index(None, "started_at"))
    id: UUID = Field(default_factory=ids.new, primary_key=True)
    delivery_id: UUID = Field(foreign_key="webhook_delivery.id")
    attempt: int
    started_at: datetime
    milliseconds: int
    status: int | None = None
    error: str | None = None
    answer: str = ""


class Mail(QueuedRow, table=True):
    """One e-mail, written in the transaction of its cause and sent later.

    `about` is the record whose page shows it ("policy:<id>"), `sent_by` the person who asked for it.
    """

    __table_args__ = (
        one_of("state", MAIL_STATES, "state"),
        sa.Index("ix_mail_due", "state", "next_try_at", "leased_until"),
        sa.Index(None, "created_at"),
        sa.Index(None, "about", "created_at"),
    )
    recipient: str = Field(max_length=254)
    template: str = Field(max_length=40)
    subject: str = Field(max_length=200)
    body: str
    about: str | None = Field(default=None, max_length=80)
    sent_by: str | None = Field(default=None, max_length=120)


class MailText(Row, table=True):
    """The text of an e-mail as an admin has changed it, in place of the one that comes with the software."""

    name: str = Field(primary_key=True, max_length=40)
    subject: str = Field(max_length=150)
    body: str
    version: int = 1
    updated_at: datetime = Field(default_factory=clock.now)
