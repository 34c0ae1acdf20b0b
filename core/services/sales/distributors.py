"""The distributors screen of admins: a page of distributors with sales figures, and one in detail."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.lists.filters import declaration
from core.services.lists.filters.declaration import Filter, of
from core.services.lists.filters.fields import Condition, Flag, Text
from core.services.lists.paging import Page, Paging
from core.services.lists.windows import Window
from core.services.sales import totals
from core.services.sales.filter import SalesFilter
from core.services.sales.totals import ZERO_TOTALS, SalesTotals
from core.store.access import ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import ApiKey, Customer, Distributor, Product, ProductBlock

Order = Literal["name", "name-back", "newest", "oldest"]
_NAME, _SINCE, _KEY = sa.func.lower(col(Distributor.business_name)), col(Distributor.created_at), col(Distributor.id)
ORDERS: Mapping[Order, tuple[Any, ...]] = {
    "name": (_NAME, _KEY),
    "name-back": (_NAME.desc(), _KEY),
    "newest": (_SINCE.desc(), _KEY.desc()),
    "oldest": (_SINCE, _KEY),
}
_YEAR_MONTHS = 12


def _mentions(_: Any, text: str) -> Condition:
    searched = sa.func.lower(col(Distributor.business_name) + "\n" + sa.func.coalesce(Distributor.email, ""))
    return searched.like(declaration.containing(text), escape="\\")


class DistributorFilter(Filter, on=(Distributor,)):
    """Filter of the list of distributors."""

    q: str | None = of(
        Text,
        label="Find",
        column=_mentions,
        address="q",
        placeholder="Name or e-mail",
        longest=100,
        searches=True,
        place="search",
    )
    on: bool | None = of(Flag, label="State", column="active", address="on", options={"true": "Active", "false": "Off"})


@dataclass(frozen=True, kw_only=True, slots=True)
class DistributorRow:
    """One distributor; counts are for the session's mode, premium for the last twelve months."""

    id: UUID
    name: str
    email: str | None
    active: bool
    keys: int
    customers: int
    policies: int
    premium_minor: int
    withheld: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class DistributorDetail:
    """One distributor, with ids and names of the products that are withheld from it."""

    row: DistributorRow
    withheld: Sequence[tuple[UUID, str]]


def list_distributors(
    session: ScopedSession, criteria: DistributorFilter, paging: Paging, *, order: Order = "name"
) -> Page[DistributorRow]:
    """One page of distributors, and how many there are in all."""
    conditions = [*criteria.conditions(Distributor), col(Distributor.deleted_at).is_(None)]
    total = session.count_rows(Distributor, *conditions)
    rows = session.execute(
        sa.select(Distributor).where(*conditions).order_by(*ORDERS[order]).limit(paging.limit).offset(paging.offset)
    ).scalars()
    return Page(_build_rows(session, list(rows)), total)


def get_distributor(session: ScopedSession, distributor_id: UUID) -> DistributorDetail:
    """Return one distributor; NotFound for an unknown id."""
    query = sa.select(Distributor).where(col(Distributor.id) == distributor_id, col(Distributor.deleted_at).is_(None))
    row = session.find_scalar(query, otherwise="There is no such distributor")
    withheld = session.execute(
        sa.select(col(Product.id), col(Product.name))
        .join(ProductBlock, col(ProductBlock.product_id) == col(Product.id))
        .where(col(ProductBlock.distributor_id) == distributor_id)
        .order_by(sa.func.lower(col(Product.name)))
    )
    (found,) = _build_rows(session, [row])
    return DistributorDetail(row=found, withheld=[(product.id, product.name) for product in withheld])


def _build_rows(session: ScopedSession, rows: Sequence[Distributor]) -> list[DistributorRow]:
    ids = [row.id for row in rows]
    all_time, year = sum_sales(session, ids)
    keys = _count_by_distributor(
        session, ApiKey, ids, col(ApiKey.revoked_at).is_(None), col(ApiKey.is_live) == session.scope.is_live
    )
    customers, withheld = (
        _count_by_distributor(session, Customer, ids),
        _count_by_distributor(session, ProductBlock, ids),
    )
    return [
        build_row(
            DistributorRow,
            row,
            name=row.business_name,
            keys=keys.get(row.id, 0),
            customers=customers.get(row.id, 0),
            policies=all_time.get((row.id,), ZERO_TOTALS).sold,
            premium_minor=year.get((row.id,), ZERO_TOTALS).premium_minor,
            withheld=withheld.get(row.id, 0),
        )
        for row in rows
    ]


def sum_sales(session: ScopedSession, ids: Sequence[UUID]) -> tuple[Mapping[tuple[Any, ...], SalesTotals], ...]:
    """Return what distributors have sold, in total and in the last twelve months, by (id,)."""
    all_time = SalesFilter(distributor_ids=tuple(ids))
    recent = SalesFilter(distributor_ids=tuple(ids), created=get_last_year().span)
    return (
        totals.group_totals(session, all_time, "distributor_id", measures=("sold",)),
        totals.group_totals(session, recent, "distributor_id", measures=("sold_minor", "renewed_minor")),
    )


def get_last_year() -> Window:
    """Return the twelve months that end today."""
    today = clock.today()
    return Window.from_days(clock.add_days(clock.add_months(today, -_YEAR_MONTHS), 1), today)


def _count_by_distributor(
    session: ScopedSession, entity: Any, ids: Sequence[UUID], *conditions: sa.ColumnElement[bool]
) -> dict[UUID, int]:
    rows = session.execute(
        sa.select(col(entity.distributor_id), sa.func.count())
        .where(col(entity.distributor_id).in_(ids), *conditions)
        .group_by(col(entity.distributor_id))
    )
    return {row[0]: row[1] for row in rows}
