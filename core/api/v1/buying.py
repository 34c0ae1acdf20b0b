"""The buy endpoints: one route per cover, generated from its declaration (contract S1).

Below them prices without a sale, computed by the functions that sell.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from pydantic import WithJsonSchema

from core.api.http import envelope, openapi
from core.api.http.auth import Signed
from core.api.http.posts import StrictRoute, answer_once_async, run_once_async
from core.covers import credit_life
from core.covers.cover import Cover, Price, ResponseShape
from core.covers.insurers import insurer_c
from core.covers.registry import COVERS
from core.services.audit.idempotency import WireResponse
from core.services.catalogue import for_sale
from core.services.lists.records import PolicyRecord
from core.services.selling import buying
from core.store.access import ScopedSession

router = APIRouter(route_class=StrictRoute, tags=["Buy"])
_SOLD = "Purchase Successful"


def _make_handler(cover: Cover[Any]) -> Callable[..., Awaitable[Response]]:
    """Return the handler of one cover; its body type is set here, as a loop with annotations would mix them up."""

    async def buy(request: Request, caller: Signed, body: object) -> Response:
        seller = buying.Seller(**caller.columns, actor=caller.actor)

        def work(session: ScopedSession) -> WireResponse:
            return _answer(cover, buying.sell(session, cover, body, seller))

        return await run_once_async(request, caller, work)

    buy.__annotations__["body"] = cover.request
    buy.__name__ = "_".join(("buy", *cover.key.replace("buy-", "").replace("/", "-").split("-")))
    buy.__doc__ = f"Buy {cover.title.lower()}. {cover.request.__doc__ or ''}".strip()
    return buy


def _answer(cover: Cover[Any], sale: buying.Sale) -> WireResponse:
    data: Any = sale.policy if cover.response_shape is ResponseShape.DIRECT else {"policy": sale.policy}
    twin = sale.possible_duplicate_of
    headers = {"X-Possible-Duplicate-Of": str(twin)} if twin else {}
    return envelope.answer(data, _SOLD, headers=headers)


UnderPolicy = openapi.build_one(
    "UnderPolicy", "A response that carries the policy under `policy`.", policy=PolicyRecord
)


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


prices_router = APIRouter(route_class=StrictRoute, tags=["Prices"], prefix="/products")
_COMPUTED = "Price computed successfully"


class PriceStep(openapi.Shape):
    """One step of a calculation."""

    step: str
    working: str
    amount: str


class ComputedPrice(openapi.Shape):
    """A price in naira, and how it was computed."""

    price: Annotated[float, WithJsonSchema({"type": "number", "format": "double"})]
    explain: list[PriceStep]


@prices_router.post(
    "/credit-life-price",
    status_code=200,
    summary="Price of credit life",
    responses=openapi.answers(ComputedPrice, _COMPUTED, posted=True),
    openapi_extra=openapi.body_example(credit_life.CreditLifePriceRequest),
)
async def compute_credit_life_price(
    request: Request, caller: Signed, body: credit_life.CreditLifePriceRequest
) -> Response:
    """Price a credit life policy; without benefits, with all that the product offers."""

    def price(session: ScopedSession) -> dict[str, Any]:
        product = for_sale.get_product(session, credit_life.CREDIT_LIFE, body.product_id, caller.distributor_id)
        found = credit_life.compute_price(body.loan_amount, body.loan_tenure, body.benefit_coverage, product.rates)
        return _describe(buying.above_zero(credit_life.CREDIT_LIFE, found))

    return await answer_once_async(request, caller, price, _COMPUTED)


@prices_router.post(
    "/insurer-c/compute-travel-premium",
    status_code=200,
    summary="Price of a trip",
    responses=openapi.answers(ComputedPrice, _COMPUTED, posted=True),
    openapi_extra=openapi.body_example(insurer_c.TravelPriceRequest),
)
async def compute_travel_premium(request: Request, caller: Signed, body: insurer_c.TravelPriceRequest) -> Response:
    """Price a trip; the traveller's details are optional (contract S6)."""

    def price(session: ScopedSession) -> dict[str, Any]:
        return _describe(buying.quote(session, insurer_c.TRAVEL, body, caller.distributor_id))

    return await answer_once_async(request, caller, price, _COMPUTED)


def _describe(price: Price) -> dict[str, Any]:
    return {"price": float(price.total), "explain": price.explain}
