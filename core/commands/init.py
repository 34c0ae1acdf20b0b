"""`coverdesk init` and `demo`: creating a store."""

import sys
from contextlib import suppress
from functools import partial
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from core import demo as portfolio
from core.errors import NotFound
from core.services.admin import demonstration
from core.services.closing import demonstration as month_close
from core.services.compliance import demonstration as privacy
from core.services.finance import demonstration as finance
from core.services.people import invitations
from core.services.products import catalogue
from core.services.selling import demonstration as endorsements
from core.settings import settings
from core.store.access import Scope, reading, store, transact, writing
from core.store.operations import statistics
from core.store.schema import migrating, versions

out, err = Console(), Console(stderr=True)


def init() -> None:
    """Create or migrate the store and load the catalogue, and print how to begin; safe to repeat."""
    _prepare_store()
    if not _print_first_steps():
        _print_set_up_link()


def _prepare_store() -> None:
    settings().refuse_borrowed_secret()
    settings().get_secret()
    migrating.migrate(store())
    with writing(Scope.system()) as session:
        new = catalogue.load_catalogue(session)
    out.print(f"The store stands at version {versions.version(store())}; {new} catalogue records are new.")


def demo(
    purchases: Annotated[int, typer.Option(min=1, help="How many purchases.")] = 20_000,
    seed: Annotated[int, typer.Option(help="The same seed writes the same business.")] = 1,
) -> None:
    """Write a labelled demonstration portfolio, and in demonstration mode its accounts; safe to repeat."""
    _refuse_business()
    _prepare_store()
    with Progress(console=err, transient=True) as progress:
        task = progress.add_task("Writing two years of business", total=purchases)
        written = portfolio.write(
            store(), purchases=purchases, seed=seed, progress=lambda n: progress.update(task, completed=n)
        )
    statistics.refresh(store())
    out.print(str(written), highlight=False)
    if settings().demo:
        with writing(Scope.system()) as session:
            demonstration.add_accounts(session)
        _add_statements(purchases)
        _add_endorsements()
        _add_privacy_cases()
    _print_first_steps()


def _add_statements(purchases: int) -> None:
    """The months that are over as statements, where two of the accounts can still sign in."""
    if not finance.FEWEST_PURCHASES <= purchases <= finance.MOST_PURCHASES:
        return
    live, number = Scope.staff(is_live=True), 0
    with reading(live) as session:
        months = finance.list_closed(session)
    with suppress(NotFound):
        if months:
            transact(live, partial(finance.write_terms, first=months[0]))
        for month in months:
            number += transact(live, partial(finance.write_month, month=month))
            transact(live, partial(month_close.close_month, month=month))
        transact(live, month_close.reconcile)
        transact(live, month_close.give_back)
        out.print(f"{number:,} statements of the months that are over.", highlight=False)


def _add_endorsements() -> None:
    """Endorsements of policies in force, where the account of operations can still sign in."""
    with suppress(NotFound):
        number = transact(Scope.staff(is_live=True), endorsements.write_endorsements)
        out.print(f"{number:,} endorsements of policies in force.", highlight=False)


def _add_privacy_cases() -> None:
    """A case of each register of the privacy desk, where two of the accounts can still sign in."""
    with suppress(NotFound):
        number = transact(Scope.system(), privacy.write_cases)
        out.print(f"{number:,} cases of the privacy desk.", highlight=False)


def _refuse_business() -> None:
    """Before anything is written, be it only a newer version of the tables."""
    if versions.version(store()) is not None:
        with reading(Scope.system()) as session:
            portfolio.refuse_business(session)


def _print_first_steps() -> bool:
    """Until there is an admin, the link that makes the first one; False when there is one."""
    with reading(Scope.system()) as session:
        link = invitations.create_set_up_link(session)
    if link:
        out.print("Nobody can administer this store yet. Once it is served, open this link to become its admin:")
        sys.stdout.write(f"{link}\n")
        out.print("It works once and for 24 hours; `coverdesk staff set-up-link` prints another.", highlight=False)
    return link is not None


def _print_set_up_link() -> None:
    with reading(Scope.system()) as session:
        is_demonstration = demonstration.is_demonstration(session)
    out.print("An admin can sign in already and adds everybody else, under Admin > Staff.", highlight=False)
    if is_demonstration:
        out.print("This store holds the demonstration: name one of your own with COVERDESK_DATABASE_URL.")
