"""Bodies and headers of deliveries: the event's own bytes, or the form that older receivers know (contract W4, W7)."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from importlib.metadata import version
from typing import Any, Final

import orjson

from core.outbound import signing
from core.services.events import catalogue
from core.states.claims import ClaimStatus

Event = Mapping[str, Any]


def build_headers(
    event_id: str,
    event_type: str,
    body: bytes,
    *,
    is_live: bool,
    attempt: int,
    is_replay: bool,
    at: datetime,
    secrets: Sequence[str],
) -> dict[str, str]:
    """Return the headers of a delivery; the id is the same on every try of an event."""
    return {
        "Content-Type": "application/json",
        "User-Agent": _user_agent(),
        "webhook-id": event_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": signing.sign_standard(secrets, event_id, at, body),
        "coverdesk-event": event_type,
        "coverdesk-mode": "live" if is_live else "test",
        "coverdesk-attempt": str(attempt),
        "coverdesk-replay": "true" if is_replay else "false",
    }


@cache
def _user_agent() -> str:
    """Cached: the version is read from files."""
    return f"coverdesk/{version('coverdesk')}"


def render_classic(body: bytes, wanted: Sequence[str] = ()) -> bytes | None:
    """Return an event in the classic form; None for a type that those receivers do not know.

    `wanted` are the endpoint's events, among which may be an older name of the type. Its fields stand under `data` and
    in `data.essential`: some of those receivers look for them in one place, some in the other.
    """
    event = orjson.loads(body)
    name = _get_classic_name(event, wanted)
    if name is None:
        return None
    essential = {"id": event["object"]["id"], **event["data"]}
    return orjson.dumps(
        {
            "event": name,
            "status": essential.get("claim_status") or _STATUS.get(name, "successful"),
            "event_id": event["id"],
            "data": {
                **essential,
                "meta": {"mode": event["mode"], "sequence": event["sequence"], "type": event["type"]},
                "essential": essential,
                "created_at": event["timestamp"],
                "updated_at": event["timestamp"],
            },
        }
    )


def _get_classic_name(event: Event, wanted: Sequence[str]) -> str | None:
    older = next((each for each in wanted if catalogue.OLDER_NAMES.get(each) == event["type"]), None)
    name = older or CLASSIC_NAMES.get(event["type"])
    return name(event) if callable(name) else name


_NAMED: Final = frozenset(
    {ClaimStatus.APPROVED, ClaimStatus.DECLINED, ClaimStatus.OFFER_SENT, ClaimStatus.OFFER_REJECTED}
)


def _status_changed(event: Event) -> str | None:
    """The moves that have no name of their own are updates; an inspection that came in is one."""
    status = event["data"].get("claim_status")
    if status == ClaimStatus.INSPECTION_SUBMITTED:
        return "inspection.completed"
    return None if status in _NAMED else "claim.updated"


CLASSIC_NAMES: Final[Mapping[str, str | Callable[[Event], str | None]]] = {
    "purchase.created": "purchase.successful",
    "policy.renewed": "purchase.renewed",
    "policy.certificate_ready": "policy.updated",
    "policy.updated": "policy.updated",
    "policy.cancelled": "policy.updated",
    "policy.endorsed": "policy.updated",
    "policy.declined": "policy.updated",
    "policy.expired": "policy.expired",
    "claim.lodged": "claim.submitted",
    "claim.approved": "claim.approved",
    "claim.declined": "claim.disapproved",
    "claim.offer_sent": "claim.offer_sent",
    "claim.offer_rejected": "claim.offer_rejected",
    "claim.status_changed": _status_changed,
    "claim.document_added": "claim.updated",
    "endpoint.ping": "endpoint.ping",
}
_STATUS: Final = {"policy.updated": "updated", "policy.expired": "expired", "claim.submitted": ClaimStatus.PENDING}


def build_classic_headers(headers: Mapping[str, str], name: str, secret: str, body: bytes) -> dict[str, str]:
    """Return the headers with the signature of the classic form in place of the standard's."""
    kept = {key: value for key, value in headers.items() if not key.startswith("webhook-sig")}
    return {**kept, name: signing.sign_classic(secret, body)}
