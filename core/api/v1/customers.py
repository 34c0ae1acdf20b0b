"""Customers over the API: list, get, and their purchases, renewals, policies and claims."""

from dataclasses import replace
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Response

from core.api.http import openapi
from core.api.http.auth import Signed
from core.api.http.envelope import page_response, success
from core.api.http.queries import FilterQuery, Id
from core.api.http.reads import ReadRoute
from core.api.v1.claims import ClaimPage, ClaimQuery
from core.api.v1.policies import PolicyPage, PurchasePage
from core.api.v1.renewals import RenewalPage
from core.errors import InvalidInput
from core.services.claims.lists import records as claims
from core.services.customers import customers
from core.services.customers.customers import CustomerFilter
from core.services.lists.filters.declaration import F
from core.services.lists.paging import Page
from core.services.lists.records import CustomerRecord
from core.services.policies import policies
from core.services.policies.policies import PolicyFilter
from core.services.renewals import records
from core.services.renewals.records import RenewalFilter
from core.services.sales import api_purchases
from core.services.sales.purchases import PurchaseFilter
from core.store.access import ScopedSession, reading, reading_autocommit

router = APIRouter(route_class=ReadRoute, prefix="/customers", tags=["Customers"])
_ONE = "Customer retrieved"
CustomerPage = openapi.build_page("CustomerPage", "A page of customers.", customers=CustomerRecord)
OneCustomer = openapi.build_one("OneCustomer", "One customer.", customer=CustomerRecord)


@router.get("", responses=openapi.answers(CustomerPage, "Customers retrieved"), summary="List customers")
def list_customers(caller: Signed, query: Annotated[FilterQuery[CustomerFilter], Query()]) -> Response:
    """Customers of yours, newest first; `search` finds any part of names, e-mail or phone."""
    with reading(caller.scope) as session:
        return _page("customers", customers.list_customers(session, query.criteria(), query.paging()))


@router.get(
    "/has-purchased",
    responses=openapi.answers(CustomerPage, "Customers retrieved"),
    summary="List customers that purchased",
)
def list_customers_that_purchased(caller: Signed, query: Annotated[FilterQuery[CustomerFilter], Query()]) -> Response:
    """Customers of yours that have purchased a product."""
    with reading(caller.scope) as session:
        wanted = replace(query.criteria(), has_purchased=True)
        return _page("customers", customers.list_customers(session, wanted, query.paging()))


@router.get(
    "/purchases/{customer_id}",
    responses=openapi.answers(PurchasePage, "Purchases retrieved", found=True),
    summary="Their purchases",
)
def list_purchases_of_customer(
    caller: Signed, customer_id: Id, query: Annotated[FilterQuery[PurchaseFilter], Query()]
) -> Response:
    """List the purchases of one customer, newest first."""
    with reading(caller.scope) as session:
        wanted = _criteria_of(session, query, customer_id)
        return _page("purchases", api_purchases.list_purchases(session, wanted, query.paging(), ends=True))


@router.get(
    "/renewals/{customer_id}",
    responses=openapi.answers(RenewalPage, "Renewals retrieved", found=True),
    summary="Their renewals",
)
def list_renewals_of_customer(
    caller: Signed, customer_id: Id, query: Annotated[FilterQuery[RenewalFilter], Query()]
) -> Response:
    """The renewals of one customer, newest first."""
    with reading(caller.scope) as session:
        wanted = _criteria_of(session, query, customer_id)
        return _page("renewals", records.list_renewals(session, wanted, query.paging()))


@router.get(
    "/policies/{customer_id}",
    responses=openapi.answers(PolicyPage, "Policies retrieved", found=True),
    summary="Their policies",
)
def list_policies_of_customer(
    caller: Signed, customer_id: Id, query: Annotated[FilterQuery[PolicyFilter], Query()]
) -> Response:
    """The policies of one customer in their list form, newest first."""
    with reading(caller.scope) as session:
        wanted = _criteria_of(session, query, customer_id)
        return _page("policies", policies.list_policies(session, wanted, query.paging()))


@router.get(
    "/claims/{customer_id}",
    responses=openapi.answers(ClaimPage, "Claims retrieved", found=True),
    summary="Their claims",
)
def list_claims_of_customer(caller: Signed, customer_id: Id, query: Annotated[ClaimQuery, Query()]) -> Response:
    """The claims of one customer, newest first."""
    with reading(caller.scope) as session:
        wanted = _criteria_of(session, query, customer_id)
        return _page("claims", claims.list_claims(session, wanted, query.paging()))


@router.get("/{customer_id}", responses=openapi.answers(OneCustomer, _ONE, found=True), summary="One customer")
def get_customer(caller: Signed, customer_id: Id) -> Response:
    """One customer in full."""
    with reading_autocommit(caller.scope) as session:
        return success({"customer": customers.get_customer(session, customer_id)}, _ONE)


def _criteria_of(session: ScopedSession, query: "FilterQuery[F]", customer_id: UUID) -> F:
    """Return the criteria of a query for the customer of the address; InvalidInput where it names another."""
    customers.get_customer(session, customer_id)
    wanted: Any = query.criteria()
    if wanted.customer_id not in {None, customer_id}:
        raise InvalidInput.for_field("customer_id", "must be the customer of the address")
    found: F = replace(wanted, customer_id=customer_id)
    return found


def _page(key: str, page: Page[Any]) -> Response:
    return page_response(key, page, f"{key.capitalize()} retrieved")
