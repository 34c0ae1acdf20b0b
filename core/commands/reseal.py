"""`coverdesk reseal`: personal numbers under the newest of COVERDESK_SEALING_KEYS."""

from uuid import UUID

from rich.console import Console

from core.commands import ACTOR
from core.services.admin import resealing
from core.store.access import Scope, writing

out = Console()


def reseal() -> None:
    """Seal every personal number anew with the newest key, while sales go on; older keys may be removed afterwards."""
    rows = sum(_reseal_table(entity) for entity in resealing.SEALED_TABLES)
    with writing(Scope.system()) as session:
        resealing.record_resealing(session, rows, actor=ACTOR)
    out.print(f"{rows:,} records are sealed with the newest key.", highlight=False)


def _reseal_table(entity: object) -> int:
    rows, last_id = 0, None
    while True:
        done, last_id = _reseal_batch(entity, last_id)
        rows += done
        if last_id is None:
            return rows


def _reseal_batch(entity: object, last_id: UUID | None) -> tuple[int, UUID | None]:
    with writing(Scope.system()) as session:
        return resealing.reseal(session, entity, after=last_id)
