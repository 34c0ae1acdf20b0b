"""`coverdesk reseal`: personal numbers under the newest of COVERDESK_SEALING_KEYS."""

from uuid import UUID

from rich.console import Console

from core.commands import ACTOR
from core.services.admin import resealing
from core.store.access import engine
from core.store.access.scope import Scope

out = Console()


def reseal() -> None:
    """Seal every personal number anew with the newest key, while sales go on; older keys may be removed afterwards."""
    rows = sum(_all_of(entity) for entity in resealing.SEALED)
    with engine.writing(Scope.system()) as session:
        resealing.note(session, rows, actor=ACTOR)
    out.print(f"{rows:,} records are sealed with the newest key.", highlight=False)


def _all_of(entity: object) -> int:
    rows, after = 0, None
    while True:
        done, after = _batch(entity, after)
        rows += done
        if after is None:
            return rows


def _batch(entity: object, after: UUID | None) -> tuple[int, UUID | None]:
    with engine.writing(Scope.system()) as session:
        return resealing.reseal(session, entity, after=after)
