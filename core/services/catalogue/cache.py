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
from core.services.catalogue import products
from core.services.lists.records import ProductRecord
from core.store.access import PendingRows, Query, ScopedSession
from core.store.schema.tables import Product, ProductVersion, Provider


class EncodedProduct(NamedTuple):
    """A product's record and its embedded category and provider, as ready JSON fragments."""

    product: orjson.Fragment
    category: orjson.Fragment
    provider: orjson.Fragment


@dataclass(frozen=True, kw_only=True, slots=True)
class Catalogue:
    """Every product by (id, is_live), active or not, with the rates valid until the next planned change."""

    revision: tuple[Any, ...]
    valid_from: datetime
    valid_until: datetime | None
    records: Mapping[tuple[UUID, bool], ProductRecord]
    encoded: Mapping[tuple[str, bool], EncodedProduct]

    def is_current(self, revision: tuple[Any, ...], at: datetime) -> bool:
        """Return True while nothing changed and no planned rates came into force."""
        return (
            self.revision == revision and self.valid_from <= at and (self.valid_until is None or at < self.valid_until)
        )


# Every change increments a product's version; changes to an insurer always advance its `updated_at`.
_REVISION_QUERY = Query(
    sa.select(
        sa.func.count(),
        sa.func.sum(col(Product.version)),
        sa.select(sa.func.max(col(Provider.updated_at))).scalar_subquery(),
        sa.select(sa.func.count(col(ProductVersion.id)))
        .where(col(ProductVersion.share_id).is_(None))
        .scalar_subquery(),
    ).select_from(Product)
)
_NEXT_CHANGE_QUERY = Query(
    sa.select(sa.func.min(col(ProductVersion.effective_at))).where(
        col(ProductVersion.effective_at) > sa.bindparam("now", type_=UTCDateTime()),
        col(ProductVersion.withdrawn_at).is_(None),
        col(ProductVersion.share_id).is_(None),
    )
)
_catalogues: WeakKeyDictionary[Any, Catalogue] = WeakKeyDictionary()


def submit_revision(session: ScopedSession) -> PendingRows:
    """Submit the query for the catalogue's revision, so that it can be batched with other queries."""
    return _REVISION_QUERY.submit(session)


def get_catalogue(session: ScopedSession, pending: PendingRows | None = None) -> Catalogue:
    """Return the catalogue as of this transaction; `pending` is its pending revision."""
    bind: Any = session.get_bind()
    now = clock.now()
    current_revision = (pending or submit_revision(session)).one
    # Do not cache what a write transaction reads: it may never be committed.
    if bind.get_execution_options().get("write"):
        return _load(session, current_revision, now)
    cached = _catalogues.get(bind.engine.pool)
    if cached is None or not cached.is_current(current_revision, now):
        cached = _catalogues[bind.engine.pool] = _load(session, current_revision, now)
    return cached


def _load(session: ScopedSession, revision: tuple[Any, ...], now: datetime) -> Catalogue:
    records = products.load_records(session)
    return Catalogue(
        revision=revision,
        valid_from=now,
        valid_until=_NEXT_CHANGE_QUERY.one(session, now=now)[0],
        records=records,
        encoded={(str(key), is_live): _encode(record) for (key, is_live), record in records.items()},
    )


def _encode(record: ProductRecord) -> EncodedProduct:
    parts = (record, record["productCategory"], record["provider"])
    return EncodedProduct(*(orjson.Fragment(orjson.dumps(part)) for part in parts))
