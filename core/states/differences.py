"""States of a difference that a reconciliation found, and the transitions between them (contract F6)."""

from enum import StrEnum
from typing import Final

from core.states.transitions import between


class DifferenceState(StrEnum):
    """The state of a difference; the last two end it."""

    OPEN = "Open"
    EXPLAINED = "Explained"
    WRITE_OFF_ASKED = "Write-off asked"
    ADJUSTED = "Adjusted"
    WRITTEN_OFF = "Written off"


_D = DifferenceState
TRANSITIONS: Final = between(
    "A difference",
    {
        _D.OPEN: (_D.EXPLAINED,),
        _D.EXPLAINED: (_D.EXPLAINED, _D.ADJUSTED, _D.WRITE_OFF_ASKED),
        _D.WRITE_OFF_ASKED: (_D.WRITTEN_OFF, _D.EXPLAINED),
        _D.ADJUSTED: (),
        _D.WRITTEN_OFF: (),
    },
)
ENDED: Final = (_D.ADJUSTED, _D.WRITTEN_OFF)
# Those that nobody has explained yet.
UNEXPLAINED: Final = (_D.OPEN,)
