"""Statements of the demonstration: every closed month prepared and approved, the last one open, one in dispute."""

from datetime import date
from functools import partial
from typing import Final

from core import clock
from core.services.finance import statement_overview, statement_reading, statement_states, statements
from core.services.people import staff
from core.services.people.staff import Person
from core.store.access.engine import Store
from core.store.access.scope import Scope, ScopedSession

# A larger demonstration is for trying speed; its statements are prepared by whoever wants to see that.
MOST_PURCHASES: Final = 50_000
_LIVE: Final = Scope.staff(is_live=True)
_MAKER, _CHECKER = "finance@coverdesk.example", "admin@coverdesk.example"


def write_statements(store: Store) -> int:
    """Prepare every month that is over, in order, and return the number of statements; safe to repeat.

    All are approved and sent but those of the last month, which wait; one of the month before is in dispute.
    """
    with store.reading(Scope.system()) as session:
        maker, checker = staff.get_by_email(session, _MAKER), staff.get_by_email(session, _CHECKER)
    with store.reading(_LIVE) as session:
        over = [month for month in reversed(statement_overview.list_months(session)) if _is_over(month)]
    return sum(
        store.transact(_LIVE, partial(_write_month, month=month, place=place, maker=maker, checker=checker))
        for place, month in enumerate(over, 1 - len(over))
    )


def _is_over(month: date) -> bool:
    return clock.lagos_midnight(clock.add_months(month, 1)) <= clock.now()


def _write_month(session: ScopedSession, month: date, *, place: int, maker: Person, checker: Person) -> int:
    """Prepare one month; `place` is 0 for the last one, -1 for the one before."""
    number = 0
    for party, _ in statements.list_due(session, month):
        last = statement_reading.get_last(session, party)
        due = clock.add_months(last.month, 1) if last else statements.find_first_month(session, party)
        if due != month:
            continue
        made = statements.prepare(session, party, month, by=maker)
        number += 1
        if place < 0:
            statement_states.move(session, made, "Approved", by=checker)
            statement_states.move(session, made, "Sent", by=maker)
        if place == -1 and number == 1:
            note = "Two policies of the month are said to be missing"
            statement_states.move(session, made, "Disputed", by=maker, note=note)
    return number
