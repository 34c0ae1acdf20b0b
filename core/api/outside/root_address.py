"""Tells the screens' script where the process stands, so that it does not look for it below every address.

Without it the framework asks `/purchases/_stcore/health` before `/_stcore/health` and writes a 404 on the console of
every deep link. The page that it sends for each address is a static file: its head gets that line, our style and name,
and the addresses of scripts that are loaded beside it.
"""

from collections.abc import Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Connection

_HEAD = b"<head>"
# The browser's own word for where it is: the process may stand behind any name.
SCRIPT = b"<script>{ const root = location.origin + '/';" + (
    b" window.__streamlit = { BACKEND_BASE_URL: root, MAIN_PAGE_BASE_URL: root }; }</script>"
)
# Loaded while nothing else is to be done, so that the first screen that needs it does not wait for it.
_BESIDE = (
    "<script>addEventListener('load', () => (window.requestIdleCallback || setTimeout)(() =>"
    " import(location.origin + '/{path}').catch(() => {{}})));</script>"
)
_NAME, _OUR_NAME = b"<title>Streamlit</title>", b"<title>Coverdesk</title>"
_MARK = b'<div id="root">'
# An answer to these is packed, or says only that nothing has changed.
_UNWANTED = {b"accept-encoding", b"if-none-match", b"if-modified-since"}


class RootAddress:
    """Adds the line to the framework's page; whatever else is sent passes as it is."""

    def __init__(self, app: ASGIApp, style: str = "", beside: Sequence[str] = ()) -> None:
        self.app = app
        scripts = "".join(_BESIDE.format(path=path) for path in beside)
        self._added = SCRIPT + f"<style>{style}</style>{scripts}".encode()

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Pass the request on; hold back an HTML page until it is whole."""
        if scope["type"] != "http" or scope["method"] != "GET" or not _asks_for_a_page(scope):
            await self.app(scope, receive, send)
            return
        headers = [header for header in scope["headers"] if header[0] not in _UNWANTED]
        await self.app({**scope, "headers": headers}, receive, _Adding(send, self._added).message)


class _Adding:
    """Holds the start and body of one HTML answer back."""

    def __init__(self, send: Send, added: bytes) -> None:
        self._send, self._added = send, added
        self._start: Message | None = None
        self._body = b""

    async def message(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_page(message):
            self._start = message
        elif self._start is None or message["type"] != "http.response.body":
            await self._send(message)
        else:
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                await self._whole(self._start)

    async def _whole(self, start: Message) -> None:
        if _MARK in self._body:
            self._body = self._body.replace(_HEAD, _HEAD + self._added, 1).replace(_NAME, _OUR_NAME, 1)
            headers = MutableHeaders(scope=start)
            headers["content-length"] = str(len(self._body))
            # The file's own mark says nothing of the line.
            del headers["etag"], headers["last-modified"]
        await self._send(start)
        await self._send({"type": "http.response.body", "body": self._body})


def _asks_for_a_page(scope: Connection) -> bool:
    is_screen = "." not in scope["path"] and not scope["path"].startswith("/v1")
    return is_screen and "text/html" in Headers(scope=scope).get("accept", "")


def _is_page(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    return start["status"] == 200 and headers.get("content-type", "").startswith("text/html")
