"""`coverdesk verify`: check that a running server answers as specified."""

from itertools import chain
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from core.api import contract_replay, polling

out, err = Console(), Console(stderr=True)


def verify(
    base_url: Annotated[str, typer.Option(help="Where the server is, without /v1.")],
    key: Annotated[str, typer.Option(help="A test key.", envvar="COVERDESK_VERIFY_KEY")],
) -> None:
    """Replay the whole specification against a running server, in test mode only."""
    table = Table("operation", "status", "as documented")
    faults = 0
    with contract_replay.prepare_replay(base_url, key) as run:
        for outcome in chain(run.outcomes(), polling.outcomes(run)):
            faults += outcome.fault is not None
            verdict = f"[red]✗[/] {escape(outcome.fault)}" if outcome.fault else "[green]✓[/]"
            table.add_row(outcome.operation, str(outcome.status or "-"), verdict)
    out.print(table)
    _print_remains(run)
    if faults:
        err.print(f"[red]{faults} operations do not answer as documented.[/]")
        raise typer.Exit(1)
    out.print("[green]Every operation answers as documented.[/]")


def _print_remains(run: contract_replay.Replay) -> None:
    """A run sells, so that its traces must be findable; each policy and each renewal has its purchase record too."""
    out.print("Left behind in test mode, in the books of the key's distributor:", highlight=False)
    for kind, names in run.left.items():
        out.print(f"  {len(names)} {kind}: {', '.join(names) or 'none'}", highlight=False)
