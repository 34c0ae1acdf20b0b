"""`coverdesk serve` and `api`: serving a store."""

import atexit
import ctypes
import http.client
import os
import resource
import runpy
import shutil
import signal
import sys
import tempfile
import threading
import time
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer
import uvicorn
from rich.console import Console
from rich.markup import escape
from uvicorn.config import HTTP_PROTOCOLS

from core import telemetry
from core.api.outside import health
from core.api.protection import slow_senders
from core.commands import insurers, ports, stores
from core.demo import accounts as demo_accounts
from core.errors import InvalidSetting
from core.settings import LOOPBACK_HOSTS, ROOT, settings
from core.store.access import Scope, read_in, store
from core.store.operations import local_files

out = Console(soft_wrap=True)
_MAX_OPEN_FILES = 65_536
_MALLOC_ARENAS = 2
_EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104 - to be told apart, not to be listened on
_M_ARENA_MAX = -8  # as the C library numbers it; others know no such function, or no such number
# Longer than a sale may take to arrive; who still sends or reads then is let go.
_SHUTDOWN_SECONDS = 40
_LOOKS_EVERY_SECONDS = 0.1
Host = Annotated[str, typer.Option(help="Address to listen on.")]
Port = Annotated[int, typer.Option(min=0, max=65_535, help="Port to listen on.")]


def serve(host: Host = "127.0.0.1", port: Port = 8501) -> None:
    """Serve screens and API in one process."""
    _refuse_public_demonstration(host)
    _default_base_url(host, port)
    _check_safe_to_serve()
    ports.refuse_used(host, port)
    # Ctrl-C is the usual end of a server and no failure.
    signal.signal(signal.SIGINT, _stopped)
    _prepare_process()
    _serve_metrics(host)
    out.print(f"Starting on {host}, port {port} ...", highlight=False)
    threading.Thread(target=_print_address, args=(host, port), daemon=True).start()
    # Streamlit starts the server and has no option for the protocol class, so register ours as uvicorn's default.
    HTTP_PROTOCOLS["auto"] = slow_senders.NAME
    _watch_no_settings()
    sys.argv = ["streamlit", "run", str(ROOT / "app.py"), "--server.address", host, "--server.port", str(port)]
    # Run Streamlit in this process, where half of its modules are loaded already, as if started by itself.
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)


def api(
    host: Host = "127.0.0.1",
    port: Port = 8502,
    workers: Annotated[int, typer.Option(min=1)] = 1,
    *,
    with_worker: Annotated[bool, typer.Option("--with-worker", help="Send to insurers from here too.")] = False,
) -> None:
    """Serve the API alone, in as many processes as wanted (PostgreSQL for more than one)."""
    _default_base_url(host, port)
    _check_safe_to_serve()
    if workers > 1 and store().is_sqlite:
        raise InvalidSetting("COVERDESK_DATABASE_URL: more than one worker needs PostgreSQL")
    store().close()
    ports.refuse_used(host, port)
    # Ctrl-C is the usual end of a server and no failure.
    signal.signal(signal.SIGINT, _stopped)
    _prepare_process()
    if workers > 1:
        _share_metrics()
    _serve_metrics(host)
    out.print(f"Starting the API on {host}, port {port} ...", highlight=False)
    with insurers.run_worker_alongside(enabled=with_worker):
        uvicorn.run(
            "core.api.app:app",
            host=host,
            port=port,
            workers=workers,
            http=slow_senders.NAME,
            timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
            log_config=None,
            log_level="warning",
            access_log=False,
        )


def _refuse_public_demonstration(host: str) -> None:
    """A demonstration that nobody asked for by name has published passwords: it is for this machine alone."""
    if stores.is_assumed_demonstration() and host not in LOOPBACK_HOSTS:
        raise InvalidSetting(
            "COVERDESK_DEMO: must be set to true to serve the demonstration beyond this machine; for a store of your"
            " own set COVERDESK_SECRET_KEY and run `coverdesk init`"
        )


def _check_safe_to_serve() -> None:
    settings().check_safe_to_serve()
    stores.refuse_other_version()
    if not settings().demo:
        _check_published_passwords()


def _check_published_passwords() -> None:
    published = read_in(Scope.system(), demo_accounts.list_with_published_password)
    if published:
        raise InvalidSetting(
            f"COVERDESK_DATABASE_URL: in this store {', '.join(published)} can sign in with the password of the"
            " demonstration, which everybody knows. Name a store of your own; or keep this one, add an admin with"
            " `coverdesk staff add` and then disable each of these with `coverdesk staff disable`"
        )


def _share_metrics() -> None:
    """Name the folder in which API processes keep what they count; it is read before any of them starts."""
    if settings().metrics:
        folder = tempfile.mkdtemp(prefix="coverdesk-metrics-")
        os.environ[telemetry.SHARED_FOLDER] = folder
        atexit.register(shutil.rmtree, folder, ignore_errors=True)


def _serve_metrics(host: str) -> None:
    """On a port of their own, if there is one."""
    try:
        health.serve_apart(host)
    except OSError as error:
        raise InvalidSetting(f"COVERDESK_METRICS_PORT: cannot be listened on: {error.strerror}") from None


def _reached_at(host: str) -> str:
    """Return the URL of a listener for a browser; outside a demonstration only the operator knows the public one."""
    if settings().demo and host in _EVERYWHERE:
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def _default_base_url(host: str, port: int) -> None:
    """Links that nobody configured, as those of certificates, lead to where this process listens."""
    os.environ.setdefault("COVERDESK_BASE_URL", f"http://{_reached_at(host)}:{port}")
    settings.cache_clear()


def _prepare_process() -> None:
    """Trust only the configured proxies, raise the limit of open files, and limit malloc's arenas."""
    os.environ.setdefault("FORWARDED_ALLOW_IPS", settings().proxies)
    local_files.restrict(store())
    soft_limit, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft_limit, min(hard_limit, _MAX_OPEN_FILES)), hard_limit))
    _limit_memory_arenas()


def _limit_memory_arenas() -> None:
    """Limit malloc to two arenas: with one per thread, memory freed by a thread cannot be reused by others.

    A database's pages are allocated by one thread and freed by another, so the process would grow for hours.
    """
    # An existing setting is respected; ours is inherited by child processes.
    if sys.platform != "linux" or "MALLOC_ARENA_MAX" in os.environ:
        return
    os.environ["MALLOC_ARENA_MAX"] = str(_MALLOC_ARENAS)
    if (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
        mallopt(_M_ARENA_MAX, _MALLOC_ARENAS)


def _watch_no_settings() -> None:
    """Keep Streamlit from reading each of its configuration files five times a second: ours change with the code."""
    # Imported here, as the API alone is served without it.
    from streamlit.web import bootstrap  # noqa: PLC0415

    bootstrap._install_config_watchers = lambda flag_options: None  # noqa: SLF001


def _stopped(*_: Any) -> None:
    out.print("Stopped.")
    raise SystemExit(0)


def _print_address(host: str, port: int) -> None:
    """Print the demonstration's sign-ins and, as the last line, the address, once it answers."""
    address, here = settings().base_url, f"http://{_reached_at(host)}:{port}"
    probed = f"127.0.0.1:{port}" if host in _EVERYWHERE else urlsplit(here).netloc
    while not _answers(probed):
        time.sleep(_LOOKS_EVERY_SECONDS)
    if settings().demo:
        _print_sign_ins()
    listening = "" if address == here else f", listening on {host}, port {port}"
    out.print(f"Coverdesk is at [bold]{address}[/]{listening}  (the API at /v1, its page at /v1/docs)")
    sys.stdout.flush()


def _print_sign_ins() -> None:
    """Print those that `coverdesk demo` made: a store that it has not written to has none."""
    accounts = read_in(Scope.system(), demo_accounts.list_accounts)
    if accounts:
        out.print(f"Demonstration sign-ins, password [bold]{escape(settings().demo_password.get_secret_value())}[/]:")
    for account in accounts:
        out.print(f"  {account.email}  ({account.role})", highlight=False)


def _answers(place: str) -> bool:
    connection = http.client.HTTPConnection(place, timeout=5)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
