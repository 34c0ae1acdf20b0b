"""`coverdesk demo`: a store with invented business."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from core import demo as portfolio
from core import telemetry
from core.commands.init import out, prepare_store, print_first_steps
from core.errors import NotFound
from core.services.admin import demonstration
from core.services.closing import demonstration as month_close
from core.services.compliance import demonstration as privacy
from core.services.finance import demonstration as finance
from core.services.selling import demonstration as endorsements
from core.services.selling.loan_books import demonstration as loan_books
from core.services.selling.loan_books.demonstration import FAULTS
from core.settings import settings
from core.store.access import Scope, reading, store, transact, writing
from core.store.operations import statistics
from core.store.schema import versions

err = Console(stderr=True)
# Given what is being made and how many there will be, returns the function that is given how many there are.
Show = Callable[[str, int | None], Callable[[int], None]]


def demo(
    purchases: Annotated[int, typer.Option(min=1, help="How many purchases.")] = 20_000,
    seed: Annotated[int, typer.Option(help="The same seed writes the same business.")] = 1,
    loan_book: Annotated[
        Path | None, typer.Option(help="Write a sample loan book to this CSV file instead, and nothing else.")
    ] = None,
    loans: Annotated[int, typer.Option(min=1, max=100_000, help="How many loans the sample has.")] = 100,
    fault: Annotated[
        list[str] | None, typer.Option(help=f"A fault of every twelfth loan of the sample: {', '.join(FAULTS)}.")
    ] = None,
) -> None:
    """Write a labelled demonstration portfolio, and in demonstration mode its accounts; safe to repeat."""
    if loan_book:
        _write_sample(loan_book, loans, fault or [], seed)
        return
    _refuse_business()
    with telemetry.muting_warnings(), _showing() as show:
        show("Tables and catalogue", None)
        lines = [prepare_store()]
        written = portfolio.write(
            store(),
            purchases=purchases,
            seed=seed,
            progress=show(f"{purchases:,} purchases with policies, renewals and claims", purchases),
            meanwhile=_add_accounts if settings().demo else _nothing,
        )
        lines.append(str(written))
        show("Figures by which the store plans its reading", None)
        statistics.refresh(store())
        if settings().demo:
            lines += _add_papers(purchases, show)
    out.print("\n".join(lines), highlight=False)
    print_first_steps()


def _write_sample(path: Path, loans: int, faults: Sequence[str], seed: int) -> None:
    if unknown := [name for name in faults if name not in FAULTS]:
        raise typer.BadParameter(f"{unknown[0]} is none of {', '.join(FAULTS)}", param_hint="--fault")
    path.write_bytes(loan_books.build_sample(loans, faults, seed=seed))
    out.print(f"{loans:,} loans written to {path}: drop it on the screen Loan books.", highlight=False)


@contextmanager
def _showing() -> Iterator[Show]:
    """A bar that names what is being made, how far it is and for how long it has run; a file gets a line on each."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:

        def show(what: str, total: int | None) -> Callable[[int], None]:
            for earlier in progress.tasks:
                progress.update(earlier.id, total=earlier.total or 1, completed=earlier.total or 1)
            if progress.disable:
                err.print(f"{what} ...", highlight=False)
            task = progress.add_task(what, total=total)
            return lambda number: progress.update(task, completed=number)

        yield show


def _nothing() -> None:
    """Outside demonstration mode nobody is given a password that everybody knows."""


def _add_accounts() -> None:
    with writing(Scope.system()) as session:
        demonstration.add_accounts(session)


def _add_papers(purchases: int, show: Show) -> Iterator[str]:
    """Let the accounts write papers by the services, where they can still sign in; yields a line on each kind."""
    live = Scope.staff(is_live=True)
    if finance.FEWEST_PURCHASES <= purchases <= finance.MOST_PURCHASES:
        with suppress(NotFound):
            yield f"{_add_statements(live, show):,} statements of the months that are over."
    show("Endorsements and cases of the privacy desk", None)
    with suppress(NotFound):
        yield f"{transact(live, endorsements.write_endorsements):,} endorsements of policies in force."
    with suppress(NotFound):
        yield f"{transact(Scope.system(), privacy.write_cases):,} cases of the privacy desk."
    if purchases >= finance.FEWEST_PURCHASES:
        show("Loan books", None)
        with suppress(NotFound):
            yield f"{transact(live, loan_books.write_books):,} loan books, in every state that lasts."


def _add_statements(live: Scope, show: Show) -> int:
    with reading(live) as session:
        months = finance.list_closed(session)
    advance, number = show("Statements, payments and bordereaux of each month", len(months)), 0
    if months:
        transact(live, partial(finance.write_terms, first=months[0]))
    for done, month in enumerate(months, 1):
        number += transact(live, partial(finance.write_month, month=month))
        transact(live, partial(month_close.close_month, month=month))
        advance(done)
    show("A reconciliation and credit notes", None)
    transact(live, month_close.reconcile)
    transact(live, month_close.give_back)
    return number


def _refuse_business() -> None:
    """Before anything is written, be it only a newer version of the tables."""
    if versions.version(store()) is not None:
        with reading(Scope.system()) as session:
            portfolio.refuse_business(session)
