"""Receiver and printed output of `coverdesk webhooks listen`."""

from collections.abc import Iterator, Mapping

import orjson
from standardwebhooks import Webhook, WebhookVerificationError

from core.outbound import signing


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
        is_right = signing.sign_classic(secret, body) in headers.values()
        return "right (classic)" if is_right else "WRONG"
    try:
        Webhook(secret).verify(body, dict(headers))
    except (WebhookVerificationError, ValueError) as error:
        return f"WRONG: {error}"
    return "right"
