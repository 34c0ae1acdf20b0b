"""Statements of the demonstration: every closed month prepared and approved, the last one open, one in dispute."""

from datetime import date
from typing import Final

from core import clock
from core.services.finance.statements import overview as statement_overview
from core.services.finance.statements import preparing as statements
from core.services.finance.statements import states as statement_states
from core.services.people import staff
from core.store.access import ScopedSession

# A smaller demonstration is a test's, a larger one is for trying speed: neither waits for hundreds of statements.
FEWEST_PURCHASES: Final = 1_000
MOST_PURCHASES: Final = 50_000
_MAKER, _CHECKER = "finance@coverdesk.example", "admin@coverdesk.example"


def list_closed(session: ScopedSession) -> list[date]:
    """List the months that are over, the oldest first."""
    return [month for month in reversed(statement_overview.list_months(session)) if _is_over(month)]


def write_month(session: ScopedSession, month: date) -> int:
    """Prepare the statements of a month that are due, and return their number; the months have to come in order.

    All are approved and sent but those of the last month, which wait; one of the month before is in dispute. NotFound
    where the accounts of the demonstration cannot sign in any more.
    """
    maker, checker = staff.get_by_email(session, _MAKER), staff.get_by_email(session, _CHECKER)
    to_wait = clock.add_months(clock.today().replace(day=1), -1)
    number = 0
    for party, _ in statements.list_due(session, month):
        if statements.find_due_month(session, party) != month:
            continue
        made = statements.prepare(session, party, month, by=maker)
        number += 1
        if month == to_wait:
            continue
        statement_states.move(session, made, "Approved", by=checker)
        statement_states.move(session, made, "Sent", by=maker)
        if number == 1 and clock.add_months(month, 1) == to_wait:
            note = "Two policies of the month are said to be missing"
            statement_states.move(session, made, "Disputed", by=maker, note=note)
    return number


def _is_over(month: date) -> bool:
    return clock.lagos_midnight(clock.add_months(month, 1)) <= clock.now()
