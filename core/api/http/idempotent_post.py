"""Idempotent POST: one transaction does the work, stores the answer under its key, and answers after the commit."""

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any

from fastapi import Request, Response

from core.api.http import envelope, reads
from core.errors import InvalidInput
from core.services import idempotency
from core.services.catalogue.keys import Caller
from core.services.idempotency import WireResponse
from core.store.access import ScopedSession, store, transact

Work = Callable[[ScopedSession], WireResponse]


def run_once(request: Request, caller: Caller, body: object, work: Work) -> Response:
    """Do the work once per Idempotency-Key and answer; ignored fields are named (contract E6, S13)."""
    return _answer(request, body, transact(caller.scope, _once(request, caller, work)))


async def run_once_async(request: Request, caller: Caller, body: object, work: Work) -> Response:
    """Like `deliver`, for handlers on the event loop, which must not block it."""
    written = store().submit(caller.scope, _once(request, caller, work))
    return _answer(request, body, await asyncio.wrap_future(written))


def _once(request: Request, caller: Caller, work: Work) -> Work:
    print_, key = idempotency.fingerprint(request.url.path.encode(), _canonical(request)), _key(request)
    return lambda session: idempotency.run_once(session, caller.scope, key, print_, lambda: work(session))


def _answer(request: Request, body: Any, stored: WireResponse) -> Response:
    answer = envelope.response(stored)
    if ignored_names := reads.as_header(type(body).list_ignored(raw(request))):
        answer.headers[reads.HEADER] = ignored_names
    return answer


def raw(request: Request) -> Any:
    """The parsed JSON as it was sent."""
    return request.state.raw


def _canonical(request: Request) -> bytes:
    return json.dumps(raw(request), sort_keys=True, separators=(",", ":"), default=str).encode()


def _key(request: Request) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is not None and not re.fullmatch(r"[\x21-\x7e]{1,200}", key):
        raise InvalidInput.for_field("Idempotency-Key", "must be 1 to 200 visible ASCII characters")
    return key
