"""The values by which a person is recognised in texts, and taking them out of texts and JSON."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from core.seal import ERASED

ERASED_DOMAIN: Final = "erased.invalid"
_SHORTEST: Final = 5
_AMOUNT: Final = re.compile(r"\d{1,14}\.\d\d")
# A field of these names is a text about somebody, or is somebody's: it goes whole from the log of an erased record.
_TEXT_FIELDS: Final = frozenset(
    {
        *("note", "reason", "details", "text", "comment", "question", "description", "refusal", "outcome", "detail"),
        *("name", "first_name", "last_name", "email", "phone", "phone_number", "address", "date_of_birth", "dob"),
        *("claim_description", "claim_owner_first_name", "claim_owner_last_name", "claim_owner_email"),
        *("claim_owner_phone_number", "decline_reason", "incident_date", "last_error", "file_name"),
        *("payee", "payee_reason"),
    }
)


@dataclass(frozen=True, slots=True)
class PersonalValues:
    """`distinct` values (e-mail, phone, numbers, full name) are looked for everywhere, `names` only in own records."""

    distinct: tuple[str, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, distinct: Iterable[str | None], names: Iterable[str | None]) -> "PersonalValues":
        """Build the values, the longest first, so that no part of one remains after a shorter one was taken out."""
        whole = {value.strip() for value in distinct if value and len(value.strip()) >= _SHORTEST}
        parts = {name.strip() for name in names if name and len(name.strip()) > 1}
        return cls(tuple(sorted(whole, key=len, reverse=True)), tuple(sorted(parts, key=len, reverse=True)))

    def take_out(self, text: str, *, is_own: bool = False) -> str:
        """Return a text without the person's values; of their own records without their names as well."""
        for value in self.distinct:
            # Not within a longer word, number or address: that is another person's, or a code.
            before = r"(?<![^\W_])(?<![^\W_][._+-])" if "@" in value else r"(?<![^\W_])"
            text = re.sub(rf"{before}{re.escape(value)}(?![^\W_])", ERASED, text, flags=re.IGNORECASE)
        for name in self.names if is_own else ():
            text = re.sub(rf"\b{re.escape(name)}\b", ERASED, text, flags=re.IGNORECASE)
        return text

    def take_out_of(self, value: Any, *, is_own: bool = False) -> Any:
        """Return plain data without the person's values; fields that are texts go whole from their own records."""
        if isinstance(value, str):
            return self.take_out(value, is_own=is_own)
        if isinstance(value, Mapping):
            return {
                self.take_out(str(key)): ERASED
                if is_own and key in _TEXT_FIELDS and isinstance(held, str)
                else self.take_out_of(held, is_own=is_own)
                for key, held in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.take_out_of(each, is_own=is_own) for each in value]
        return value

    def patterns(self) -> list[str]:
        """Return what to look for in a column: each value, and as JSON writes it."""
        return sorted({written for value in self.distinct for written in (value, json.dumps(value)[1:-1])})

    def is_in(self, content: bytes) -> bool:
        """Return True when bytes in UTF-8 hold one of the values."""
        text = content.decode("utf-8", "replace").casefold()
        return any(value.casefold() in text for value in self.distinct)


def keep_figures(data: Any) -> Any:
    """Return submitted data with its figures and facts alone: every text in it is somebody's."""
    if isinstance(data, Mapping):
        return {key: held for key, value in data.items() if (held := keep_figures(value)) not in (None, {}, [])}
    if isinstance(data, list | tuple):
        return [held for value in data if (held := keep_figures(value)) not in (None, {}, [])]
    is_amount = isinstance(data, str) and _AMOUNT.fullmatch(data)
    return data if isinstance(data, int | float) or is_amount else None


def list_texts(data: Any) -> Iterator[str]:
    """Yield every text in plain data."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        for value in data.values():
            yield from list_texts(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from list_texts(value)


def phone_spellings(phone: str | None) -> tuple[str, ...]:
    """Return a phone number as people write it: +2348031234567 is 2348031234567 and 08031234567 as well."""
    digits = re.sub(r"\D", "", phone or "")
    if len(digits) < _SHORTEST:
        return ()
    local = f"0{digits[3:]}" if digits.startswith("234") else digits
    return (phone or "", digits, local, local[1:] if local.startswith("0") else local)
