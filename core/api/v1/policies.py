"""Policies and purchases over the API: list, search, get."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from core.api.http import openapi
from core.api.http.auth import Signed
from core.api.http.envelope import page_response, success
from core.api.http.queries import FilterQuery, Id
from core.api.http.reads import ReadRoute
from core.api.http.run_inline import run_inline
from core.services.catalogue.keys import Caller
from core.services.lists.paging import Paging
from core.services.lists.records import FullPolicyRecord, ListedPolicyRecord, PurchaseRecord
from core.services.policies import policies
from core.services.policies.policies import PolicyFilter
from core.services.sales import api_purchases
from core.services.sales.filter import SalesFilter
from core.services.sales.purchases import PurchaseFilter
from core.store.access import read_in, reading, reading_autocommit

router = APIRouter(route_class=ReadRoute, prefix="/policies", tags=["Policies"])
_LISTED, _ONE = "Policies retrieved", "Policy retrieved"
PolicyPage = openapi.build_page("PolicyPage", "A page of policies.", policies=ListedPolicyRecord)
OnePolicy = openapi.build_one("OnePolicy", "One policy.", policy=FullPolicyRecord)


@router.get("", responses=openapi.answers(PolicyPage, _LISTED), summary="List policies")
def list_policies(caller: Signed, query: Annotated[FilterQuery[PolicyFilter], Query()]) -> Response:
    """Every policy of yours that meets the conditions, in its list form, newest first."""
    with reading(caller.scope) as session:
        return page_response("policies", policies.list_policies(session, query.criteria(), query.paging()), _LISTED)


@router.get("/search", responses=openapi.answers(PolicyPage, _LISTED), summary="Search policies")
def search_policies(caller: Signed, query: Annotated[FilterQuery[PolicyFilter], Query()]) -> Response:
    """Policies that meet every condition given; `status` true means in force now.

    `search` finds numbers, plates, names, e-mails, phones and ids.
    """
    with reading(caller.scope) as session:
        return page_response("policies", policies.list_policies(session, query.criteria(), query.paging()), _LISTED)


@router.get("/{policy_id}", responses=openapi.answers(OnePolicy, _ONE, found=True), summary="One policy")
def get_policy(caller: Signed, policy_id: Id) -> Response:
    """One policy with its customer, insurer, purchase and product in full."""
    with reading_autocommit(caller.scope) as session:
        return success({"policy": policies.get_policy(session, policy_id)}, _ONE)


# Purchases.

purchases_router = APIRouter(route_class=ReadRoute, tags=["Purchases"])
_PURCHASES, _PURCHASE = "Purchases retrieved", "Purchase retrieved"
PurchasePage = openapi.build_page("PurchasePage", "A page of purchases.", purchases=PurchaseRecord)
OnePurchase = openapi.build_one("OnePurchase", "One purchase.", purchase=PurchaseRecord)


@purchases_router.get("/purchase", responses=openapi.answers(PurchasePage, _PURCHASES), summary="List purchases")
async def list_purchases(caller: Signed, query: Annotated[FilterQuery[PurchaseFilter], Query()]) -> Response:
    """Every purchase of yours that meets the conditions, newest first, with customer, product, category and insurer."""
    return await _page(caller, query.criteria(), query.paging())


@purchases_router.get(
    "/purchase/search", responses=openapi.answers(PurchasePage, _PURCHASES), summary="Search purchases"
)
async def search_purchases(caller: Signed, query: Annotated[FilterQuery[PurchaseFilter], Query()]) -> Response:
    """Purchases that meet every condition given; `search` finds numbers, plates, names, e-mails, phones and ids."""
    return await _page(caller, query.criteria(), query.paging())


# Events of release 0.2.0 and before, which are never rewritten, name the second address.
@purchases_router.get("/purchases/{purchase_id}", include_in_schema=False)
@purchases_router.get(
    "/purchase/{purchase_id}", responses=openapi.answers(OnePurchase, _PURCHASE, found=True), summary="One purchase"
)
async def get_purchase(caller: Signed, purchase_id: Id) -> Response:
    """One purchase in full."""

    def read() -> Response:
        with reading_autocommit(caller.scope) as session:
            return success({"purchase": api_purchases.get_purchase(session, purchase_id)}, _PURCHASE)

    return await run_inline(read)


async def _page(caller: Caller, wanted: SalesFilter, paging: Paging) -> Response:
    def read() -> Response:
        page = read_in(caller.scope, api_purchases.list_purchases, wanted, paging, ends=True)
        return page_response("purchases", page, _PURCHASES)

    # What concerns the policies is counted row by row, and a name is looked for in every customer.
    return await run_inline(read, is_short=not (wanted.concerns_policy or wanted.scans))
