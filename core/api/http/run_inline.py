"""Run short reads on the event loop: handing them to a thread would take a good part of their time."""

from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from core.store.access import store

T = TypeVar("T")


async def run_inline(read: Callable[[], T], *, is_short: bool = True, limiter: CapacityLimiter | None = None) -> T:
    """Run a read and return its result, on the event loop if it cannot block it.

    That holds for a few indexed rows of a SQLite file. Anything that waits for a server or may scan many rows runs in
    a thread; a `limiter` of its own keeps it from queueing behind others.
    """
    if is_short and store().reads_never_block:
        return read()
    return await run_sync(read, limiter=limiter)
