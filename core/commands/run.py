"""`coverdesk run`: the demonstration written by a process of its own while this one loads the server and serves it."""

import os
import signal
from importlib import import_module
from typing import Annotated

import typer

from core.commands import ports
from core.demo import background

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
    """Write the demonstration, as `coverdesk demo` does, and serve it; safe to repeat.

    It is served once all sales are in the store; the papers of its months are written meanwhile.
    """
    ports.refuse_used(host, port)
    # The address is to stay the last line: that statements are slow while papers are written is no news.
    os.environ.setdefault("COVERDESK_LOG_LEVEL", "ERROR")
    writer = background.begin(purchases)
    stops: list[int] = []

    def stop(number: int, *_: object) -> None:
        stops.append(number)
        writer.stop()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    # Screens make their caches when they are loaded; that no server runs yet is no news beside the bar.
    import_module("streamlit.logger").set_log_level("ERROR")
    for name in _SERVER:
        if not stops:
            import_module(name)
    failed = writer.wait_for_sales()
    for number, handler in before.items():
        signal.signal(number, handler)
    if stops or failed is not None:
        raise typer.Exit(128 + stops[0] if stops else failed or 0)
    from core.commands.serve import serve  # noqa: PLC0415 - the demonstration begins before that is imported

    serve(host, port)
