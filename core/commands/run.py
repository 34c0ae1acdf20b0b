"""`coverdesk run`: the demonstration written by a process of its own while this one loads the server."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any

import typer

from core.commands import ports

_DEMO = (sys.executable, "-c", "from core.cli import main; main()", "demo", "--purchases")
# Most of what a server and its first screen import; on a fresh machine it is compiled by that.
_SERVER = (
    "core.commands.serve",
    "streamlit.web.cli",
    "core.api.app",
    "core.worker",
    "core.ui.frame.navigation",
    "core.ui.sign_in.gate",
    "pandas",
    "plotly.graph_objects",
)


def run(
    purchases: Annotated[int, typer.Option(min=1, help="How many purchases.")] = 20_000,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 8501,
) -> None:
    """Write the demonstration, as `coverdesk demo` does, and serve it; safe to repeat."""
    ports.refuse_used(host, port)
    with _writing_demonstration(purchases) as writing:
        for name in _SERVER:
            import_module(name)
        failed = writing.wait()
    if failed:
        raise typer.Exit(failed)
    from core.commands.serve import serve  # noqa: PLC0415 - the demonstration begins before that is imported

    serve(host, port)


@contextmanager
def _writing_demonstration(purchases: int) -> "Iterator[subprocess.Popen[bytes]]":
    """`coverdesk demo` in a process of its own, which ends when this one is told to."""
    before = signal.signal(signal.SIGTERM, _leave)
    process = subprocess.Popen([*_DEMO, str(purchases)])  # noqa: S603 - our own command
    try:
        yield process
    finally:
        process.terminate()
        process.wait()
        signal.signal(signal.SIGTERM, before)


def _leave(*_: Any) -> None:
    raise SystemExit(128 + signal.SIGTERM)
