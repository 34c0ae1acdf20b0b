"""A connection that never ends, or is never read, does not stay (contract E7)."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
import uvicorn

from core import settings
from core.api.protection import slow_senders


@pytest.fixture
def bounded(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    """A server with our protocol and no patience."""
    for name, value in {
        "HEAD_SECONDS": 1.0,
        "MESSAGE_SECONDS": 1.5,
        "UNREAD_SECONDS": 0.3,
        "_EVERY_SECONDS": 0.05,
    }.items():
        monkeypatch.setattr(slow_senders, name, value)

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/read":
            while (await receive()).get("more_body"):
                pass
        size = 50_000_000 if scope["path"] == "/large" else 2
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % size)]})
        await send({"type": "http.response.body", "body": b"o" * size})

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(300)
        config = uvicorn.Config(
            answer, http=slow_senders.BoundedProtocol, log_config=None, log_level="critical", lifespan="off"
        )
        running = uvicorn.Server(config)
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
        thread.start()
        yield listening.getsockname()
        running.should_exit = True
        thread.join()


SENDERS = {
    "silent": (b"", False, b""),
    "half a head": (b"GET / HTTP/1.1\r\nHost: x\r\n", False, b"HTTP/1.1 408"),
    "dripping head": (b"GET / HTTP/1.1\r\nA: ", True, b"HTTP/1.1 408"),
    "unknown method": (b"FOO /v1/genders HTTP/1.1\r\nHost: x\r\n\r\n", False, b"HTTP/1.1 400"),
    "endless head": (b"GET / HTTP/1.1\r\nA: " + b"a" * 100_000, False, b"HTTP/1.1 431"),
    "dripping body": (b"POST /read HTTP/1.1\r\nContent-Length: 900\r\n\r\nhalf", True, b""),
    "body after the answer": (b"POST / HTTP/1.1\r\nContent-Length: 900\r\n\r\nhalf", True, b"HTTP/1.1 200"),
}


@pytest.mark.long
def test_a_sender_that_never_ends_is_ended(bounded: tuple[str, int]) -> None:
    senders = {name: socket.create_connection(bounded, timeout=30) for name in SENDERS}
    received = dict.fromkeys(SENDERS, b"")
    for name, sender in senders.items():
        with contextlib.suppress(ConnectionError):
            sender.sendall(SENDERS[name][0])
        sender.settimeout(0.02)
    until = time.monotonic() + 20
    while senders and time.monotonic() < until:
        for name, sender in list(senders.items()):
            try:
                chunk = sender.recv(1000)
                received[name] += chunk
                is_over = not chunk
            except TimeoutError:
                is_over = False
            except ConnectionError:
                is_over = True
            if is_over:
                senders.pop(name).close()
            elif SENDERS[name][1]:
                with contextlib.suppress(ConnectionError):
                    sender.sendall(b"a")
    assert not senders, "these are kept open"
    assert {name: reply.startswith(SENDERS[name][2]) for name, reply in received.items()} == dict.fromkeys(
        SENDERS, True
    )
    refused = [reply for reply in received.values() if reply.startswith(b"HTTP/1.1 4")]
    for reply in refused:
        head, _, body = reply.partition(b"\r\n\r\n")
        assert f"content-length: {len(body)}".encode() in head
        assert orjson.loads(body) | {"responseText": ""} == {
            "responseCode": 0,
            "responseText": "",
            "data": {},
            "errorData": None,
        }
    assert len(refused) == 4


@pytest.mark.long
def test_a_reader_who_stops_is_ended_and_two_hundred_half_requests_keep_nobody_out(
    bounded: tuple[str, int],
) -> None:
    half = [socket.create_connection(bounded, timeout=30) for _ in range(200)]
    for connection in half:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
    with socket.create_connection(bounded, timeout=30) as other:
        other.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert other.recv(100).startswith(b"HTTP/1.1 200")
    for connection in half:
        with connection, contextlib.suppress(ConnectionResetError):
            while connection.recv(1000):  # a connection that stays open ends in a TimeoutError
                pass
    with socket.create_connection(bounded, timeout=30) as lazy:
        lazy.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        assert lazy.recv(1)
        until, received = time.monotonic() + 20, 1
        while any(ledger.open for ledger in slow_senders._ledgers.values()) and time.monotonic() < until:
            time.sleep(0.05)  # it does not read
        with contextlib.suppress(ConnectionResetError):
            while chunk := lazy.recv(1_000_000):
                received += len(chunk)
    assert received < 50_000_000


def test_one_address_has_a_bounded_number_of_connections(
    bounded: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COVERDESK_CONNECTIONS", "3")
    # However busy the machine is, the three stay.
    for name in ("HEAD_SECONDS", "MESSAGE_SECONDS"):
        monkeypatch.setattr(slow_senders, name, 600.0)
    settings.settings.cache_clear()
    first = [socket.create_connection(bounded, timeout=30) for _ in range(3)]
    for connection in first:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 200")
    with socket.create_connection(bounded, timeout=30) as fourth:
        assert fourth.recv(100).startswith(b"HTTP/1.1 503")
    for connection in first:
        connection.close()
    settings.settings.cache_clear()
