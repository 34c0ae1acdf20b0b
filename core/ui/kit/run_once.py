"""Idempotent button clicks: the resulting message is stored and returned again (contract S13)."""

import json
from collections.abc import Callable
from typing import Any

from core.errors import KeyReused, StateForbids
from core.services import idempotency
from core.services.idempotency import WireResponse
from core.store.access import Scope, ScopedSession, transact

DONE_ALREADY = "This was done already, with other figures. Look at the history."


def run_once(scope: Scope, token: str, work: Callable[[ScopedSession], str], *given: str) -> str:
    """Run `work` once per token and return its message; a repeated token returns the stored message.

    Raises StateForbids when the token was used with other `given` values. The scope is that of the record's
    distributor; the work and its token are written in one transaction.
    """
    print_ = idempotency.fingerprint(*(part.encode() for part in given))

    def attempt(session: ScopedSession) -> WireResponse:
        def make() -> WireResponse:
            return WireResponse(200, json.dumps(work(session)).encode())

        return idempotency.run_once(session, scope, f"desk {token}", print_, make)

    try:
        answer = transact(scope, attempt)
    except KeyReused:
        raise StateForbids(DONE_ALREADY) from None
    sentence: Any = json.loads(answer.body)
    return str(sentence)
