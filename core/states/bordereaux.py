"""States of bordereaux, and the transitions between them (contract F5)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class BordereauState(StrEnum):
    """The state of a bordereau; a draft is not kept, its rows are read when it is looked at."""

    ISSUED = "Issued"
    SENT = "Sent"
    ACKNOWLEDGED = "Acknowledged"
    QUERIED = "Queried"


@dataclass(frozen=True, slots=True)
class Transition:
    """One allowed change of state, and whether it needs a note."""

    start: BordereauState
    to: BordereauState
    label: str
    needs_note: bool = False


_B = BordereauState
TRANSITIONS: Final = (
    Transition(_B.ISSUED, _B.SENT, "Mark as sent"),
    Transition(_B.SENT, _B.ACKNOWLEDGED, "Acknowledged by the insurer"),
    Transition(_B.SENT, _B.QUERIED, "Queried by the insurer", needs_note=True),
    Transition(_B.QUERIED, _B.ACKNOWLEDGED, "Acknowledged by the insurer", needs_note=True),
)
# States in which the insurer has it.
TOLD: Final = (_B.SENT, _B.ACKNOWLEDGED, _B.QUERIED)
