"""A server says where it is reached, refuses a port that is taken, and ends well when it is told to."""

import contextlib
import os
import pty
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from core.settings import ROOT
from core.store.access import Store
from tests.commands.command_line import coverdesk
from tests.conftest import Partner
from tests.every_case import every_case
from tests.load.serving import COVERDESK, environment
from tests.odd_paths import ODD, exchange
from tests.ports import free_port, get_status

pytestmark = pytest.mark.both_databases

STARTS_WITHIN_SECONDS = 120


@contextmanager
def served(
    folder: Path, port: int, *words: str, without: Collection[str] = (), **settings: str
) -> "Iterator[subprocess.Popen[str]]":
    """A server as a terminal has it: Ctrl-C reaches it, and what it says is kept."""
    variables = environment(folder, port, COVERDESK_SECRET_KEY=os.environ["COVERDESK_SECRET_KEY"], **settings)
    process = subprocess.Popen(
        [COVERDESK, *words, "--port", str(port)],
        env={name: value for name, value in variables.items() if name not in without},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        until = time.monotonic() + STARTS_WITHIN_SECONDS
        while not _answers(port):
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < until, "the server does not get ready"
            time.sleep(0.05)
        yield process
    finally:
        process.kill()
        process.communicate()


def _answers(port: int) -> bool:
    return get_status(f"http://127.0.0.1:{port}/readyz") == 200


def words_of(output: str) -> list[str]:
    """Return the lines for a person, without those of the log."""
    return [line for line in output.splitlines() if line and not line.startswith("{")]


@pytest.mark.parametrize("database", ["sqlite"])
def test_a_server_says_its_address_and_nothing_of_its_framework_and_ends_well_on_ctrl_c(
    store: Store, partner: Partner, tmp_path: Path
) -> None:
    assert store.url.database == str(tmp_path / "store.db")
    base_url, port = "https://desk.example.com", free_port()
    with served(tmp_path, port, "serve", "--host", "0.0.0.0", COVERDESK_BASE_URL=base_url) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("Starting on 0.0.0.0, port ")
        assert process.stdout.readline().startswith(f"Coverdesk is at {base_url}, listening on 0.0.0.0, port ")
        answer_paths_with_two_dots(port, partner.test_key)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    assert (words_of(output), process.returncode) == (["Stopped."], 0)


def answer_paths_with_two_dots(port: int, key: str) -> None:
    """Beside the screens they get the envelope of the API below its address alone."""
    as_partner = f"Authorization: Bearer {key}"
    for path in ODD:
        head, body = exchange(port, f"GET {path}", as_partner)
        assert head.startswith("HTTP/1.1 404 ")
        assert "x-frame-options: DENY" in head
        assert body.startswith('{"responseCode":0,"responseText":"No such endpoint: GET /v1/')
        assert body.endswith('"data":{},"errorData":null}')
        assert exchange(port, f"GET {path}")[0].startswith("HTTP/1.1 401 ")
    for path in ("/static/../app.py", "/v1x/../purchase", "/../v1/purchase"):
        assert exchange(port, f"GET {path}", as_partner)[0].startswith("HTTP/1.1 400 ")


# What was accepted is answered before either of them ends the server: tests/crash/test_stopping.py.
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.exhaustive)])
def test_no_line_of_the_log_is_lost_when_the_api_is_told_to_stop_and_it_ends_well_on_ctrl_c(
    sqlite_template: Path, tmp_path: Path, number: signal.Signals
) -> None:
    shutil.copy(sqlite_template, tmp_path / "store.db")
    port = free_port()
    unset = ("COVERDESK_BASE_URL",)
    with served(tmp_path, port, "api", without=unset) as process, httpx.Client(trust_env=False) as client:
        document = client.get(f"http://127.0.0.1:{port}/v1/openapi.json").json()
        assert document["servers"][0]["url"] == f"http://127.0.0.1:{port}/v1"
        for _ in range(300):
            assert client.get(f"http://127.0.0.1:{port}/v1/purchase").status_code == 401
        process.send_signal(number)
        output, _ = process.communicate(timeout=60)
    assert sum('"event":"request"' in line for line in output.splitlines()) == 301
    if number is signal.SIGINT:
        begins = f"Starting the API on 127.0.0.1, port {port} ..."
        assert (words_of(output), process.returncode) == ([begins, "Stopped."], 0)


@pytest.mark.parametrize("database", ["sqlite"])
@every_case("command", ["serve", "api", "run"])
def test_a_port_that_is_taken_is_said_before_an_address_is_promised(store: Store, command: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        refused = coverdesk(command, "--port", str(port))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"Port {port} is taken" in refused.stderr
    assert f"make run PORT={port + 1}" in refused.stderr


@pytest.mark.parametrize("database", ["sqlite"])
def test_an_address_that_is_not_this_machines_is_said_so(store: Store) -> None:
    refused = coverdesk("api", "--host", "192.0.2.1", "--port", "0")
    assert refused.returncode == 2
    assert "Port 0 of 192.0.2.1 cannot be listened on" in refused.stderr


def test_who_leaves_at_a_prompt_is_told_nothing(sqlite_template: Path, tmp_path: Path) -> None:
    shutil.copy(sqlite_template, tmp_path / "store.db")
    screen, terminal = pty.openpty()
    asking = subprocess.Popen(
        [COVERDESK, "staff", "add", "ada@x.example", "--role", "admin"],
        env=environment(tmp_path, 0, COVERDESK_SECRET_KEY=os.environ["COVERDESK_SECRET_KEY"]),
        cwd=ROOT,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    )
    os.close(terminal)
    shown = b""
    while b"Password" not in shown:
        shown += os.read(screen, 1000)
    # One that arrives between the prompt and the reading of an answer is seen only once the reading ends.
    ended = None
    while ended is None:
        asking.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            ended = asking.wait(10)
    assert ended == 130
    with contextlib.suppress(OSError):  # the terminal has nobody at its other end by then
        while more := os.read(screen, 1000):
            shown += more
    os.close(screen)
    assert shown.replace(b"\r\n", b"").strip() == b"Password:"


@contextmanager
def trying_out(folder: Path, port: int, purchases: int) -> "Iterator[subprocess.Popen[str]]":
    """`coverdesk run` in a folder of its own, as the foreground of a terminal."""
    words = [COVERDESK, "run", "--purchases", str(purchases), "--port", str(port)]
    named = {**environment(folder, port), "COVERDESK_DEMO": "true"}
    process = subprocess.Popen(
        words,
        env=named,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def read_until(process: "subprocess.Popen[str]", beginning: str) -> list[str]:
    assert process.stdout is not None
    lines = list[str]()
    while not lines or not lines[-1].startswith(beginning):
        lines.append(process.stdout.readline())
        assert lines[-1], process.communicate()[1]
    return lines


def count(folder: Path, table: str) -> int:
    with contextlib.closing(sqlite3.connect(folder / "store.db")) as store:
        return int(store.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


@pytest.mark.exhaustive
def test_a_trial_that_was_killed_serves_all_sales_again_and_writes_the_papers_behind(tmp_path: Path) -> None:
    with trying_out(tmp_path, free_port(), purchases=1_000) as process:
        lines = read_until(process, "Starting on ")
        assert any(line.startswith("Written: 1,000 purchases") for line in lines)
        assert count(tmp_path, "purchase") == 1_000
        process.kill()
        # Ends once nobody has its output open any more.
        outputs = process.communicate(timeout=60)
        assert "Traceback" not in outputs[1]
    assert count(tmp_path, "loan_book") == 0, "it was killed before they were written"
    port = free_port()
    with trying_out(tmp_path, port, purchases=1_000) as process:
        lines = read_until(process, "Coverdesk is at ")
        assert _answers(port)
        found = next(place for place, line in enumerate(lines) if line.startswith("Already there: 1,000 purchases"))
        assert found < lines.index(f"Starting on 127.0.0.1, port {port} ...\n")
        assert f"Coverdesk is at http://127.0.0.1:{port} " in lines[-1]
        assert any("operations@coverdesk.example" in line for line in lines)
        until = time.monotonic() + STARTS_WITHIN_SECONDS
        while count(tmp_path, "statement") <= 100:
            assert _answers(port)
            assert time.monotonic() < until, "the papers are not written"
            time.sleep(0.2)
        # In the middle of them, what has begun is undone.
        os.killpg(process.pid, signal.SIGINT)
        after, errors = process.communicate(timeout=60)
        assert (after, process.returncode) == ("Stopped.\n", 0)
        assert "slow statement" not in errors
        assert "No runtime found" not in errors
    checked = coverdesk("check", **environment(tmp_path, port), COVERDESK_DEMO="true")
    assert checked.returncode == 0, checked.stderr


# One handler takes both signals.
@pytest.mark.exhaustive
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_trial_that_is_told_to_stop_leaves_nothing_running(tmp_path: Path, number: signal.Signals) -> None:
    with trying_out(tmp_path, free_port(), purchases=20_000) as process:
        assert process.stderr is not None
        while not process.stderr.readline().startswith("20,000 purchases"):
            assert process.poll() is None
        # Ctrl-C reaches all that a terminal runs; whoever stops a service reaches the one that it has started.
        if number is signal.SIGINT:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        # Ends once nobody has its output open any more.
        outputs = process.communicate(timeout=300)
        assert process.returncode == 128 + number
        assert "Coverdesk is at" not in outputs[0]
        assert "Traceback" not in outputs[1]
