"""A read that is too short to be handed to a thread: the hop there and back would cost a good part of it."""

from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from core.store.access.engine import store

T = TypeVar("T")


async def at_once(read: Callable[[], T], *, is_short: bool = True, limiter: CapacityLimiter | None = None) -> T:
    """What a read finds, on the event loop where that holds nobody up.

    That is so for a few rows that an index finds in a SQLite file. Whatever waits for a server, or may walk many
    rows, goes to a thread; a `limiter` of its own keeps it from queueing behind others there.
    """
    if is_short and store().never_waits:
        return read()
    return await run_sync(read, limiter=limiter)
