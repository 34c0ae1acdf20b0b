"""What the totals of the days can tell: the desk's figures of everything, at the cost of a line for each day."""

from dataclasses import replace

import sqlalchemy as sa
from sqlmodel import col

from core.services.filters import SalesFilter, Span
from core.services.windows import Window
from core.store.access.scope import Scope
from core.store.schema.tables import DayTotal

_EVERYTHING = SalesFilter()


def tell(scope: Scope, wanted: SalesFilter) -> bool:
    """True when nothing but times narrows the sales, and the scope does not either: totals are of all distributors."""
    return scope.distributor_id is None and replace(wanted, created=Span()) == _EVERYTHING


def of(scope: Scope, days: Window) -> list[sa.ColumnElement[bool]]:
    """The conditions on the totals of some days of the scope's mode; of both modes for the system."""
    mode = [] if scope.is_live is None else [col(DayTotal.is_live).is_(scope.is_live)]
    return [*mode, col(DayTotal.day) >= days.start, col(DayTotal.day) < days.end]
