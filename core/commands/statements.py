"""`coverdesk statements ...`: preparing statements and payouts; approving them stays with a second person."""

import sys
from functools import partial
from typing import Annotated

import typer
from rich.console import Console

from core import money
from core.commands import terminal
from core.commands.months import Month, parse_month
from core.errors import InvalidInput, StateForbids
from core.services.finance import tax
from core.services.finance.payments import payouts
from core.services.finance.payments import reading as payment_reading
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements import statements
from core.services.people import staff
from core.store.access import Scope, reading

app = typer.Typer(
    help="Statements, payouts and taxes of distributors and insurers: what is due, and preparing it.",
    no_args_is_help=True,
)
out, err = Console(), Console(stderr=True)
_LIVE = Scope.staff(is_live=True)


@app.command("list")
def list_statements(month: Month = "") -> None:
    """Print every account of a month, with its state and balances."""
    with reading(_LIVE) as session:
        rows = statement_reading.list_month(session, parse_month(month))
    for row in rows:
        closing = money.format_naira(row.closing_minor) if row.closing_minor is not None else "–"
        # Past Rich, which makes blanks of tabs.
        sys.stdout.write(f"{row.number or '–'}\t{row.state}\t{row.name}\t{row.lines}\t{closing}\n")


@app.command("prepare")
def prepare(
    by: Annotated[str, typer.Option(help="E-mail of the person of finance who prepares them.")],
    month: Month = "",
    *,
    without_withholding_tax: Annotated[
        bool, typer.Option(help="State a month for which no rate is on file; nothing is withheld in it.")
    ] = False,
) -> None:
    """Prepare the month for every party that is due; exit code 1 when one was refused."""
    wanted = parse_month(month)
    with reading(Scope.system()) as session:
        person = staff.get_by_email(session, by)
        statements.require_finance(person)
    with reading(_LIVE) as session:
        due = statements.list_due(session, wanted)
    refused = 0
    for party, name in due:
        try:
            work = partial(statements.prepare, party=party, month=wanted, by=person)
            terminal.act(
                partial(work, without_withholding=without_withholding_tax),
                "statement",
                "statement prepared",
                officer=person,
                party=name,
            )
            out.print(f"{name}: prepared", highlight=False)
        except StateForbids as refusal:
            refused += 1
            err.print(f"{name}: {refusal}", highlight=False)
    out.print(f"{len(due) - refused} statements of {wanted:%B %Y} are prepared.", highlight=False)
    if refused:
        raise typer.Exit(1)


@app.command("payout")
def payout(by: Annotated[str, typer.Option(help="E-mail of the person of finance who prepares it.")]) -> None:
    """Prepare one payout of everything that can be paid out; somebody else approves it on the screen."""
    with reading(Scope.system()) as session:
        person = staff.get_by_email(session, by)
    with reading(_LIVE) as session:
        found = {balance.party: None for balance in payouts.list_payable(session)}
    work = partial(payouts.prepare, chosen=found, by=person)
    batch_id = terminal.act(work, "payout", "payout prepared", officer=person)
    with reading(_LIVE) as session:
        row = payment_reading.get_batch(session, batch_id)
    total = money.format_naira(row.net_minor)
    out.print(f"{row.number}: {row.payments} payments, {total}, wait for a second person.", highlight=False)


@app.command("taxes")
def print_taxes(kind: Annotated[str, typer.Argument(help=f"{' or '.join(tax.KINDS)}.")], month: Month = "") -> None:
    """Print the schedule of a tax as CSV."""
    if kind not in tax.KINDS:
        raise InvalidInput.for_field("kind", f"must be {' or '.join(tax.KINDS)}")
    with reading(_LIVE) as session:
        lines = tax.list_lines(session, kind, parse_month(month))
    for chunk in tax.csv_chunks(lines):
        sys.stdout.write(chunk.decode())
