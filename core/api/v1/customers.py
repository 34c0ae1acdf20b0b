"""Customers over the API: list, get, and their purchases, renewals, policies and claims."""

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from core.api.http import openapi
from core.api.http.auth import Signed
from core.api.http.envelope import list_response, success
from core.api.http.queries import FilterQuery, Id, PageQuery
from core.api.http.reads import ReadRoute
from core.api.v1.claims import Claims
from core.api.v1.policies import Policies
from core.api.v1.purchases import Purchases
from core.api.v1.renewals import Renewals
from core.services.claims.lists import claims
from core.services.claims.lists.filter import ClaimFilter
from core.services.customers import customers
from core.services.customers.filter import CustomerFilter
from core.services.paging import Page
from core.services.policies import policies
from core.services.policies.filter import PolicyFilter
from core.services.renewals import records as renewal_records
from core.services.renewals.filter import RenewalFilter
from core.services.sales import purchases
from core.services.sales.filter import PurchaseFilter
from core.services.shapes import CustomerRecord
from core.store.access import reading, reading_autocommit

router = APIRouter(route_class=ReadRoute, prefix="/customers", tags=["Customers"])
_ONE = "Customer retrieved"


class _Customers(openapi.Listed):
    customers: list[CustomerRecord]


class _Customer(openapi.Shape):
    customer: CustomerRecord


@router.get("", responses=openapi.answers(_Customers, "Customers retrieved"), summary="List customers")
def list_customers(caller: Signed, query: Annotated[FilterQuery[CustomerFilter], Query()]) -> Response:
    """Customers of yours, newest first; `search` finds any part of names, e-mail or phone."""
    with reading(caller.scope) as session:
        return _page("customers", customers.list_customers(session, query.criteria(), query.paging()))


@router.get(
    "/has-purchased",
    responses=openapi.answers(_Customers, "Customers retrieved"),
    summary="List customers that purchased",
)
def list_customers_that_purchased(caller: Signed, query: Annotated[FilterQuery[CustomerFilter], Query()]) -> Response:
    """Customers of yours that have purchased a product."""
    with reading(caller.scope) as session:
        wanted = replace(query.criteria(), has_purchased=True)
        return _page("customers", customers.list_customers(session, wanted, query.paging()))


@router.get(
    "/purchases/{customer_id}",
    responses=openapi.answers(Purchases, "Purchases retrieved", found=True),
    summary="Their purchases",
)
def list_purchases_of_customer(caller: Signed, customer_id: Id, query: Annotated[PageQuery, Query()]) -> Response:
    """List the purchases of one customer, newest first."""
    with reading(caller.scope) as session:
        customers.get_customer(session, customer_id)
        wanted = PurchaseFilter(customer_id=customer_id)
        return _page("purchases", purchases.list_purchases(session, wanted, query.paging(), ends=True))


@router.get(
    "/renewals/{customer_id}",
    responses=openapi.answers(Renewals, "Renewals retrieved", found=True),
    summary="Their renewals",
)
def list_renewals_of_customer(caller: Signed, customer_id: Id, query: Annotated[PageQuery, Query()]) -> Response:
    """The renewals of one customer, newest first."""
    with reading(caller.scope) as session:
        customers.get_customer(session, customer_id)
        return _page(
            "renewals", renewal_records.list_renewals(session, RenewalFilter(customer_id=customer_id), query.paging())
        )


@router.get(
    "/policies/{customer_id}",
    responses=openapi.answers(Policies, "Policies retrieved", found=True),
    summary="Their policies",
)
def list_policies_of_customer(caller: Signed, customer_id: Id, query: Annotated[PageQuery, Query()]) -> Response:
    """The policies of one customer in their list form, newest first."""
    with reading(caller.scope) as session:
        customers.get_customer(session, customer_id)
        return _page("policies", policies.list_policies(session, PolicyFilter(customer_id=customer_id), query.paging()))


@router.get(
    "/claims/{customer_id}", responses=openapi.answers(Claims, "Claims retrieved", found=True), summary="Their claims"
)
def list_claims_of_customer(caller: Signed, customer_id: Id, query: Annotated[PageQuery, Query()]) -> Response:
    """The claims of one customer, newest first."""
    with reading(caller.scope) as session:
        customers.get_customer(session, customer_id)
        return _page("claims", claims.list_claims(session, ClaimFilter(customer_id=customer_id), query.paging()))


@router.get("/{customer_id}", responses=openapi.answers(_Customer, _ONE, found=True), summary="One customer")
def get_customer(caller: Signed, customer_id: Id) -> Response:
    """One customer in full."""
    with reading_autocommit(caller.scope) as session:
        return success({"customer": customers.get_customer(session, customer_id)}, _ONE)


def _page(key: str, page: Page[Any]) -> Response:
    return list_response(key, page.items, page.total_count, f"{key.capitalize()} retrieved")
