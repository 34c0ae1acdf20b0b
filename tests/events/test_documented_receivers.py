"""The receivers of docs/webhooks.md and `coverdesk webhooks listen` take our deliveries, each in its own process."""

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import IO

import pytest

from core.settings import ROOT
from tests.events.conftest import Hooks
from tests.events.receivers import receiving
from tests.ports import free_port

PAGE = (ROOT / "docs" / "webhooks.md").read_text()
only_sqlite = pytest.mark.parametrize("database", ["sqlite"])


def documented(language: str) -> str:
    found = re.findall(rf"```{language}\n(.+?)```", PAGE, re.DOTALL)
    assert len(found) == 1
    return str(found[0])


@contextmanager
def running(command: list[str], port: int, secret: str) -> Iterator[IO[str]]:
    environment = {**os.environ, "PORT": str(port), "WEBHOOK_SECRET": secret, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        while process.poll() is None:
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            Event().wait(0.02)
        assert process.stdout is not None
        yield process.stdout
    finally:
        process.terminate()
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()


def commands() -> list[object]:
    def there(name: str) -> object:
        return pytest.mark.skipif(shutil.which(name) is None, reason=f"SKIPPED LOUDLY: no {name}")

    return [
        pytest.param("python", [sys.executable, "{script}"], id="python"),
        pytest.param("js", ["node", "{script}"], id="node", marks=there("node")),
        pytest.param("php", ["php", "-q", "-S", "127.0.0.1:{port}", "{script}"], id="php", marks=there("php")),
    ]


@only_sqlite
@pytest.mark.parametrize(("language", "words"), commands())
def test_the_documented_receiver_takes_a_delivery_and_refuses_a_forged_one(
    hooks: Hooks, tmp_path: Path, language: str, words: list[str]
) -> None:
    port, script = free_port(), tmp_path / f"receiver.{language[:2]}"
    script.write_text(documented(language))
    command = [word.format(script=script, port=port) for word in words]
    made = hooks.register(f"http://127.0.0.1:{port}/", ping=False)
    with running(command, port, made.secret) as output:
        hooks.ping(made.endpoint.id)
        assert output.readline().split() == ["endpoint.ping", str(made.endpoint.id)]
        sale = hooks.sell()
        hooks.drain()
        assert output.readline().split() == ["purchase.created", str(sale.purchase_id)]
    assert hooks.log(made)[0].state == "sent"
    forged = hooks.register(f"http://127.0.0.1:{port}/", ping=False)
    with running(command, port, made.secret):
        assert hooks.ping(forged.endpoint.id).delivery.state == "dead"


@only_sqlite
def test_listening_prints_what_arrives_and_judges_its_signature(hooks: Hooks) -> None:
    port = free_port()
    made = hooks.register(f"http://127.0.0.1:{port}/", ping=False)
    command = [str(Path(sys.executable).parent / "coverdesk"), "webhooks", "listen", "--port", str(port)]
    with running([*command, "--secret", made.secret], port, "") as output:
        assert hooks.ping(made.endpoint.id).delivery.state == "sent"
        assert "Listening" in output.readline()
        assert output.readline().startswith("endpoint.ping · ")
        assert output.readline().strip() == "signature: right"
    classic = hooks.register(f"http://127.0.0.1:{port}/", ping=False, format="classic")
    with running([*command, "--secret", made.secret], port, "") as output:
        hooks.ping(classic.endpoint.id)
        lines = [output.readline() for _ in range(3)]
        assert lines[-1].strip() == "signature: WRONG"


@only_sqlite
def test_the_worker_is_a_process_that_delivers_and_stops_when_asked(hooks: Hooks) -> None:
    with receiving() as receiver:
        hooks.register(receiver.url)
        sale = hooks.sell()
        command = [str(Path(sys.executable).parent / "coverdesk"), "worker"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            while len(receiver.received) < 2 and process.poll() is None:
                Event().wait(0.02)
        finally:
            process.terminate()
            output, _ = process.communicate(timeout=60)
    assert receiver.received[-1].event["object"]["id"] == str(sale.purchase_id)
    assert (process.returncode, "events to webhooks" in output) == (0, True)
