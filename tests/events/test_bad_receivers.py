"""Receivers that misbehave in every way at once, in a process of their own: each is told apart (contract W4)."""

import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest

from core import telemetry
from core.outbound.webhook_client import SendLimits
from core.settings import ROOT
from tests.events.conftest import Hooks
from tests.ports import free_port

# State of the delivery and the error that the log shows, by the path that says how the receiver misbehaves.
OUTCOMES = {
    "hang": ("queued", "did not answer within"),
    "drip": ("queued", "did not answer within"),
    "flood": ("sent", ""),
    "redirect": ("queued", "answered 307 and pointed elsewhere"),
    "gone": ("held", "answered 410"),
    "busy": ("queued", "answered 429"),
    "close": ("queued", "closed the connection"),
    "half": ("queued", "closed the connection"),
    "noise": ("queued", "closed the connection"),
    "clock": ("queued", "answered 401"),
}


@pytest.fixture
def receiver() -> Iterator[str]:
    """The address of the process."""
    port = free_port()
    command = [sys.executable, "-m", "tests.events.bad_receiver", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def counting() -> Iterator[None]:
    telemetry.enable_metrics()
    yield
    telemetry.disable_metrics()


def outcomes() -> dict[str, float]:
    """The tries so far, by what `/metrics` says became of them."""
    found = telemetry.metrics_registry().collect()
    samples = [each for family in found for each in family.samples]
    return {each.labels["outcome"]: each.value for each in samples if each.name == "coverdesk_webhook_deliveries_total"}


@pytest.mark.exhaustive
@pytest.mark.usefixtures("counting")
@pytest.mark.parametrize("database", ["sqlite"])
def test_every_bad_receiver_is_told_apart_and_those_that_recover_are_served(hooks: Hooks, receiver: str) -> None:
    hooks.limits = SendLimits(connect=5, read=4, total=4)
    made = {name: hooks.register(f"{receiver}/{name}") for name in OUTCOMES}
    clock_of = {"seconds": 600, "secret": made["clock"].secret}
    httpx.put(f"{receiver}/clock", json=clock_of, trust_env=False).raise_for_status()
    hooks.sell()
    hooks.drain()
    found = {name: hooks.log(each)[0] for name, each in made.items()}
    for name, (state, error) in OUTCOMES.items():
        assert (found[name].state, error in str(found[name].last_error or "")) == (state, True), name
        assert "127.0.0.1" not in str(found[name].last_error)
    assert hooks.detail(found["flood"]).tries[-1].answer == "x" * 512
    assert "too old" in hooks.detail(found["clock"]).tries[-1].answer
    assert hooks.endpoint(made["gone"]).state == "disabled"
    # Ten pings and the flood; hang, drip, close, half and noise; the redirect; gone, busy and the clock.
    assert outcomes() == {"accepted": 11, "no_answer": 5, "answered_3xx": 1, "answered_4xx": 3}

    httpx.put(f"{receiver}/clock", json={**clock_of, "seconds": 0}, trust_env=False).raise_for_status()
    hooks.later(seconds=7)
    hooks.drain()
    (put_right,), (busy,) = hooks.log(made["clock"]), hooks.log(made["busy"])
    assert (put_right.state, put_right.attempts, put_right.event_id) == ("sent", 2, found["clock"].event_id)
    assert busy.attempts == 1, "it asked for ten minutes"
    seen = httpx.get(f"{receiver}/seen", trust_env=False).json()
    assert [path for path in seen if "inside" in path] == [], "nobody followed the redirect to this machine"
    assert seen["/hang"] == seen["/drip"] == 3, "a ping, and two tries"
