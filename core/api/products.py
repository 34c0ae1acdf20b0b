"""The catalogue over the API: products, one product, categories."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from core import ids
from core.api import openapi
from core.api.auth import Signed
from core.api.envelope import success
from core.api.queries import CatalogueQuery
from core.api.reads import ReadRoute
from core.services.products import products
from core.services.products.products import ProductFilter
from core.services.shapes import CategoryRecord, ProductRecord
from core.store.engine import asking, reading

router = APIRouter(route_class=ReadRoute, prefix="/products", tags=["Products"])


class _Products(openapi.Shape):
    products: list[ProductRecord]
    total_count: int


class _Product(openapi.Shape):
    product: ProductRecord


class _Categories(openapi.Shape):
    product_category: list[CategoryRecord]
    total_count: int


@router.get("/get-all-products", responses=openapi.answers(_Products), summary="List products")
def list_products(caller: Signed, query: Annotated[CatalogueQuery, Query()]) -> Response:
    """Active products that you may sell, by name; 100 at a time unless `limit` says otherwise."""
    wanted = ProductFilter(
        search=query.search,
        provider_id=query.provider_id,
        category_ids=query.category_id,
        product_ids=query.product_ids,
    )
    with reading(caller.scope) as session:
        page = products.page(session, wanted, query.paging(), is_live=caller.is_live)
    return success({"products": page.rows, "total_count": page.total_count}, "Products retrieved")


@router.get("/get-product-categories", responses=openapi.answers(_Categories), summary="List categories")
def list_categories(caller: Signed) -> Response:
    """Every product category, by name."""
    with asking(caller.scope) as session:
        found = products.categories(session, is_live=caller.is_live)
    return success({"product_category": found, "total_count": len(found)}, "Product categories retrieved")


@router.get("/{id}", responses=openapi.answers(_Product, found=True), summary="One product")
def one_product(caller: Signed, id: str) -> Response:  # noqa: A002 - the name in the specification
    """One product with its category and insurer."""
    product_id = ids.parse(id)
    with asking(caller.scope) as session:
        found = products.one(session, product_id, is_live=caller.is_live)
    return success({"product": found}, "Product retrieved")
