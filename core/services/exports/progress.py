"""Progress of the exports that run in this process, for the screens beside them."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from core.services.exports.exports import Tally

_running: dict[UUID, Tally] = {}


@contextmanager
def track_export(export_id: UUID, tally: Tally) -> Iterator[None]:
    """Register a running export while the block lasts."""
    _running[export_id] = tally
    try:
        yield
    finally:
        _running.pop(export_id, None)


def get_row_count(export_id: UUID) -> int | None:
    """Return the rows that a running export has written, None when it does not run in this process."""
    tally = _running.get(export_id)
    return tally.rows if tally else None
