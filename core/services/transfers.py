"""Transfers of the bank: one reference names one movement of money, and a return names the one it takes back."""

import unicodedata
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from core.covers.faults import fault

LONGEST_REFERENCE: Final = 60
_SIGNS: Final = "-/._#"
_ALLOWED: Final = "only letters A to Z, digits, blanks and - / . _ #"


def reference_key(reference: str) -> str:
    """A bank's reference without case and blanks: two that differ in nothing else are the same.

    References from before `find_fault` may hold other characters, so those that look alike are made the same as well.
    """
    plain = unicodedata.normalize("NFKC", reference).casefold()
    return "".join(each for each in plain if not each.isspace() and unicodedata.category(each) != "Cf")


def return_key(reference: str) -> str:
    """The key of a return: a bank may book it under the reference of the payment, which is free for that once."""
    return f"return:{reference_key(reference)}"


def keys_of(reference: str, *, is_return: bool) -> tuple[str, str]:
    """Return the key of a payment or return, and the other kind's, which a return shares with its payment alone."""
    keys = reference_key(reference), return_key(reference)
    return (keys[1], keys[0]) if is_return else keys


def find_fault(reference: str) -> str | None:
    """Return what is wrong with a typed reference, with the character that is refused; None where nothing is."""
    for each in reference:
        if not (each.isascii() and (each.isalnum() or each == " " or each in _SIGNS)):
            name = unicodedata.name(each, "a character without a name").lower()
            return f"has a character that a reference cannot have, {name} (U+{ord(each):04X}): use {_ALLOWED}"
    if not any(each.isalnum() for each in reference):
        return "must have a letter or a digit"
    return None


def _check_reference(value: str) -> str:
    if found := find_fault(value):
        raise fault(found)
    return value


Reference = Annotated[str, Field(max_length=LONGEST_REFERENCE), AfterValidator(_check_reference)]
