"""Use of the day-totals roll-up: figures over all sales at the cost of one row per day."""

import sqlalchemy as sa
from sqlmodel import col

from core.services.sales.filter import SalesFilter
from core.services.windows import Window
from core.store.access import Scope
from core.store.schema.tables import DayTotal


def can_answer(scope: Scope, criteria: SalesFilter) -> bool:
    """Return True when the roll-up can answer: only times are filtered, and the scope covers all distributors."""
    return scope.distributor_id is None and criteria.is_answered_by(DayTotal)


def build_conditions(scope: Scope, days: Window) -> list[sa.ColumnElement[bool]]:
    """Return the conditions on the day totals of a window, in the scope's mode, or both modes for the system."""
    mode = [] if scope.is_live is None else [col(DayTotal.is_live).is_(scope.is_live)]
    return [*mode, col(DayTotal.day) >= days.start, col(DayTotal.day) < days.end]
