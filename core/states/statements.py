"""States of a statement, and the transitions between them (contract F3)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from core.states.transitions import Transition, TransitionTable


class StatementState(StrEnum):
    """The state of a statement; payments make it part paid and paid."""

    PREPARED = "Prepared"
    APPROVED = "Approved"
    SENT = "Sent"
    PART_PAID = "Part paid"
    PAID = "Paid"
    DISPUTED = "Disputed"
    VOID = "Void"


@dataclass(frozen=True, kw_only=True, slots=True)
class StatementTransition(Transition[StatementState]):
    """One transition that a person makes; `of_reversal` says whether it is for reversals only, or never for one.

    One that is `anew` is made where the approval lapsed, and not otherwise.
    """

    of_reversal: bool | None = None
    anew: bool = False


_S = StatementState
TRANSITIONS: Final = TransitionTable(
    "A statement",
    [
        StatementTransition(start=_S.PREPARED, to=_S.APPROVED, label="Approve", stamps="approved", needs_other=True),
        StatementTransition(start=_S.PREPARED, to=_S.VOID, label="Give up", needs_note=True, of_reversal=True),
        StatementTransition(
            start=_S.APPROVED, to=_S.APPROVED, label="Approve again", stamps="approved", needs_other=True, anew=True
        ),
        StatementTransition(start=_S.APPROVED, to=_S.SENT, label="Mark as sent", stamps="sent"),
        StatementTransition(start=_S.SENT, to=_S.DISPUTED, label="Note a dispute", needs_note=True, of_reversal=False),
        StatementTransition(start=_S.DISPUTED, to=_S.SENT, label="Settle the dispute", needs_note=True),
    ],
)
# States that a person brings a statement to, each kept as a step of its history.
BY_A_PERSON: Final = (_S.APPROVED, _S.SENT, _S.DISPUTED, _S.VOID)
# States in which the other party has it and it counts; in the second, it has seen it at some time.
IN_FORCE: Final = (_S.SENT, _S.PART_PAID, _S.PAID)
SEEN: Final = (*IN_FORCE, _S.DISPUTED, _S.VOID)
# States in which something was paid.
PAID_ON: Final = (_S.PART_PAID, _S.PAID)
