"""Schema versions of a store and of this code, without importing Alembic.

That machinery takes longer to load than the rest of the store, and a server that starts only asks.
"""

import re
from functools import cache
from pathlib import Path

import sqlalchemy as sa

from core.errors import StateForbids
from core.store.access import Store, write_only_at

MIGRATIONS = Path(__file__).parent / "migrations"
_FOLLOWS = re.compile(r"""^down_revision = ["'](\d+)["']$""", re.MULTILINE)
_KEPT_IN = "alembic_version"
# Under this name a migration notes that the daybook has to be rebuilt when all of them are done.
STALE = "daybook is stale"


def version(store: Store) -> str | None:
    """The migration that the store stands at; none for an empty store."""
    with store.engine.connect() as connection:
        return version_of(connection)


def version_of(connection: sa.Connection) -> str | None:
    """The migration that the store behind a connection stands at."""
    if not sa.inspect(connection).has_table(_KEPT_IN):
        return None
    found = connection.execute(sa.select(sa.column("version_num")).select_from(sa.table(_KEPT_IN))).scalar_one_or_none()
    return None if found is None else str(found)


@cache
def newest() -> str:
    """The migration that this code wants: the end of the chain, which has not always the highest number."""
    followed = set().union(*(_FOLLOWS.findall(path.read_text(encoding="utf-8")) for path in _files()))
    (last,) = known_versions() - followed
    return last


def write_at_own_version() -> None:
    """Have this process refuse, from now on, every write into a store that another release has migrated (O5)."""
    write_only_at(newest())


def describe_fault(found: str | None) -> str | None:
    """Return why this code cannot work on a store of a version, and what to do; None where it can."""
    if found == newest():
        return None
    if found is None:
        return "there is no store yet: run `coverdesk init`"
    if found > max(known_versions()):
        return f"the store was made by a newer release (version {found}): use that one"
    return "the store has another version: run `coverdesk init`"


def refuse_unknown(found: str | None, what: str) -> None:
    """StateForbids for a store or backup that this code cannot bring to its own version; nothing at all is new."""
    if found is None or found in known_versions():
        return
    if found < min(known_versions()):
        raise StateForbids(
            f"This {what} is of a release before 0.2.0 (version {found}) and was left as it is:"
            " bring it to release 0.2.0 with that one's `coverdesk init` first, then to this one"
        )
    raise StateForbids(f"This {what} was made by a newer release (version {found}): use that one")


@cache
def known_versions() -> frozenset[str]:
    """Every version that this code can bring to its own: a migration's file is called by its number."""
    return frozenset(path.name.split("_")[0] for path in _files())


def _files() -> list[Path]:
    return list((MIGRATIONS / "versions").glob("[0-9]*.py"))
