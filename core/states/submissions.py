"""States of a policy's submission to its insurer, and the transitions between them (contract N5)."""

from enum import StrEnum
from typing import Final

from core.states.transitions import between


class SubmissionState(StrEnum):
    """The state of a submission; `dead` is set aside for a person."""

    DELEGATED = "delegated"
    QUEUED = "queued"
    ACCEPTED = "accepted"
    DECLINED = "declined"
    DEAD = "dead"
    WITHDRAWN = "withdrawn"


class AnswerStatus(StrEnum):
    """The decision in an insurer's answer."""

    ACCEPTED = "accepted"
    PENDING = "pending"
    DECLINED = "declined"


_S = SubmissionState
TRANSITIONS: Final = between(
    "A submission",
    {
        _S.QUEUED: (_S.ACCEPTED, _S.DECLINED, _S.DEAD, _S.WITHDRAWN, _S.QUEUED),
        _S.DEAD: (_S.QUEUED, _S.ACCEPTED, _S.DECLINED, _S.WITHDRAWN, _S.DEAD),
    },
)
# States in which the insurer's answer is still outstanding.
OPEN: Final = tuple(state for state in SubmissionState if TRANSITIONS.list_from(state))
