"""Clients that sell and upload under load, each trying the same key again until it is answered."""

import hashlib
import random
import ssl
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpcore  # noqa: F401 - the first clients, made by several threads at once, would each begin to import it
import httpx

from core import ids
from core.covers.insurers.insurer_f import PERSONAL_ACCIDENT
from tests.covers import shipped
from tests.crash.sizes import CLIENTS
from tests.papers import pdf

BUY = f"/v1{PERSONAL_ACCIDENT.path}"
UPLOAD = "/v1/upload-file"
_PATIENCE = 180


@cache
def _get_certificates() -> ssl.SSLContext:
    """Cached: to load them takes longer than everything else that a client begins with."""
    return httpx.create_ssl_context()


def connection(url: str, api_key: str) -> httpx.Client:
    """Return a client of the API with a key and a connection of its own."""
    headers = {"Authorization": f"Bearer {api_key}"}
    return httpx.Client(base_url=url, headers=headers, timeout=60, trust_env=False, verify=_get_certificates())


@dataclass(frozen=True)
class Answered:
    """A request that was answered: its key, what was sent, and the answer's bytes."""

    key: str
    sent: dict[str, Any]
    content: bytes
    data: dict[str, Any]

    @property
    def number(self) -> str:
        """The number of the policy that was sold."""
        return str(self.data["meta"]["policy_number"])


@dataclass
class Crowd:
    """So many clients at once; what was acknowledged to them, and whatever they should not have seen.

    With `connected` a broken connection is a trouble too: the API stays up and has to answer. Each client waits for
    `rest` seconds after an answer.
    """

    url: str
    api_key: str
    clients: int = CLIENTS
    uploaders: int = 1
    connected: bool = False
    rest: float = 0.0
    sold: dict[str, Answered] = field(default_factory=dict)
    uploaded: dict[str, Answered] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)
    troubles: list[str] = field(default_factory=list)
    slowest: float = 0.0

    def __post_init__(self) -> None:
        self.name, self._stopping = ids.new_code(), threading.Event()
        works = [self._sell] * self.clients + [self._upload] * self.uploaders
        self._threads = [
            threading.Thread(target=self._work, args=(work, n), daemon=True) for n, work in enumerate(works)
        ]

    def __enter__(self) -> "Crowd":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Nobody begins anything new; what is under way is tried until it is answered."""
        self._stopping.set()
        for thread in self._threads:
            thread.join(_PATIENCE)
        assert not any(thread.is_alive() for thread in self._threads), "a client still waits for its answer"

    def wait_for(self, more: int) -> None:
        """Until so many more sales are acknowledged."""
        goal, until = len(self.sold) + more, time.monotonic() + _PATIENCE
        while len(self.sold) < goal:
            assert time.monotonic() < until, f"no {more} sales came through: {self.seen} {self.troubles[:3]}"
            time.sleep(0.005)

    def _work(self, work: Any, client: int) -> None:
        with self.connection() as http:
            n = 0
            while not self._stopping.is_set():
                work(http, f"{self.name}-{client}-{n}", f"{client}.{n // 2}")
                n += 1
                self._stopping.wait(self.rest)

    def connection(self) -> httpx.Client:
        return connection(self.url, self.api_key)

    def _sell(self, http: httpx.Client, key: str, who: str) -> None:
        sent = shipped.body(PERSONAL_ACCIDENT, email=f"client.{who}@example.com", address=f"{key} Marina Road, Lagos")
        answer = self._until_answered(http, BUY, key, json=sent)
        if answer is not None:
            self.sold[key] = Answered(key, sent, answer.content, answer.json()["data"])

    def _upload(self, http: httpx.Client, key: str, who: str) -> None:
        content = pdf(text=key)
        answer = self._until_answered(http, UPLOAD, key, files={"file": ("paper.pdf", content, "application/pdf")})
        if answer is not None:
            sha256 = hashlib.sha256(content).hexdigest()
            self.uploaded[key] = Answered(key, {"sha256": sha256}, answer.content, answer.json()["data"])

    def _until_answered(self, http: httpx.Client, path: str, key: str, **sent: Any) -> httpx.Response | None:
        began = time.monotonic()
        while True:
            answer = self._tried(http, path, key, **sent)
            if answer is not None and answer.status_code == 201:
                self.slowest = max(self.slowest, time.monotonic() - began)
                return answer
            if answer is not None and answer.status_code != 503:
                return None
            time.sleep(random.uniform(0.02, 0.1))

    def _tried(self, http: httpx.Client, path: str, key: str, **sent: Any) -> httpx.Response | None:
        """One try; none when no answer came."""
        try:
            answer = http.post(path, headers={"Idempotency-Key": key}, **sent)
        except httpx.TransportError as error:
            self.seen[type(error).__name__] += 1
            if self.connected:
                self.troubles.append(f"{path}: {error!r}")
            return None
        self.seen[str(answer.status_code)] += 1
        if not is_proper(answer):
            self.troubles.append(f"{path}: {answer.status_code} {answer.text[:300]}")
        return answer


def is_proper(answer: httpx.Response) -> bool:
    """An envelope: a success that was made, or a store that is not available and when to try again."""
    try:
        code = answer.json()["responseCode"]
    except (ValueError, KeyError):
        return False
    if answer.status_code == 503:
        return bool(code == 0) and answer.headers.get("retry-after", "").isdigit()
    return bool(answer.status_code == 201 and code == 1)
