"""A selection of renewals as an address carries it: that of sales, and what only renewals have.

`expires_from` and `expires_to` are days on which the policy expires, `status` is `true` for renewals that took
effect and `false` for those that failed or were reversed (contract P5).
"""

from dataclasses import dataclass, field, replace
from datetime import date

from core.services.address_reader import Address, AddressReader, written
from core.services.filters import SalesFilter
from core.services.sales.selection import NAMES as OF_SALES
from core.services.sales.selection import Selection
from core.services.windows import open_dates

NAMES = (*OF_SALES, "expires_from", "expires_to", "status")


@dataclass(frozen=True, kw_only=True, slots=True)
class RenewalSelection:
    """Which renewals; nothing chosen means all of them."""

    sales: Selection = field(default_factory=Selection)
    expires_first: date | None = None
    expires_last: date | None = None
    status: bool | None = None

    @classmethod
    def read(cls, address: Address) -> "RenewalSelection":
        """The selection of an address; InvalidInput names every value that cannot be meant."""
        reader = AddressReader(address)
        sales = reader.part(Selection.read, Selection())
        first, last = reader.days("expires_from", "expires_to")
        return reader.read(cls(sales=sales, expires_first=first, expires_last=last, status=reader.flag("status")))

    def address(self) -> dict[str, list[str]]:
        """The parameters that say this selection again, in a fixed order; empty ones are left out."""
        own = written(expires_from=self.expires_first, expires_to=self.expires_last, status=self.status)
        return {**self.sales.address(), **own}

    @property
    def wanted(self) -> SalesFilter:
        """What the services are asked for."""
        expiring = open_dates(self.expires_first, self.expires_last)
        return replace(self.sales.wanted, expiring=expiring, status=self.status)
