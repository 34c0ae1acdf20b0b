"""Clients that send at the same moment."""

import itertools
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import httpx

from tests.crash.conftest import Place
from tests.crash.selling import connection

EQUAL, RIVALS = 50, 8


class Rivals:
    """So many open connections that send at the same moment."""

    def __init__(self, place: Place, many: int, *, is_live: bool = False) -> None:
        self._start, self._pool = Barrier(many), ThreadPoolExecutor(many)
        key = place.partner.live_key if is_live else place.partner.test_key
        self._connections = [connection(place.server.url, key) for _ in range(many)]

    def send(self, path: str, body: dict[str, Any], *keys: str) -> list[httpx.Response]:
        """The answers to one body, sent by everybody at once, each with the next of the keys."""

        def one(http: httpx.Client, key: str) -> httpx.Response:
            self._start.wait()
            return http.post(path, headers={"Idempotency-Key": key}, json=body)

        return list(self._pool.map(one, self._connections, itertools.cycle(keys)))

    def ask(self, path: str) -> list[httpx.Response]:
        """The answers of one GET by everybody at once."""

        def one(http: httpx.Client) -> httpx.Response:
            self._start.wait()
            return http.get(path)

        return list(self._pool.map(one, self._connections))

    def __enter__(self) -> "Rivals":
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()
        for http in self._connections:
            http.close()


def statuses(answers: list[httpx.Response]) -> dict[int, int]:
    return dict(Counter(answer.status_code for answer in answers))
