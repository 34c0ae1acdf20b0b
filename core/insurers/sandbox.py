"""A sandbox insurer: speaks the same protocol and behaves as the policyholder's e-mail address asks.

The word after the plus of any e-mail address in the payload decides: `ngozi+declines@example.com`. For demonstrations
and tests; `coverdesk sandbox-insurer` runs it, docs/insurers.md lists the words.
"""

import hashlib
import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from core.states.policies import AnswerStatus

APPROVES = "approves"
_BEHAVIOUR_PATTERN = re.compile(r"[^\s@\"]+\+(\w+)@")
_GIGABYTE, _CHUNK = 1 << 30, b" " * (1 << 20)
_MAX_BODY_BYTES = 4 << 20
_HOST = "127.0.0.1"


@dataclass(slots=True)
class RequestRecord:
    """The record of one idempotency key: how often it was requested, and the number it was issued."""

    body_hash: str
    behaviour: str
    mode: str
    authorization: str | None
    traceparent: str | None = None
    request_count: int = 0
    number: str | None = None


@dataclass(slots=True)
class Ledger:
    """All requests to the sandbox, by idempotency key."""

    records: dict[str, RequestRecord] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    last_number: int = 0

    def issue_number(self, row: RequestRecord) -> str:
        """Return the policy number of this row, issuing it on the first call."""
        with self.lock:
            if row.number is None:
                self.last_number += 1
                row.number = f"SBX/{self.last_number:06}"
            return row.number


class SandboxInsurer(ThreadingHTTPServer):
    """The sandbox as an HTTP server at `url`. `default_behaviour` applies if a payload names none."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int = 0, *, default_behaviour: str = APPROVES) -> None:
        super().__init__((_HOST, port), _Handler)
        self.default_behaviour = default_behaviour
        self.ledger = Ledger()
        self.closing = threading.Event()

    @property
    def url(self) -> str:
        """The value for COVERDESK_INSURER_X_URL."""
        return f"http://{_HOST}:{self.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    """The request handler of one connection."""

    protocol_version = "HTTP/1.1"
    server: SandboxInsurer
    # Without this, a response of two packets waits for the acknowledgement of the first.
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        """Accept a policy, or repeat the earlier outcome."""
        row = self._record_request()
        if row is not None:
            _BEHAVIOURS.get(row.behaviour, _accept)(self, row)

    def do_GET(self) -> None:
        """List all requests received so far."""
        rows = self.server.ledger.records
        self.send_json(
            200, {key: {"magic": r.behaviour, "asked": r.request_count, "number": r.number} for key, r in rows.items()}
        )

    def _record_request(self) -> RequestRecord | None:
        key, length = self.headers.get("Idempotency-Key", ""), self.headers.get("Content-Length", "")
        if self.path != "/policies":
            self._refuse(404, "There is nothing here but /policies")
            return None
        if not key or not length.isdigit() or int(length) > _MAX_BODY_BYTES:
            self._refuse(400, "An Idempotency-Key and a body are needed")
            return None
        body = self.rfile.read(int(length))
        found = _BEHAVIOUR_PATTERN.search(body.decode("utf-8", "replace"))
        fresh = RequestRecord(
            body_hash=hashlib.sha256(body).hexdigest(),
            behaviour=found[1].lower() if found else self.server.default_behaviour,
            mode=self.headers.get("Coverdesk-Mode", ""),
            authorization=self.headers.get("Authorization"),
            traceparent=self.headers.get("traceparent"),
        )
        with self.server.ledger.lock:
            row = self.server.ledger.records.setdefault(key, fresh)
            row.request_count += 1
        if row.body_hash != fresh.body_hash:
            self._refuse(409, "This Idempotency-Key came with another body before")
            return None
        return row

    def _refuse(self, status: int, reason: str) -> None:
        self.close_connection = True
        self.send_json(status, {"reason": reason})

    def send_json(self, status: int, answer: Mapping[str, Any], **headers: str) -> None:
        """Send a JSON response."""
        self.send_raw(status, json.dumps(answer).encode(), "application/json", **headers)

    def send_raw(self, status: int, body: bytes, content_type: str, **headers: str) -> None:
        """Send a response with any body."""
        self.send_response(status)
        for name, value in {"Content-Type": content_type, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that the library gives it
        """Log nothing: paths and keys of payloads are private."""


def _accept(desk: _Handler, row: RequestRecord) -> None:
    number = desk.server.ledger.issue_number(row)
    desk.send_json(200, _build_acceptance(desk, number))


def _build_acceptance(desk: _Handler, number: str) -> dict[str, Any]:
    slug = number.replace("/", "-")
    return {
        "status": AnswerStatus.ACCEPTED,
        "policy_number": number,
        "certificate_url": f"{desk.server.url}/certificates/{slug}.pdf",
        "provider_policy_id": f"sandbox-{slug}",
        "reason": None,
    }


def _first_times(
    times: int, first: Callable[[_Handler, RequestRecord], None]
) -> Callable[[_Handler, RequestRecord], None]:
    """Return an action that does `first` for the first `times` requests, then accepts."""

    def act(desk: _Handler, row: RequestRecord) -> None:
        (first if row.request_count <= times else _accept)(desk, row)

    return act


def _pend(desk: _Handler, _: RequestRecord) -> None:
    desk.send_json(202, {"status": AnswerStatus.PENDING, "reason": "An underwriter looks at it"})


def _decline(desk: _Handler, _: RequestRecord) -> None:
    desk.send_json(200, {"status": AnswerStatus.DECLINED, "reason": "The sandbox does not take this risk"})


def _clash(desk: _Handler, _: RequestRecord) -> None:
    desk.send_json(200, _build_acceptance(desk, "SBX/SAME"))


def _hang(desk: _Handler, _: RequestRecord) -> None:
    desk.server.closing.wait(120)
    desk.close_connection = True


def _drip(desk: _Handler, row: RequestRecord) -> None:
    """Send the headers at once, then a byte now and then, without ever finishing."""
    desk.send_response(200)
    desk.send_header("Content-Length", "100000")
    desk.end_headers()
    desk.close_connection = True
    try:
        while not desk.server.closing.wait(0.05):
            desk.wfile.write(b" ")
    except OSError:
        return


def _flood(desk: _Handler, _: RequestRecord) -> None:
    desk.send_response(200)
    desk.send_header("Content-Length", str(_GIGABYTE))
    desk.end_headers()
    desk.close_connection = True
    try:
        for _n in range(_GIGABYTE // len(_CHUNK)):
            desk.wfile.write(_CHUNK)
    except OSError:
        return


def _forget(desk: _Handler, row: RequestRecord) -> None:
    """Process the request but lose the response."""
    desk.server.ledger.issue_number(row)
    desk.close_connection = True


def _garble(desk: _Handler, _: RequestRecord) -> None:
    desk.send_raw(200, b"<html><body>Welcome to our new portal!</body></html>", "text/html")


def _mistype(desk: _Handler, _: RequestRecord) -> None:
    desk.send_json(
        200, {"status": AnswerStatus.ACCEPTED, "policy_number": 4711, "certificate_url": "javascript:alert(1)"}
    )


def _invent(desk: _Handler, _: RequestRecord) -> None:
    desk.send_json(200, {"status": "on hold", "policy_number": "SBX/1"})


def _redirect(desk: _Handler, _: RequestRecord) -> None:
    desk.send_json(307, {}, Location="http://169.254.169.254/latest/meta-data")


def _break(desk: _Handler, _: RequestRecord) -> None:
    desk.send_json(500, {"reason": "Something broke"})


def _rest(desk: _Handler, _: RequestRecord) -> None:
    desk.send_json(503, {"reason": "Maintenance"}, Retry_After="120")


def _lock_out(desk: _Handler, _: RequestRecord) -> None:
    desk.send_json(401, {"reason": "Who are you?"})


def _reject(desk: _Handler, _: RequestRecord) -> None:
    desk.send_json(422, {"reason": "The engine number is missing"})


_BEHAVIOURS: Mapping[str, Callable[[_Handler, RequestRecord], None]] = {
    APPROVES: _accept,
    "pends": _first_times(1, _pend),
    "waits": _pend,
    "declines": _decline,
    "clashes": _clash,
    "hangs": _hang,
    "drips": _drip,
    "floods": _flood,
    "forgets": _first_times(1, _forget),
    "garbles": _garble,
    "mistypes": _mistype,
    "invents": _invent,
    "redirects": _redirect,
    "breaks": _break,
    "recovers": _first_times(2, _break),
    "rests": _rest,
    "locks": _lock_out,
    "rejects": _reject,
}
BEHAVIOURS = tuple(_BEHAVIOURS)
