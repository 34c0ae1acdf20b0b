"""Example events, endpoints and deliveries, made of the declared types of events."""

from typing import Any, Final

from core.services.events import catalogue, samples

ENDPOINT_ID: Final = "01a1f7c0-3c00-7000-8000-0000000000e2"
EVENT_ID: Final = "01a1f7c0-3c00-7000-8000-0000000000e1"
# No secret of anybody: 32 bytes of zeros.
SECRET: Final = "whsec_" + "A" * 43 + "="
_AT: Final = "2026-11-20T07:08:00.000Z"
_TYPE: Final = catalogue.BY_NAME["purchase.created"]


def build_event() -> dict[str, Any]:
    """Return a sample event."""
    return samples.build_sample(_TYPE)


def build_event_type() -> dict[str, Any]:
    """Return one declared type as it is answered."""
    return describe(_TYPE)


def describe(made: catalogue.EventType) -> dict[str, Any]:
    """Return a type with what makes it, the JSON schema of its body, and a sample."""
    return {
        "type": made.name,
        "object": made.object,
        "when": made.when,
        "schema": samples.build_schema(made),
        "sample": samples.build_sample(made),
    }


def build_endpoint() -> dict[str, Any]:
    """Return an active endpoint."""
    return {
        "id": ENDPOINT_ID,
        "url": "https://hooks.example.com/coverdesk",
        "description": "Claims of our back office",
        "events": ["claim.*"],
        "format": "standard",
        "signature_header": "x-signature",
        "state": "active",
        "last_error": None,
        "last_success_at": _AT,
        "last_failure_at": None,
        "failing_since": None,
        "disabled_at": None,
        "old_secret_until": None,
        "created_at": _AT,
        "held": 0,
        "mode": "test",
    }


def build_delivery() -> dict[str, Any]:
    """Return a delivery that was taken at once."""
    return {
        "id": "01a1f7c0-3c00-7000-8000-0000000000d1",
        "endpoint_id": ENDPOINT_ID,
        "event_id": EVENT_ID,
        "event_type": "claim.lodged",
        "state": "sent",
        "attempts": 1,
        "status": 200,
        "last_error": None,
        "is_replay": False,
        "next_try_at": None,
        "delivered_at": _AT,
        "created_at": _AT,
    }


def build_ping() -> dict[str, Any]:
    """Return the answer to a ping."""
    delivery = {**build_delivery(), "event_type": "endpoint.ping"}
    return {"delivery": delivery, "answer": "thanks", "endpoint": build_endpoint()}


def build_feed() -> dict[str, Any]:
    """Return a page of the feed."""
    return {"events": [build_event()], "cursor": EVENT_ID, "has_more": False}
