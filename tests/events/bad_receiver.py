"""Receivers that misbehave, as a process of its own: `python -m tests.events.bad_receiver PORT`.

The path says how: /hang, /drip, /flood, /redirect, /gone, /busy, /close, /half, /noise and /clock; all answer a ping.
`GET /seen` answers how often each path was called, and `PUT /clock` sets the clock and the secret of /clock.
"""

import json
import sys
import threading
from collections import Counter
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook, webhooks

SEEN: Counter[str] = Counter()
_never = threading.Event()
_state: dict[str, Any] = {"off": timedelta(minutes=10), "secret": ""}


class _Clock(datetime):
    """A clock that is off, as the verifier of the standard reads it."""

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        return datetime.now(tz or UTC) + _state["off"]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        SEEN[self.path] += 1
        self.body = self.rfile.read(int(self.headers.get("content-length", "0")))
        self.close_connection = True
        if self.headers["coverdesk-event"] == "endpoint.ping":
            self._answer(204)
            return
        getattr(self, f"_{self.path.strip('/')}")()

    def do_GET(self) -> None:
        if self.path != "/seen":
            SEEN[f"GET {self.path}"] += 1
        self._answer(200, json.dumps(SEEN).encode())

    def do_PUT(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", "0"))))
        _state.update(off=timedelta(seconds=body["seconds"]), secret=body["secret"])
        self._answer(204)

    def _answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _hang(self) -> None:
        _never.wait(60)

    def _drip(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "100000")
        self.end_headers()
        while not _never.wait(0.05):
            self.wfile.write(b".")
            self.wfile.flush()

    def _flood(self) -> None:
        self.send_response(200)
        self.send_header("content-length", str(1 << 30))
        self.end_headers()
        for _ in range(1 << 10):
            self.wfile.write(b"x" * (1 << 20))

    def _redirect(self) -> None:
        self._answer(307, location=f"http://127.0.0.1:{self.server.server_address[1]}/inside")  # type: ignore[union-attr]

    def _gone(self) -> None:
        self._answer(410)

    def _busy(self) -> None:
        self._answer(429, retry_after="600")

    def _close(self) -> None:
        pass

    def _half(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-le")
        self.wfile.flush()

    def _noise(self) -> None:
        self.wfile.write(b"\x00\xff" * 1000)
        self.wfile.flush()

    def _clock(self) -> None:
        try:
            Webhook(_state["secret"]).verify(self.body, dict(self.headers))
        except webhooks.WebhookVerificationError as error:
            self._answer(401, str(error).encode())
        else:
            self._answer(204)

    def log_message(self, *_: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        pass


if __name__ == "__main__":
    webhooks.datetime = _Clock  # type: ignore[attr-defined, misc]
    with _Server(("127.0.0.1", int(sys.argv[1])), _Handler) as server:
        print("ready", flush=True)
        server.serve_forever()
