"""A selection of movements as an address carries it: that of sales, and the kinds of movement."""

from dataclasses import dataclass, field

from core.services.address_reader import Address, AddressReader, written
from core.services.filters import SalesFilter
from core.services.sales.selection import Selection
from core.store.schema.finance import MOVEMENT_KINDS

KIND_NAMES = {
    "purchase": "Purchase",
    "renewal": "Renewal",
    "refund": "Refund",
    "adjustment": "Adjustment",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class MovementSelection:
    """Which movements; nothing chosen means all of them."""

    sales: Selection = field(default_factory=Selection)
    kind: tuple[str, ...] = ()

    @classmethod
    def read(cls, address: Address) -> "MovementSelection":
        """Return the selection of an address; InvalidInput names every value that is not valid."""
        reader = AddressReader(address)
        sales = reader.part(Selection.read, Selection())
        return reader.read(cls(sales=sales, kind=reader.words("kind", MOVEMENT_KINDS)))

    def address(self) -> dict[str, list[str]]:
        """Return the parameters of this selection, in a fixed order; empty ones are left out."""
        return {**self.sales.address(), **written(kind=self.kind)}

    @property
    def wanted(self) -> SalesFilter:
        """The filter for the services, without the kinds."""
        return self.sales.wanted

    @property
    def kinds(self) -> tuple[str, ...]:
        """The chosen kinds, all of them when none is chosen."""
        return self.kind or MOVEMENT_KINDS
