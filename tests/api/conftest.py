"""A client that speaks HTTP to the application itself, without a network."""

import socket
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import uvicorn
from anyio.from_thread import BlockingPortal, start_blocking_portal

from core.api.app import app
from core.store.access import Store


class Client:
    """A synchronous client of an ASGI application."""

    def __init__(self, portal: BlockingPortal) -> None:
        self._portal = portal

    def request(self, method: str, path: str, *, key: str | None = None, **options: Any) -> httpx.Response:
        """One request; `key` becomes the bearer credential."""
        headers = httpx.Headers(options.pop("headers", {}))
        if key:
            headers.setdefault("Authorization", f"Bearer {key}")

        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
                return await client.request(method, path, headers=headers, **options)

        return self._portal.call(send)

    def get(self, path: str, *, key: str | None = None, **options: Any) -> httpx.Response:
        return self.request("GET", path, key=key, **options)

    def post(self, path: str, *, key: str | None = None, **options: Any) -> httpx.Response:
        return self.request("POST", path, key=key, **options)


@pytest.fixture(scope="session")
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as portal:
        yield portal


@pytest.fixture
def client(store: Store, portal: BlockingPortal) -> Client:
    """The API over a fresh store."""
    return Client(portal)


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The API behind a real socket, for clients that bring their own transport; answers its address."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()  # from here on a client waits for the answer, however late the thread starts
        # Loggers are of the whole process: one that writes would write where the test of that moment has its output.
        config = uvicorn.Config(app, log_config=None, log_level="critical", lifespan="off")
        running = uvicorn.Server(config)
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        running.should_exit = True
        thread.join()
