"""`coverdesk run`: the demonstration written by a process of its own while this one loads the server."""

import signal
import subprocess
import sys
from importlib import import_module
from typing import Annotated

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
    purchases: Annotated[int, typer.Option(min=1, help="How many purchases.")] = 10_000,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 8501,
) -> None:
    """Write the demonstration, as `coverdesk demo` does, and serve it; safe to repeat."""
    ports.refuse_used(host, port)
    # In a group of its own, so that Ctrl-C reaches it once, through us.
    writing = subprocess.Popen([*_DEMO, str(purchases)], process_group=0)  # noqa: S603 - our own command
    stops: list[int] = []

    def stop(number: int, *_: object) -> None:
        stops.append(number)
        writing.send_signal(signal.SIGINT)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    for name in _SERVER:
        if not stops:
            import_module(name)
    failed = writing.wait()
    for number, handler in before.items():
        signal.signal(number, handler)
    if stops or failed:
        raise typer.Exit(128 + stops[0] if stops else failed)
    from core.commands.serve import serve  # noqa: PLC0415 - the demonstration begins before that is imported

    serve(host, port)
