"""Purchases for the API: list, search and single record, with customer, product, category and insurer."""

from dataclasses import replace
from typing import cast
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.errors import NotFound
from core.services.catalogue import products
from core.services.catalogue.products import Catalogue
from core.services.lists import records
from core.services.lists.filters.declaration import parameterise
from core.services.lists.paging import Page, Paging, find_page
from core.services.lists.records import CUSTOMER_FIELDS, PURCHASE_FIELDS, PurchaseRecord
from core.services.sales import page_locator
from core.services.sales.filter import SalesFilter, apply_criteria, resolve_customer
from core.store.access import JOINS_IN_ORDER, AnySelect, PendingRows, Query, QueryCache, Row, ScopedSession
from core.store.schema.tables import Customer, Policy, Purchase

UNFILTERED = SalesFilter()
_NEWEST = (col(Purchase.created_at).desc(), col(Purchase.id).desc())
_PURCHASE_WIDTH = len(PURCHASE_FIELDS)
_PRODUCT_INDEX, _LIVE_INDEX = PURCHASE_FIELDS.index("product_id"), PURCHASE_FIELDS.index("is_live")


def list_purchases(
    session: ScopedSession, criteria: SalesFilter = UNFILTERED, paging: Paging = Paging(), *, ends: bool = False
) -> Page[PurchaseRecord]:
    """A page of purchases, newest first, with the exact total of the filter (contract P2).

    In the records, what the catalogue says of their products is encoded already. With `ends`, nothing else is read in
    the session's transaction, whose end then costs no round trip of its own.
    """
    criteria = resolve_customer(session, criteria)
    revision = products.submit_revision(session)
    if criteria.scans:
        return _search(session, criteria, paging, revision)
    location = page_locator.locate_page(session, criteria, paging)
    within = replace(criteria, created=location.span)
    values = {**parameterise(within).values, "limit": paging.limit, "offset": location.offset}
    pending = get_page_query(within).submit(session, **values)
    if ends:
        session.end_reading()
    return Page(_records(session, pending.rows, revision), location.total)


def _search(
    session: ScopedSession, criteria: SalesFilter, paging: Paging, revision: PendingRows
) -> Page[PurchaseRecord]:
    """Return a page of a search; its statement is not kept, as it has the form of what was typed."""
    found = apply_criteria(sa.select(col(Purchase.id)), criteria)
    ids, total = find_page(session, found.order_by(*_NEWEST), paging)
    query = _join_customer(_LABELLED_QUERY.select_from(Purchase)).where(col(Purchase.id).in_(ids)).order_by(*_NEWEST)
    rows = session.execute(query) if ids else ()
    return Page(_records(session, [tuple(row) for row in rows], revision), total)


def get_page_query(criteria: SalesFilter) -> Query:
    """Return the compiled query of a page; filters that differ in their values only share one."""
    parameterised = parameterise(criteria)
    return _PAGE_QUERIES.get(parameterised.key, parameterised.criteria)


def get_purchase(session: ScopedSession, purchase_id: UUID) -> PurchaseRecord:
    """Return one purchase in full; NotFound when it does not exist in this scope."""
    revision = products.submit_revision(session)
    rows = _BY_ID_QUERY.rows(session, id=purchase_id)
    if not rows:
        raise NotFound("Purchase not found")
    return _records(session, rows, revision)[0]


def _build_page_query(criteria: SalesFilter) -> AnySelect:
    # Ids first, from an index; the outer query repeats the order, or the planner would scan all purchases.
    ids_query = apply_criteria(sa.select(col(Purchase.created_at), col(Purchase.id)), criteria).order_by(*_NEWEST)
    limits = (sa.bindparam(name, type_=sa.BigInteger()) for name in ("limit", "offset"))
    page = ids_query.limit(next(limits)).offset(next(limits)).subquery("page")
    query = _RECORD_QUERY.select_from(page).join(Purchase, col(Purchase.id) == page.c.id)
    ordered = _join_customer(query).order_by(page.c.created_at.desc(), page.c.id.desc())
    return ordered.execution_options(**{JOINS_IN_ORDER: True})


def _join_customer(query: AnySelect) -> AnySelect:
    policy = query.join(Policy, col(Policy.purchase_id) == col(Purchase.id))
    return policy.join(Customer, col(Customer.id) == col(Purchase.customer_id))


_RECORD_COLUMNS = (*records.build_purchase_columns(), *records.build_customer_columns())
_RECORD_QUERY: AnySelect = sa.select(*_RECORD_COLUMNS)
# A session tells columns apart by their names.
_LABELLED_QUERY: AnySelect = sa.select(*(column.label(f"field_{n}") for n, column in enumerate(_RECORD_COLUMNS)))
_PAGE_QUERIES = QueryCache(_build_page_query)
_BY_ID_QUERY = Query(
    _join_customer(_RECORD_QUERY.select_from(Purchase)).where(
        col(Purchase.id) == sa.bindparam("id", type_=sa.Uuid()), col(Purchase.deleted_at).is_(None)
    )
)


def _records(session: ScopedSession, rows: list[Row], revision: PendingRows) -> list[PurchaseRecord]:
    catalogue = products.get_catalogue(session, revision)
    return [_record(row, catalogue) for row in rows]


def _record(row: Row, catalogue: Catalogue) -> PurchaseRecord:
    encoded = catalogue.encoded[row[_PRODUCT_INDEX], row[_LIVE_INDEX]]
    record = {
        **dict(zip(PURCHASE_FIELDS, row[:_PURCHASE_WIDTH], strict=True)),
        "customer": dict(zip(CUSTOMER_FIELDS, row[_PURCHASE_WIDTH:], strict=True)),
        "product": encoded.product,
        "productCategory": encoded.category,
        "provider": encoded.provider,
    }
    return cast(PurchaseRecord, record)
