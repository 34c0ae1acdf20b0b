"""How far the exports of this process have come, for the screens beside them; another process shows none."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from core.services.exports.exports import Tally

_running: dict[UUID, Tally] = {}


@contextmanager
def of(export_id: UUID, tally: Tally) -> Iterator[None]:
    """Let a running export be seen while the block lasts."""
    _running[export_id] = tally
    try:
        yield
    finally:
        _running.pop(export_id, None)


def rows(export_id: UUID) -> int | None:
    """How many rows a running export has written; none when it does not run here."""
    tally = _running.get(export_id)
    return tally.rows if tally else None
