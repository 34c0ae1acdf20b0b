"""Makes chunks in a process of its own, so that one processor makes rows while another writes them."""

import gc
import multiprocessing
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

from core.demo.chunks import Chunk, Plan, chunks


def made_elsewhere(plan: Plan) -> Generator[Chunk]:
    """The chunks of a plan as another process makes them, at most one ahead; EOFError when that process dies."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    maker = context.Process(target=_make, args=(theirs, plan), daemon=True)
    maker.start()
    theirs.close()
    try:
        chunk: Chunk | None
        while (chunk := ours.recv()) is not None:
            yield chunk
    finally:
        ours.close()
        maker.terminate()
        maker.join()


def _make(theirs: Connection, plan: Plan) -> None:
    with uncollected():
        for chunk in chunks(plan):
            theirs.send(chunk)
        theirs.send(None)


@contextmanager
def uncollected() -> Iterator[None]:
    """Without a search for cycles: rows by the million hold none, and looking takes a tenth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
