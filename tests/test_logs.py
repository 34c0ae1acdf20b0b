"""The log is written beside the work: nobody waits for it, and nothing of it is lost."""

import ast
import json
import logging
import re
import threading
import traceback

import pytest

from core import telemetry
from core.errors import StoreUnavailable
from core.settings import ROOT, settings
from core.telemetry import BackgroundWriter
from tests.process_state import restore, state


class Sink:
    """A log that takes nothing until it is opened."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.lines: list[str] = []
        self.writes = 0

    def write(self, text: str) -> None:
        self.open.wait()
        self.writes += 1
        self.lines.extend(text.splitlines(keepends=True))


def test_who_logs_does_not_wait_for_the_log_and_a_close_writes_everything_in_order() -> None:
    sink = Sink()
    writer = BackgroundWriter(sink.write)
    for number in range(1_000):
        writer.write(f"{number}\n")
    assert sink.lines == [], "all of them were taken while the log took nothing"
    sink.open.set()
    writer.close()
    assert sink.lines == [f"{number}\n" for number in range(1_000)]
    assert sink.writes <= 3, "what waits is written together"


def test_a_log_that_takes_nothing_holds_up_who_writes_instead_of_losing_lines() -> None:
    sink = Sink()
    writer = BackgroundWriter(sink.write, bound=4)
    done = threading.Event()

    def write_many() -> None:
        for number in range(20):
            writer.write(f"{number}\n")
        done.set()

    many = threading.Thread(target=write_many)
    many.start()
    assert not done.wait(0.05)
    sink.open.set()
    many.join()
    writer.close()
    assert len(sink.lines) == 20


def test_lines_after_the_close_are_written_at_once() -> None:
    sink = Sink()
    sink.open.set()
    writer = BackgroundWriter(sink.write)
    writer.close()
    writer.write("late\n")
    assert sink.lines == ["late\n"]


def test_many_threads_that_log_while_it_closes_lose_nothing() -> None:
    sink = Sink()
    sink.open.set()
    writer = BackgroundWriter(sink.write)
    threads = [threading.Thread(target=lambda: [writer.write("x\n") for _ in range(200)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    writer.close()
    for thread in threads:
        thread.join()
    assert len(sink.lines) == 1_600


@pytest.mark.parametrize("is_debugging", [False, True])
def test_an_error_is_logged_by_its_places_and_with_its_words_only_for_whoever_debugs(
    monkeypatch: pytest.MonkeyPatch, is_debugging: bool
) -> None:
    monkeypatch.setenv("COVERDESK_DEBUG", str(is_debugging))
    settings.cache_clear()
    try:
        raise KeyError("ada@example.com")
    except KeyError:
        line = telemetry._add_stack(None, "error", {"event": "unhandled", "exc_info": True})
    settings.cache_clear()
    assert ("ada@example.com" in line["exception"], "Traceback" in line["exception"]) == (is_debugging, is_debugging)
    assert "test_logs.py" in line["exception"]


def test_what_a_library_says_is_a_line_of_the_log_without_its_values(capsys: pytest.CaptureFixture[str]) -> None:
    before = state()
    telemetry.configure_logs()
    library = logging.Logger("uvicorn.error")
    library.warning("Expected %r, got %r\nada@example.com", "x", "ada@example.com")
    try:
        raise KeyError("ada@example.com")
    except KeyError:
        library.exception("Exception in the application")
        # As uvicorn does where a server cannot start.
        library.error("".join(traceback.format_exc()) + "\nada@example.com: of\nmany lines")
    telemetry.drain_logs()
    restore(before)
    first, second, third = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    assert (first["event"], first["logger"], first["level"]) == ("Expected %r, got %r", "uvicorn.error", "warning")
    assert (second["event"], second["level"]) == ("Exception in the application", "error")
    assert "test_logs.py" in second["exception"]
    assert third["event"] == "KeyError"
    assert re.fullmatch(r"test_logs.py:\d+ test_what_a_library_\w+", third["exception"])
    assert "ada@" not in f"{first}{second}{third}"


def test_why_the_database_is_away_stands_in_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COVERDESK_DEBUG", "false")
    settings.cache_clear()
    try:
        raise StoreUnavailable("connection refused")
    except StoreUnavailable:
        line = telemetry._add_stack(None, "warning", {"event": "outbox not read", "exc_info": True})
        line = telemetry.drop_unlisted_fields(None, "warning", line)
    settings.cache_clear()
    assert line["reason"] == "connection refused"


def test_every_field_that_is_logged_is_one_that_is_kept() -> None:
    """A field that is not listed is dropped without a word."""
    for path in (ROOT / "core").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
                continue
            if call.func.attr in {"info", "warning", "error", "exception"} and "log" in ast.unparse(call.func.value):
                named = {keyword.arg for keyword in call.keywords if keyword.arg} - {"exc_info"}
                assert named <= telemetry.ALLOWED_FIELDS, f"{path}:{call.lineno}"
