"""Events that dates make: cover that ends, insurers that do not answer, claims whose clock runs out (contract W2).

Each sweep tells what came due since the one before, in one transaction with the time up to which it has told.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.events import appending, catalogue, derivation
from core.services.events.derivation import EventDraft
from core.states.claims import DECIDED
from core.states.policies import OPEN
from core.store.access import ScopedSession
from core.store.schema.tables import Claim, Event, EventFeed, Policy, Submission

EXPIRING_DAYS: Final = (90, 60, 30, 7, 0)
DUE_DAYS: Final = {45: "claim.due_soon", 55: "claim.due_soon", 60: "claim.overdue"}
DELAYED_HOURS: Final = 24
# A store that was not served for longer tells what came due in the last of these days.
_LONGEST: Final = timedelta(days=7)
INTERVAL: Final = timedelta(seconds=30)


def sweep(session: ScopedSession) -> list[Event]:
    """Tell everything that came due since the last sweep. Needs the system's scope."""
    query = sa.select(EventFeed).where(col(EventFeed.id) == 1).with_for_update()
    feed: EventFeed = session.execute(query.execution_options(populate_existing=True)).scalar_one()
    now = clock.now()
    since = max(feed.swept_at or now, now - _LONGEST)
    events = appending.append(session, list(_list_due(session, since, now))) if since < now else []
    session.update_columns(EventFeed(id=1, position=0, swept_at=now), "swept_at")
    return events


def is_due(session: ScopedSession) -> bool:
    """Return True when the last sweep is some time ago."""
    swept = session.execute(sa.select(col(EventFeed.swept_at)).where(col(EventFeed.id) == 1)).scalar_one()
    return swept is None or clock.now() - swept >= INTERVAL


def _list_due(session: ScopedSession, since: datetime, now: datetime) -> Iterator[EventDraft]:
    for days in EXPIRING_DAYS:
        # Cover ends at midnight: on its last day, 0 days before, the day is told as it begins.
        ahead = timedelta(days=days) if days else timedelta(hours=24)
        yield from _ending(session, "policy.expiring", since + ahead, now + ahead, now, {"days": days})
    yield from _ending(session, "policy.expired", since, now, now, {})
    hours = timedelta(hours=DELAYED_HOURS)
    yield from _delayed(session, since - hours, now - hours, now)
    for days, name in DUE_DAYS.items():
        yield from _claims(session, name, since - timedelta(days=days), now - timedelta(days=days), now, days)


def _ending(
    session: ScopedSession, name: str, since: datetime, until: datetime, now: datetime, extra_facts: dict[str, Any]
) -> Iterator[EventDraft]:
    query = sa.select(col(Policy.id), col(Policy.expiration_at)).where(
        col(Policy.expiration_at) > since,
        col(Policy.expiration_at) <= until,
        col(Policy.activated),
        *(col(each).is_(None) for each in (Policy.cancelled_at, Policy.declined_at, Policy.deleted_at)),
    )
    rows = {row.id: f"{row.expiration_at:%Y-%m-%d} {extra_facts.get('days', '')}" for row in session.execute(query)}
    yield from _drafts(session, name, "policy", rows, now, extra_facts)


def _delayed(session: ScopedSession, since: datetime, until: datetime, now: datetime) -> Iterator[EventDraft]:
    query = sa.select(col(Submission.policy_id)).where(
        col(Submission.state).in_(OPEN),
        col(Submission.created_at) > since,
        col(Submission.created_at) <= until,
    )
    rows = dict.fromkeys(session.execute(query).scalars(), "")
    yield from _drafts(session, "policy.submission_delayed", "policy", rows, now, {"hours": DELAYED_HOURS})


def _claims(
    session: ScopedSession, name: str, since: datetime, until: datetime, now: datetime, days: int
) -> Iterator[EventDraft]:
    query = sa.select(col(Claim.id), col(Claim.clock_from)).where(
        col(Claim.clock_stopped_at).is_(None),
        col(Claim.claim_status).not_in(sorted(DECIDED)),
        col(Claim.deleted_at).is_(None),
        col(Claim.clock_from) > since,
        col(Claim.clock_from) <= until,
    )
    rows = {row.id: str(days) for row in session.execute(query)}
    yield from _drafts(session, name, "claim", rows, now, {"days": days})


def _drafts(
    session: ScopedSession, name: str, kind: str, occasions: dict[Any, str], now: datetime, extra_facts: dict[str, Any]
) -> Iterator[EventDraft]:
    made = catalogue.BY_NAME[name]
    for record_id, subject in (derivation.load(session, kind, occasions) if occasions else {}).items():
        known = {key: value for key, value in {**subject.data, **extra_facts}.items() if value is not None}
        yield EventDraft(
            type=made,
            owner=subject.owners[0],
            object_id=record_id,
            data={key: known[key] for key in made.data.model_fields if key in known},
            previous={},
            at=now,
            origin=f"{record_id.hex} {name} {occasions[record_id]}".strip(),
        )
