"""`coverdesk verify`: does a running server answer as the specification says?"""

from itertools import chain
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from core.api import polling, verifying

out, err = Console(), Console(stderr=True)


def verify(
    base_url: Annotated[str, typer.Option(help="Where the server is, without /v1.")],
    key: Annotated[str, typer.Option(help="A test key.", envvar="COVERDESK_VERIFY_KEY")],
) -> None:
    """Replay the whole specification against a running server, in test mode only."""
    table = Table("operation", "status", "as documented")
    faults = 0
    with verifying.replay(base_url, key) as run:
        for outcome in chain(run.outcomes(), polling.outcomes(run)):
            faults += outcome.fault is not None
            verdict = f"[red]✗[/] {escape(outcome.fault)}" if outcome.fault else "[green]✓[/]"
            table.add_row(outcome.operation, str(outcome.status or "-"), verdict)
    out.print(table)
    out.print(f"Left behind in test mode: {len(run.sold)} policies: {', '.join(run.sold) or 'none'}", highlight=False)
    if faults:
        err.print(f"[red]{faults} operations do not answer as documented.[/]")
        raise typer.Exit(1)
    out.print("[green]Every operation answers as documented.[/]")
