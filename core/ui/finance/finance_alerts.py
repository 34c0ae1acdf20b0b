"""Warnings of finance that stand on more than one screen."""

import streamlit as st

from core.services.finance import agreements
from core.services.finance.bordereaux import overview
from core.services.finance.bordereaux.reading import KIND_NAMES
from core.store.access import Scope, reading
from core.ui.kit import words

_NAMED = 3


def overdue_bordereaux() -> None:
    """Say in red which insurers should have had a bordereau by now."""
    with reading(Scope.staff(is_live=True)) as session:
        found = overview.list_overdue(session)
    if not found:
        return
    named = [
        f"{words.plain(each.party)}, {KIND_NAMES[each.kind].lower()} of {each.month:%B %Y},"
        f" due {words.day(each.due_on)}: {each.missing}"
        for each in sorted(found, key=lambda each: each.due_on)[:_NAMED]
    ]
    more = f"; and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    st.error(f"Bordereaux are overdue: {'; '.join(named)}{more}.", icon=":material/assignment_late:")


def expiring_licences() -> None:
    """Say whose licence to sell ends within 60 days, in red once it is over or ends within a week."""
    with reading(Scope.staff(is_live=True)) as session:
        found = agreements.list_expiring(session)
    for _, name, last_on, left in found:
        when = "ended" if left < 0 else "ends"
        text = f"The licence of {words.plain(name)} {when} on {words.day(last_on)}."
        draw = st.error if agreements.warned_at(left) in (0, 7) else st.warning
        draw(text, icon=":material/gpp_maybe:")
