"""`coverdesk worker` and `coverdesk sandbox-insurer`: sending policies to insurers, and a sandbox to test with."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console

from core import telemetry
from core.commands import stores
from core.insurers import sandbox
from core.insurers.sandbox import SandboxInsurer
from core.settings import settings
from core.store.access import store
from core.store.schema import versions
from core.worker import Worker

out = Console(soft_wrap=True)
DefaultBehaviour = Annotated[
    str, typer.Option(help=f"What is done where no e-mail asks for anything: {', '.join(sandbox.BEHAVIOURS)}.")
]


def worker(
    host: Annotated[str, typer.Option(help="Address for COVERDESK_METRICS_PORT.")] = "127.0.0.1",
) -> None:
    """Send what waits, until stopped: policies to insurers, events to webhooks, e-mail; as many as wanted."""
    settings().check_safe_to_serve()
    stores.refuse_other_version()
    versions.write_at_own_version()
    telemetry.configure_logs()
    telemetry.start_spans()
    if settings().metrics:
        # With it comes what serves HTTP, which a worker that nobody scrapes does without.
        from core.api.outside import health  # noqa: PLC0415

        health.serve_apart(host)
    running = Worker(store())
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: running.request_stop())
    out.print("Sending policies to insurers, events to webhooks, and e-mail.")
    running.run()
    store().close()
    telemetry.stop_spans()


@contextmanager
def run_worker_alongside(*, enabled: bool) -> Iterator[None]:
    """Run a worker in this process while something else is served; on exit it finishes the calls in progress."""
    versions.write_at_own_version()
    running = Worker(store())
    if enabled:
        # The server raises the signal again after it has stopped; that must not end the process before the worker has.
        signal.signal(signal.SIGTERM, _exit_on_signal)
        # With several API workers, no server in this process configures logging.
        telemetry.configure_logs()
        running.start()
    try:
        yield
    finally:
        running.stop()


def sandbox_insurer(
    port: Annotated[int, typer.Option(help="Port to listen on, on this machine alone.")] = 8600,
    always: DefaultBehaviour = sandbox.APPROVES,
) -> None:
    """An insurer to try connections with; the word behind the plus of the holder's e-mail says what it does."""
    if always not in sandbox.BEHAVIOURS:
        raise typer.BadParameter(f"must be one of {', '.join(sandbox.BEHAVIOURS)}", param_hint="--always")
    server = SandboxInsurer(port, default_behaviour=always)
    signal.signal(signal.SIGTERM, _exit_on_signal)
    out.print(
        f"The sandbox insurer is at [bold]{server.url}[/]; start Coverdesk with COVERDESK_INSURER_A_URL={server.url}"
    )
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        out.print("Stopped.")
    finally:
        server.closing.set()
        server.server_close()


def _exit_on_signal(*_: Any) -> None:
    raise SystemExit(0)
