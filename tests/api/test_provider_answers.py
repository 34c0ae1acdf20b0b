"""A sign-in with a provider that failed leads back to our form, and a good one goes its way."""

import asyncio
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from core.api.outside.signing_in import CALLBACK, LOGIN, REFUSED, UNREACHABLE, ProviderAnswers
from tests.every_case import every_case


def framework(request: Request) -> Response:
    """Answer the framework's routes."""
    if request.query_params.get("fails") == "text":
        return PlainTextResponse("Authentication error", 400)
    answer = RedirectResponse("https://id.example/authorize" if request.url.path == LOGIN else "/", 302)
    if request.query_params.get("fails") == "silently":
        answer.delete_cookie("_streamlit_user")
    elif request.url.path == CALLBACK:
        answer.set_cookie("_streamlit_user", "word")
    return answer


def answer(path: str) -> httpx.Response:
    routes = [Route(each, framework) for each in (LOGIN, CALLBACK, "/other")]
    app: Any = Starlette(routes=routes, middleware=[Middleware(ProviderAnswers)])

    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://testserver") as client:
            return await client.get(path)

    return asyncio.run(ask())


@every_case(
    ("path", "status", "leads_to"),
    [
        (LOGIN, 302, "https://id.example/authorize"),
        (f"{LOGIN}?fails=text", 303, UNREACHABLE),
        (CALLBACK, 302, "/"),
        (f"{CALLBACK}?fails=text", 303, REFUSED),
        (f"{CALLBACK}?fails=silently", 303, REFUSED),
        ("/other?fails=text", 400, None),
    ],
)
def test_a_failed_sign_in_leads_back_to_the_form(path: str, status: int, leads_to: str | None) -> None:
    found = answer(path)
    assert (found.status_code, found.headers.get("location")) == (status, leads_to)
    if "silently" in path:
        assert found.headers["set-cookie"].startswith('_streamlit_user=""')
