"""Signatures of deliveries: Standard Webhooks, and the one that older receivers expect (contract W4, W7)."""

import base64
import hmac
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from standardwebhooks import Webhook

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
