"""Policies over the API: list, search, get."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from core.api.http import openapi
from core.api.http.auth import Signed
from core.api.http.envelope import page_response, success
from core.api.http.queries import FilterQuery, Id
from core.api.http.reads import ReadRoute
from core.services.lists.records import FullPolicyRecord, ListedPolicyRecord
from core.services.policies import policies
from core.services.policies.policies import PolicyFilter
from core.store.access import reading, reading_autocommit

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
