"""`coverdesk bordereaux ...`: what insurers are told of a month, and issuing it."""

import sys
from functools import partial
from typing import Annotated

import typer
from rich.console import Console

from core import money
from core.commands import terminal
from core.commands.months import Month, parse_month
from core.errors import StateForbids
from core.services.finance.bordereaux import bordereaux
from core.services.people import staff
from core.store.access import Scope, reading

app = typer.Typer(help="Premium and claims bordereaux of insurers: what is due, and issuing it.", no_args_is_help=True)
out, err = Console(), Console(stderr=True)
_LIVE = Scope.staff(is_live=True)


@app.command("list")
def list_bordereaux(month: Month = "") -> None:
    """Print every bordereau of a month, with its state, rows and main sum."""
    with reading(_LIVE) as session:
        rows = bordereaux.list_month(session, parse_month(month))
    for row in rows:
        # Past Rich, which makes blanks of tabs.
        cells = (row.number or "–", row.state, row.kind, row.party, str(row.rows), money.format_naira(row.main_minor))
        sys.stdout.write("\t".join(cells) + "\n")


@app.command("issue")
def issue(
    by: Annotated[str, typer.Option(help="E-mail of the person of finance who issues them.")], month: Month = ""
) -> None:
    """Issue every bordereau that is next for the month; exit code 1 when one was refused."""
    wanted, refused = parse_month(month), 0
    with reading(Scope.system()) as session:
        person = staff.get_by_email(session, by)
        bordereaux.require_finance(person)
    with reading(_LIVE) as session:
        due = bordereaux.list_due(session, wanted)
    for provider_id, name, kind in due:
        try:
            work = partial(bordereaux.issue, provider_id=provider_id, kind=kind, month=wanted, by=person)
            terminal.act(work, "bordereau", "bordereau issued", officer=person, insurer=name)
        except StateForbids as refusal:
            refused += 1
            err.print(f"{name}: {refusal}", highlight=False)
    out.print(f"{len(due) - refused} bordereaux of {wanted:%B %Y} are issued.", highlight=False)
    if refused:
        raise typer.Exit(1)
