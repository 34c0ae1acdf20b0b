"""A selection of audit entries as an address carries it.

`who` is an actor as the log names it ("staff ada@x.example", "key 0190…") and `action` what was done; both may be
repeated. `kind` and `id` name a record, `from` and `to` are Lagos days, `q` is any text of an entry.
"""

from dataclasses import dataclass
from datetime import date

from core.services.address_reader import Address, AddressReader, written
from core.services.filters import Span
from core.services.windows import open_days

NAMES = ("who", "action", "kind", "id", "from", "to", "q")


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditSelection:
    """Which entries; nothing chosen means all of them."""

    who: tuple[str, ...] = ()
    action: tuple[str, ...] = ()
    kind: str = ""
    id: str = ""
    first: date | None = None
    last: date | None = None
    q: str = ""

    @classmethod
    def read(cls, address: Address) -> "AuditSelection":
        """The selection of an address; InvalidInput names every value that cannot be meant."""
        reader = AddressReader(address)
        first, last = reader.days("from", "to")
        found = cls(
            who=reader.texts("who"),
            action=reader.texts("action"),
            kind=reader.text("kind") or "",
            id=reader.text("id") or "",
            first=first,
            last=last,
            q=reader.text("q") or "",
        )
        return reader.read(found)

    def address(self) -> dict[str, list[str]]:
        """The parameters that say this selection again, in a fixed order; empty ones are left out."""
        return written(
            who=self.who, action=self.action, kind=self.kind, id=self.id, from_=self.first, to=self.last, q=self.q
        )

    @property
    def span(self) -> Span:
        """The instants of the days."""
        return open_days(self.first, self.last)
