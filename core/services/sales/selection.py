"""A selection of sales as an address carries it: what is on a screen, in a link and in an export is the same thing.

`from=2026-11-01&to=2026-11-20&provider=<id>&provider=<id>&email=ngozi@example.com`: days count on both ends and are
those of Lagos; a repeated name means any of its values.
"""

from dataclasses import dataclass, replace
from datetime import date
from uuid import UUID

from core.services.address_reader import Address, AddressReader, written
from core.services.dimensions import DIMENSIONS, Dimension
from core.services.filters import SalesFilter
from core.services.windows import Window, open_days

NAMES = ("from", "to", *DIMENSIONS, "email", "source")


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """Which sales; nothing chosen means all of them."""

    first: date | None = None
    last: date | None = None
    provider: tuple[UUID, ...] = ()
    category: tuple[UUID, ...] = ()
    product: tuple[UUID, ...] = ()
    distributor: tuple[UUID, ...] = ()
    email: str | None = None
    source: tuple[str, ...] = ()

    @classmethod
    def read(cls, address: Address) -> "Selection":
        """The selection of an address; InvalidInput names every value that cannot be meant."""
        reader = AddressReader(address)
        first, last = reader.days("from", "to")
        members = {dimension: reader.ids(dimension) for dimension in DIMENSIONS}
        email, source = reader.text("email", what="address"), reader.texts("source")
        return reader.read(cls(first=first, last=last, **members, email=email, source=source))

    @classmethod
    def of_window(cls, window: Window) -> "Selection":
        """Everything of some days."""
        return cls(first=window.start, last=window.last)

    def address(self) -> dict[str, list[str]]:
        """The parameters that say this selection again, in a fixed order; empty ones are left out."""
        members = {dimension: self.members(dimension) for dimension in DIMENSIONS}
        return written(from_=self.first, to=self.last, **members, email=self.email, source=self.source)

    def members(self, dimension: Dimension) -> tuple[UUID, ...]:
        """The chosen members of a dimension."""
        chosen: tuple[UUID, ...] = getattr(self, dimension)
        return chosen

    def within(self, window: Window) -> "Selection":
        """The same choice of other days."""
        return replace(self, first=window.start, last=window.last)

    def without_days(self) -> "Selection":
        """The same choice of all time."""
        return replace(self, first=None, last=None)

    @property
    def wanted(self) -> SalesFilter:
        """What the services are asked for."""
        return SalesFilter(
            created=open_days(self.first, self.last),
            provider_ids=self.provider,
            category_ids=self.category,
            product_ids=self.product,
            distributor_ids=self.distributor,
            customer_email=self.email,
            request_sources=self.source,
        )
