"""Purchases over the API: list, search, one."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from core.api import openapi
from core.api.auth import Signed
from core.api.envelope import success
from core.api.queries import Id, PageQuery, PurchaseQuery
from core.services.paging import Page
from core.services.sales import purchases
from core.services.shapes import PurchaseRecord
from core.store.engine import reading

router = APIRouter(prefix="/purchase", tags=["Purchases"])


class Purchases(openapi.Shape):
    """A page of purchases."""

    purchases: list[PurchaseRecord]
    total_count: int


class _Purchase(openapi.Shape):
    purchase: PurchaseRecord


@router.get("", responses=openapi.answers(Purchases), summary="List purchases")
def list_purchases(caller: Signed, query: Annotated[PageQuery, Query()]) -> Response:
    """Every purchase of yours, newest first, with customer, product, category and insurer."""
    with reading(caller.scope) as session:
        return _page(purchases.page(session, paging=query.paging()))


@router.get("/search", responses=openapi.answers(Purchases), summary="Search purchases")
def search_purchases(caller: Signed, query: Annotated[PurchaseQuery, Query()]) -> Response:
    """Purchases that meet every condition given."""
    with reading(caller.scope) as session:
        return _page(purchases.page(session, query.wanted(), query.paging()))


@router.get("/{purchase_id}", responses=openapi.answers(_Purchase, found=True), summary="One purchase")
def one_purchase(caller: Signed, purchase_id: Id) -> Response:
    """One purchase in full."""
    with reading(caller.scope) as session:
        return success({"purchase": purchases.one(session, purchase_id)}, "Purchase retrieved")


def _page(page: Page[PurchaseRecord]) -> Response:
    return success({"purchases": page.rows, "total_count": page.total_count}, "Purchases retrieved")
