"""Counts beside entries of the menu: claims that nobody has yet, a person's tasks, payments for finance."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

import streamlit as st

from core.services.claims.diary import tasks as claim_tasks
from core.services.claims.lists import totals as claim_totals
from core.services.claims.lists.filter import ClaimFilter
from core.services.claims.workflow import paying as claim_paying
from core.services.people.staff import Person
from core.states.claims import CLAIMS_ROLES
from core.ui.kit import figure_cache, words
from core.ui.kit.figure_cache import StoreState

QUEUE: Final = "claims/queue.py"
TASKS: Final = "claims/tasks.py"
CLAIM_PAYMENTS: Final = "finance/claim_payments.py"
_MAX_CACHED: Final = 256


def load_counts(person: Person) -> Mapping[str, int]:
    """Return the counts of a person's menu by the file of the page; empty for who works neither claims nor payments."""
    if not person.has_role(*CLAIMS_ROLES, claim_paying.PAYER_ROLE):
        return {}
    return _count(figure_cache.standing(), person)


@lru_cache(_MAX_CACHED)
def _count(at: StoreState, person: Person) -> Mapping[str, int]:
    """Count what waits for a person; counted anew after every write."""
    found: dict[str, int] = {}
    with at.reading() as session:
        if person.has_role(*CLAIMS_ROLES):
            found[QUEUE] = claim_totals.get_totals(session, ClaimFilter(view="unassigned")).count
            found[TASKS] = len(claim_tasks.list_mine(session, person))
        if person.has_role(claim_paying.PAYER_ROLE):
            found[CLAIM_PAYMENTS] = claim_paying.count_open(session)
    return found


def announce_new(person: Person, before: Mapping[str, int]) -> None:
    """Tell of claims that have come in since a page was drawn."""
    new = load_counts(person).get(QUEUE, 0) - before.get(QUEUE, 0)
    if new > 0:
        st.toast(
            f"{words.count(new)} new {'claim waits' if new == 1 else 'claims wait'} in the queue.",
            icon=":material/inbox:",
        )
