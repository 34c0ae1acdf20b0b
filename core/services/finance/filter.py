"""The filters of movements: those of sales, and the kinds of movement."""

from dataclasses import replace

from core.services.lists.filters.declaration import of
from core.services.lists.filters.fields import Words
from core.services.sales.filter import SalesFilter
from core.store.schema.finance import MOVEMENT_KINDS
from core.store.schema.tables import Movement

KIND_NAMES = {
    "purchase": "Purchase",
    "renewal": "Renewal",
    "refund": "Refund",
    "adjustment": "Adjustment",
}


class MovementFilter(SalesFilter, on=(Movement,)):
    """Filter of the list of movements."""

    customer_email: str | None = SalesFilter.redeclare("customer_email", place="grid")
    chosen_kinds: tuple[str, ...] = of(
        Words(
            label="Kind",
            column="kind",
            address="kind",
            options=KIND_NAMES,
            words=KIND_NAMES,
            help=f"{', '.join(KIND_NAMES)}; repeat it for any of several.",
            anything="All kinds",
        )
    )

    @property
    def kinds(self) -> tuple[str, ...]:
        """The chosen kinds, all of them when none is chosen."""
        return self.chosen_kinds or MOVEMENT_KINDS

    @property
    def of_every_kind(self) -> "MovementFilter":
        """The same filter without the kinds, as it narrows sales."""
        return replace(self, chosen_kinds=())
