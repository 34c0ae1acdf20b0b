"""`coverdesk verify`: check that a running server answers as specified, also while others sell."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain
from typing import Annotated, Final

import httpx
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from core.api import contract_replay
from core.api.contract_replay import Outcome, Replay
from core.api.http.queries import OVERLAP

PATH: Final = "/products/insurer-f/buy-personal-accident"
SALES, SELLERS = 24, 4
_NAME: Final = "GET /v1/purchase/search, polled while others sell"


@dataclass
class Poller:
    """A client that asks for what was created since the newest record that it knows, less an overlap."""

    client: httpx.Client
    overlap: timedelta
    newest: datetime
    seen: set[str] = field(default_factory=set)

    def poll(self) -> None:
        """Ask once for all that is new, page by page."""
        since = (self.newest - self.overlap).isoformat()
        for page in range(1, 1000):
            parameters = {"start_date": since, "limit": "100", "page": str(page)}
            rows = (
                self.client.get("/v1/purchase/search", params=parameters).raise_for_status().json()["data"]["purchases"]
            )
            for row in rows:
                self.seen.add(row["id"])
                self.newest = max(self.newest, datetime.fromisoformat(row["created_at"]))
            if len(rows) < 100:
                return


def outcomes(run: Replay) -> Iterator[Outcome]:
    """One more outcome of a replay: polled with the overlap of contract P4, no sale is missed."""
    try:
        yield _polled(run)
    except httpx.HTTPError as error:
        yield Outcome(_NAME, 0, f"no answer: {type(error).__name__}")


def _polled(run: Replay) -> Outcome:
    first = run.sale(PATH)
    begun = datetime.fromisoformat(first["created_at"])
    careful, exact = (Poller(run.client, overlap, begun) for overlap in (OVERLAP, timedelta(0)))
    with ThreadPoolExecutor(SELLERS) as sellers:
        selling = [sellers.submit(run.sale, PATH) for _ in range(SALES)]
        while not all(each.done() for each in selling):
            careful.poll()
            exact.poll()
    sold = {each.result()["purchase_id"] for each in selling}
    careful.poll()
    exact.poll()
    late, missed = len(sold - exact.seen), len(sold - careful.seen)
    name = f"{_NAME}: {len(sold)} sales, {late} seen by the overlap of {OVERLAP.seconds} seconds alone"
    return Outcome(name, 200, f"{missed} sales were never seen" if missed else None)


out, err = Console(), Console(stderr=True)


def verify(
    base_url: Annotated[str, typer.Option(help="Where the server is, without /v1.")],
    key: Annotated[str, typer.Option(help="A test key.", envvar="COVERDESK_VERIFY_KEY")],
) -> None:
    """Replay the whole specification against a running server, in test mode only."""
    table = Table("operation", "status", "as documented")
    faults = 0
    with contract_replay.prepare_replay(base_url, key) as run:
        for outcome in chain(run.outcomes(), outcomes(run)):
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
