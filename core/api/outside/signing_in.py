"""The routes that open and close a person's session: only an answer over HTTP can set a cookie (contract A2)."""

from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Connection

from core.errors import CoverdeskError, NotAllowed, StoreUnavailable, Unauthorized
from core.services.people import credentials, sign_in, staff
from core.services.people.staff import Person
from core.settings import settings
from core.store.access import Scope, read_in, writing


def require_person(request: Request) -> Person:
    """Return the person of the session cookie; Unauthorized without one, NotAllowed for a request of another site."""
    person = read_in(Scope.system(), staff.get_by_token, request.cookies.get(sign_in.COOKIE))
    if person is None:
        raise Unauthorized("Please sign in first")
    # A link on somebody else's page must not make a file of personal data.
    if request.headers.get("sec-fetch-site", "none") not in {"same-origin", "none"}:
        raise NotAllowed
    return person


LOGIN: Final = "/auth/login"
CALLBACK: Final = "/oauth2callback"
UNREACHABLE, REFUSED = "/?sign_in=unreachable", "/?sign_in=refused"
_WORD = "_streamlit_user="


class ProviderAnswers:
    """Turns the failures of the framework's sign-in routes into redirects to the form."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Pass the request on, and answer in the framework's place when it failed."""
        if scope["type"] != "http" or scope["path"] not in {LOGIN, CALLBACK}:
            await self.app(scope, receive, send)
            return
        replaced = False

        async def judged(message: Message) -> None:
            nonlocal replaced
            if message["type"] == "http.response.start" and (address := _elsewhere(scope["path"], message)):
                replaced = True
                kept = [header for header in message["headers"] if header[0].lower() == b"set-cookie"]
                answer = RedirectResponse(address, 303, {"Cache-Control": "no-store"})
                answer.raw_headers.extend(kept)
                await answer(scope, receive, send)
            elif not replaced:
                await send(message)

        await self.app(scope, receive, judged)


def _elsewhere(path: str, start: Message) -> str | None:
    """Return the redirect that replaces the framework's answer, None when that succeeded."""
    if start["status"] >= 400:
        return UNREACHABLE if path == LOGIN else REFUSED
    cookies = Headers(raw=start["headers"]).getlist("set-cookie")
    is_signed_in = any(cookie.startswith(_WORD) and not cookie.startswith(f'{_WORD}""') for cookie in cookies)
    return None if is_signed_in or path == LOGIN else REFUSED


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
            credentials.end_session(session, request.cookies.get(sign_in.COOKIE, ""))
    except StoreUnavailable:
        return _unavailable()
    except CoverdeskError:
        return _to(_AGAIN)
    answer = _to(sign_in.to_local_path(request.query_params.get("next", "/")))
    _forget_provider(request, answer)
    answer.set_cookie(
        sign_in.COOKIE,
        token,
        max_age=int(credentials.MAX_DURATION.total_seconds()),
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
            credentials.end_session(session, request.cookies.get(sign_in.COOKIE, ""))
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


routes = [Route(sign_in.COMPLETE, complete, methods=["GET"]), Route(sign_in.SIGN_OUT, sign_out, methods=["POST"])]
