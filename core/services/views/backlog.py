"""Work that is stuck today: what waits for an insurer, for a renewal, for a decision, or for an endpoint."""

from dataclasses import dataclass
from datetime import date
from typing import Literal

from core.services.claims.lists import totals as claim_totals
from core.services.claims.lists.filter import ClaimFilter
from core.services.dimensions import Choices
from core.services.finance import unplaced
from core.services.insurers import awaiting
from core.services.renewals import due
from core.services.sales import silence
from core.services.sales.filter import SalesFilter
from core.services.sales.silence import SilentDistributor
from core.services.webhooks import endpoints
from core.store.access import ScopedSession

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


def load_backlog(session: ScopedSession, choices: Choices, today: date) -> Backlog:
    """Count what is stuck, each as the list behind it counts it; empty kinds are left out."""
    health = awaiting.list_health(session)
    week = next(bucket for bucket in due.list_due(session, today) if bucket.key == "week")
    premium = unplaced.compute_unplaced(session, SalesFilter())
    failing = sum(endpoint.is_failing for endpoint in endpoints.list_endpoints(session))
    overdue, near = (claim_totals.get_totals(session, ClaimFilter(stage=stage)) for stage in ("overdue", "near"))
    items = (
        BacklogItem("set_aside", sum(insurer.dead for insurer in health)),
        BacklogItem("awaiting", sum(insurer.queued for insurer in health)),
        BacklogItem("unplaced", premium.policies, premium.total_minor),
        BacklogItem("due", week.policies, week.premium_minor),
        BacklogItem("overdue_claims", overdue.count, overdue.claimed_minor),
        BacklogItem("near_claims", near.count - overdue.count, near.claimed_minor - overdue.claimed_minor),
        BacklogItem("endpoints", failing),
    )
    silent = silence.list_silent(session, choices, today)
    return Backlog(tuple(item for item in items if item.count), tuple(silent))
