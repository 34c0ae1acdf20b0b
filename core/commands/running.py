"""`coverdesk init`, `demo`, `serve`, `api`, `check`: making a store, serving it, and auditing it."""

import os
import resource
import sys
from typing import Annotated

import typer
import uvicorn
from rich.console import Console
from rich.progress import Progress

from core.commands import insurers
from core.services.office import checking, demonstration
from core.services.people import invitations
from core.services.products import catalogue
from core.settings import ROOT, UnreadableSetting, settings
from core.store import demo as portfolio
from core.store import engine, privacy, schema, statistics
from core.store.scope import Scope

out, err = Console(), Console(stderr=True)
_MOST_OPEN = 65_536
# Not removed by us: whoever names one store's database and another's folder would lose the files of that one.
_STRAYS = "harmless if a crash broke off their upload. They lie in the folder of COVERDESK_FILES_URL."
# Longer than a sale may take to arrive; who still sends or reads then is let go.
_ENDS_WITHIN_SECONDS = 40
Host = Annotated[str, typer.Option(help="Address to listen on.")]
Port = Annotated[int, typer.Option(help="Port to listen on.")]


def init() -> None:
    """Create or migrate the store and load the catalogue, and print how to begin; safe to repeat."""
    _make_store()
    _say_how_to_begin()


def _make_store() -> None:
    settings().secret()
    schema.migrate(engine.store())
    with engine.writing(Scope.system()) as session:
        new = catalogue.load(session)
    out.print(f"The store stands at version {schema.version(engine.store())}; {new} catalogue records are new.")


def demo(
    purchases: Annotated[int, typer.Option(min=1, help="How many purchases.")] = 20_000,
    seed: Annotated[int, typer.Option(help="The same seed writes the same business.")] = 1,
) -> None:
    """Write a labelled demonstration portfolio, and in demonstration mode its accounts; safe to repeat."""
    _make_store()
    with Progress(console=err, transient=True) as progress:
        task = progress.add_task("Writing two years of business", total=purchases)
        written = portfolio.write(
            engine.store(), purchases=purchases, seed=seed, progress=lambda n: progress.update(task, completed=n)
        )
    statistics.refresh(engine.store())
    out.print(str(written), highlight=False)
    if settings().demo:
        with engine.writing(Scope.system()) as session:
            demonstration.add_accounts(session)
    _say_how_to_begin()


def _say_how_to_begin() -> None:
    """Until there is an admin, the link that makes the first one."""
    with engine.reading(Scope.system()) as session:
        link = invitations.set_up_link(session)
    if link:
        out.print("Nobody can administer this store yet. Once it is served, open this link to become its admin:")
        sys.stdout.write(f"{link}\n")
        out.print("It works once and for 24 hours; `coverdesk staff set-up-link` prints another.", highlight=False)


def serve(host: Host = "127.0.0.1", port: Port = 8501) -> None:
    """Serve screens and API in one process."""
    # Links that nobody configured lead to where we listen.
    os.environ.setdefault("COVERDESK_BASE_URL", f"http://{host}:{port}")
    _refuse_unsafe()
    command = [sys.executable, "-m", "core.commands.serving", "run", str(ROOT / "app.py"), "--server.address", host]
    command += ["--server.port", str(port)]
    _ready_to_listen()
    _say_where(host, port)
    sys.stdout.flush()
    os.chdir(ROOT)
    os.execv(sys.executable, command)  # noqa: S606 - our own interpreter, our own arguments


def api(
    host: Host = "127.0.0.1",
    port: Port = 8502,
    workers: Annotated[int, typer.Option(min=1)] = 1,
    *,
    with_worker: Annotated[bool, typer.Option("--with-worker", help="Send to insurers from here too.")] = False,
) -> None:
    """Serve the API alone, in as many processes as wanted (PostgreSQL for more than one)."""
    _refuse_unsafe()
    if workers > 1 and engine.store().is_sqlite:
        raise UnreadableSetting("COVERDESK_DATABASE_URL: more than one worker needs PostgreSQL")
    engine.store().close()
    _ready_to_listen()
    with insurers.beside(wanted=with_worker):
        uvicorn.run(
            "core.api.app:app",
            host=host,
            port=port,
            workers=workers,
            http="core.api.wire:BoundedProtocol",
            timeout_graceful_shutdown=_ENDS_WITHIN_SECONDS,
            log_level="warning",
            access_log=False,
        )


def check() -> None:
    """Audit the whole store; exit code 1 when anything does not hold."""
    with engine.reading(Scope.system()) as session:
        faults, strays = checking.faults(session), checking.strays(session)
    if strays:
        err.print(f"{len(strays):,} files that no record names: {_STRAYS}", highlight=False, soft_wrap=True)
    for fault in faults:
        err.print(f"[red]✗[/] {fault}", highlight=False, soft_wrap=True)
    if faults:
        raise typer.Exit(1)
    out.print("[green]✓[/] Everything holds.")


def _refuse_unsafe() -> None:
    settings().refuse_unsafe()
    if schema.version(engine.store()) != schema.newest():
        raise UnreadableSetting("COVERDESK_DATABASE_URL: this store has another version, run `coverdesk init`")
    if not settings().demo:
        _refuse_published_passwords()


def _refuse_published_passwords() -> None:
    with engine.reading(Scope.system()) as session:
        published = demonstration.with_a_published_password(session)
    if published:
        raise UnreadableSetting(
            f"COVERDESK_DEMO: {', '.join(published)} can sign in with the password of the demonstration, which"
            " everybody knows; choose another for each, or disable it with `coverdesk staff disable`"
        )


def _ready_to_listen() -> None:
    """Believe only the proxies that we were told of, and take as many connections as the machine lets us."""
    os.environ.setdefault("FORWARDED_ALLOW_IPS", settings().proxies)
    privacy.keep_private(engine.store())
    few, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(few, min(most, _MOST_OPEN)), most))


def _say_where(host: str, port: int) -> None:
    out.print(f"\nCoverdesk is at [bold]http://{host}:{port}[/]  (the API at /v1, its page at /v1/docs)")
    if settings().demo:
        out.print(f"Demonstration sign-ins, password [bold]{settings().demo_password.get_secret_value()}[/]:")
        for account in demonstration.ACCOUNTS:
            out.print(f"  {account.email}  ({account.role})", highlight=False)
