"""Checks of closed months in `coverdesk check`: the journal balances and is as it was (contract F7)."""

from collections import Counter
from collections.abc import Iterator

from core.services.finance import journal, months
from core.services.finance.months import Step
from core.states.finance import SHUT
from core.store.access import ScopedSession


def find_month_faults(session: ScopedSession) -> Iterator[str]:
    """Closed months whose journal changed, or does not balance on a day."""
    last: dict[object, Step] = {}
    closed: dict[object, Step] = {}
    for step in months.list_steps(session):
        last[step.month] = step
        if step.sha256:
            closed[step.month] = step
    for month, step in last.items():
        if step.state not in SHUT:
            continue
        if journal.hash_of(session, step.month, sha256=closed[month].sha256) != closed[month].sha256:
            yield f"the journal of {step.month:%B %Y}, a closed month, is not what it was"
        days: Counter[object] = Counter()
        for entry in journal.list_entries(session, step.month):
            days[entry.on] += entry.amount_minor
        yield from (f"debit and credit differ in the journal of {day}" for day, sum_ in days.items() if sum_)
