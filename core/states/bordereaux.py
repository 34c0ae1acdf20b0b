"""States of bordereaux, and the transitions between them (contract F5)."""

from enum import StrEnum
from typing import Final

from core.states.transitions import Transition, TransitionTable


class BordereauState(StrEnum):
    """The state of a bordereau; a draft is not kept, its rows are read when it is looked at."""

    ISSUED = "Issued"
    SENT = "Sent"
    ACKNOWLEDGED = "Acknowledged"
    QUERIED = "Queried"


_B = BordereauState
TRANSITIONS: Final = TransitionTable(
    "A bordereau",
    [
        Transition(start=_B.ISSUED, to=_B.SENT, label="Mark as sent"),
        Transition(start=_B.SENT, to=_B.ACKNOWLEDGED, label="Acknowledged by the insurer"),
        Transition(start=_B.SENT, to=_B.QUERIED, label="Queried by the insurer", needs_note=True),
        Transition(start=_B.QUERIED, to=_B.ACKNOWLEDGED, label="Acknowledged by the insurer", needs_note=True),
    ],
)
# States in which the insurer has it.
TOLD: Final = (_B.SENT, _B.ACKNOWLEDGED, _B.QUERIED)
