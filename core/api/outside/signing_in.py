"""The routes that open and close a person's session: only an answer over HTTP can set a cookie (contract A2)."""

from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from core.errors import CoverdeskError, StoreUnavailable
from core.services.people import sign_in, staff_sessions
from core.settings import settings
from core.store.access import Scope, writing

_NO_STORE = {"Cache-Control": "no-store"}
_AGAIN = "/?sign_in=again"
_OF_FRAMEWORK = "_streamlit_user"


def complete(request: Request) -> Response:
    """Open the session that a ticket stands for, give its token as a cookie, and go on to our own page."""
    # Somebody else's page could send a browser here with its own ticket, and so sign a person in as another.
    if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
        return _to(_AGAIN)
    try:
        with writing(Scope.system()) as session:
            token = sign_in.complete_sign_in(session, request.query_params.get("t", ""))
            staff_sessions.end_session(session, request.cookies.get(sign_in.COOKIE, ""))
    except StoreUnavailable:
        return _unavailable()
    except CoverdeskError:
        return _to(_AGAIN)
    answer = _to(sign_in.to_local_path(request.query_params.get("next", "/")))
    _forget_provider(request, answer)
    answer.set_cookie(
        sign_in.COOKIE,
        token,
        max_age=int(staff_sessions.MAX_DURATION.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=_is_https(request),
        path="/",
    )
    return answer


def sign_out(request: Request) -> Response:
    """End the session of this browser; taken only from our own pages."""
    if not _from_us(request):
        return PlainTextResponse("This was not sent from our own page", 403, _NO_STORE)
    try:
        with writing(Scope.system()) as session:
            staff_sessions.end_session(session, request.cookies.get(sign_in.COOKIE, ""))
    except StoreUnavailable:
        return _unavailable()
    answer = _to("/")
    _forget_provider(request, answer)
    answer.delete_cookie(sign_in.COOKIE, path="/", httponly=True, samesite="lax", secure=_is_https(request))
    return answer


def _forget_provider(request: Request, answer: Response) -> None:
    """Clear what the framework keeps for thirty days of a provider's word: it has served, or nobody wants it."""
    for name in request.cookies:
        if name.startswith(_OF_FRAMEWORK):
            answer.delete_cookie(name, path="/", httponly=True, samesite="lax")


def _to(path: str) -> RedirectResponse:
    return RedirectResponse(path, 303, _NO_STORE)


def _unavailable() -> Response:
    again = {**_NO_STORE, "Retry-After": str(StoreUnavailable.retry_after)}
    return PlainTextResponse(StoreUnavailable.text, StoreUnavailable.status, again)


def _is_https(request: Request) -> bool:
    return "https" in {request.url.scheme, urlsplit(settings().base_url).scheme}


def _from_us(request: Request) -> bool:
    """Return True when the sending page is ours: same host, or the public address behind a proxy."""
    origin = urlsplit(request.headers.get("origin", "")).netloc
    return bool(origin) and origin in {request.headers.get("host"), urlsplit(settings().base_url).netloc}


routes = [
    Route(sign_in.COMPLETE, complete, methods=["GET"]),
    Route(sign_in.SIGN_OUT, sign_out, methods=["POST"]),
]
