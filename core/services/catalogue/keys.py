"""API keys: shown once when issued, stored as keyed hashes, separate for live and test (contract M1-M3)."""

import secrets
import string
import zlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids, seal
from core.errors import Unauthorized
from core.services.audit import log as audit
from core.services.catalogue import distributors
from core.store.access import Owner, ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import ApiKey, Distributor

_LETTERS = string.ascii_letters + string.digits
_LENGTH = 40
_USE_RECORD_INTERVAL = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller(Owner):
    """The holder of a key: the owner of what it sells and uploads, and the key's id for the audit log."""

    key_id: UUID
    last_used_at: datetime | None

    @property
    def actor(self) -> str:
        """The key's name in the audit log."""
        return f"key {self.key_id}"

    @property
    def needs_use_recorded(self) -> bool:
        """True if the key's last use should be recorded again."""
        return self.last_used_at is None or clock.now() - self.last_used_at > _USE_RECORD_INTERVAL


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyFacts:
    """One key for display, without the key itself."""

    id: UUID
    distributor: str
    is_live: bool
    name: str
    hint: str
    created_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None


def issue_key(
    session: ScopedSession, *, distributor_id: UUID, is_live: bool, name: str, actor: str, seed: str | None = None
) -> str:
    """Issue a key and return it in clear, for the only time: "cd_test_" + 40 random characters + a checksum.

    The same secret `seed` returns the same key, issued once: a double click does not lose the first key.
    """
    key = f"cd_{'live' if is_live else 'test'}_{_random_letters() if seed is None else _derive_letters(seed)}"
    key += _checksum(key)
    row = ApiKey(
        distributor_id=distributor_id,
        is_live=is_live,
        name=name,
        hint=f"{key[:12]}…{key[-4:]}",
        key_hash=_hash_key(key),
    )
    if session.insert_if_absent(row):
        after = {"name": name, "mode": "live" if is_live else "test", "distributor": str(distributor_id)}
        audit.write(session, actor=actor, action=audit.KEY_ISSUED, subject=audit.subject_of("key", row.id), after=after)
    return key


def _random_letters() -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))


def _derive_letters(seed: str) -> str:
    # 40 letters are 238 bits, the hash has 256.
    return _encode_digits(int(seal.keyed_hash("seed of an api key", seed), 16), _LENGTH)


def authenticate(session: ScopedSession, key: str) -> Caller:
    """Return the caller of a key; Unauthorized unless it is a valid key of an active distributor."""
    if not _is_well_formed(key):
        raise Unauthorized
    row = session.execute(
        sa.select(col(ApiKey.id), col(ApiKey.distributor_id), col(ApiKey.is_live), col(ApiKey.last_used_at))
        .join(Distributor, col(Distributor.id) == col(ApiKey.distributor_id))
        .where(col(ApiKey.key_hash) == _hash_key(key), col(ApiKey.revoked_at).is_(None), col(Distributor.active))
    ).one_or_none()
    if row is None:
        raise Unauthorized
    return Caller(key_id=row.id, distributor_id=row.distributor_id, is_live=row.is_live, last_used_at=row.last_used_at)


def record_use(session: ScopedSession, key_id: UUID) -> None:
    """Record that a key was used now."""
    session.execute(sa.update(ApiKey).where(col(ApiKey.id) == key_id).values(last_used_at=clock.now()))


def revoke_key(session: ScopedSession, id_or_key: str, *, actor: str) -> UUID:
    """Revoke a key by its id or by the key itself; repeating does nothing. NotFound if there is no such key."""
    by_id = ids.parse(id_or_key) if "-" in id_or_key and not id_or_key.startswith("cd_") else None
    match = col(ApiKey.id) == by_id if by_id else col(ApiKey.key_hash) == _hash_key(id_or_key)
    row = session.find_scalar(sa.select(ApiKey).where(match).with_for_update(), otherwise="Key not found")
    if row.revoked_at is None:
        row.revoked_at = clock.now()
        session.flush()
        subject = audit.subject_of("key", row.id)
        facts = {"name": row.name, "revoked": False}
        audit.write(
            session, actor=actor, action="key revoked", subject=subject, before=facts, after={**facts, "revoked": True}
        )
    return UUID(str(row.id))


def list_keys(session: ScopedSession) -> list[KeyFacts]:
    """Return every key, newest first."""
    rows = session.execute(
        sa.select(ApiKey, col(Distributor.business_name))
        .join(Distributor, col(Distributor.id) == col(ApiKey.distributor_id))
        .order_by(col(ApiKey.created_at).desc())
    )
    return [build_row(KeyFacts, key, distributor=distributor) for key, distributor in rows]


def get_or_create_distributor(session: ScopedSession, name: str) -> UUID:
    """The id of a distributor by its business name in any case, made when it is new."""
    if (known := distributors.find_by_name(session, name)) is not None:
        return known.id
    distributors.hold_names(session)
    if (known := distributors.find_by_name(session, name)) is not None:
        return known.id
    fresh = Distributor(business_name=" ".join(name.split()))
    session.insert(fresh)
    return fresh.id


def _hash_key(key: str) -> str:
    return seal.keyed_hash("api key", key)


def _checksum(text: str) -> str:
    return _encode_digits(zlib.crc32(text.encode()), 6)


def _encode_digits(number: int, places: int) -> str:
    """Encode the last places of a number in base 62, lowest first."""
    encoded = ""
    for _ in range(places):
        number, digit = divmod(number, len(_LETTERS))
        encoded += _LETTERS[digit]
    return encoded


def _is_well_formed(key: str) -> bool:
    return (
        key.isascii()
        and key.startswith(("cd_test_", "cd_live_"))
        and len(key) == 8 + _LENGTH + 6
        and _checksum(key[:-6]) == key[-6:]
    )
