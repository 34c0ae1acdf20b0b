"""Writes the papers of a demonstration by its people: accounts, statements, payments, cases and loan books.

It loads most services, which nobody waits for while the first sales are made (`core.commands.demo`).
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from core import clock
from core.demo import accounts
from core.demo.papers import finance, privacy, selling, webhooks
from core.demo.portfolio import without_gc
from core.errors import NotFound
from core.settings import settings
from core.store.access import Scope, read_in, store, transact, writing
from core.store.operations import statistics

# Given what is being made and how many there will be, returns the function that is given how many there are.
Show = Callable[[str, int | None], Callable[[int], None]]
_LIVE = Scope.staff(is_live=True)


def add_accounts() -> None:
    """Add the accounts of demonstration mode; outside it nobody is given a password that everybody knows."""
    if settings().demo:
        with writing(Scope.system()) as session:
            accounts.add_accounts(session)


def write(purchases: int, show: Show) -> list[str]:
    """Write what people would have made of the sales in demonstration mode, and return a line on each kind."""
    with without_gc():
        lines = [*_write_months(purchases, show), *_add_cases(purchases, show)] if settings().demo else []
    show("Figures by which the store plans its reading", None)
    statistics.refresh(store())
    return lines


def _write_months(purchases: int, show: Show) -> Iterator[str]:
    """Write statements, payments and bordereaux of the months that are over, and say how many statements there are."""
    # Somebody may have disabled the accounts that would write them.
    with suppress(NotFound):
        if finance.FEWEST_PURCHASES <= purchases <= finance.MOST_PURCHASES:
            months = read_in(_LIVE, finance.list_closed, clock.now())
            progress = show("Months with their statements, payouts and bordereaux", len(months))
            if months:
                transact(_LIVE, partial(finance.write_terms, first=months[0]))
            statements = 0
            for number, month in enumerate(months, 1):
                statements += transact(_LIVE, partial(finance.write_month, month=month))
                transact(_LIVE, partial(finance.close_month, month=month))
                progress(number)
            show("A reconciliation and credit notes", None)
            transact(_LIVE, finance.settle)
            yield f"{statements:,} statements of the months that are over."


def _add_cases(purchases: int, show: Show) -> Iterator[str]:
    """Let the accounts write cases by the services, where they can still sign in; yields a line on each kind."""
    show("Endorsements and cases of the privacy desk", None)
    with suppress(NotFound):
        yield f"{transact(_LIVE, selling.write_endorsements):,} endorsements of policies in force."
    with suppress(NotFound):
        yield f"{transact(Scope.system(), privacy.write_cases):,} cases of the privacy desk."
    show("Webhooks and what was delivered", None)
    with suppress(NotFound):
        yield f"{transact(Scope.system(), webhooks.write_endpoints):,} deliveries to webhooks, all on this machine."
    if purchases >= finance.FEWEST_PURCHASES:
        show("Loan books", None)
        with suppress(NotFound):
            yield f"{transact(_LIVE, selling.write_books):,} loan books, in every state that lasts."
