"""A selection of sales as an address carries it: what is on a screen, in a link and in an export is the same thing.

`from=2026-11-01&to=2026-11-20&provider=<id>&provider=<id>&email=ngozi@example.com`: days count on both ends and are
those of Lagos; a repeated name means any of its values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any
from uuid import UUID

from core import ids
from core.errors import FieldFault, InvalidInput
from core.services.choices import DIMENSIONS, Dimension
from core.services.filters import SalesFilter, Span
from core.services.windows import EARLIEST, LATEST, Window

Address = Mapping[str, Sequence[str]]
LONGEST = 200
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
        faults: list[FieldFault] = []
        first, last = _day(address, "from", faults), _day(address, "to", faults)
        if first and last and last < first:
            faults.append(FieldFault("to", "must not be before from"))
        members = {dimension: _ids(address, dimension, faults) for dimension in DIMENSIONS}
        email, source = _texts(address, "email", faults), _texts(address, "source", faults)
        if len(email) > 1:
            faults.append(FieldFault("email", "must be one address"))
        if faults:
            raise InvalidInput(faults)
        return cls(first=first, last=last, **members, email=email[0] if email else None, source=source)

    @classmethod
    def of_window(cls, window: Window) -> "Selection":
        """Everything of some days."""
        return cls(first=window.start, last=window.last)

    def address(self) -> dict[str, list[str]]:
        """The parameters that say this selection again, in a fixed order; empty ones are left out."""
        found: dict[str, list[str]] = {
            "from": [str(self.first)] if self.first else [],
            "to": [str(self.last)] if self.last else [],
            **{dimension: [str(key) for key in self.members(dimension)] for dimension in DIMENSIONS},
            "email": [self.email] if self.email else [],
            "source": list(self.source),
        }
        return {name: values for name, values in found.items() if values}

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
        start = Window.of_days(self.first, self.first).span.start if self.first else None
        end = Window.of_days(self.last, self.last).span.end if self.last else None
        return SalesFilter(
            created=Span(start, end),
            provider_ids=self.provider,
            category_ids=self.category,
            product_ids=self.product,
            distributor_ids=self.distributor,
            customer_email=self.email,
            request_sources=self.source,
        )


def _texts(address: Address, name: str, faults: list[FieldFault]) -> tuple[str, ...]:
    given = [value.strip() for value in address.get(name, ())]
    if any(len(value) > LONGEST or not value.isprintable() for value in given):
        faults.append(FieldFault(name, f"must be plain text of at most {LONGEST} characters"))
        return ()
    return tuple(dict.fromkeys(value for value in given if value))


def _day(address: Address, name: str, faults: list[FieldFault]) -> date | None:
    given = _texts(address, name, faults)
    try:
        found = date.fromisoformat(given[0]) if given else None
        if len(given) > 1 or (found and (str(found) != given[0] or not EARLIEST <= found < LATEST)):
            raise ValueError
    except ValueError:
        faults.append(FieldFault(name, "must be one day that exists, as YYYY-MM-DD"))
        return None
    return found


def _ids(address: Address, name: str, faults: list[FieldFault]) -> tuple[UUID, ...]:
    found: dict[UUID, Any] = {}
    for value in _texts(address, name, faults):
        try:
            found[ids.parse(value, name)] = True
        except InvalidInput as error:
            faults.extend(error.faults)
    return tuple(found)
