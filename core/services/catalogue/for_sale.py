"""Products as they are sold: the rates of an instant or of a version, with the commissions of their seller."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import UTCDateTime, col

from core import clock
from core.covers.cover import Cover, Rates
from core.errors import InvalidInput
from core.services.catalogue import products
from core.services.catalogue.shares import Commissions, build_share_id, get_commissions, get_or_create_version
from core.store.access import AnySelect, Query, ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import Product, ProductVersion, Provider


@dataclass(frozen=True, kw_only=True, slots=True)
class ProductForSale:
    """A product with a version of its rates; both commissions are those of its seller.

    `share_id` is the seller's own commission share, if it has one: `get_sold_version` is what its sale refers to.
    """

    id: UUID
    name: str
    version_id: UUID
    provider_id: UUID
    provider_name: str
    provider_segment: str
    number_series: str
    product_category_id: UUID
    inspectable: bool
    mca_commission_bp: int
    distributor_commission_bp: int
    rates: Rates
    share_id: UUID | None = None


def get_product(session: ScopedSession, cover: Cover[Any], product_id: str, distributor_id: UUID) -> ProductForSale:
    """Return the product of a sale with today's rates; InvalidInput if this endpoint cannot sell it."""
    parameters = {"product_id": UUID(product_id), "prefix": cover.prefix, "route": cover.route}
    rows = _FOR_SALE_QUERY.rows(session, **parameters, distributor_id=distributor_id, now=clock.now())
    if not rows:
        raise InvalidInput.for_field("product_id", "must be an active product of this endpoint")
    return _with_own_share(session, _build_for_sale(rows[0]))


def get_sold_version(session: ScopedSession, product: ProductForSale) -> UUID:
    """Return the version of rates that a sale of this product refers to; it is made where there is none yet."""
    return get_or_create_version(session, product.version_id, product.share_id)


def _with_own_share(session: ScopedSession, product: ProductForSale) -> ProductForSale:
    if product.share_id is None:
        return product
    usual = Commissions(product.mca_commission_bp, product.distributor_commission_bp)
    own = get_commissions(session, product.share_id, usual)
    return replace(product, mca_commission_bp=own.mca_bp, distributor_commission_bp=own.distributor_bp)


def list_products(session: ScopedSession, cover: Cover[Any], distributor_id: UUID) -> list[ProductForSale]:
    """Return the products that a distributor can sell through this endpoint now, with today's rates, by name."""
    rows = session.execute(
        _select_sale_columns(products.exclude_blocked(products.build_current_query(), distributor_id))
        .add_columns(_build_share_id(distributor_id, clock.now()))
        .where(col(Product.active), col(Product.prefix) == cover.prefix, col(Product.route_name) == cover.route)
        .order_by(sa.func.lower(Product.name), col(Product.id))
    )
    return [_with_own_share(session, _build_for_sale(row)) for row in rows]


def list_all(
    session: ScopedSession, distributor_id: UUID | None = None
) -> list[tuple[tuple[str, str], ProductForSale]]:
    """Return the active products with today's rates, each with its endpoint, by name.

    Those that a distributor can sell, as `list_products` has them for one endpoint; without one all of them.
    """
    query = products.build_current_query()
    if distributor_id is not None:
        query = products.exclude_blocked(query, distributor_id)
    share_id = sa.null() if distributor_id is None else _build_share_id(distributor_id, clock.now())
    rows = session.execute(
        _select_sale_columns(query)
        .add_columns(share_id, col(Product.prefix), col(Product.route_name))
        .where(col(Product.active))
        .order_by(sa.func.lower(Product.name), col(Product.id))
    )
    return [((row.prefix, row.route_name), _with_own_share(session, _build_for_sale(row[:-2]))) for row in rows]


def get_as_sold(session: ScopedSession, version_id: UUID) -> ProductForSale:
    """Return a product with the rates of one version, active or not: what a sold policy keeps (contract S4)."""
    return _build_for_sale(
        session.execute(
            _select_sale_columns(products.build_versions_query()).where(col(ProductVersion.id) == version_id)
        ).one()
    )


def load_active(session: ScopedSession) -> dict[UUID, ProductForSale]:
    """Return every active product with today's rates by its id, ignoring what is withheld from whom."""
    return {
        row.id: _build_for_sale(row)
        for row in session.execute(_select_sale_columns(products.build_current_query()).where(col(Product.active)))
    }


def load_as_sold(session: ScopedSession, version_ids: Collection[UUID]) -> dict[UUID, ProductForSale]:
    """Return the products of several versions, each with the rates of that version, by version id."""
    rows = session.execute(
        _select_sale_columns(products.build_versions_query()).where(col(ProductVersion.id).in_(version_ids))
    )
    return {row.version_id: _build_for_sale(row) for row in rows}


class _SaleRow(NamedTuple):
    """The columns that a sale needs, in the order in which `_select_sale_columns` selects them."""

    id: UUID
    name: str
    product_category_id: UUID
    inspectable: bool
    is_dynamic_pricing: bool
    version_id: UUID
    price_minor: int
    mca_commission_bp: int
    distributor_commission_bp: int
    cover_months: int
    meta: Mapping[str, Any]
    provider_id: UUID
    provider_name: str
    provider_segment: str
    number_series: str
    share_id: UUID | None = None


def _select_sale_columns(query: AnySelect) -> AnySelect:
    """Restrict a query to the columns of `_SaleRow`."""
    return query.with_only_columns(
        *(col(getattr(Product, name)) for name in _SaleRow._fields[:5]),
        col(ProductVersion.id).label("version_id"),
        *(col(getattr(ProductVersion, name)) for name in _SaleRow._fields[6:11]),
        col(Provider.id).label("provider_id"),
        col(Provider.company_name),
        col(Provider.segment),
        col(Provider.number_series),
        maintain_column_froms=True,
    )


def _build_share_id(distributor_id: Any, at: Any) -> Any:
    return build_share_id(distributor_id, col(Product.id), at, within=Product).label("share_id")


def _build_for_sale(row: Sequence[Any]) -> ProductForSale:
    sale_row = _SaleRow(*row)
    return build_row(ProductForSale, sale_row, rates=products.rates_of(sale_row, sale_row))


_FOR_SALE_QUERY = Query(
    _select_sale_columns(
        products.exclude_blocked(products.build_current_query(sa.bindparam("now")), sa.bindparam("distributor_id"))
    )
    .add_columns(_build_share_id(sa.bindparam("distributor_id"), sa.bindparam("now", type_=UTCDateTime())))
    .where(
        col(Product.id) == sa.bindparam("product_id"),
        col(Product.active),
        col(Product.prefix) == sa.bindparam("prefix"),
        col(Product.route_name) == sa.bindparam("route"),
    )
)
