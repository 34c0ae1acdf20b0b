"""Encryption of personal numbers, masking for display, and keyed hashes: for lookup, and of what was approved."""

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final
from uuid import UUID

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from core.errors import InvalidSetting
from core.settings import settings


def _derive_key(purpose: str, secret: str) -> bytes:
    return hashlib.blake2b(purpose.encode(), key=secret.encode()[:64], digest_size=32).digest()


@cache
def _get_cipher() -> MultiFernet:
    """Encrypts with the first sealing key, or the server secret if there is none; decrypts with all of them."""
    all_secrets = [settings().get_secret(), *settings().get_sealing_secrets()]
    ciphers = [Fernet(base64.urlsafe_b64encode(_derive_key("personal numbers", each))) for each in all_secrets]
    return MultiFernet([*ciphers[1:], ciphers[0]])


@contextmanager
def _naming_the_setting() -> Iterator[None]:
    """Raise InvalidSetting for a text that no key opens: one was taken out before `coverdesk reseal`."""
    try:
        yield
    except InvalidToken:
        raise InvalidSetting(
            "COVERDESK_SEALING_KEYS: must have every key that numbers of this store are sealed with, as some open with"
            " none of those given; a key is taken out after `coverdesk reseal`"
        ) from None


def reseal(sealed: str) -> str:
    """Re-encrypt sealed values with the newest key."""
    with _naming_the_setting():
        return _get_cipher().rotate(sealed.encode()).decode()


def seal(values: Mapping[str, str]) -> str | None:
    """Encrypt personal values as one text; None if there are none."""
    return _get_cipher().encrypt(json.dumps(dict(values)).encode()).decode() if values else None


def unseal(sealed: str | None) -> dict[str, str]:
    """Decrypt the personal values of a sealed text; empty for None."""
    if not sealed:
        return {}
    with _naming_the_setting():
        opened: dict[str, str] = json.loads(_get_cipher().decrypt(sealed.encode()))
    return opened


# What an erasure leaves of a text (contract D2).
ERASED: Final = "[erased]"


def mask(value: str | None) -> str | None:
    """Mask a personal number except its last four characters (contract A3)."""
    return value and "*" * max(len(value) - 4, 4) + value[-4:]


@cache
def _hash_key(purpose: str) -> bytes:
    return _derive_key(purpose, settings().get_secret())


def keyed_hash(purpose: str, text: str) -> str:
    """Return a hash keyed with the server secret; `purpose` separates uses."""
    return hmac.digest(_hash_key(purpose), text.encode("utf-8", "surrogatepass"), "sha256").hex()


def build_account_key(number: str) -> str:
    """Return the keyed hash of an account number, by which accounts are compared without being opened."""
    return keyed_hash("payout account", number)


def freeze_parts(parts: Mapping[str, Any]) -> dict[str, str]:
    """Return each part of a subject as a keyed hash: a part may hold a name or an account, and is kept for ever."""
    return {name: keyed_hash("approved part", json.dumps(value, default=str)) for name, value in parts.items()}


def fingerprint_approval(  # noqa: PLR0913 - all that an approval says, each by its name
    *,
    approval_id: UUID | str,
    kind: str,
    subject_id: UUID | str,
    amount_minor: int | None,
    limit_minor: int | None,
    role: str,
    staff_id: UUID | str,
    approved_at: datetime,
    parts: Mapping[str, str],
) -> str:
    """Return the keyed hash of an approval, which nobody can make who has the database alone."""
    ids = [UUID(str(each)).hex for each in (approval_id, subject_id, staff_id)]
    at = approved_at if approved_at.tzinfo else approved_at.replace(tzinfo=UTC)
    moment = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")
    whole = [*ids, kind, amount_minor, limit_minor, role, moment, sorted(parts.items())]
    return keyed_hash("approval", json.dumps(whole))
