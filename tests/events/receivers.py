"""Real receivers on loopback, each a server of its own thread, and the settings that let them be called."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson

Behaviour = Callable[["_Handler"], None]


@dataclass(frozen=True)
class Received:
    """One request as it came in."""

    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        found: dict[str, Any] = orjson.loads(self.body)
        return found


@dataclass
class Receiver:
    """A server that keeps every request it took; `behave` may be replaced while it runs."""

    url: str
    behave: Behaviour
    received: list[Received] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    @property
    def events(self) -> list[str]:
        return [each.headers["coverdesk-event"] for each in self.received]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    receiver: Receiver

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", "0"))
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(length)
        if len(body) < length:  # the sender was killed while it sent: no receiver takes half a request
            self.close_connection = True
            return
        self.receiver.received.append(Received(headers, body))
        self.receiver.behave(self)

    def do_GET(self) -> None:
        self.receiver.received.append(Received({"coverdesk-event": "followed"}, b"{}"))
        answers(200)(self)

    def log_message(self, *args: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    # With the five of the standard library a connection beyond them waits for the system's next try, seconds later.
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


def answers(status: int, body: bytes = b"thanks", **headers: str) -> Behaviour:
    def behave(handler: _Handler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return behave


def hangs(handler: _Handler) -> None:
    """Says nothing until the test is over."""
    handler.receiver.closing.wait(60)
    handler.close_connection = True


def drips(handler: _Handler) -> None:
    """Answers byte by byte, each soon enough for a time-out between two."""
    handler.send_response(200)
    handler.send_header("content-length", "100000")
    handler.end_headers()
    while not handler.receiver.closing.wait(0.05):
        handler.wfile.write(b".")
        handler.wfile.flush()
    handler.close_connection = True


def floods(handler: _Handler) -> None:
    """Answers a gigabyte."""
    handler.send_response(200)
    handler.send_header("content-length", str(1 << 30))
    handler.end_headers()
    for _ in range(1 << 10):
        handler.wfile.write(b"x" * (1 << 20))


def closes_early(handler: _Handler) -> None:
    """Ends the connection without an answer."""
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def receiving(behave: Behaviour = answers(200)) -> Iterator[Receiver]:
    receiver = Receiver("", behave)
    handler = type("Handler", (_Handler,), {"receiver": receiver})
    with _Server(("127.0.0.1", 0), handler) as server:
        receiver.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield receiver
        finally:
            receiver.closing.set()
            server.shutdown()
            thread.join()
