"""More than is allowed, more than can be answered, and senders that never end (contract E7)."""

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import uvicorn

from core import settings
from core.api.http import auth
from core.api.protection import load_shedding
from core.api.protection.load_shedding import AdmissionQueue, LoadShedding, RateLimiter, WebSocketLimit, address_key
from core.commands import serve
from core.errors import TooManyRequests
from core.services.catalogue import keys
from core.store.access import Scope, Store
from tests.api.conftest import Client
from tests.conftest import Partner

Limit = Callable[..., None]


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> Iterator[Limit]:
    """Sets limits; counts from nothing before and after."""

    def set_(**limits: int | str) -> None:
        for name, value in limits.items():
            monkeypatch.setenv(f"COVERDESK_{name.upper()}", str(value))
        settings.settings.cache_clear()

    load_shedding._requests._paid_at.clear()
    yield set_
    monkeypatch.undo()
    settings.settings.cache_clear()
    load_shedding._requests._paid_at.clear()


@pytest.fixture
def gate(client: Client) -> auth.KeyGate:
    """The gate of the running application, counting from nothing."""
    client.get("/v1/purchase")
    from core.api.app import api

    layer: Any = api.middleware_stack
    while not isinstance(layer, auth.KeyGate):
        layer = layer.app
    layer._by_key, layer._refused = RateLimiter(), RateLimiter()
    return layer


def refusal(answer: Any) -> tuple[int, int, dict[str, Any], bool]:
    body = answer.json()
    seconds = int(answer.headers["Retry-After"])
    assert body["errorData"] == {"retry_after": seconds}
    return answer.status_code, body["responseCode"], body["data"], 1 <= seconds <= 60


def test_a_key_over_its_limit_waits_and_another_does_not(
    client: Client, gate: auth.KeyGate, limit: Limit, partner: Partner
) -> None:
    limit(rate_limit=3)
    answers = [client.get("/v1/purchase", key=partner.test_key) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert refusal(answers[-1]) == (429, 0, {}, True)
    assert client.get("/v1/purchase", key=partner.live_key).status_code == 200


def test_an_address_over_its_limit_waits_whatever_its_keys(
    client: Client, limit: Limit, partner: Partner, stranger: Partner
) -> None:
    limit(rate_limit_address=2)
    given = [partner.test_key, stranger.test_key, partner.live_key]
    answers = [client.get("/v1/purchase", key=key) for key in given]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert refusal(answers[-1]) == (429, 0, {}, True)


@pytest.mark.both_databases
def test_who_guesses_keys_is_not_judged_any_more_and_shuts_out_nobody_beside(
    client: Client, gate: auth.KeyGate, limit: Limit, store: Store, partner: Partner
) -> None:
    limit(rate_limit_failures=3)
    assert client.get("/v1/purchase", key=partner.test_key).status_code == 200
    answers = [client.get("/v1/purchase", key=wrong) for wrong in ("x", None, partner.live_key[:-1], "y")]
    assert [answer.status_code for answer in answers] == [401, 401, 401, 429]
    assert refusal(answers[-1]) == (429, 0, {}, True)
    assert client.get("/v1/purchase", key=partner.test_key).status_code == 200
    with store.writing(Scope.system()) as session:
        keys.revoke_key(session, partner.test_key, actor="tests")
    gate._trusted[partner.test_key] = (0.0, gate._trusted[partner.test_key][1])
    assert client.get("/v1/purchase", key=partner.test_key).status_code == 429


def test_zero_is_no_limit(client: Client, gate: auth.KeyGate, limit: Limit, partner: Partner) -> None:
    limit(rate_limit=0, rate_limit_address=0, rate_limit_failures=0, concurrency=0)
    assert {client.get("/v1/purchase", key=key).status_code for key in [partner.test_key] * 5} == {200}
    assert {client.get("/v1/purchase").status_code for _ in range(5)} == {401}


def test_a_flood_of_names_takes_bounded_memory_and_the_worst_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_shedding, "MAX_NAMES", 100)
    counted = RateLimiter()
    for _ in range(5):
        counted.consume("flood", per_minute=5)
    for name in range(1000):
        counted.consume(name, per_minute=5)
    assert len(counted._paid_at) <= 100
    with pytest.raises(TooManyRequests):
        counted.consume("flood", per_minute=5)


def test_counting_costs_less_than_twenty_microseconds() -> None:
    counted = RateLimiter()

    def once() -> float:
        began = time.perf_counter()
        for _ in range(1000):
            counted.consume(address_key("10.1.2.3"), per_minute=600_000)
        return (time.perf_counter() - began) / 1000

    assert min(once() for _ in range(5)) < 20e-6


def test_an_address_is_a_subscriber() -> None:
    assert address_key("2001:db8:1:2:3::4") == address_key("2001:db8:1:2:ffff::1") != address_key("2001:db8:1:3::4")
    assert (address_key("::ffff:10.0.0.7"), address_key("10.0.0.7"), address_key("testclient")) == (
        "10.0.0.7",
        "10.0.0.7",
        "testclient",
    )


@pytest.mark.parametrize(
    ("proxies", "counted"), [("", "127.0.0.1"), ("10.0.0.0/8", "127.0.0.1"), ("127.0.0.1", "203.0.113.9")]
)
def test_a_forwarded_address_is_believed_from_a_proxy_that_we_were_told_of_alone(
    store: Store, limit: Limit, monkeypatch: pytest.MonkeyPatch, proxies: str, counted: str
) -> None:
    limit(proxies=proxies)
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "so that it is as before afterwards")
    monkeypatch.delenv("FORWARDED_ALLOW_IPS")
    monkeypatch.setenv("MALLOC_ARENA_MAX", "8")  # said already: nothing of this process changes
    serve._prepare_process()
    seen: list[str] = []

    async def work(scope: Any, receive: Any, send: Any) -> None:
        seen.append(load_shedding.client_address(scope))

    config = uvicorn.Config(work, log_config=None, log_level="critical", lifespan="off")
    config.load()
    scope = {"type": "http", "client": ("127.0.0.1", 1), "headers": [(b"x-forwarded-for", b"203.0.113.9")]}
    asyncio.run(config.loaded_app(scope, None, None))
    assert seen == [counted]


def test_beyond_the_bound_a_request_is_refused_at_once_and_slow_senders_keep_nobody_out(limit: Limit) -> None:
    limit(concurrency=1)
    statuses: list[int] = []

    async def run() -> None:
        release, bodies = asyncio.Event(), asyncio.Event()

        async def work(scope: Any, receive: Any, send: Any) -> None:
            await receive()
            await release.wait()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})

        async def slowly() -> Any:
            await bodies.wait()
            return {"type": "http.request", "body": b"", "more_body": False}

        async def at_once() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        gate, scope = LoadShedding(work), {"type": "http", "client": ("10.9.9.9", 1), "path": "/", "headers": []}

        async def begun(sender: Any) -> "asyncio.Task[None]":
            task = asyncio.ensure_future(gate(scope, sender, send))
            for _ in range(4):  # its turn, and what comes before it
                await asyncio.sleep(0)
            return task

        slow = [await begun(slowly) for _ in range(3)]
        working = await begun(at_once)
        await gate(scope, at_once, send)
        assert statuses == [503]
        release.set()
        bodies.set()
        await asyncio.gather(working, *slow)
        await gate(scope, at_once, send)

    asyncio.run(run())
    assert statuses == [503, 200, 200, 200, 200, 200]
    assert (load_shedding._load.at_work, load_shedding._load.arriving) == (0, 0)


def test_one_address_has_a_bounded_number_of_open_screens(limit: Limit) -> None:
    limit(connections=8)
    ended: list[str] = []

    async def run() -> None:
        release = asyncio.Event()

        async def screen(scope: Any, receive: Any, send: Any) -> None:
            await release.wait()

        async def send(message: Any) -> None:
            ended.append(message["type"])

        gate, scope = WebSocketLimit(screen), {"type": "websocket", "client": ("10.9.9.9", 1), "path": "/"}
        opened = [asyncio.ensure_future(gate(scope, send, send)) for _ in range(3)]
        await asyncio.sleep(0)
        assert ended == ["websocket.close"]
        release.set()
        await asyncio.gather(*opened)
        await gate(scope, send, send)

    asyncio.run(run())
    assert ended == ["websocket.close"]


def test_a_crowd_begins_by_few_in_the_order_of_its_coming() -> None:
    async def crowd() -> tuple[int, list[int]]:
        pace, begun = AdmissionQueue(), list[int]()

        async def one(n: int) -> None:
            await pace.wait()
            begun.append(n)

        tasks = [asyncio.create_task(one(n)) for n in range(20)]
        for _ in range(3):  # the first at once, then two handfuls
            await asyncio.sleep(0)
        together = len(begun)
        tasks[13].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await one(20)
        return together, begun

    assert asyncio.run(crowd()) == (5, [*range(13), *range(14, 21)])
