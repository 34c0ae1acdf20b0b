"""States of a month in the books, and the transitions between them (contract F7)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class MonthState(StrEnum):
    """The state of a month; one without any step is open."""

    OPEN = "Open"
    CLOSING = "Closing"
    CLOSED = "Closed"
    REOPENING = "Reopening"
    REOPENED = "Reopened"


_M = MonthState
TRANSITIONS: Final[Mapping[MonthState, tuple[MonthState, ...]]] = {
    _M.OPEN: (_M.CLOSING,),
    _M.CLOSING: (_M.CLOSED, _M.OPEN),
    _M.CLOSED: (_M.REOPENING,),
    _M.REOPENING: (_M.REOPENED, _M.CLOSED),
    _M.REOPENED: (_M.CLOSING,),
}
# The papers of a month in these states are not undone.
SHUT: Final = (_M.CLOSED, _M.REOPENING)
# Steps that another person takes than the step before.
OTHER_PERSON: Final = frozenset({(_M.CLOSING, _M.CLOSED), (_M.REOPENING, _M.REOPENED)})
