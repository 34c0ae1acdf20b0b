"""The catalogue over the API: products, one product, categories."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from core import ids
from core.api.http import openapi
from core.api.http.auth import Signed
from core.api.http.envelope import list_response, page_response, success
from core.api.http.queries import CatalogueQuery
from core.api.http.reads import ReadRoute
from core.services.catalogue import products
from core.services.catalogue.products import ProductFilter
from core.services.lists.records import CountedCategoryRecord, ProductRecord
from core.store.access import reading, reading_autocommit

router = APIRouter(route_class=ReadRoute, prefix="/products", tags=["Products"])
_LISTED, _CATEGORIES, _ONE = "Products retrieved", "Product categories retrieved", "Product retrieved"
# A text for FastAPI, as the paths of some POST endpoints look like this one; the handler judges it.
ProductKey = Annotated[str, Path(json_schema_extra={"format": "uuid"})]
ProductPage = openapi.build_page("ProductPage", "A page of products.", products=ProductRecord)
OneProduct = openapi.build_one("OneProduct", "One product.", product=ProductRecord)
CategoryList = openapi.build_page("CategoryList", "Every product category.", product_category=CountedCategoryRecord)


@router.get("/get-all-products", responses=openapi.answers(ProductPage, _LISTED), summary="List products")
def list_products(caller: Signed, query: Annotated[CatalogueQuery, Query()]) -> Response:
    """Active products that you may sell, by name; 100 at a time unless `limit` says otherwise."""
    wanted = ProductFilter(
        search=query.search,
        provider_id=query.provider_id,
        category_ids=query.category_id,
        product_ids=query.product_ids,
    )
    with reading(caller.scope) as session:
        page = products.list_products(session, wanted, query.paging(), is_live=caller.is_live)
    return page_response("products", page, _LISTED)


@router.get("/get-product-categories", responses=openapi.answers(CategoryList, _CATEGORIES), summary="List categories")
def list_product_categories(caller: Signed) -> Response:
    """Every product category, by name."""
    with reading_autocommit(caller.scope) as session:
        found = products.list_categories(session, is_live=caller.is_live)
    return list_response("product_category", found, len(found), _CATEGORIES)


@router.get("/{id}", responses=openapi.answers(OneProduct, _ONE, found=True), summary="One product")
def get_product(caller: Signed, id: ProductKey) -> Response:  # noqa: A002 - the name in the specification
    """One product with its category and insurer."""
    product_id = ids.parse(id)
    with reading_autocommit(caller.scope) as session:
        found = products.get_product(session, product_id, is_live=caller.is_live)
    return success({"product": found}, _ONE)
