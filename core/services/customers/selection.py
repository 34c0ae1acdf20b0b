"""A selection of customers as an address carries it.

`q` is any part of names, e-mail or phone, `from` and `to` are the Lagos days on which we first met them, `active` is
`true` or `false`, `force` is `yes` for who has a policy in force and `no` for who has none, `distributor` an id
and may be repeated.
"""

from dataclasses import dataclass
from datetime import date
from uuid import UUID

from core.services.address_reader import Address, AddressReader, written
from core.services.customers.customers import CustomerFilter
from core.services.windows import open_days

NAMES = ("q", "from", "to", "distributor", "active", "force")
_FORCE = {"yes": True, "no": False}


@dataclass(frozen=True, kw_only=True, slots=True)
class CustomerSelection:
    """Which customers; nothing chosen means all of them."""

    q: str = ""
    first: date | None = None
    last: date | None = None
    distributor: tuple[UUID, ...] = ()
    active: bool | None = None
    force: str | None = None

    @classmethod
    def read(cls, address: Address) -> "CustomerSelection":
        """The selection of an address; InvalidInput names every value that cannot be meant."""
        reader = AddressReader(address)
        first, last = reader.days("from", "to")
        return reader.read(
            cls(
                q=reader.text("q") or "",
                first=first,
                last=last,
                distributor=reader.ids("distributor"),
                active=reader.flag("active"),
                force=reader.word("force", tuple(_FORCE)),
            )
        )

    def address(self) -> dict[str, list[str]]:
        """The parameters that say this selection again, in a fixed order; empty ones are left out."""
        return written(
            q=self.q, from_=self.first, to=self.last, distributor=self.distributor, active=self.active, force=self.force
        )

    @property
    def wanted(self) -> CustomerFilter:
        """What the services are asked for."""
        return CustomerFilter(
            search=self.q or None,
            active=self.active,
            insured=_FORCE.get(self.force or ""),
            created=open_days(self.first, self.last),
            distributor_ids=self.distributor,
        )
