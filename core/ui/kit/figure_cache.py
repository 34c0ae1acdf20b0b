"""Cache of the dashboard's figures, valid until something is written, so that a click does not query them again.

Every write adds an entry to the audit log, so the length of the log is the cache key.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import lru_cache

from core import clock
from core.desk import backlog
from core.desk.backlog import Backlog
from core.services.audit import log as audit
from core.services.lists.dimensions import Choices, Dimension, load_choices
from core.services.lists.windows import Comparison, Span, Window
from core.services.sales import breakdowns, figures, targets
from core.services.sales.breakdowns import Amount, Breakdown, Cohort, Grain, MonthPair, Series
from core.services.sales.figures import Summary
from core.services.sales.filter import SalesFilter
from core.services.sales.targets import Progress
from core.services.sales.totals import SalesTotals, compute_total
from core.store.access import Scope, ScopedSession, Store, store
from core.ui.frame import frame

_MAX_CACHED = 64


@dataclass(frozen=True, slots=True)
class StoreState:
    """State of a store, used as cache key: equal values mean equal figures.

    When it was read on a replica, all figures are read there too; otherwise an older figure could be cached as a
    current one. `as_of` is set when figures may lack writes made after that instant.
    """

    store: Store
    entries: int
    today: date
    is_live: bool
    on_replica: bool = False
    as_of: datetime | None = field(default=None, compare=False)

    @property
    def scope(self) -> Scope:
        """Return the scope of the records counted."""
        return Scope.staff(is_live=self.is_live)

    def reading(self) -> AbstractContextManager[ScopedSession]:
        """Open a read transaction on those records, on the same database that the state was read from."""
        return (self.store.reading_replica if self.on_replica else self.store.reading)(self.scope)


def standing() -> StoreState:
    """Return the current state of the store, in the mode that the screen shows."""
    opened = store()
    with opened.reading_replica(Scope.system()) as session:
        entries, status = audit.count_entries(session), session.replica_status
    as_of = status.as_of if status else None
    return StoreState(opened, entries, clock.today(), frame.mode(), on_replica=status is not None, as_of=as_of)


@lru_cache(_MAX_CACHED)
def summary(at: StoreState, window: Window, compared: Comparison, wanted: SalesFilter) -> Summary:
    """Return every metric of a window and of its comparison period."""
    with at.reading() as session:
        return figures.build_summary(session, window, wanted, compared=compared)


@lru_cache(_MAX_CACHED)
def breakdown(at: StoreState, window: Window, wanted: SalesFilter) -> Breakdown:
    """Return the premium of a window, broken down by every dimension that a chart shows."""
    with at.reading() as session:
        return breakdowns.compute_breakdown(session, window, wanted, names(at))


@lru_cache(_MAX_CACHED)
def get_comparison(at: StoreState, days: Comparison, wanted: SalesFilter) -> Breakdown:
    """Return the premium of what a window is compared with, broken down by every dimension."""
    with at.reading() as session:
        return breakdowns.compute_compared(session, days, wanted, names(at))


@lru_cache(_MAX_CACHED)
def totals(at: StoreState, wanted: SalesFilter) -> SalesTotals:
    """Return the totals of a filter."""
    with at.reading() as session:
        return compute_total(session, wanted)


@lru_cache(_MAX_CACHED)
def year_on_year(at: StoreState, wanted: SalesFilter) -> list[MonthPair]:
    """Return the premium of the last 12 months beside that of the 12 before; the days of the filter are ignored."""
    with at.reading() as session:
        return breakdowns.compute_year_on_year(session, replace(wanted, created=Span()), at.today)


@lru_cache(_MAX_CACHED)
def cohorts(at: StoreState, wanted: SalesFilter) -> list[Cohort]:
    """Return the renewal cohorts of the last 12 months; the days of the filter are ignored."""
    with at.reading() as session:
        return breakdowns.list_cohorts(session, replace(wanted, created=Span()), at.today)


@lru_cache(_MAX_CACHED)
def stuck(at: StoreState, _until: int) -> Backlog:
    """Return what is stuck, counted anew after `_until` (a running number of minutes), as time makes work overdue."""
    with at.reading() as session:
        return backlog.load_backlog(session, names(at), at.today)


@lru_cache(_MAX_CACHED)
def progress(at: StoreState, month: date) -> list[Progress]:
    """Return the targets of a month with the premium written so far."""
    with at.reading() as session:
        return targets.list_progress(session, names(at), month)


@lru_cache(_MAX_CACHED)
def over_time(
    at: StoreState, window: Window, wanted: SalesFilter, *, amount: Amount, grain: Grain, split: Dimension
) -> list[Series]:
    """Return an amount per time bucket, one series for each member of a dimension."""
    with at.reading() as session:
        return breakdowns.compute_over_time(session, window, wanted, names(at), amount=amount, grain=grain, split=split)


@lru_cache(_MAX_CACHED)
def names(at: StoreState) -> Choices:
    """Return the members by which sales can be filtered and split."""
    with at.reading() as session:
        return load_choices(session)
