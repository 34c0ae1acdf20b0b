"""POST: strict JSON bodies, and work that is done once for an Idempotency-Key.

A body is refused for its media type, size or depth, for NaN and for a name that stands twice, and the refusal says
which it is. One transaction does the work, stores the answer under its key, and answers after the commit.
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import anyio
from fastapi import Request, Response
from starlette.types import Receive, Send
from starlette.types import Scope as Connection

from core.api.http import envelope, forms
from core.api.http.reads import ReadRoute, refuse_unbound
from core.covers import request as requests
from core.errors import FieldFault, InvalidInput, TooLarge, TooSlow, WrongMediaType
from core.services.audit import idempotency
from core.services.audit.idempotency import WireResponse
from core.services.catalogue.keys import Caller
from core.store.access import ScopedSession, store, transact

LARGEST_JSON = 1024 * 1024
# A body that drips in would hold its connection, and what was read of it, for as long as its sender likes.
SECONDS = 30
# A body may repeat very many names.
_MAX_NAMED = 50


class StrictRequest(Request):
    """A request whose body is parsed strictly; the parsed JSON is kept at `state.raw`."""

    async def body(self) -> bytes:
        """The bytes of the body; rejected while arriving when too large or too slow."""
        if not hasattr(self, "_body"):
            declared = self.headers.get("content-length", "")
            if declared.isdigit() and int(declared) > LARGEST_JSON:
                raise _refuse_larger()
            with anyio.move_on_after(SECONDS) as wait:
                self._body = await self._received()
            if wait.cancelled_caught:
                raise TooSlow.for_field("body", f"must arrive within {SECONDS} seconds")
        return self._body

    async def _received(self) -> bytes:
        received = bytearray()
        async for chunk in self.stream():
            received += chunk
            if len(received) > LARGEST_JSON:
                raise _refuse_larger()
        return bytes(received)

    async def json(self) -> Any:
        """The parsed body; decimal numbers become Decimal."""
        data = parse(await self.body())
        self.state.raw = data
        return data


class StrictRoute(ReadRoute):
    """A route whose POST handlers take the request, the caller and a strictly parsed JSON body."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **stated: Any) -> None:
        super().__init__(path, endpoint, **stated)
        bodies = self.dependant.body_params
        self._bodies: list[tuple[str, Any]] = [(one.name, one.field_info.annotation) for one in bodies]
        self._may_be_empty = not any(one.field_info.is_required() for one in bodies)
        if self._bodies:
            refuse_unbound(path, self.dependant)
            if self.dependant.request_param_name != "request" or len(self._bodies) > 1 or not self._is_async:
                raise TypeError(f"{path}: a handler of a JSON body is async and takes `request` and one body")
            self.app = self._deliver

    async def _deliver(self, scope: Connection, receive: Receive, send: Send) -> None:
        request = StrictRequest(scope, receive)
        if self._may_be_empty and not await request.body():
            data = request.state.raw = {}
        else:
            _refuse_other_media(request)
            data = await request.json()
        request_body = {**self.parse_arguments(request), "request": request}
        for name, model in self._bodies:
            request_body[name] = validate(request, model, data)
        response = await self.endpoint(**request_body)
        await response(scope, receive, send)


def _refuse_larger() -> TooLarge:
    return TooLarge(f"The body may have at most {LARGEST_JSON // (1 << 20)} MiB")


async def read(request: Request, *, accepted: str) -> Any:
    """Parse the JSON body of a route that also accepts other bodies; `accepted` lists them for the error."""
    _refuse_other_media(request, accepted)
    return await StrictRequest(request.scope, request.receive).json()


def _refuse_other_media(request: Request, expected_type: str = "application/json") -> None:
    media_type = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if media_type != "application/json":
        raise WrongMediaType(f"Send this body as {expected_type}")
    forms.refuse_compressed(request)


def parse(body: bytes) -> Any:
    """Parse JSON; InvalidInput for anything but one plain, shallow document without duplicate names."""
    encoding = json.detect_encoding(body)
    if not encoding.startswith("utf-8"):
        raise _body_fault(f"must be in UTF-8, and this is {encoding[:6].upper()}")
    try:
        return _parse_text(body.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise _body_fault(f"must be in UTF-8: its byte {error.start + 1} is not") from None


def _parse_text(text: str) -> Any:
    if not text.strip():
        raise _body_fault("must be valid JSON, and is empty")
    try:
        return json.loads(
            text, parse_float=Decimal, parse_constant=_refuse_constant, object_pairs_hook=_without_duplicates
        )
    except json.JSONDecodeError as error:
        message = f"must be valid JSON, and is broken at line {error.lineno}, column {error.colno}"
        raise _body_fault(message) from None
    except RecursionError:
        raise _body_fault("must not be nested so deeply") from None
    # An exponent beyond what a decimal holds is an arithmetic error, an endless whole number a ValueError.
    except (ValueError, ArithmeticError):
        raise _body_fault("must have no number of so many digits") from None


def _body_fault(message: str) -> InvalidInput:
    return InvalidInput.for_field("body", message)


def _refuse_constant(name: str) -> Any:
    raise _body_fault(f"must be valid JSON, which has no {name}")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        again = [name for name, count in Counter(name for name, _ in pairs).items() if count > 1]
        raise InvalidInput([FieldFault(_printable(name), "must be given once") for name in again[:_MAX_NAMED]])
    return values


def _printable(name: str) -> str:
    # JSON may write half a character, which an answer cannot hold.
    return name[:100].encode(errors="replace").decode()


def validate(request: Request, model: type[requests.Request], data: Any) -> Any:
    """Validate a body; whatever the answer is, it names what the model does not have (contract E6)."""
    name_ignored(request, model, data)
    return requests.validate(model, data)


def name_ignored(request: Request, model: type[requests.Request], data: Any) -> None:
    """Let the answer name what the model does not have, of a body that is refused before it is validated."""
    if isinstance(data, dict):
        request.state.ignored.extend(model.list_ignored(data))


Work = Callable[[ScopedSession], WireResponse]
Make = Callable[[ScopedSession], object]


async def run_once_async(request: Request, caller: Caller, work: Work) -> Response:
    """Do the work once per Idempotency-Key and answer (contract S13); the event loop is not blocked meanwhile."""
    written = store().submit(caller.scope, _once(request, caller, work))
    return envelope.response(await asyncio.wrap_future(written))


async def answer_once_async(request: Request, caller: Caller, make: Make, text: str) -> Response:
    """Answer, with this text and the status of the route, what is made once per Idempotency-Key."""
    return await run_once_async(request, caller, _answering(request, make, text))


def answer_once(request: Request, caller: Caller, make: Make, text: str) -> Response:
    """Like `answer_once_async`, on a thread that may wait."""
    return envelope.response(transact(caller.scope, _once(request, caller, _answering(request, make, text))))


def _answering(request: Request, make: Make, text: str) -> Work:
    status = request.scope["route"].status_code or 200
    return lambda session: envelope.answer(make(session), text, status=status)


def _once(request: Request, caller: Caller, work: Work) -> Work:
    canonical = json.dumps(raw(request), sort_keys=True, separators=(",", ":"), default=str).encode()
    print_, key = idempotency.fingerprint(request.url.path.encode(), canonical), _key(request)
    return lambda session: idempotency.run_once(session, caller.scope, key, print_, lambda: work(session))


def raw(request: Request) -> Any:
    """The parsed JSON as it was sent; an empty object where the address says everything."""
    return getattr(request.state, "raw", {})


def _key(request: Request) -> str | None:
    given = request.headers.getlist("idempotency-key")
    if len(given) > 1:
        raise InvalidInput.for_field("Idempotency-Key", "must be given once")
    key = given[0] if given else None
    if key is not None and not re.fullmatch(r"[\x21-\x7e]{1,200}", key):
        raise InvalidInput.for_field("Idempotency-Key", "must be 1 to 200 visible ASCII characters")
    return key
