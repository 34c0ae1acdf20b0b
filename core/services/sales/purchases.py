"""Purchases for the API: list, search and single record, with customer, product, category and insurer."""

from dataclasses import replace
from typing import cast
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.errors import NotFound
from core.services import filters, records
from core.services.filters import SalesFilter
from core.services.paging import Page, Paging
from core.services.products import catalogue_cache
from core.services.products.catalogue_cache import Shelf
from core.services.records import FIELDS_OF_CUSTOMER, FIELDS_OF_PURCHASE
from core.services.sales import page_locator
from core.services.sales.conditions import by_customer, conditions_of, matching
from core.services.shapes import PurchaseRecord
from core.store.access.compiled_query import CompiledQueries, CompiledQuery, PendingRows
from core.store.access.scope import AnySelect, ScopedSession
from core.store.access.statements import Row, end_reading
from core.store.schema.tables import Customer, Policy, Purchase

EVERYTHING = SalesFilter()
_LAST = len(FIELDS_OF_PURCHASE)
_PRODUCT, _LIVE = FIELDS_OF_PURCHASE.index("product_id"), FIELDS_OF_PURCHASE.index("is_live")


def page(
    session: ScopedSession, wanted: SalesFilter = EVERYTHING, paging: Paging = Paging(), *, ends: bool = False
) -> Page[PurchaseRecord]:
    """A page of purchases, newest first, with the exact total of the filter (contract P2).

    In the records, what the catalogue says of their products is encoded already. With `ends`, nothing else is read in
    the session's transaction, whose end then costs no round trip of its own.
    """
    wanted = by_customer(session, wanted)
    revision = catalogue_cache.revision(session)
    place = page_locator.place(session, wanted, paging)
    within = replace(wanted, created=place.span)
    values = {**filters.marked(within).values, "limit": paging.limit, "offset": place.offset}
    found = statement_of(within).submit(session, **values)
    if ends:
        end_reading(session.raw_connection)
    return Page(_records(session, found.rows, revision), place.total)


def statement_of(wanted: SalesFilter) -> CompiledQuery:
    """Return the compiled query of a page; filters that differ in their values only share one."""
    asked = filters.marked(wanted)
    return _PAGES.get(asked.shape, asked.wanted)


def one(session: ScopedSession, purchase_id: UUID) -> PurchaseRecord:
    """Return one purchase in full; NotFound when it does not exist in this scope."""
    revision = catalogue_cache.revision(session)
    rows = _ONE.rows(session, id=purchase_id)
    if not rows:
        raise NotFound("Purchase not found")
    return _records(session, rows, revision)[0]


def _of_page(wanted: SalesFilter) -> AnySelect:
    # Ids first, from an index. The outer query repeats the order, or the planner would scan all purchases.
    times = (col(Purchase.created_at), col(Purchase.id))
    found = matching(sa.select(*times), wanted, conditions_of(wanted)).order_by(*(at.desc() for at in times))
    limits = (sa.bindparam(name, type_=sa.BigInteger()) for name in ("limit", "offset"))
    page = found.limit(next(limits)).offset(next(limits)).subquery("page")
    query = _RECORDS.select_from(page).join(Purchase, col(Purchase.id) == page.c.id)
    return _with_customer(query).order_by(page.c.created_at.desc(), page.c.id.desc())


def _with_customer(query: AnySelect) -> AnySelect:
    policy = query.join(Policy, col(Policy.purchase_id) == col(Purchase.id))
    return policy.join(Customer, col(Customer.id) == col(Purchase.customer_id))


_RECORDS: AnySelect = sa.select(*records.columns_of_purchase(), *records.columns_of_customer())
_PAGES = CompiledQueries(_of_page, in_order=True)
_ONE = CompiledQuery(
    _with_customer(_RECORDS.select_from(Purchase)).where(
        col(Purchase.id) == sa.bindparam("id", type_=sa.Uuid()), col(Purchase.deleted_at).is_(None)
    )
)


def _records(session: ScopedSession, rows: list[Row], revision: PendingRows) -> list[PurchaseRecord]:
    shelf = catalogue_cache.shelf(session, revision)
    return [_record(row, shelf) for row in rows]


def _record(row: Row, shelf: Shelf) -> PurchaseRecord:
    of_catalogue = shelf.encoded[row[_PRODUCT], row[_LIVE]]
    record = {
        **dict(zip(FIELDS_OF_PURCHASE, row[:_LAST], strict=True)),
        "customer": dict(zip(FIELDS_OF_CUSTOMER, row[_LAST:], strict=True)),
        "product": of_catalogue.product,
        "productCategory": of_catalogue.category,
        "provider": of_catalogue.provider,
    }
    return cast(PurchaseRecord, record)
