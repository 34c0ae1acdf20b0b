"""The figures of the dashboard, remembered for as long as nothing is written: a click then costs no second reading.

Whatever is written leaves a line in the audit log, so the length of the log says whether a figure still holds.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import lru_cache

from core import clock
from core.services.audit import log as audit
from core.services.comparisons import Comparison
from core.services.filters import SalesFilter
from core.services.sales import breakdowns, figures
from core.services.sales.breakdowns import Breakdown, Grain, Series
from core.services.sales.choices import Choices, Dimension, choices
from core.services.sales.figures import Summary
from core.services.windows import Window
from core.store.access import engine
from core.store.access.engine import Store
from core.store.access.scope import Scope, ScopedSession
from core.ui.kit import frame

_MOST = 64


@dataclass(frozen=True, slots=True)
class Standing:
    """A store as it stands: it holds the same figures for as long as this is equal.

    Where it was read on a replica, all its figures are, or an older one would pass for one of now. `as_of` is set when
    they may lack what was written after that instant.
    """

    store: Store
    entries: int
    today: date
    is_live: bool
    on_replica: bool = False
    as_of: datetime | None = field(default=None, compare=False)

    @property
    def scope(self) -> Scope:
        """Whose records are figured."""
        return Scope.staff(is_live=self.is_live)

    def reading(self) -> AbstractContextManager[ScopedSession]:
        """A read transaction on those records, where the standing was read."""
        return (self.store.reading_replica if self.on_replica else self.store.reading)(self.scope)


def standing() -> Standing:
    """How the store stands now, in the mode that the screen shows."""
    store = engine.store()
    with store.reading_replica(Scope.system()) as session:
        entries, sight = audit.length(session), session.sight
    as_of = sight.as_of if sight else None
    return Standing(store, entries, clock.today(), frame.mode(), on_replica=sight is not None, as_of=as_of)


@lru_cache(_MOST)
def summary(at: Standing, window: Window, compared: Comparison, wanted: SalesFilter) -> Summary:
    """Every metric of a window and of what it is compared with."""
    with at.reading() as session:
        return figures.summary(session, window, wanted, compared=compared)


@lru_cache(_MOST)
def breakdown(at: Standing, window: Window, wanted: SalesFilter) -> Breakdown:
    """The premium of a window, cut every way that a chart shows it."""
    with at.reading() as session:
        return breakdowns.breakdown(session, window, wanted, names(at))


@lru_cache(_MOST)
def over_time(at: Standing, window: Window, wanted: SalesFilter, *, grain: Grain, split: Dimension) -> list[Series]:
    """The premium of each bucket, a line for each member of a dimension."""
    with at.reading() as session:
        return breakdowns.over_time(session, window, wanted, names(at), grain=grain, split=split)


@lru_cache(_MOST)
def names(at: Standing) -> Choices:
    """What sales can be narrowed and split by."""
    with at.reading() as session:
        return choices(session)
