"""Receivers that must not be called: judged by what they say, and again by where connections lead (contract W5)."""

import asyncio
import socket
import threading
from collections.abc import Iterator, Sequence

import pytest

from core import settings as settings_module
from core.outbound import addresses
from core.outbound.addresses import GuardedNetwork
from core.outbound.webhook_client import SendLimits, SendResult, WebhookClient
from core.settings import settings
from tests.every_case import every_case

PRIVATE = [
    *("10.0.0.1", "127.0.0.1", "169.254.169.254", "192.168.1.1", "172.16.0.1", "100.64.0.1", "0.0.0.0", "224.0.0.1"),
    *("239.1.1.1", "255.255.255.255", "192.0.2.1", "198.18.0.1", "240.0.0.1", "::1", "::", "fe80::1", "fc00::1"),
    *("ff02::1", "ff0e::1", "fec0::1", "2001:db8::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::a00:1"),
    *("64:ff9b:1::a00:1", "2002:a00:1::", "2002:7f00:1::", "::10.0.0.1", "2001:0:4136:e378:8000:63bf:f5ff:fffe"),
]
PUBLIC = ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]


@every_case("text", PRIVATE)
def test_an_address_that_is_not_of_the_whole_internet_is_refused_in_every_spelling(text: str) -> None:
    host = f"[{text}]" if ":" in text else text
    assert addresses.find_url_fault(f"https://{host}/hook")


@every_case("text", PUBLIC)
def test_a_public_address_may_be_tried(text: str) -> None:
    host = f"[{text}]" if ":" in text else text
    assert addresses.find_url_fault(f"https://{host}/hook") is None


@every_case(
    ("url", "fault"),
    [
        ("http://hooks.example.com/", "must be an https address"),
        ("ftp://hooks.example.com/", "must be an https address"),
        ("https://", "must be an https address"),
        ("https://user@hooks.example.com/", "must not hold a user or a password"),
        ("https://user:word@hooks.example.com/", "must not hold a user or a password"),
        ("https://hooks.example.com:8443/", "must be on port 443, not 8443"),
        ("https://hooks.example.com:99999/", "must have a port from 1 to 65535, or none, which is port 443"),
        ("https://hooks.example.com:https/", "must have a port from 1 to 65535, or none, which is port 443"),
        ("https://[hooks.example.com/", "must be an address such as https://example.com/hooks"),
        ("https://hooks.example.com/#part", "must not have a fragment"),
        ("https://localhost/", "must be a host name that the internet knows"),
        ("https://intranet/", "must be a host name that the internet knows"),
        ("https://127.1/", "must be a host name that the internet knows"),
        ("https://10.1/", "must be a host name that the internet knows"),
        ("https://8.8.8.0x8/", "must be a host name that the internet knows"),
        (f"https://{'a' * 64}.example.com/", "must be a host name that the internet knows"),
        (f"https://{'a.' * 126}com/", "must be a host name that the internet knows"),
        ("https://hooks..example.com/", "must be a host name that the internet knows"),
        ("https://hooks.example.com:0/", "must have a port from 1 to 65535, or none, which is port 443"),
        ("https://hooks.example.com\\@10.0.0.1/", "must be visible ASCII characters, at most 2,000"),
        ("https://hooks.example.com/ü", "must be visible ASCII characters, at most 2,000"),
        ("https://hooks.example.com/" + "x" * 2000, "must be visible ASCII characters, at most 2,000"),
        ("http://127.0.0.1:8501/v1/webhooks", "must not be this desk itself"),
    ],
)
def test_an_address_is_refused_by_what_it_says(url: str, fault: str) -> None:
    assert addresses.find_url_fault(url) == fault


def test_a_port_that_is_set_is_allowed_and_the_desk_by_its_own_name_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COVERDESK_WEBHOOK_PORTS", "8443")
    monkeypatch.setenv("COVERDESK_BASE_URL", "https://desk.example.com")
    settings.cache_clear()
    try:
        assert addresses.find_url_fault("https://hooks.example.com:8443/") is None
        assert addresses.find_url_fault("https://hooks.example.com:8444/") == "must be on port 443 or 8443, not 8444"
        assert addresses.find_url_fault("https://desk.example.com:8443/") == "must not be this desk itself"
    finally:
        settings.cache_clear()


@pytest.fixture
def listener() -> Iterator[tuple[int, list[object]]]:
    """A port on loopback that counts who connects."""
    taken: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                taken.append(connection)
                connection.close()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield server.getsockname()[1], taken
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


def send(port: int, *answers: Sequence[str], own_host: str | None = None) -> SendResult:
    """One delivery to a name that is resolved to the first answer, then to the next, and then to the last."""
    remaining = list(answers)

    async def resolve(host: str, _: int) -> Sequence[str]:
        if own_host is not None and host == own_host:
            return ["93.184.216.34"]
        return remaining.pop(0) if len(remaining) > 1 else remaining[0]

    async def once() -> SendResult:
        network = GuardedNetwork(resolving=resolve, own_host=own_host)
        async with WebhookClient(SendLimits(connect=0.2, read=0.2, total=5), network) as client:
            return await client.send(f"https://hooks.example.com:{port}/", b"{}", {})

    return asyncio.run(once())


@every_case("text", PRIVATE)
def test_a_name_that_leads_inside_is_never_connected_to(listener: tuple[int, list[object]], text: str) -> None:
    port, taken = listener
    result = send(port, [text])
    assert result.error == "The name of the receiver leads to an address that is not public"
    assert text not in result.error
    assert taken == []


def test_one_inner_address_among_public_ones_refuses_all(listener: tuple[int, list[object]]) -> None:
    port, taken = listener
    assert "not public" in str(send(port, ["8.8.8.8", "127.0.0.1"]).error)
    assert taken == []


def test_what_is_connected_to_is_what_was_judged_though_the_name_leads_elsewhere_a_moment_later(
    listener: tuple[int, list[object]],
) -> None:
    # The first answer is public, every later one is this machine: only a second resolution could lead here.
    port, taken = listener
    result = send(port, ["203.0.114.1"], ["127.0.0.1"])
    assert result.status is None
    assert "not public" not in str(result.error)
    assert taken == []


def test_a_name_that_dns_cannot_hold_is_one_that_is_not_resolved() -> None:
    """It was registered before names were measured; the resolver refuses it by an error of its own."""

    async def once() -> SendResult:
        async with WebhookClient() as client:
            return await client.send(f"https://{'a' * 64}.example.com/", b"{}", {})

    assert asyncio.run(once()).error == "The name of the receiver cannot be resolved"


def test_the_desk_is_not_called_by_another_name() -> None:
    assert send(443, ["93.184.216.34"], own_host="desk.example.com").error == "The address is this desk itself"


def test_loopback_may_be_called_in_a_demonstration_alone(
    listener: tuple[int, list[object]], demonstration: None
) -> None:
    port, taken = listener
    assert addresses.find_url_fault(f"http://127.0.0.1:{port}/") is None
    assert addresses.find_url_fault("http://10.0.0.1/") == "must be an https address"

    async def once() -> SendResult:
        async with WebhookClient() as client:
            return await client.send(f"http://127.0.0.1:{port}/", b"{}", {})

    assert "closed the connection" in str(asyncio.run(once()).error)
    assert len(taken) == 1


def test_proxies_of_the_environment_are_not_used(
    listener: tuple[int, list[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    port, taken = listener
    for name in ("HTTPS_PROXY", "ALL_PROXY", "https_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{port}")
    assert send(443, ["203.0.114.1"]).status is None
    assert taken == []
    settings_module.settings.cache_clear()
