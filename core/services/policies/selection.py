"""A selection of policies as an address carries it: that of sales, and what the policy search has beside it.

`find` is the text of the one box, `force` is `yes` or `no`, `role` is `principal` or `beneficiary`, `expires_from`
and `expires_to` are days on which the policy expires.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date

from core.services.address_reader import Address, AddressReader, written
from core.services.filters import CustomerType, SalesFilter
from core.services.policies import search as policy_search
from core.services.sales.selection import NAMES as OF_SALES
from core.services.sales.selection import Selection
from core.services.windows import open_dates

NAMES = (*OF_SALES, "find", "force", "role", "expires_from", "expires_to")
FORCE: Mapping[str, bool] = {"yes": True, "no": False}
ROLES: Mapping[str, CustomerType] = {"principal": "principal", "beneficiary": "beneficiary"}


@dataclass(frozen=True, kw_only=True, slots=True)
class PolicySelection:
    """Which policies; nothing chosen means all of them."""

    sales: Selection = field(default_factory=Selection)
    find: str = ""
    force: str | None = None
    role: str | None = None
    expires_first: date | None = None
    expires_last: date | None = None

    @classmethod
    def read(cls, address: Address) -> "PolicySelection":
        """The selection of an address; InvalidInput names every value that cannot be meant."""
        reader = AddressReader(address)
        sales = reader.part(Selection.read, Selection())
        first, last = reader.days("expires_from", "expires_to")
        find = reader.text("find") or ""
        reader.part(lambda _: policy_search.normalise_text(find), "")
        force, role = reader.word("force", tuple(FORCE)), reader.word("role", tuple(ROLES))
        return reader.read(cls(sales=sales, find=find, force=force, role=role, expires_first=first, expires_last=last))

    def address(self) -> dict[str, list[str]]:
        """The parameters that say this selection again, in a fixed order; empty ones are left out."""
        own = written(
            find=self.find,
            force=self.force,
            role=self.role,
            expires_from=self.expires_first,
            expires_to=self.expires_last,
        )
        return {**self.sales.address(), **own}

    @property
    def wanted(self) -> SalesFilter:
        """What the services are asked for, beside the text."""
        return replace(
            self.sales.wanted,
            expiring=open_dates(self.expires_first, self.expires_last),
            status=None if self.force is None else FORCE[self.force],
            customer_type="all" if self.role is None else ROLES[self.role],
        )
