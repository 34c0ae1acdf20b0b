"""A read that is too short to be handed to a thread: the hop there and back would cost a good part of it."""

from collections.abc import Callable

from fastapi import Response
from fastapi.concurrency import run_in_threadpool

from core.store.engine import store


async def at_once(read: Callable[[], Response], *, is_short: bool = True) -> Response:
    """The answer of a read, made on the event loop where that holds nobody up.

    That is so for a few rows that an index finds in a SQLite file. Whatever waits for a server, or may walk many
    rows, goes to a thread.
    """
    if is_short and store().never_waits:
        return read()
    return await run_in_threadpool(read)
