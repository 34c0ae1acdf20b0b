"""Renewals over the API: renew a third-party auto policy, list, search, get."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from core.api.http import openapi
from core.api.http.auth import Signed
from core.api.http.envelope import page_response, success
from core.api.http.posts import StrictRoute, answer_once_async
from core.api.http.queries import FilterQuery, Id
from core.api.v1.buying import UnderPolicy
from core.covers import request as requests
from core.covers.fields import ProductId
from core.covers.insurers import insurer_a
from core.services.lists.records import RenewalRecord
from core.services.renewals import records, renewals
from core.services.renewals.records import RenewalFilter
from core.services.selling.buying import Seller
from core.store.access import ScopedSession, reading, reading_autocommit

router = APIRouter(route_class=StrictRoute, tags=["Renewals"])
_RENEWED, _LISTED, _ONE = "Renewal Successful", "Renewals retrieved", "Renewal retrieved"


class RenewThirdPartyRequest(requests.Request):
    """The policy to renew for one more term."""

    policy_id: ProductId = Field(examples=["01a1f7c0-3c00-7000-8000-0000000000f1"])


RenewalPage = openapi.build_page("RenewalPage", "A page of renewals.", renewals=RenewalRecord)


# No cover declares it: its body names a policy, not a customer and a thing to insure (contract R1).
@router.post(
    "/products/insurer-a/renew-third-party",
    status_code=201,
    summary="Renew third-party auto",
    responses=openapi.answers(UnderPolicy, _RENEWED, status=201, found=True),
    openapi_extra=openapi.body_example(RenewThirdPartyRequest),
)
async def renew_third_party(request: Request, caller: Signed, body: RenewThirdPartyRequest) -> Response:
    """One more term of a third-party auto policy, from the later of now and its expiration."""
    seller = Seller(**caller.columns, actor=caller.actor)

    def renew(session: ScopedSession) -> dict[str, Any]:
        return {"policy": renewals.renew(session, UUID(body.policy_id), seller, cover=insurer_a.THIRD_PARTY).policy}

    return await answer_once_async(request, caller, renew, _RENEWED)


@router.get("/renewals", responses=openapi.answers(RenewalPage, _LISTED), summary="List renewals")
def list_renewals(caller: Signed, query: Annotated[FilterQuery[RenewalFilter], Query()]) -> Response:
    """Every renewal of yours that meets the conditions, newest first, with all that belongs to it."""
    with reading(caller.scope) as session:
        return page_response("renewals", records.list_renewals(session, query.criteria(), query.paging()), _LISTED)


@router.get("/renewals/search", responses=openapi.answers(RenewalPage, _LISTED), summary="Search renewals")
def search_renewals(caller: Signed, query: Annotated[FilterQuery[RenewalFilter], Query()]) -> Response:
    """Renewals that meet every condition given; `status` false finds those that failed or were reversed."""
    with reading(caller.scope) as session:
        return page_response("renewals", records.list_renewals(session, query.criteria(), query.paging()), _LISTED)


@router.get("/renewals/{renewal_id}", responses=openapi.answers(RenewalRecord, _ONE, found=True), summary="One renewal")
def get_renewal(caller: Signed, renewal_id: Id) -> Response:
    """One renewal, its fields directly under `data`."""
    with reading_autocommit(caller.scope) as session:
        return success(records.get_renewal(session, renewal_id), _ONE)
