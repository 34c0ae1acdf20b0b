"""States of bordereaux, credit notes, differences, months, payments and statements, and their transitions."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from core.states.transitions import Transition, TransitionTable, between


class BordereauState(StrEnum):
    """The state of a bordereau; a draft is not kept, its rows are read when it is looked at."""

    ISSUED = "Issued"
    SENT = "Sent"
    ACKNOWLEDGED = "Acknowledged"
    QUERIED = "Queried"


_B = BordereauState
BORDEREAU_TRANSITIONS: Final = TransitionTable(
    "A bordereau",
    [
        Transition(start=_B.ISSUED, to=_B.SENT, label="Mark as sent"),
        Transition(start=_B.SENT, to=_B.ACKNOWLEDGED, label="Acknowledged by the insurer"),
        Transition(start=_B.SENT, to=_B.QUERIED, label="Queried by the insurer", needs_note=True),
        Transition(start=_B.QUERIED, to=_B.ACKNOWLEDGED, label="Acknowledged by the insurer", needs_note=True),
    ],
)
# States in which the insurer has it.
WITH_INSURER: Final = (_B.SENT, _B.ACKNOWLEDGED, _B.QUERIED)


class CreditNoteState(StrEnum):
    """The state of a credit note; that of a refund from before there were any says nothing of its payment."""

    COMPUTED = "Computed"
    SECOND_PERSON = "Awaits second person"
    APPROVED = "Approved"
    PAID = "Paid"
    RETURNED = "Returned"
    NOT_RECORDED = "Not recorded"


_C = CreditNoteState
CREDIT_NOTE_TRANSITIONS: Final = between(
    "A credit note",
    {
        _C.COMPUTED: (_C.APPROVED, _C.SECOND_PERSON),
        _C.SECOND_PERSON: (_C.APPROVED,),
        # For another payee it is approved anew.
        _C.APPROVED: (_C.PAID, _C.APPROVED),
        _C.PAID: (_C.RETURNED,),
        # By the approval of before, a return that there was not would have it paid twice.
        _C.RETURNED: (_C.APPROVED, _C.SECOND_PERSON),
        _C.NOT_RECORDED: (),
    },
)
# The customer has not got the money yet.
UNPAID: Final = (_C.COMPUTED, _C.SECOND_PERSON, _C.APPROVED, _C.RETURNED)


class DifferenceState(StrEnum):
    """The state of a difference; the last two end it."""

    OPEN = "Open"
    EXPLAINED = "Explained"
    WRITE_OFF_ASKED = "Write-off asked"
    ADJUSTED = "Adjusted"
    WRITTEN_OFF = "Written off"


_D = DifferenceState
DIFFERENCE_TRANSITIONS: Final = between(
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


class MonthState(StrEnum):
    """The state of a month; one without any step is open."""

    OPEN = "Open"
    CLOSING = "Closing"
    CLOSED = "Closed"
    REOPENING = "Reopening"
    REOPENED = "Reopened"


_M = MonthState
MONTH_TRANSITIONS: Final = TransitionTable(
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
# The series by which whoever closes a month, and whoever changes what a closing looks at, wait for each other.
CLOSING: Final = "closing of months"


class PaymentState(StrEnum):
    """The state of a payment; only a confirmed one has moved money."""

    PREPARED = "Prepared"
    APPROVED = "Approved"
    CONFIRMED = "Confirmed"
    RETURNED = "Returned"
    WITHDRAWN = "Withdrawn"


class BatchState(StrEnum):
    """The state of a payout batch; what became of its payments is theirs."""

    PREPARED = "Prepared"
    APPROVED = "Approved"
    WITHDRAWN = "Withdrawn"


_P = PaymentState
PAYMENT_TRANSITIONS: Final = between(
    "A payment",
    {
        _P.PREPARED: (_P.APPROVED, _P.CONFIRMED, _P.WITHDRAWN),
        _P.APPROVED: (_P.CONFIRMED, _P.RETURNED),
        _P.CONFIRMED: (_P.RETURNED,),
        _P.RETURNED: (),
        _P.WITHDRAWN: (),
    },
)
# A party has one payment in these states at most.
UNDER_WAY: Final = (_P.PREPARED, _P.APPROVED)


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
STATEMENT_TRANSITIONS: Final = TransitionTable(
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
