"""The measures of the roll-ups, declared once: which rows are summed, when a row counts, and what it adds."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlmodel import SQLModel

from core.store.schema.finance import Adjustment
from core.store.schema.sales import Purchase, Refund, Renewal


class Measures(NamedTuple):
    """The measures of one table: the number of rows, and their three amounts under a verb.

    A deleted row does not count, and where there is a status, only one that took effect.
    """

    number: str
    verb: str
    can_be_deleted: bool = False
    has_status: bool = False

    def counts(self, row: Any) -> bool:
        """Return True for a row that is summed."""
        return not (self.can_be_deleted and row.deleted_at) and (not self.has_status or bool(row.status))

    def build_conditions(self, columns: Any) -> list[sa.ColumnElement[bool]]:
        """Return `counts` as SQL conditions."""
        alive = [columns.deleted_at.is_(None)] if self.can_be_deleted else []
        return [*alive, columns.status] if self.has_status else alive

    def of(self, row: Any) -> dict[str, Any]:
        """Return the measures of a row, of the columns of its table, or of any split of an amount."""
        return {
            f"{self.verb}_minor": row.total_minor,
            f"{self.verb}_mca_minor": row.mca_profit_minor,
            f"{self.verb}_distributor_minor": row.distributor_profit_minor,
            self.number: 1,
        }


MEASURED: Mapping[type[SQLModel], Measures] = {
    Purchase: Measures("sold", "sold", can_be_deleted=True),
    Renewal: Measures("renewed", "renewed", can_be_deleted=True, has_status=True),
    Refund: Measures("refunds", "refunded"),
    Adjustment: Measures("adjustments", "adjusted"),
}
