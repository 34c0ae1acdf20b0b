"""Security headers on every response of the process, including the screens."""

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Connection

# The screens' framework compiles code for charts and tables, styles elements in place, makes workers and
# images from blobs, and is handed to the sign-in route by a script of its page; nothing comes from elsewhere.
_POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "media-src 'self' blob:",
        "frame-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
# `same-origin`, not `no-referrer`: under the latter a browser posts our own sign-out form with Origin "null".
_EVERYWHERE = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Content-Security-Policy": _POLICY,
    "X-Frame-Options": "DENY",
}


class SecurityHeaders:
    """ASGI middleware that adds missing security headers; responses of /v1 are never cached."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Pass the request on and add the headers to its response."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        wanted = dict(_EVERYWHERE)
        if scope["path"] == "/v1" or scope["path"].startswith("/v1/"):
            wanted["Cache-Control"] = "no-store"
        started = False

        async def with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in wanted.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self.app(scope, receive, with_headers)
        except Exception:
            # The framework answers for a defect outside of us, where no header would be added.
            if not started:
                await PlainTextResponse("Something went wrong", 500)(scope, receive, with_headers)
            raise
