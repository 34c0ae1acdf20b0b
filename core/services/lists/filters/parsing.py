"""Reading the values of one parameter of an address; InvalidInput names the parameter and says what it takes."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, TypeVar

from core.errors import FieldFault, InvalidInput
from core.services.lists.windows import EARLIEST, LATEST

T = TypeVar("T")
Address = Mapping[str, Sequence[str]]
LONGEST = 200
_AMOUNT = re.compile(r"[0-9]{1,13}(\.[0-9]{1,2})?")


def collect(faults: list[FieldFault], parse: Callable[..., T], *given: Any) -> T | None:
    """Return what a parser makes of its arguments; its faults are added to the list, and the result is then None."""
    try:
        return parse(*given)
    except InvalidInput as error:
        faults.extend(error.faults)
        return None


def texts(address: Address, name: str) -> tuple[str, ...]:
    """Return every different value of a parameter, without blank ones."""
    given = [value.strip() for value in address.get(name, ())]
    if any(len(value) > LONGEST or not value.isprintable() for value in given):
        raise InvalidInput.for_field(name, f"must be plain text of at most {LONGEST} characters")
    return tuple(dict.fromkeys(value for value in given if value))


def text(address: Address, name: str, what: str = "text") -> str | None:
    """Return the one value of a parameter."""
    given = texts(address, name)
    if len(given) > 1:
        raise InvalidInput.for_field(name, f"must be one {what}")
    return given[0] if given else None


def day(address: Address, name: str) -> date | None:
    """Return a day, given as YYYY-MM-DD."""
    given = texts(address, name)
    try:
        found = date.fromisoformat(given[0]) if given else None
        if len(given) > 1 or (found and (str(found) != given[0] or not EARLIEST <= found < LATEST)):
            raise ValueError
    except ValueError:
        raise InvalidInput.for_field(name, "must be one day that exists, as YYYY-MM-DD") from None
    return found


def days(address: Address, first: str, last: str) -> tuple[date | None, date | None]:
    """Return two days that both count; either may be left open."""
    faults: list[FieldFault] = []
    start, end = (collect(faults, day, address, name) for name in (first, last))
    if start and end and end < start:
        faults.append(FieldFault(last, f"must not be before {first}"))
    if faults:
        raise InvalidInput(faults)
    return start, end


def words(address: Address, name: str, known: Collection[str]) -> tuple[str, ...]:
    """Return words out of a list, in its own spelling and order; case does not matter."""
    given = {value.casefold() for value in texts(address, name)}
    if given - {word.casefold() for word in known}:
        raise InvalidInput.for_field(name, f"must be one of {', '.join(known)}")
    return tuple(word for word in known if word.casefold() in given)


def word(address: Address, name: str, known: Collection[str]) -> str | None:
    """Return one word out of a list."""
    found = words(address, name, known)
    if len(found) > 1:
        raise InvalidInput.for_field(name, f"must be one of {', '.join(known)}")
    return found[0] if found else None


def naira(address: Address, name: str) -> Decimal | None:
    """Return an amount in naira: thousands may be marked, two decimals at most."""
    given = (text(address, name, "amount") or "").replace(",", "").removeprefix("₦")
    if given and not _AMOUNT.fullmatch(given):
        raise InvalidInput.for_field(name, "must be an amount in naira, such as 75000 or 75,000.50")
    return Decimal(given) if given else None
