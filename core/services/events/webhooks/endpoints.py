"""Endpoints: register, list, change, rotate the secret, enable, delete; each within its distributor and mode (W3)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final
from uuid import UUID

import sqlalchemy as sa
from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator
from sqlmodel import col

from core import clock, seal
from core.covers.fields import fault, one_of
from core.covers.request import Request
from core.errors import StateForbids
from core.outbound import addresses, signing
from core.services.audit import log as audit
from core.services.catalogue import key_admin
from core.services.events import catalogue
from core.services.mail import mail
from core.services.people.staff import Person
from core.store.access import AnySelect, Owner, ScopedSession
from core.store.rows import build_row
from core.store.schema.events import ENDPOINT_STATES
from core.store.schema.tables import Distributor, WebhookDelivery, WebhookEndpoint

MAX_PATTERNS: Final = 40
_HEADER: Final = re.compile(r"[a-z0-9-]{1,64}")
# Headers that are ours or the connection's, and would be sent twice.
_TAKEN: Final = frozenset({"host", "content-length", "content-type", "user-agent", "connection", "transfer-encoding"})


def _check_url(value: str) -> str:
    if wrong := addresses.find_url_fault(value):
        raise fault(wrong)
    return value


def _check_patterns(value: list[str]) -> list[str]:
    patterns = list(dict.fromkeys(each.strip() for each in value))
    if not all(catalogue.is_pattern(each) for each in patterns):
        raise fault("must be types of /v1/event-types, or patterns such as claim.* or *")
    return patterns


def _check_header(value: str) -> str:
    name = value.lower()
    if not _HEADER.fullmatch(name) or name in _TAKEN or name.startswith(("webhook-", "coverdesk-")):
        raise fault("must be the name of a header of letters, digits and hyphens that is not in use")
    return name


Url = Annotated[
    str,
    Field(max_length=addresses.MAX_URL_LENGTH, description="https, at a public address, on port 443."),
    AfterValidator(_check_url),
]
Patterns = Annotated[
    list[Annotated[str, Field(max_length=60)]],
    Field(
        min_length=1,
        max_length=MAX_PATTERNS,
        examples=[["claim.*", "policy.activated"]],
        description="Types of `/event-types`, or patterns of them: `claim.*`, and `*` for every one.",
    ),
    AfterValidator(_check_patterns),
]
FORMATS: Final = ("standard", "classic")
Format = Annotated[str, one_of(*FORMATS)]
Header = Annotated[str, Field(max_length=64, examples=["x-signature"]), AfterValidator(_check_header)]
Description = Annotated[str, Field(max_length=200, examples=["Claims of our back office"])]


class EndpointRequest(Request):
    """An endpoint to register."""

    url: Url = Field(examples=["https://hooks.example.com/coverdesk"])
    events: Patterns
    description: Description = ""
    format: Format = Field(default="standard", description="`classic` serves receivers of older interfaces.")
    signature_header: Header = Field(default="x-signature", description="Where `classic` puts its signature.")


class EndpointChange(Request):
    """Change of an endpoint; omitted fields stay. A new address is pinged before it is used."""

    url: Url | None = Field(default=None, examples=["https://hooks.example.com/coverdesk/v2"])
    events: Patterns | None = None
    description: Description | None = None
    format: Format | None = None
    signature_header: Header | None = None


class EnableRequest(Request):
    """Options for enabling an endpoint again."""

    send_held: bool = Field(default=True, description="Send what was held meanwhile; otherwise it is withdrawn.")


def _instant(value: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(value.strip() if isinstance(value, str) else "")
        if moment.tzinfo is None or "T" not in value.upper():
            raise ValueError
        return moment.astimezone(UTC)
    except ValueError:
        raise fault("must be an ISO 8601 timestamp with its zone") from None
    except OverflowError:
        raise fault("must be a date that exists") from None


Instant = Annotated[datetime, BeforeValidator(_instant)]


class ReplayRequest(Request):
    """Selection of events to send again."""

    from_: Instant = Field(alias="from", examples=["2026-11-01T00:00:00Z"])
    to: Instant = Field(examples=["2026-11-30T00:00:00Z"])
    events: Patterns | None = Field(default=None, description="Without it, the types that the endpoint wants.")
    only_failed: bool = Field(default=False, description="Only those that never got a 2xx.")
    dry_run: bool = Field(default=False, description="Count them and send nothing.")

    @field_validator("to")
    @classmethod
    def _check_order(cls, value: datetime, rest: ValidationInfo) -> datetime:
        if value < rest.data.get("from_", value):
            raise fault("must not be before from")
        return value


STATES: Final = ENDPOINT_STATES
MAX_ENDPOINTS: Final = 10
OLD_SECRET_LASTS: Final = timedelta(hours=24)
# Each of them adds a signature to the header of every delivery.
MAX_OLD_SECRETS: Final = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """An endpoint as it is shown, without its secret; `held` deliveries wait for it to be enabled."""

    id: UUID
    distributor_id: UUID
    is_live: bool
    url: str
    description: str
    events: Sequence[str]
    format: str
    signature_header: str
    state: str
    last_error: str | None
    last_success_at: datetime | None
    last_failure_at: datetime | None
    failing_since: datetime | None
    disabled_at: datetime | None
    old_secret_until: datetime | None
    created_at: datetime
    held: int

    @property
    def is_failing(self) -> bool:
        """True while deliveries fail, and after they failed for so long that it was disabled."""
        return self.state in {"failing", "disabled"}


@dataclass(frozen=True, slots=True)
class NewSecret:
    """An endpoint and its new secret, which is shown this once."""

    endpoint: Endpoint
    secret: str


def register(
    session: ScopedSession, request: EndpointRequest, owner: Owner, *, actor: str, key_id: UUID | None = None
) -> NewSecret:
    """Register an endpoint, to be activated by a ping that gets a 2xx.

    StateForbids beyond ten of a distributor in a mode. `key_id` is the key that registers it.
    """
    _refuse_too_many(session, owner)
    secret = signing.new_secret()
    row = WebhookEndpoint(**owner.columns, key_id=key_id, secret=_seal(secret), **request.model_dump())
    session.add(row)
    session.flush()
    _note(session, row, "endpoint registered", actor, after=_describe(row))
    return NewSecret(_build(row, 0), secret)


def list_endpoints(session: ScopedSession, *, distributor_id: UUID | None = None) -> list[Endpoint]:
    """List the endpoints of the session's scope, newest first."""
    query = sa.select(WebhookEndpoint).where(col(WebhookEndpoint.deleted_at).is_(None))
    if distributor_id is not None:
        query = query.where(col(WebhookEndpoint.distributor_id) == distributor_id)
    rows = list(session.execute(query.order_by(col(WebhookEndpoint.created_at).desc())).scalars())
    held = _count_held(session, [row.id for row in rows])
    return [_build(row, held.get(row.id, 0)) for row in rows]


def get_endpoint(session: ScopedSession, endpoint_id: UUID) -> Endpoint:
    """Return one endpoint; NotFound if it is unknown in this scope."""
    row = _get(session, _build_one_query(endpoint_id))
    return _build(row, _count_held(session, [row.id]).get(row.id, 0))


def change(session: ScopedSession, endpoint_id: UUID, request: EndpointChange, *, actor: str) -> Endpoint:
    """Change what the request names; another address makes the endpoint unverified until a ping gets a 2xx."""
    row = get_for_update(session, endpoint_id)
    before = _describe(row)
    given = request.model_dump(exclude_none=True)
    if given.get("url", row.url) != row.url:
        _set_state(row, "unverified")
    for name, value in given.items():
        setattr(row, name, value)
    row.updated_at = clock.now()
    session.flush()
    after = _describe(row)
    changed = {name for name in after if after[name] != before[name]}
    if changed:
        changes = [{name: facts[name] for name in sorted(changed)} for facts in (before, after)]
        _note(session, row, "endpoint changed", actor, before=changes[0], after=changes[1])
    return get_endpoint(session, endpoint_id)


def rotate_secret(session: ScopedSession, endpoint_id: UUID, *, actor: str) -> NewSecret:
    """Give an endpoint another secret; each that it had signs too for 24 hours after it was replaced.

    StateForbids when more than four would.
    """
    row = get_for_update(session, endpoint_id)
    secret, until, old = signing.new_secret(), clock.now() + OLD_SECRET_LASTS, _list_old_secrets(row)
    if len(old) >= MAX_OLD_SECRETS:
        raise StateForbids(
            f"{MAX_OLD_SECRETS} secrets were replaced within 24 hours and sign still: wait until one of them has ended"
        )
    replaced = {seal.unseal(row.secret)["secret"]: until, **old}
    row.old_secret = seal.seal({each: ends.isoformat() for each, ends in replaced.items()})
    row.secret, row.old_secret_until = _seal(secret), until
    row.updated_at = clock.now()
    session.flush()
    _note(session, row, "endpoint secret rotated", actor, after={"old_until": clock.to_wire(row.old_secret_until)})
    return NewSecret(get_endpoint(session, endpoint_id), secret)


def enable(session: ScopedSession, endpoint_id: UUID, *, send_held: bool, actor: str) -> int:
    """Enable a disabled endpoint; what was held is queued or withdrawn. Returns how many were held.

    StateForbids for one that is not disabled.
    """
    row = get_for_update(session, endpoint_id)
    if row.state != "disabled":
        also = ", and a ping that it answers makes this one active" if row.state == "unverified" else ""
        raise StateForbids(f"This endpoint is {row.state}: only a disabled one is enabled{also}")
    _set_state(row, "active")
    session.flush()
    queued = {"state": "queued", "next_try_at": clock.now(), "failures": 0}
    count = _move_deliveries(session, row, ("held",), queued if send_held else {"state": "withdrawn"})
    _note(session, row, "endpoint enabled", actor, after={"held": count, "sent": send_held})
    return count


def turn(session: ScopedSession, row: WebhookEndpoint, action: str, *, actor: str) -> None:
    """Change the state of an endpoint to failing or disabled, with the reason in `last_error`.

    Its distributor gets an e-mail, and its other endpoints an event.
    """
    before, row.state = row.state, action.removeprefix("endpoint ")
    note_state(session, row, action, actor, before=before)
    address = session.execute(
        sa.select(col(Distributor.email)).where(col(Distributor.id) == row.distributor_id)
    ).scalar_one()
    if address:
        mode, name = "live" if row.is_live else "test", row.description or str(row.id)
        mail.send(session, address, action, {"mode": mode, "endpoint": name, "reason": row.last_error or ""})


def disable(session: ScopedSession, row: WebhookEndpoint, *, actor: str) -> None:
    """Disable an endpoint and hold what waits for it; nothing is lost."""
    turn(session, row, "endpoint disabled", actor=actor)
    row.disabled_at = clock.now()
    session.flush()
    held = {"state": "held", "next_try_at": None, "leased_until": None}
    _move_deliveries(session, row, ("queued", "dead"), held)


def _move_deliveries(
    session: ScopedSession, row: WebhookEndpoint, states: Sequence[str], values: Mapping[str, Any]
) -> int:
    """Set columns of the deliveries of an endpoint that are in one of these states, and return how many there are."""
    moved: Any = session.execute(
        sa.update(WebhookDelivery)
        .where(col(WebhookDelivery.endpoint_id) == row.id, col(WebhookDelivery.state).in_(states))
        .values(**values, updated_at=clock.now())
        .execution_options(synchronize_session=False)
    )
    return int(moved.rowcount)


def list_of_key(session: ScopedSession, key_id: UUID) -> list[Endpoint]:
    """List the endpoints that a key registered and that take events, or would after a ping; newest first."""
    return [_build(row, 0) for row in session.execute(_build_key_query(key_id)).scalars()]


def revoke_key(session: ScopedSession, key_id: UUID, *, with_endpoints: bool, by: Person) -> int:
    """Revoke a key, and disable the endpoints that it registered if it was in wrong hands; returns how many."""
    key_admin.revoke_key(session, key_id, by=by)
    return disable_of_key(session, key_id, actor=by.actor) if with_endpoints else 0


def disable_of_key(session: ScopedSession, key_id: UUID, *, actor: str) -> int:
    """Disable the endpoints that a key registered, because it was in wrong hands; returns how many there were."""
    rows = list(session.execute(_build_key_query(key_id).with_for_update()).scalars())
    for row in rows:
        row.last_error = "The key that registered it was revoked together with its endpoints"
        disable(session, row, actor=actor)
    return len(rows)


def _build_key_query(key_id: UUID) -> AnySelect:
    query: AnySelect = (
        sa.select(WebhookEndpoint)
        .where(
            col(WebhookEndpoint.key_id) == key_id,
            col(WebhookEndpoint.deleted_at).is_(None),
            col(WebhookEndpoint.state) != "disabled",
        )
        .order_by(col(WebhookEndpoint.id).desc())
    )
    return query


def delete(session: ScopedSession, endpoint_id: UUID, *, actor: str) -> None:
    """Delete an endpoint; what waits for it is withdrawn, its log stays."""
    row = get_for_update(session, endpoint_id)
    row.deleted_at = clock.now()
    session.flush()
    _move_deliveries(session, row, ("queued", "held", "dead"), {"state": "withdrawn", "next_try_at": None})
    _note(session, row, "endpoint deleted", actor, before=_describe(row))


def get_for_update(session: ScopedSession, endpoint_id: UUID) -> WebhookEndpoint:
    """Return the row of an endpoint locked for update; NotFound if it is unknown in this scope."""
    query = _build_one_query(endpoint_id).with_for_update()
    return _get(session, query.execution_options(populate_existing=True))


def _build_one_query(endpoint_id: UUID) -> sa.Select[WebhookEndpoint]:
    is_one = col(WebhookEndpoint.id) == endpoint_id
    return sa.select(WebhookEndpoint).where(is_one, col(WebhookEndpoint.deleted_at).is_(None))


def _get(session: ScopedSession, query: sa.Select[WebhookEndpoint]) -> WebhookEndpoint:
    return session.find_scalar(query, otherwise="Endpoint not found")


def list_secrets(row: WebhookEndpoint) -> list[str]:
    """Return the secrets that sign now, the newest first."""
    return [seal.unseal(row.secret)["secret"], *_list_old_secrets(row)]


def _list_old_secrets(row: WebhookEndpoint) -> dict[str, datetime]:
    """Return the replaced secrets that sign still, each with its end, the newest first."""
    found = seal.unseal(row.old_secret)
    # Until release 0.2.0 there was one, whose end stands in the row.
    if "secret" in found:
        found = {found["secret"]: row.old_secret_until.isoformat()} if row.old_secret_until else {}
    ends = {secret: datetime.fromisoformat(until) for secret, until in found.items()}
    return {secret: until for secret, until in ends.items() if until > clock.now()}


def _seal(secret: str) -> str:
    return seal.seal({"secret": secret}) or ""


def _set_state(row: WebhookEndpoint, state: str) -> None:
    row.state, row.disabled_at, row.failing_since, row.last_error = state, None, None, None


def _refuse_too_many(session: ScopedSession, owner: Owner) -> None:
    # A counter that is locked: two who register at once must not both be the tenth.
    session.next_in_transaction(f"endpoints {owner.distributor_id.hex} {owner.is_live:d}")
    if (
        session.count_rows(WebhookEndpoint, *owner.owns(WebhookEndpoint), col(WebhookEndpoint.deleted_at).is_(None))
        >= MAX_ENDPOINTS
    ):
        raise StateForbids(f"There are {MAX_ENDPOINTS} endpoints in this mode already: delete one first")


def _count_held(session: ScopedSession, endpoint_ids: Sequence[UUID]) -> dict[UUID, int]:
    query = (
        sa.select(col(WebhookDelivery.endpoint_id), sa.func.count())
        .where(col(WebhookDelivery.endpoint_id).in_(endpoint_ids), col(WebhookDelivery.state) == "held")
        .group_by(col(WebhookDelivery.endpoint_id))
    )
    return {row[0]: int(row[1]) for row in session.execute(query)}


def _build(row: WebhookEndpoint, held: int) -> Endpoint:
    return build_row(Endpoint, row, held=held)


def _describe(row: WebhookEndpoint) -> dict[str, Any]:
    names = ("url", "description", "events", "format", "signature_header", "state")
    return {**{name: getattr(row, name) for name in names}, "mode": "live" if row.is_live else "test"}


def note_state(session: ScopedSession, row: WebhookEndpoint, action: str, actor: str, *, before: str) -> None:
    """Note in the audit log that an endpoint has another state, and why."""
    after = {"state": row.state, "reason": row.last_error}
    _note(session, row, action, actor, before={"state": before}, after=after)


def _note(
    session: ScopedSession,
    row: WebhookEndpoint,
    action: str,
    actor: str,
    *,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    audit.write(
        session, actor=actor, action=action, subject=audit.subject_of("endpoint", row.id), before=before, after=after
    )
