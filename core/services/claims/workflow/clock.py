"""The statutory clock of a claim: 60 days, paused while the claimant has to act (contract C9)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.states.claims import DECIDED, WAITING
from core.store.access import ScopedSession
from core.store.schema.tables import Claim, ClaimEvent, ClaimQuestion

STATUTORY_PERIOD: Final = timedelta(days=60)
# A claim with no more than this left is near its deadline.
NEAR_DEADLINE: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class StatusReached:
    """A status and the instant at which the claim reached it."""

    status: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause of the clock while the claimant owes an answer; `answered_at` is None until it comes."""

    asked_at: datetime
    answered_at: datetime | None = None

    def covers(self, instant: datetime) -> bool:
        """Return True while the answer is outstanding."""
        return self.asked_at <= instant and (self.answered_at is None or instant < self.answered_at)


@dataclass(frozen=True, kw_only=True, slots=True)
class Clock:
    """State of a claim's clock: age, time elapsed of the 60 days, and whether it runs."""

    age: timedelta
    elapsed: timedelta
    is_waiting: bool
    is_decided: bool

    @property
    def age_days(self) -> int:
        """Whole days since lodging, or from lodging to the decision."""
        return self.age.days

    @property
    def remaining(self) -> timedelta:
        """Time remaining of the 60 days; negative when overdue."""
        return STATUTORY_PERIOD - self.elapsed

    @property
    def days_left(self) -> int:
        """Days remaining, a started day counted whole: 60 at lodging, 0 after 60 days, negative afterwards."""
        return STATUTORY_PERIOD.days - self.elapsed.days

    @property
    def is_overdue(self) -> bool:
        """True when more than 60 days have elapsed."""
        return self.remaining < timedelta(0)

    @property
    def is_running(self) -> bool:
        """True while the desk has to act."""
        return not (self.is_waiting or self.is_decided)


def compute_from_history(history: Sequence[StatusReached], now: datetime, pauses: Sequence[Pause] = ()) -> Clock:
    """Compute the clock from the status history, lodging first; time after a decision counts only once reopened."""
    lodged_at, current = history[0].at, history[-1]
    is_decided = current.status in DECIDED
    end = max(lodged_at, _get_decided_at(history) if is_decided else now)
    edges = {lodged_at, end, *(step.at for step in history)}
    edges |= {edge for pause in pauses for edge in (pause.asked_at, pause.answered_at) if edge is not None}
    between = pairwise(sorted(edge for edge in edges if lodged_at <= edge <= end))
    running_periods = [after - before for before, after in between if _is_running_at(history, pauses, before)]
    return Clock(
        age=end - lodged_at,
        elapsed=sum(running_periods, timedelta(0)),
        is_waiting=not is_decided and not _is_running_at(history, pauses, end),
        is_decided=is_decided,
    )


def compute_from_stored(
    lodged_at: datetime, begins_at: datetime, stopped_at: datetime | None, status: str, now: datetime | None = None
) -> Clock:
    """Compute the same clock, as of now, from the stored columns: clock start (moved by every pause) and stop."""
    is_decided, now = status in DECIDED and stopped_at is not None, now or clock.now()
    end = stopped_at or now
    return Clock(
        age=max(timedelta(0), (end if is_decided else now) - lodged_at),
        elapsed=max(timedelta(0), end - begins_at),
        is_waiting=stopped_at is not None and not is_decided,
        is_decided=is_decided,
    )


def update_stored(
    begins_at: datetime, stopped_at: datetime | None, *, at: datetime, is_running: bool, is_decision: bool = False
) -> tuple[datetime, datetime | None]:
    """Return the stored (start, stop) of a clock that runs or stops at an instant.

    A decision also ends a pause: its stop begins at the decision.
    """
    if stopped_at is not None and (is_running or is_decision):
        begins_at, stopped_at = begins_at + (at - stopped_at), None
    return begins_at, stopped_at if is_running or stopped_at is not None else at


def _get_decided_at(history: Sequence[StatusReached]) -> datetime:
    """Return the instant of the current decision: a settled claim was decided when it was paid."""
    first = history[-1].at
    for step in reversed(history):
        if step.status not in DECIDED:
            break
        first = step.at
    return first


def _is_running_at(history: Sequence[StatusReached], pauses: Sequence[Pause], instant: datetime) -> bool:
    status = next(step.status for step in reversed(history) if step.at <= instant)
    return status not in WAITING | DECIDED and not any(pause.covers(instant) for pause in pauses)


def update(claim: Claim, *, at: datetime, previous_status: str | None = None, is_waiting: bool = False) -> None:
    """Start or stop the stored clock of a claim after a change of status or a question to the claimant."""
    is_decided = claim.claim_status in DECIDED
    claim.clock_from, claim.clock_stopped_at = update_stored(
        claim.clock_from,
        claim.clock_stopped_at,
        at=at,
        is_running=not (is_waiting or is_decided or claim.claim_status in WAITING),
        is_decision=is_decided and previous_status not in DECIDED,
    )


def load(session: ScopedSession, claim_ids: Sequence[UUID], *, now: datetime | None = None) -> Mapping[UUID, Clock]:
    """Compute the clocks of claims from their histories, as of `now`: two statements, however many claims."""
    steps: dict[UUID, list[StatusReached]] = {}
    events = sa.select(ClaimEvent).where(col(ClaimEvent.claim_id).in_(claim_ids))
    for event in session.execute(events.order_by(col(ClaimEvent.created_at), col(ClaimEvent.id))).scalars():
        steps.setdefault(event.claim_id, []).append(StatusReached(event.status, event.created_at))
    pauses: dict[UUID, list[Pause]] = {}
    for row in session.execute(sa.select(ClaimQuestion).where(col(ClaimQuestion.claim_id).in_(claim_ids))).scalars():
        pauses.setdefault(row.claim_id, []).append(Pause(row.asked_at, row.answered_at or row.closed_at))
    now = now or clock.now()
    return {key: compute_from_history(history, now, pauses.get(key, ())) for key, history in steps.items()}
