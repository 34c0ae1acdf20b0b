"""The ASGI application of the API, and the plain routes beside it."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fastapi import FastAPI, Request
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.staticfiles import StaticFiles
from fastapi_offline.core import _STATIC_PATH as SWAGGER_FILES
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Mount
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Connection

from core import telemetry
from core.api import preloading
from core.api.http import middleware, openapi
from core.api.http.auth import KeyGate
from core.api.http.middleware import ErrorBoundary, RequestLog, SecurityHeaders
from core.api.http.posts import StrictRoute
from core.api.http.routing import Routing
from core.api.outside import certificates, downloads, health, signing_in
from core.api.protection.load_shedding import LoadShedding, plain_refusal
from core.api.v1 import (
    buying,
    claims,
    customers,
    events,
    files,
    loan_books,
    lookups,
    policies,
    renewals,
    webhooks,
)
from core.desk import status
from core.errors import StoreUnavailable
from core.settings import settings
from core.store.access import store


class _WholeFiles(StaticFiles):
    """Static files of the API page, always sent whole: a range request would be answered without the envelope."""

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        await super().__call__(files.without_range(scope), receive, send)


api = FastAPI(
    title="Coverdesk",
    version="1",
    description=openapi.INTRODUCTION,
    docs_url=None,
    redoc_url=None,
    openapi_url=None,
    redirect_slashes=False,
)
api.router.route_class = StrictRoute
middleware.answer_errors(api)
# What is asked most comes first, and `/products/{id}` last, so that no lookup under /products is taken for an id.
for router in (
    *(
        buying.router,
        policies.purchases_router,
        policies.router,
        renewals.router,
        customers.router,
        buying.prices_router,
    ),
    *(claims.router, files.router, events.router, webhooks.router, loan_books.statements_router, loan_books.router),
    *(lookups.router, lookups.products_router, claims.answers_router, claims.documents_router),
):
    # Not included as routers: those are searched twice for each request, which cost more than the search itself.
    api.router.routes.extend(router.routes)
api.mount("/docs/files", _WholeFiles(directory=SWAGGER_FILES), name="docs-files")
api.openapi = lambda: openapi.document(api)  # type: ignore[method-assign]
api.add_middleware(Routing)
api.add_middleware(KeyGate)
api.add_middleware(ErrorBoundary)
api.add_middleware(RequestLog)
# Outermost: what is refused for want of room must cost next to nothing.
api.add_middleware(LoadShedding)


@api.get("/docs", include_in_schema=False)
async def docs(request: Request) -> HTMLResponse:
    """The API reference page, which works without internet access."""
    root = request.scope.get("root_path", "")
    return get_swagger_ui_html(
        openapi_url=f"{root}/docs/openapi.json",
        title="Coverdesk API",
        swagger_js_url=f"{root}/docs/files/swagger-ui-bundle.js",
        swagger_css_url=f"{root}/docs/files/swagger-ui.css",
        swagger_favicon_url=f"{root}/docs/files/favicon.png",
        swagger_ui_parameters={"persistAuthorization": True, "tryItOutEnabled": True},
    )


@api.get("/openapi.json", include_in_schema=False)
async def document(_: Request) -> Response:
    """The OpenAPI document."""
    return await openapi.answer(api)


@api.get("/docs/openapi.json", include_in_schema=False)
async def document_of_the_page(request: Request) -> Response:
    """The document for its page, which tries the server that it came from."""
    return await openapi.answer(api, request.scope.get("root_path", ""))


@asynccontextmanager
async def _alone(_: Starlette) -> AsyncIterator[None]:
    """Lifespan of a process that serves the API without the screens."""
    settings().check_safe_to_serve()
    status.write_at_own_version()
    # A database that is away for the moment comes back; one of another secret must not be served.
    with suppress(StoreUnavailable):
        store()
    telemetry.configure_logs()
    telemetry.start_spans()
    if settings().metrics:
        telemetry.enable_metrics()
    preloading.begin()
    yield
    store().close()
    telemetry.stop_spans()
    telemetry.drain_logs()


def _everything_under(prefix: str, application: ASGIApp) -> Mount:
    """A mount that also takes its bare prefix and paths with line breaks, which a plain Mount does not match."""
    mount = Mount(prefix, application)
    mount.path_regex = re.compile(rf"^{prefix}(?:/|\Z)(?P<path>.*)\Z", re.DOTALL)
    return mount


_plain = [*signing_in.routes, *files.routes, *certificates.routes, *downloads.routes]
for route in _plain:
    route.app = LoadShedding(route.app, plain_refusal)
v1 = _everything_under("/v1", api)
routes: list[BaseRoute] = [v1, *_plain, *health.routes]
app = Starlette(routes=routes, middleware=[Middleware(SecurityHeaders)], lifespan=_alone)
# A redirect to the same path without its slash would lead to whatever host the request named.
app.router.redirect_slashes = False
