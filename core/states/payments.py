"""States of payments and payout batches, and the transitions between them (contract F4)."""

from enum import StrEnum
from typing import Final

from core.states.transitions import between


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
TRANSITIONS: Final = between(
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
