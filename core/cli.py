"""`coverdesk ...`: everything an operator does without a screen."""

import sys

import typer
from rich.console import Console

from core.commands import backups, claims, exporting, insurers, keys, resealing, running, staff, verifying
from core.errors import CoverdeskError
from core.settings import UnreadableSetting
from core.store import privacy

app = typer.Typer(help="The desk and the counter of an insurance distribution business.", no_args_is_help=True)
for command in (running.init, running.demo, running.serve, running.api, running.check, verifying.verify):
    app.command()(command)
app.command()(backups.backup)
app.command()(backups.restore)
app.command()(resealing.reseal)
app.command()(insurers.worker)
app.command()(insurers.sandbox_insurer)
for name, subject in {"keys": keys, "staff": staff, "claims": claims, "export": exporting}.items():
    app.add_typer(subject.app, name=name)


def main() -> None:
    """Run a command; a refusal or an unreadable setting is a clear line and exit code 1 or 2."""
    privacy.begin_private()
    err = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        app()
    except UnreadableSetting as error:
        err.print(f"[bold red]Cannot start.[/] {error}")
        sys.exit(2)
    except CoverdeskError as error:
        err.print(f"[bold red]Refused.[/] {error}")
        sys.exit(1)
