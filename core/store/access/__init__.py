"""Database access: transactions, sessions with their scope, and queries that are compiled once.

The rest of Coverdesk imports from here; the modules of this package belong to it alone.
"""

# ruff: noqa: F401 - others import from here
from core.store.access.compiled_query import (
    PendingRows,
    Query,
    QueryCache,
    WireId,
    WireInstant,
    WireMode,
    WireNaira,
    read_batches,
)
from core.store.access.engine import (
    Store,
    read_in,
    reading,
    reading_autocommit,
    reading_replica,
    store,
    transact,
    writing,
)
from core.store.access.replica import ReplicaStatus
from core.store.access.scope import AnyRow, AnySelect, Owner, Scope, ScopedSession, ScopeViolation
from core.store.access.sqlite import JOINS_IN_ORDER, wal_is_safe
from core.store.access.statements import ConstraintRefused, Row, gave_way, write_only_at
