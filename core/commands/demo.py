"""`coverdesk demo`: a store with invented business."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from core import telemetry
from core.commands.init import out, prepare_store, print_first_steps
from core.demo import portfolio, refuse_business
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
_LIVE = Scope.staff(is_live=True)


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
    is_new = _refuse_business()
    # The process that invents sales is loaded while this one makes the tables.
    beginning = portfolio.making(purchases) if is_new else nullcontext()
    with telemetry.muting_warnings(), _showing() as show, beginning as make:
        show("Tables and catalogue", None)
        lines, months = [prepare_store()], _Months(purchases)
        what = "policies, renewals, claims and the papers of each month" if months.are_kept else "policies and claims"
        written = portfolio.write(
            store(),
            purchases=purchases,
            seed=seed,
            progress=show(f"{purchases:,} purchases with {what}", purchases),
            meanwhile=_add_accounts if settings().demo else _nothing,
            follow=months.write_until,
            make=make,
        )
        lines.append(str(written))
        show("Figures by which the store plans its reading", None)
        statistics.refresh(store())
        if settings().demo:
            lines += [*months.list_lines(show), *_add_cases(purchases, show)]
    out.print("\n".join(lines), highlight=False)
    print_first_steps()


def _write_sample(path: Path, loans: int, faults: Sequence[str], seed: int) -> None:
    if unknown := [name for name in faults if name not in FAULTS]:
        raise typer.BadParameter(f"{unknown[0]} is none of {', '.join(FAULTS)}", param_hint="--fault")
    path.write_bytes(loan_books.build_sample(loans, faults, seed=seed))
    out.print(
        f"{loans:,} {'loan' if loans == 1 else 'loans'} written to {path}: drop it on the screen Loan books.",
        highlight=False,
    )


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


class _Months:
    """Statements, payments and bordereaux of the months that are over, written as soon as their sales are.

    Another process invents sales meanwhile: this one would only wait for them.
    """

    def __init__(self, purchases: int) -> None:
        self.are_kept = settings().demo and finance.FEWEST_PURCHASES <= purchases <= finance.MOST_PURCHASES
        self._newest: date | None = None
        self._statements = 0

    def write_until(self, at: datetime) -> None:
        """Write the months that ended before an instant until which every sale is in the store."""
        try:
            for month in self._list_due(at) if self.are_kept else ():
                self._write(month)
        except NotFound:
            # Somebody disabled the accounts that would have written them.
            self.are_kept = False

    def _list_due(self, at: datetime) -> list[date]:
        with reading(_LIVE) as session:
            months = finance.list_closed(session, at)
        return [month for month in months if self._newest is None or month > self._newest]

    def _write(self, month: date) -> None:
        if self._newest is None:
            transact(_LIVE, partial(finance.write_terms, first=month))
        self._statements += transact(_LIVE, partial(finance.write_month, month=month))
        transact(_LIVE, partial(month_close.close_month, month=month))
        self._newest = month

    def list_lines(self, show: Show) -> Iterator[str]:
        """Write what follows the last month, and say how many statements there are."""
        if self.are_kept:
            show("A reconciliation and credit notes", None)
            transact(_LIVE, month_close.settle)
            yield f"{self._statements:,} statements of the months that are over."


def _add_cases(purchases: int, show: Show) -> Iterator[str]:
    """Let the accounts write cases by the services, where they can still sign in; yields a line on each kind."""
    show("Endorsements and cases of the privacy desk", None)
    with suppress(NotFound):
        yield f"{transact(_LIVE, endorsements.write_endorsements):,} endorsements of policies in force."
    with suppress(NotFound):
        yield f"{transact(Scope.system(), privacy.write_cases):,} cases of the privacy desk."
    if purchases >= finance.FEWEST_PURCHASES:
        show("Loan books", None)
        with suppress(NotFound):
            yield f"{transact(_LIVE, loan_books.write_books):,} loan books, in every state that lasts."


def _refuse_business() -> bool:
    """Before anything is written, be it only a newer version of the tables; True where nothing is there yet."""
    if versions.version(store()) is None:
        return True
    with reading(Scope.system()) as session:
        refuse_business(session)
    return False
