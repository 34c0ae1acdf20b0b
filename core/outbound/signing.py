"""Signatures of deliveries: Standard Webhooks, and the one that older receivers expect (contract W4, W7)."""

import base64
import hmac
import secrets
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import orjson
from standardwebhooks import Webhook, WebhookVerificationError

PREFIX: Final = "whsec_"


def new_secret() -> str:
    """Return a new secret: "whsec_" and 32 random bytes."""
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def sign_standard(secrets_: Sequence[str], message_id: str, at: datetime, body: bytes) -> str:
    """Sign the very bytes that are sent with each valid secret; receivers accept any of the signatures."""
    # The library takes the figures of the time as UTC, whatever its zone.
    moment, text = at.astimezone(UTC), body.decode()
    return " ".join(Webhook(each).sign(message_id, moment, text) for each in secrets_)


def sign_classic(secret: str, body: bytes) -> str:
    """Return the HMAC-SHA512 of the body in hex, keyed with the secret as it was shown."""
    return hmac.digest(secret.encode(), body, "sha512").hex()


def describe(headers: Mapping[str, str], body: bytes, secret: str) -> Iterator[str]:
    """Return lines about a delivery: its type and id, whether its signature is right, and its body."""
    names = ("coverdesk-event", "webhook-id", "coverdesk-mode", "coverdesk-attempt")
    yield " · ".join(headers.get(name, "?") for name in names)
    yield f"  signature: {judge(headers, body, secret)}"
    try:
        pretty = orjson.dumps(orjson.loads(body), option=orjson.OPT_INDENT_2).decode()
    except orjson.JSONDecodeError:
        pretty = repr(body)
    yield pretty


def judge(headers: Mapping[str, str], body: bytes, secret: str) -> str:
    """Return whether the signature of a delivery is right, in either form."""
    if not secret:
        return "not verified, as no --secret was given"
    if "webhook-signature" not in headers:
        is_right = sign_classic(secret, body) in headers.values()
        return "right (classic)" if is_right else "WRONG"
    try:
        Webhook(secret).verify(body, dict(headers))
    except (WebhookVerificationError, ValueError) as error:
        return f"WRONG: {error}"
    return "right"
