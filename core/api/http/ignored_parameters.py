"""Names that a request carries and nobody uses: listed in a header of its answer (contract E6)."""

from collections.abc import Collection, Iterable
from itertools import accumulate
from typing import Final
from urllib.parse import quote

from starlette.datastructures import MutableHeaders, QueryParams
from starlette.types import Message, Send
from starlette.types import Scope as Connection

HEADER: Final = "X-Ignored-Fields"
_MAX_NAMES, _LONGEST_HEADER = 50, 4000


def as_header(names: Iterable[str]) -> str:
    """The names, comma-separated, as many as a header holds; what a header cannot hold is written as in an address."""
    written = [quote(name, safe="", errors="replace") for name in [*names][:_MAX_NAMES]]
    lengths = accumulate(len(name) + 1 for name in written)
    return ",".join(name for name, length in zip(written, lengths, strict=True) if length <= _LONGEST_HEADER)


def naming(scope: Connection, known: Collection[str], send: Send) -> Send:
    """`send` of a request; unknown names of its query string join those that the answer names already."""
    given = QueryParams(scope["query_string"]) if scope.get("query_string") else {}
    unknown = [name for name in given if name not in known]
    if not unknown:
        return send

    async def named(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            of_body = [name for name in headers.get(HEADER, "").split(",") if name]
            headers[HEADER] = ",".join(sorted({*of_body, *as_header(unknown).split(",")}))
        await send(message)

    return named
