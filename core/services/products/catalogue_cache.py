"""Cache of the catalogue for embedding in records: encoded once, rebuilt when anything in it changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID
from weakref import WeakKeyDictionary

import orjson
import sqlalchemy as sa
from sqlmodel import col
from sqlmodel.sql.sqltypes import UTCDateTime

from core import clock
from core.services.products import products
from core.services.shapes import ProductRecord
from core.store.access.compiled_query import CompiledQuery, PendingRows
from core.store.access.scope import ScopedSession
from core.store.schema.tables import Product, ProductVersion, Provider


class Encoded(NamedTuple):
    """A product's record and its embedded category and provider, as ready JSON fragments."""

    product: orjson.Fragment
    category: orjson.Fragment
    provider: orjson.Fragment


@dataclass(frozen=True, kw_only=True, slots=True)
class Shelf:
    """Every product by (id, is_live), active or not, with the rates valid until the next planned change."""

    revision: tuple[Any, ...]
    since: datetime
    until: datetime | None
    records: Mapping[tuple[UUID, bool], ProductRecord]
    encoded: Mapping[tuple[str, bool], Encoded]

    def holds(self, revision: tuple[Any, ...], at: datetime) -> bool:
        """Return True while nothing changed and no planned rates came into force."""
        return self.revision == revision and self.since <= at and (self.until is None or at < self.until)


# Every change increments a product's version; changes to an insurer always advance its `updated_at`.
_REVISION = CompiledQuery(
    sa.select(
        sa.func.count(),
        sa.func.sum(col(Product.version)),
        sa.select(sa.func.max(col(Provider.updated_at))).scalar_subquery(),
        sa.select(sa.func.count(col(ProductVersion.id))).scalar_subquery(),
    ).select_from(Product)
)
_NEXT = CompiledQuery(
    sa.select(sa.func.min(col(ProductVersion.effective_at))).where(
        col(ProductVersion.effective_at) > sa.bindparam("now", type_=UTCDateTime()),
        col(ProductVersion.withdrawn_at).is_(None),
    )
)
_shelves: WeakKeyDictionary[Any, Shelf] = WeakKeyDictionary()


def revision(session: ScopedSession) -> PendingRows:
    """Submit the query for the catalogue's revision, so that it can be batched with other queries."""
    return _REVISION.submit(session)


def shelf(session: ScopedSession, asked: PendingRows | None = None) -> Shelf:
    """Return the catalogue as of this transaction; `pending` is its pending revision."""
    bind: Any = session.get_bind()
    now = clock.now()
    stands = (asked or revision(session)).one
    # Do not cache what a write transaction reads: it may never be committed.
    if bind.get_execution_options().get("write"):
        return _stocked(session, stands, now)
    found = _shelves.get(bind.engine.pool)
    if found is None or not found.holds(stands, now):
        found = _shelves[bind.engine.pool] = _stocked(session, stands, now)
    return found


def _stocked(session: ScopedSession, revision: tuple[Any, ...], now: datetime) -> Shelf:
    records = products.embedded(session)
    return Shelf(
        revision=revision,
        since=now,
        until=_NEXT.one(session, now=now)[0],
        records=records,
        encoded={(str(key), is_live): _encoded(record) for (key, is_live), record in records.items()},
    )


def _encoded(record: ProductRecord) -> Encoded:
    parts = (record, record["productCategory"], record["provider"])
    return Encoded(*(orjson.Fragment(orjson.dumps(part)) for part in parts))
