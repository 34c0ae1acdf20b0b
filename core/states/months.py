"""States of a month in the books, and the transitions between them (contract F7)."""

from enum import StrEnum
from typing import Final

from core.states.transitions import Transition, TransitionTable


class MonthState(StrEnum):
    """The state of a month; one without any step is open."""

    OPEN = "Open"
    CLOSING = "Closing"
    CLOSED = "Closed"
    REOPENING = "Reopening"
    REOPENED = "Reopened"


_M = MonthState
TRANSITIONS: Final = TransitionTable(
    "A month",
    [
        Transition(start=_M.OPEN, to=_M.CLOSING),
        Transition(start=_M.CLOSING, to=_M.CLOSED, needs_other=True),
        Transition(start=_M.CLOSING, to=_M.OPEN),
        Transition(start=_M.CLOSED, to=_M.REOPENING),
        Transition(start=_M.REOPENING, to=_M.REOPENED, needs_other=True),
        Transition(start=_M.REOPENING, to=_M.CLOSED),
        Transition(start=_M.REOPENED, to=_M.CLOSING),
    ],
)
# The papers of a month in these states are not undone.
SHUT: Final = (_M.CLOSED, _M.REOPENING)
