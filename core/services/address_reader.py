"""Reading an address value by value, and keeping what is wrong with each until all of them were looked at."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, TypeVar
from uuid import UUID

from core import ids
from core.errors import FieldFault, InvalidInput
from core.services.windows import EARLIEST, LATEST

T = TypeVar("T")
Address = Mapping[str, Sequence[str]]
LONGEST = 200
_AMOUNT = re.compile(r"[0-9]{1,13}(\.[0-9]{1,2})?")
_FLAGS = {"true": True, "false": False}


class AddressReader:
    """The parameters of one address; a value that cannot be meant is noted and read as none."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.faults: list[FieldFault] = []

    def read(self, found: T) -> T:
        """What was made of the address; InvalidInput names every value that could not be meant."""
        if self.faults:
            raise InvalidInput(self.faults)
        return found

    def part(self, reading: Callable[[Address], T], otherwise: T) -> T:
        """What another reading makes of the same address; what it refuses is kept with the rest."""
        try:
            return reading(self.address)
        except InvalidInput as error:
            self.faults.extend(error.faults)
            return otherwise

    def texts(self, name: str) -> tuple[str, ...]:
        """Every different value of a parameter, without blank ones."""
        given = [value.strip() for value in self.address.get(name, ())]
        if any(len(value) > LONGEST or not value.isprintable() for value in given):
            self._fault(name, f"must be plain text of at most {LONGEST} characters")
            return ()
        return tuple(dict.fromkeys(value for value in given if value))

    def text(self, name: str, *, what: str = "text") -> str | None:
        """The one value of a parameter."""
        given = self.texts(name)
        if len(given) > 1:
            self._fault(name, f"must be one {what}")
        return given[0] if given else None

    def day(self, name: str) -> date | None:
        """A day as YYYY-MM-DD."""
        given = self.texts(name)
        try:
            found = date.fromisoformat(given[0]) if given else None
            if len(given) > 1 or (found and (str(found) != given[0] or not EARLIEST <= found < LATEST)):
                raise ValueError
        except ValueError:
            self._fault(name, "must be one day that exists, as YYYY-MM-DD")
            return None
        return found

    def days(self, first: str, last: str) -> tuple[date | None, date | None]:
        """Two days that both count; either may be left open."""
        start, end = self.day(first), self.day(last)
        if start and end and end < start:
            self._fault(last, f"must not be before {first}")
        return start, end

    def ids(self, name: str) -> tuple[UUID, ...]:
        """Every different id of a parameter."""
        found: dict[UUID, bool] = {}
        for value in self.texts(name):
            try:
                found[ids.parse(value, name)] = True
            except InvalidInput as error:
                self.faults.extend(error.faults)
        return tuple(found)

    def words(self, name: str, known: Collection[str]) -> tuple[str, ...]:
        """Words out of a list, in its own spelling and order; case does not matter."""
        given = {value.casefold() for value in self.texts(name)}
        if given - {word.casefold() for word in known}:
            self._fault(name, f"must be one of {', '.join(known)}")
        return tuple(word for word in known if word.casefold() in given)

    def word(self, name: str, known: Collection[str]) -> str | None:
        """One word out of a list."""
        found = self.words(name, known)
        if len(found) > 1:
            self._fault(name, f"must be one of {', '.join(known)}")
        return found[0] if found else None

    def flag(self, name: str) -> bool | None:
        """`true` or `false`, in any case (contract P5)."""
        found = self.word(name, tuple(_FLAGS))
        return None if found is None else _FLAGS[found]

    def naira(self, name: str) -> Decimal | None:
        """An amount in naira: thousands may be marked, two decimals at most."""
        given = (self.text(name, what="amount") or "").replace(",", "").removeprefix("₦")
        if not given:
            return None
        if not _AMOUNT.fullmatch(given):
            self._fault(name, "must be an amount in naira, such as 75000 or 75,000.50")
            return None
        return Decimal(given)

    def _fault(self, name: str, message: str) -> None:
        self.faults.append(FieldFault(name, message))


def written(**parameters: Any) -> dict[str, list[str]]:
    """Parameters as an address carries them, in the order given; those that say nothing are left out.

    A name that Python keeps for itself is written with a line behind it: `from_`.
    """
    found = {name.removesuffix("_"): _values(value) for name, value in parameters.items()}
    return {name: values for name, values in found.items() if values}


def _values(value: Any) -> list[str]:
    if value is None or value == "":
        return []
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, str | date | UUID):
        return [str(value)]
    return [str(each) for each in value]
