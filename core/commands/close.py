"""`coverdesk close ...`: the check list of a month, beginning to close it, and its journal."""

import sys
from functools import partial
from typing import Annotated

import typer
from rich.console import Console

from core.commands import terminal
from core.commands.months import Month, parse_month
from core.desk import closing
from core.services.finance import journal
from core.services.people import staff
from core.store.access import Scope, reading

app = typer.Typer(help="Closing a month: its check list, beginning it, and the journal.", no_args_is_help=True)
out = Console()
_LIVE = Scope.staff(is_live=True)


@app.command("checks")
def print_checks(month: Month = "") -> None:
    """Print the check list of a month; exit code 1 when something stands against closing it."""
    with reading(_LIVE) as session:
        found = closing.list_checks(session, parse_month(month))
    for check in found:
        verdict = "stands against it" if check.stands_against else "to be looked at" if check.rows else "ok"
        verdict = check.unproved or verdict
        sys.stdout.write(f"{verdict}\t{len(check.rows)}\t{check.name}\n")
    if any(check.stands_against for check in found):
        raise typer.Exit(1)


@app.command("begin")
def begin(
    by: Annotated[str, typer.Option(help="E-mail of the person of finance who begins it.")], month: Month = ""
) -> None:
    """Begin to close a month; somebody else closes it on the screen."""
    wanted = parse_month(month)
    with reading(Scope.system()) as session:
        person = staff.get_by_email(session, by)
    work = partial(closing.begin, month=wanted, by=person)
    terminal.act(work, "month", "month closing begun", officer=person, month=f"{wanted:%Y-%m}")
    out.print(f"{wanted:%B %Y} is being closed: a second person closes it.", highlight=False)


@app.command("journal")
def print_journal(
    month: Month = "",
    format_: Annotated[
        str, typer.Option("--format", help=f"For a bookkeeping package: {', '.join(filter(None, journal.FORMATS))}.")
    ] = "",
) -> None:
    """Print the journal of a month as CSV, or as a bookkeeping package imports it."""
    with reading(_LIVE) as session:
        sys.stdout.write(journal.print_journal(session, parse_month(month), format_).decode())
