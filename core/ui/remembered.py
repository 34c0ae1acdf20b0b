"""The figures of the dashboard, remembered for as long as nothing is written: a click then costs no second reading.

Whatever is written leaves a line in the audit log, so the length of the log says whether a figure still holds.
"""

from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from core import clock
from core.services.filters import SalesFilter
from core.services.office import audit
from core.services.sales import breakdowns, figures
from core.services.sales.breakdowns import Breakdown, Grain, Series
from core.services.sales.choices import Choices, Dimension, choices
from core.services.sales.figures import Summary
from core.services.windows import Window
from core.store import engine
from core.store.engine import Store
from core.store.scope import Scope
from core.ui import frame

_MOST = 64


@dataclass(frozen=True, slots=True)
class Standing:
    """A store as it stands: it holds the same figures for as long as this is equal."""

    store: Store
    entries: int
    today: date
    is_live: bool

    @property
    def scope(self) -> Scope:
        """Whose records are figured."""
        return Scope.staff(is_live=self.is_live)


def standing() -> Standing:
    """How the store stands now, in the mode that the screen shows."""
    with engine.reading(Scope.system()) as session:
        entries = audit.length(session)
    return Standing(engine.store(), entries, clock.today(), frame.mode())


@lru_cache(_MOST)
def summary(at: Standing, window: Window, wanted: SalesFilter) -> Summary:
    """Every metric of a window and of the one before."""
    with at.store.reading(at.scope) as session:
        return figures.summary(session, window, wanted)


@lru_cache(_MOST)
def breakdown(at: Standing, window: Window, wanted: SalesFilter) -> Breakdown:
    """The premium of a window, cut every way that a chart shows it."""
    with at.store.reading(at.scope) as session:
        return breakdowns.breakdown(session, window, wanted, names(at))


@lru_cache(_MOST)
def over_time(at: Standing, window: Window, wanted: SalesFilter, *, grain: Grain, split: Dimension) -> list[Series]:
    """The premium of each bucket, a line for each member of a dimension."""
    with at.store.reading(at.scope) as session:
        return breakdowns.over_time(session, window, wanted, names(at), grain=grain, split=split)


@lru_cache(_MOST)
def names(at: Standing) -> Choices:
    """What sales can be narrowed and split by."""
    with at.store.reading(at.scope) as session:
        return choices(session)
