"""Our routes bind what they know; a handler that asks for anything else is refused when its route is made."""

from collections.abc import Callable
from typing import Annotated, Any

import pytest
from fastapi import APIRouter, BackgroundTasks, Cookie, Depends, Header, Query, Request, Response

from core.api.http.auth import Signed
from core.api.http.posts import StrictRoute
from core.api.http.queries import Id, PageQuery
from core.api.http.reads import ReadRoute
from core.covers.request import Request as Body
from tests.every_case import every_case


def somebody_else() -> str:
    return "not the caller"


async def of_header(caller: Signed, wanted: Annotated[str, Header()]) -> Response: ...
async def of_cookie(caller: Signed, wanted: Annotated[str, Cookie()]) -> Response: ...
async def of_dependency(caller: Signed, wanted: Annotated[str, Depends(somebody_else)]) -> Response: ...
async def of_single_value(caller: Signed, wanted: int) -> Response: ...
async def of_answer(caller: Signed, wanted: Response) -> Response: ...
async def of_tasks(caller: Signed, wanted: BackgroundTasks) -> Response: ...


UNBOUND = [of_header, of_cookie, of_dependency, of_single_value, of_answer, of_tasks]


@every_case("handler", UNBOUND, ids=lambda each: each.__name__)
@every_case("kind", [ReadRoute, StrictRoute])
def test_a_reading_handler_that_asks_for_more_is_refused(kind: type[ReadRoute], handler: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match=r"/planted: nothing binds wanted \("):
        APIRouter(route_class=kind).get("/planted")(handler)


async def posted_header(request: Request, caller: Signed, body: Body, wanted: Annotated[str, Header()]) -> Response: ...
async def posted_elsewhere(
    request: Request, caller: Signed, body: Body, wanted: Annotated[str, Depends(somebody_else)]
) -> Response: ...
async def posted_alone(caller: Signed, body: Body) -> Response: ...
async def posted_renamed(wanted: Request, caller: Signed, body: Body) -> Response: ...
async def posted_twice(request: Request, caller: Signed, body: Body, wanted: Body) -> Response: ...
def posted_in_a_thread(request: Request, caller: Signed, body: Body) -> Response: ...


@every_case(
    ("handler", "words"),
    [
        (posted_header, r"nothing binds wanted \(a header or cookie\)"),
        (posted_elsewhere, r"nothing binds wanted \(a dependency\)"),
        (posted_alone, "takes `request` and one body"),
        (posted_renamed, "takes `request` and one body"),
        (posted_twice, "takes `request` and one body"),
        (posted_in_a_thread, "is async"),
    ],
)
def test_a_handler_of_a_body_that_asks_for_more_or_less_is_refused(handler: Callable[..., Any], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        APIRouter(route_class=StrictRoute).post("/planted")(handler)


async def usual(caller: Signed, record_id: Id, query: Annotated[PageQuery, Query()]) -> Response: ...
async def with_request(request: Request, wanted: Annotated[str, Header()]) -> Response: ...


def test_what_is_bound_is_taken_and_a_handler_of_the_request_is_left_to_the_framework() -> None:
    router = APIRouter(route_class=ReadRoute)
    router.get("/records/{record_id}")(usual)
    router.get("/headers")(with_request)
    assert [route.dependant.call for route in router.routes if isinstance(route, ReadRoute)] == [usual, with_request]
