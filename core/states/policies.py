"""Stages of a policy, the actions that each allows, and its status on the wire (contract S10, S11)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from core.states.transitions import between


class PolicyStage(StrEnum):
    """The stage of a policy as the desk names it."""

    PENDING = "Pending"
    NOT_STARTED = "Not started"
    IN_FORCE = "In force"
    EXPIRED = "Expired"
    CANCELLED = "Cancelled"
    DECLINED = "Declined"


class PolicyStatus(StrEnum):
    """The status of a policy in the API."""

    PENDING = "pending"
    ACTIVE = "active"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    DECLINED = "declined"


class PolicyAction(StrEnum):
    """An action of the desk on a policy."""

    ACTIVATE = "activate"
    DECLINE = "decline"
    CANCEL = "cancel"
    RENEW = "renew"
    ENDORSE = "endorse"

    @property
    def past_tense(self) -> str:
        """The action in a refusal: "cannot be cancelled"."""
        return {"cancel": "cancelled"}.get(self, f"{self.removesuffix('e')}ed")


@dataclass(frozen=True, slots=True)
class StageRule:
    """One stage: its status in the API, the actions that it allows (renewal of renewable products only), its colour."""

    status: PolicyStatus
    actions: tuple[PolicyAction, ...]
    colour: str


_A = PolicyAction
STAGES: Final[Mapping[PolicyStage, StageRule]] = {
    PolicyStage.PENDING: StageRule(PolicyStatus.PENDING, (_A.ACTIVATE, _A.DECLINE, _A.CANCEL), "orange"),
    PolicyStage.NOT_STARTED: StageRule(PolicyStatus.ACTIVE, (_A.CANCEL, _A.RENEW), "blue"),
    PolicyStage.IN_FORCE: StageRule(PolicyStatus.ACTIVE, (_A.ENDORSE, _A.CANCEL, _A.RENEW), "green"),
    PolicyStage.EXPIRED: StageRule(PolicyStatus.EXPIRED, (_A.RENEW,), "gray"),
    PolicyStage.CANCELLED: StageRule(PolicyStatus.CANCELLED, (), "red"),
    PolicyStage.DECLINED: StageRule(PolicyStatus.DECLINED, (), "red"),
}


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
