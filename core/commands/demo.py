"""`coverdesk demo`: a store with invented business."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from core import telemetry
from core.commands.init import prepare_store, print_first_steps
from core.demo import background, portfolio
from core.demo.papers.selling import FAULTS, build_sample
from core.services.audit import demonstration
from core.store.access import Scope, read_in, store
from core.store.operations import statistics
from core.store.schema import versions

if TYPE_CHECKING:
    from core.commands.papers import Show

out, err = Console(soft_wrap=True), Console(stderr=True)


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
    sales_written_to: Annotated[
        int | None,
        typer.Option(hidden=True, help="A file descriptor that is written to once the sales are in the store."),
    ] = None,
) -> None:
    """Write a labelled demonstration portfolio, and in demonstration mode its accounts; safe to repeat."""
    if loan_book:
        _write_sample(loan_book, loans, fault or [], seed)
        return
    if sales_written_to is not None:
        background.end_with_parent()
    is_new = _refuse_business()
    with telemetry.muting_warnings():
        with _showing() as show:
            lines = _write_sales(purchases, seed, show, is_new=is_new)
            if sales_written_to is None:
                lines += _write_papers(purchases, show)
        out.print("\n".join(lines), highlight=False)
        print_first_steps()
        if sales_written_to is not None:
            background.announce_sales(sales_written_to)
            _write_papers(purchases, _in_silence)


def _write_sales(purchases: int, seed: int, show: "Show", *, is_new: bool) -> list[str]:
    """Write the tables and every sale with what came of it, and return a line on each."""
    # The process that invents sales is loaded while this one makes the tables.
    with portfolio.making(purchases) if is_new else nullcontext() as make:
        show("Tables and catalogue", None)
        lines = [prepare_store()]
        written = portfolio.write(
            store(),
            purchases=purchases,
            seed=seed,
            progress=show(f"{purchases:,} purchases with policies, renewals and claims", purchases),
            meanwhile=_add_accounts,
            make=make,
        )
    statistics.refresh(store())
    return [*lines, str(written)]


def _add_accounts() -> None:
    from core.commands import papers  # noqa: PLC0415 - it loads most services, while the first sales are made

    papers.add_accounts()


def _write_papers(purchases: int, show: "Show") -> list[str]:
    from core.commands import papers  # noqa: PLC0415 - as above

    return papers.write(purchases, show)


def _write_sample(path: Path, loans: int, faults: Sequence[str], seed: int) -> None:
    if unknown := [name for name in faults if name not in FAULTS]:
        raise typer.BadParameter(f"{unknown[0]} is none of {', '.join(FAULTS)}", param_hint="--fault")
    path.write_bytes(build_sample(loans, faults, seed=seed))
    out.print(
        f"{loans:,} {'loan' if loans == 1 else 'loans'} written to {path}: drop it on the screen Loan books.",
        highlight=False,
    )


@contextmanager
def _showing() -> Iterator["Show"]:
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


def _in_silence(_what: str, _total: int | None) -> Callable[[int], None]:
    """Beside a server, whose address is the last line."""
    return lambda _: None


def _refuse_business() -> bool:
    """Before anything is written, be it only a newer version of the tables; True where nothing is there yet."""
    if versions.version(store()) is None:
        return True
    read_in(Scope.system(), demonstration.refuse_business)
    return False
