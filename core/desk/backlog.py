"""Work that is stuck today: what waits for an insurer, for a renewal, for a decision, or for an endpoint."""

from dataclasses import dataclass
from datetime import date
from typing import Literal

import sqlalchemy as sa
from sqlmodel import col

from core.services.claims.lists import totals as claim_totals
from core.services.claims.lists.filter import ClaimFilter
from core.services.events.webhooks import endpoints
from core.services.finance import movements
from core.services.insurers import awaiting, insurers
from core.services.insurers.awaiting import SubmissionFilter
from core.services.lists.dimensions import Choices
from core.services.renewals import due
from core.services.sales import breakdowns
from core.services.sales.breakdowns import SilentDistributor
from core.services.sales.filter import SalesFilter
from core.states.policies import OPEN
from core.store.access import ScopedSession
from core.store.schema.tables import Policy, Submission

Item = Literal["set_aside", "awaiting", "unplaced", "due", "overdue_claims", "near_claims", "endpoints"]


@dataclass(frozen=True, slots=True)
class BacklogItem:
    """One kind of stuck work: the number of records, and the premium or amount behind them in kobo, if it is one."""

    key: Item
    count: int
    amount_minor: int | None = None


@dataclass(frozen=True, slots=True)
class Backlog:
    """All stuck work of a mode, and the distributors that fell silent."""

    items: tuple[BacklogItem, ...]
    silent: tuple[SilentDistributor, ...]


def _list_unplaced(session: ScopedSession) -> tuple[BacklogItem, ...]:
    """Return the policies that no insurer has taken yet, each once: set aside, awaiting, and what else is unplaced."""
    health = insurers.list_health(session)
    dead, queued = sum(insurer.dead for insurer in health), sum(insurer.queued for insurer in health)
    dead_minor = awaiting.sum_premium(session, SubmissionFilter(view="dead")) if dead else 0
    queued_minor = awaiting.sum_premium(session) - dead_minor if queued else 0
    submitted = sa.select(col(Submission.policy_id)).where(col(Submission.state).in_(OPEN))
    other = movements.compute_unplaced(session, SalesFilter(), col(Policy.id).not_in(submitted))
    return (
        BacklogItem("set_aside", dead, dead_minor),
        BacklogItem("awaiting", queued, queued_minor),
        BacklogItem("unplaced", other.policies, other.total_minor),
    )


def load_backlog(session: ScopedSession, choices: Choices, today: date) -> Backlog:
    """Count what is stuck, each as the list behind it counts it; empty kinds are left out."""
    week = next(bucket for bucket in due.list_due(session, today) if bucket.key == "week")
    failing = sum(endpoint.is_failing for endpoint in endpoints.list_endpoints(session))
    overdue, near = (claim_totals.get_totals(session, ClaimFilter(stage=stage)) for stage in ("overdue", "near"))
    items = (
        *_list_unplaced(session),
        BacklogItem("due", week.policies, week.premium_minor),
        BacklogItem("overdue_claims", overdue.count, overdue.claimed_minor),
        BacklogItem("near_claims", near.count - overdue.count, near.claimed_minor - overdue.claimed_minor),
        BacklogItem("endpoints", failing),
    )
    silent = breakdowns.list_silent(session, choices, today)
    return Backlog(tuple(item for item in items if item.count), tuple(silent))
