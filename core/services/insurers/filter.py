"""The filters of the policies that wait for their insurer."""

from datetime import timedelta
from typing import Any, Final, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.lists.filters.catalogue import members_of
from core.services.lists.filters.declaration import Filter, Ids, of
from core.services.lists.filters.field import Condition
from core.services.lists.filters.fields import Flag, Member, Word
from core.settings import settings
from core.states.policies import AnswerStatus, SubmissionState
from core.store.schema.tables import InsurerConnection, Provider, Submission, SubmissionOwner

QueueView = Literal["queued", "deciding", "failing", "dead"]
VIEWS: Final = {"queued": "Queued", "deciding": "Deciding", "failing": "Trying again", "dead": "Set aside"}
ConnectionView = Literal["working", "failing", "none"]
CONNECTIONS: Final = {"working": "Connected", "failing": "Failing", "none": "Delegated"}
NOBODY: Final = "nobody"
# Age targets: a connected insurer answers, any other one is told by hand or by bordereau.
ANSWERED_WITHIN, TOLD_WITHIN = timedelta(days=1), timedelta(days=7)
_IS_QUEUED = col(Submission.state) == SubmissionState.QUEUED
_HAS_FAILED = col(Submission.failures) > 0
_VIEW_CONDITIONS: Final[dict[str, tuple[Condition, ...]]] = {
    "queued": (_IS_QUEUED, sa.not_(_HAS_FAILED), col(Submission.answer).is_(None)),
    "deciding": (_IS_QUEUED, sa.not_(_HAS_FAILED), col(Submission.answer) == AnswerStatus.PENDING),
    "failing": (_IS_QUEUED, _HAS_FAILED),
    "dead": (col(Submission.state) == SubmissionState.DEAD,),
}


def _is_in_view(_: Any, view: str) -> Condition:
    return sa.and_(*_VIEW_CONDITIONS[view])


def _has_connection(_: Any, word: str) -> Condition:
    is_connected = sa.or_(*(_is_connected(is_live=is_live) for is_live in (True, False)))
    fails = (
        sa.select(col(InsurerConnection.provider_id))
        .where(
            col(InsurerConnection.provider_id) == col(Submission.provider_id),
            col(InsurerConnection.failures) > 0,
        )
        .exists()
    )
    if word == "none":
        return sa.not_(is_connected)
    return sa.and_(is_connected, fails if word == "failing" else sa.not_(fails))


def _is_owned(_: Any, owner: UUID | str) -> Condition:
    owned = sa.select(col(SubmissionOwner.policy_id))
    if owner == NOBODY:
        return col(Submission.policy_id).not_in(owned)
    return col(Submission.policy_id).in_(owned.where(col(SubmissionOwner.owner_id) == owner))


def _is_late(_: Any, value: bool) -> Condition:  # noqa: FBT001 - the value of a filter
    since, now = col(Submission.created_at), clock.now()
    is_connected = sa.or_(*(_is_connected(is_live=is_live) for is_live in (True, False)))
    late = sa.or_(since <= now - TOLD_WITHIN, sa.and_(since <= now - ANSWERED_WITHIN, is_connected))
    return late if value else sa.not_(late)


def _is_connected(*, is_live: bool) -> Condition:
    known = settings()
    segments = [segment for segment in known.insurers if known.insurer_url(segment, is_live=is_live)]
    providers = sa.select(col(Provider.id)).where(col(Provider.segment).in_(segments))
    return sa.and_(col(Submission.is_live).is_(is_live), col(Submission.provider_id).in_(providers))


class SubmissionFilter(Filter, on=(Submission,)):
    """Filter of the list of policies that wait for their insurer; `owner` is a person or `nobody`."""

    provider_ids: Ids = of(members_of("provider"))
    view: QueueView | None = of(
        Word(label="State", column=_is_in_view, address="state", options=VIEWS, anything="Any state")
    )
    connection: ConnectionView | None = of(
        Word(
            label="Connection",
            column=_has_connection,
            address="connection",
            options=CONNECTIONS,
            anything="Any connection",
        )
    )
    late: bool | None = of(
        Flag(
            label="Target",
            column=_is_late,
            address="late",
            options={"yes": "Past its target", "no": "Within its target"},
            anything="Past or within",
        )
    )
    owner: UUID | str | None = of(
        Member(label="Owner", column=_is_owned, address="owned_by", also=(NOBODY,), what="person", anything="Anybody")
    )
