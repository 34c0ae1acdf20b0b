"""Idempotency keys: the first response is stored and replayed for the same request (contract S13)."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Final

import sqlalchemy as sa
from sqlmodel import col

from core import clock, seal, telemetry
from core.errors import KeyReused
from core.store.access import Scope, ScopedSession
from core.store.schema.tables import KeptAnswer

# Stored twice as long as promised. Every 32nd new key deletes up to 64 expired responses.
_RETENTION: Final = timedelta(hours=48)
_CLEANUP_INTERVAL: Final = 32
_key_counter = count(1)


@dataclass(frozen=True, slots=True)
class WireResponse:
    """A response as it goes over the wire: status, body and its own headers."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


def fingerprint(*parts: bytes) -> str:
    """Hash everything that must be equal for two requests to count as the same one.

    Keyed, because a plain hash in a copy of the store could be tried against every possible BVN (contract A3).
    """
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8))
        digest.update(part)
    return seal.keyed_hash("request", digest.hexdigest())


def run_once(
    session: ScopedSession, scope: Scope, key: str | None, request_hash: str, handler: Callable[[], WireResponse]
) -> WireResponse:
    """Run the handler once per idempotency key, or replay the stored response of an equal earlier request.

    Raises KeyReused when the earlier request was not equal. The key is inserted in the transaction of the work
    itself, so both exist or neither does; a refusal rolls both back, and a corrected body may use the key again.
    """
    if key is None or scope.distributor_id is None or scope.is_live is None:
        return handler()
    claim = KeptAnswer(
        distributor_id=scope.distributor_id,
        is_live=scope.is_live,
        key=key,
        fingerprint=request_hash,
        status=0,
        body=b"",
        created_at=clock.now(),
    )
    if not session.insert_if_absent(claim):
        telemetry.count("idempotent_replays")
        return _replay(session, key, request_hash)
    if next(_key_counter) % _CLEANUP_INTERVAL == 0:
        session.purge(KeptAnswer, before=claim.created_at - _RETENTION, most=2 * _CLEANUP_INTERVAL)
    answer = handler()
    claim.status, claim.body, claim.headers = answer.status, answer.body, answer.headers
    session.update_columns(claim, "status", "body", "headers")
    return answer


def _replay(session: ScopedSession, key: str, request_hash: str) -> WireResponse:
    stored = session.execute(
        sa.select(
            col(KeptAnswer.fingerprint), col(KeptAnswer.status), col(KeptAnswer.body), col(KeptAnswer.headers)
        ).where(col(KeptAnswer.key) == key)
    ).one()
    if stored.fingerprint != request_hash:
        raise KeyReused
    return WireResponse(stored.status, stored.body, {**stored.headers, "Idempotent-Replayed": "true"})
