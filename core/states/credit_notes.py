"""States of a credit note, and the transitions between them (contract F8)."""

from enum import StrEnum
from typing import Final

from core.states.transitions import between


class CreditNoteState(StrEnum):
    """The state of a credit note; that of a refund from before there were any says nothing of its payment."""

    COMPUTED = "Computed"
    SECOND_PERSON = "Awaits second person"
    APPROVED = "Approved"
    PAID = "Paid"
    RETURNED = "Returned"
    NOT_RECORDED = "Not recorded"


_C = CreditNoteState
TRANSITIONS: Final = between(
    "A credit note",
    {
        _C.COMPUTED: (_C.APPROVED, _C.SECOND_PERSON),
        _C.SECOND_PERSON: (_C.APPROVED,),
        # For another payee it is approved anew.
        _C.APPROVED: (_C.PAID, _C.APPROVED),
        _C.PAID: (_C.RETURNED,),
        _C.RETURNED: (_C.PAID, _C.APPROVED),
        _C.NOT_RECORDED: (),
    },
)
# The customer has not got the money yet.
UNPAID: Final = (_C.COMPUTED, _C.SECOND_PERSON, _C.APPROVED, _C.RETURNED)
