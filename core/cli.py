"""`coverdesk ...`: everything an operator does without a screen."""

import os
import sys
from typing import Annotated

import typer
import uvicorn
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from core import clock
from core.api import verifying
from core.commands import claims, exporting
from core.errors import CoverdeskError
from core.services import catalogue, checking, demonstration, keys, staff
from core.settings import ROOT, UnreadableSetting, settings
from core.store import demo as portfolio
from core.store import engine, schema
from core.store.scope import Scope

ACTOR = "command line"
app = typer.Typer(help="The desk and the counter of an insurance distribution business.", no_args_is_help=True)
keys_app = typer.Typer(help="API keys of distributors.", no_args_is_help=True)
staff_app = typer.Typer(help="People who sign in.", no_args_is_help=True)
app.add_typer(keys_app, name="keys")
app.add_typer(staff_app, name="staff")
app.add_typer(claims.app, name="claims")
app.add_typer(exporting.app, name="export")
out, err = Console(), Console(stderr=True)

Host = Annotated[str, typer.Option(help="Address to listen on.")]
Port = Annotated[int, typer.Option(help="Port to listen on.")]


def main() -> None:
    """Run a command; a refusal or an unreadable setting is a clear line and exit code 1 or 2."""
    try:
        app(standalone_mode=True)
    except UnreadableSetting as error:
        err.print(f"[bold red]Cannot start.[/] {error}", highlight=False, soft_wrap=True)
        sys.exit(2)
    except CoverdeskError as error:
        err.print(f"[bold red]Refused.[/] {error}", highlight=False, soft_wrap=True)
        sys.exit(1)


@app.command()
def init() -> None:
    """Create or migrate the store and load the catalogue; safe to repeat."""
    settings().secret()
    schema.migrate(engine.store())
    with engine.writing(Scope.system()) as session:
        new = catalogue.load(session)
    out.print(f"The store stands at version {schema.version(engine.store())}; {new} catalogue records are new.")


@app.command()
def demo(
    purchases: Annotated[int, typer.Option(min=1, help="How many purchases.")] = 20_000,
    seed: Annotated[int, typer.Option(help="The same seed writes the same business.")] = 1,
) -> None:
    """Write a labelled demonstration portfolio; safe to repeat."""
    init()
    with Progress(console=err, transient=True) as progress:
        task = progress.add_task("Writing two years of business", total=purchases)
        written = portfolio.write(
            engine.store(), purchases=purchases, seed=seed, progress=lambda n: progress.update(task, completed=n)
        )
    out.print(written)
    if settings().demo:
        with engine.writing(Scope.system()) as session:
            demonstration.add_accounts(session)


@app.command()
def serve(host: Host = "127.0.0.1", port: Port = 8501) -> None:
    """Serve screens and API in one process."""
    _refuse_unsafe()
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), "--server.address", host]
    command += ["--server.port", str(port)]
    _say_where(host, port)
    os.chdir(ROOT)
    sys.stdout.flush()
    os.execv(sys.executable, command)  # noqa: S606 - our own interpreter, our own arguments


@app.command()
def api(host: Host = "127.0.0.1", port: Port = 8502, workers: Annotated[int, typer.Option(min=1)] = 1) -> None:
    """Serve the API alone, in as many processes as wanted (PostgreSQL for more than one)."""
    _refuse_unsafe()
    if workers > 1 and engine.store().is_sqlite:
        raise UnreadableSetting("COVERDESK_DATABASE_URL: more than one worker needs PostgreSQL")
    engine.store().close()
    uvicorn.run("core.api.app:app", host=host, port=port, workers=workers, log_level="warning", access_log=False)


@app.command()
def check() -> None:
    """Audit the whole store; exit code 1 when anything does not hold."""
    with engine.reading(Scope.system()) as session:
        faults = checking.faults(session)
    for fault in faults:
        err.print(f"[red]✗[/] {fault}", highlight=False)
    if faults:
        raise typer.Exit(1)
    out.print("[green]✓[/] Everything holds.")


@app.command()
def verify(
    base_url: Annotated[str, typer.Option(help="Where the server is, without /v1.")],
    key: Annotated[str, typer.Option(help="A test key.", envvar="COVERDESK_VERIFY_KEY")],
) -> None:
    """Replay the whole specification against a running server, in test mode only."""
    table = Table("operation", "status", "as documented")
    faults = 0
    with verifying.replay(base_url, key) as run:
        for outcome in run.outcomes():
            faults += outcome.fault is not None
            verdict = f"[red]✗[/] {escape(outcome.fault)}" if outcome.fault else "[green]✓[/]"
            table.add_row(outcome.operation, str(outcome.status or "-"), verdict)
    out.print(table)
    out.print(f"Left behind in test mode: {len(run.sold)} policies: {', '.join(run.sold) or 'none'}", highlight=False)
    if faults:
        err.print(f"[red]{faults} operations do not answer as documented.[/]")
        raise typer.Exit(1)
    out.print("[green]Every operation answers as documented.[/]")


def _refuse_unsafe() -> None:
    settings().refuse_unsafe()
    if schema.version(engine.store()) != schema.newest():
        raise UnreadableSetting("COVERDESK_DATABASE_URL: this store has another version, run `coverdesk init`")


def _say_where(host: str, port: int) -> None:
    out.print(f"\nCoverdesk is at [bold]http://{host}:{port}[/]  (the API at /v1, its page at /v1/docs)")
    if settings().demo:
        out.print("Demonstration sign-ins, password [bold]" + settings().demo_password.get_secret_value() + "[/]:")
        for account in demonstration.ACCOUNTS:
            out.print(f"  {account.email}  ({account.role})", highlight=False)


@keys_app.command("issue")
def issue_key(
    distributor: Annotated[str, typer.Option(help="The distributor's name; made when it is new.")],
    mode: Annotated[str, typer.Option(help="test or live.")],
    name: Annotated[str, typer.Option(help="What the key is for.")] = "issued by command",
) -> None:
    """Print a new key, and only the key; it cannot be shown again."""
    if mode not in {"test", "live"}:
        raise typer.BadParameter("must be test or live", param_hint="--mode")
    with engine.writing(Scope.system()) as session:
        distributor_id = keys.distributor_named(session, distributor)
        key = keys.issue(session, distributor_id=distributor_id, is_live=mode == "live", name=name, actor=ACTOR)
    sys.stdout.write(key + "\n")


@keys_app.command("list")
def list_keys() -> None:
    """Show every key without the key itself."""
    with engine.reading(Scope.system()) as session:
        found = keys.all_keys(session)
    table = Table("id", "distributor", "mode", "name", "key", "last used", "revoked")
    for key in found:
        used, revoked = clock.in_lagos(key.last_used_at), clock.in_lagos(key.revoked_at)
        mode = "live" if key.is_live else "test"
        table.add_row(str(key.id), key.distributor, mode, key.name, key.hint, used, revoked)
    out.print(table)


@keys_app.command("revoke")
def revoke_key(id_or_key: Annotated[str, typer.Argument(help="The id of the key, or the key.")]) -> None:
    """End a key; it stops working within a second."""
    with engine.writing(Scope.system()) as session:
        revoked = keys.revoke(session, id_or_key, actor=ACTOR)
    out.print(f"Revoked {revoked}")


@staff_app.command("add")
def add_staff(
    email: str,
    role: Annotated[list[str], typer.Option(help="operations, claims, finance, supervisor or admin.")],
    name: Annotated[str, typer.Option(help="The person's name.")] = "",
) -> None:
    """Add a person, or change their roles and password; the password is read from standard input."""
    password = typer.prompt("Password", hide_input=True) if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    with engine.writing(Scope.system()) as session:
        staff.add(session, email=email, name=name or email, roles=role, password=password, actor=ACTOR)
    out.print(f"{email} can sign in as {', '.join(role)}.", highlight=False)


@staff_app.command("disable")
def disable_staff(email: str) -> None:
    """End a person's access at once."""
    with engine.writing(Scope.system()) as session:
        staff.disable(session, email, actor=ACTOR)
    out.print(f"{email} can no longer sign in.", highlight=False)
