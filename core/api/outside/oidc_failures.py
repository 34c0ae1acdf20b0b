"""A sign-in with an identity provider that came to nothing leads back to our own form, which says what happened.

The framework's routes end in a bare line of text, or in the form without a word.
"""

from typing import Final

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Connection

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
    said = any(cookie.startswith(_WORD) and not cookie.startswith(f'{_WORD}""') for cookie in cookies)
    return None if said or path == LOGIN else REFUSED
