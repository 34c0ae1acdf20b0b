"""A selection of receipts as an address carries it: `kind` of export, `person` who made it, days `from` and `to`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from uuid import UUID

from core import ids
from core.services.address_reader import Address, AddressReader, written
from core.services.exports.registry import KINDS
from core.services.filters import Span
from core.services.windows import open_days

NAMES = ("kind", "person", "from", "to")
COMMAND = "command"


@dataclass(frozen=True, kw_only=True, slots=True)
class ReceiptFilter:
    """What receipts can be narrowed by; `is_live` is the mode of what was exported."""

    kinds: Sequence[str] = ()
    staff_id: UUID | None = None
    by_command: bool = False
    created: Span = field(default_factory=Span)
    is_live: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ReceiptSelection:
    """Which receipts; nothing chosen means all of them. `person` is an id, or `command` for the command line."""

    kind: tuple[str, ...] = ()
    person: str | None = None
    first: date | None = None
    last: date | None = None

    @classmethod
    def read(cls, address: Address) -> "ReceiptSelection":
        """The selection of an address; InvalidInput names every value that cannot be meant."""
        reader = AddressReader(address)
        first, last = reader.days("from", "to")
        kind = reader.words("kind", [kind.name for kind in KINDS])
        person = reader.text("person", what="person")
        if person and person != COMMAND:
            reader.part(lambda _: ids.parse(person, "person"), None)
        return reader.read(cls(kind=kind, person=person, first=first, last=last))

    def address(self) -> dict[str, list[str]]:
        """The parameters that say this selection again, in a fixed order; empty ones are left out."""
        return written(kind=self.kind, person=self.person, from_=self.first, to=self.last)

    @property
    def wanted(self) -> ReceiptFilter:
        """What the services are asked for."""
        by_command = self.person == COMMAND
        return ReceiptFilter(
            kinds=self.kind,
            staff_id=None if by_command or not self.person else UUID(self.person),
            by_command=by_command,
            created=open_days(self.first, self.last),
        )
