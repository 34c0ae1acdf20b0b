"""The buy endpoints: one route per cover, generated from its declaration (contract S1)."""

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import APIRouter, Request, Response

from core.api.http import envelope, openapi
from core.api.http.auth import Signed
from core.api.http.posts import StrictRoute, run_once_async
from core.covers.cover import Cover, ResponseShape
from core.covers.registry import COVERS
from core.services.idempotency import WireResponse
from core.services.lists.records import PolicyRecord
from core.services.selling import buying

router = APIRouter(route_class=StrictRoute, tags=["Buy"])
_SOLD = "Purchase Successful"


def _make_handler(cover: Cover[Any]) -> Callable[..., Awaitable[Response]]:
    """Return the handler of one cover; its body type is set here, as a loop with annotations would mix them up."""

    async def buy(request: Request, caller: Signed, body: object) -> Response:
        return await run_once_async(
            request,
            caller,
            body,
            lambda session: _answer(
                cover,
                buying.sell(
                    session,
                    cover,
                    body,
                    buying.Seller(distributor_id=caller.distributor_id, is_live=caller.is_live, actor=caller.actor),
                ),
            ),
        )

    buy.__annotations__["body"] = cover.request
    buy.__name__ = "_".join(("buy", *cover.key.replace("buy-", "").replace("/", "-").split("-")))
    buy.__doc__ = f"Buy {cover.title.lower()}. {cover.request.__doc__ or ''}".strip()
    return buy


def _answer(cover: Cover[Any], sale: buying.Sale) -> WireResponse:
    data: Any = sale.policy if cover.response_shape is ResponseShape.DIRECT else {"policy": sale.policy}
    twin = sale.possible_duplicate_of
    headers = {"X-Possible-Duplicate-Of": str(twin)} if twin else {}
    return envelope.answer(data, _SOLD, headers=headers)


class UnderPolicy(openapi.Shape):
    """A response that carries the policy under `policy`."""

    policy: PolicyRecord


for _cover in COVERS:
    router.add_api_route(
        _cover.path,
        _make_handler(_cover),
        methods=["POST"],
        status_code=201,
        summary=_cover.title,
        responses=openapi.answers(
            PolicyRecord if _cover.response_shape is ResponseShape.DIRECT else UnderPolicy,
            _SOLD,
            status=201,
            headers=("X-Possible-Duplicate-Of",) if _cover.names_possible_duplicates else (),
        ),
        openapi_extra=openapi.body_example(_cover.request),
    )
