"""Personal numbers inside submitted data, sealed and masked (contract A3), and the ways a phone number is written."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from core import seal
from core.covers.fields import Personal, get_metadata
from core.covers.request import Request


def find_personal_numbers(request: Request) -> frozenset[str]:
    """Return the values of a request's personal fields."""
    values = (getattr(request, name) for name in _personal_fields(type(request)))
    return frozenset(str(value) for value in values if value is not None)


@cache
def _personal_fields(model: type[Request]) -> tuple[str, ...]:
    return tuple(n for n, f in model.model_fields.items() if any(isinstance(m, Personal) for m in get_metadata(f)))


def mask_personal_numbers(data: Mapping[str, Any], numbers: frozenset[str]) -> dict[str, Any]:
    """Return a copy of submitted data with personal numbers masked to their last four characters."""
    return {name: _mask_value(value, numbers) for name, value in data.items()} if numbers else dict(data)


def _mask_value(value: object, numbers: frozenset[str]) -> Any:
    if isinstance(value, str):
        return seal.mask(value) if value in numbers else value
    if isinstance(value, Mapping):
        return mask_personal_numbers(value, numbers)
    if isinstance(value, list | tuple):
        return [_mask_value(item, numbers) for item in value]
    return value


def extract_personal_numbers(data: Mapping[str, Any], numbers: frozenset[str], prefix: str = "") -> dict[str, str]:
    """Return the personal numbers of submitted data by dotted path, for sealing."""
    numbers_by_path: dict[str, str] = {}
    for name, value in data.items():
        path = f"{prefix}{name}"
        if isinstance(value, str) and value in numbers:
            numbers_by_path[path] = value
        elif isinstance(value, Mapping):
            numbers_by_path |= extract_personal_numbers(value, numbers, f"{path}.")
    return numbers_by_path


def seal_personal_numbers(data: Mapping[str, Any], numbers: frozenset[str]) -> str | None:
    """Return the personal numbers of submitted data as one sealed text, None when there are none."""
    return seal.seal(extract_personal_numbers(data, numbers)) if numbers else None


def restore_personal_numbers(data: Mapping[str, Any], sealed_text: str | None, at: str) -> dict[str, Any]:
    """Return submitted data with its personal numbers in clear; `at` is its path inside the sealed values."""
    return _restore_values(data, seal.unseal(sealed_text), f"{at}.")


def _restore_values(data: Mapping[str, Any], numbers: Mapping[str, str], prefix: str) -> dict[str, Any]:
    return {
        name: _restore_values(value, numbers, f"{prefix}{name}.")
        if isinstance(value, Mapping)
        else numbers.get(f"{prefix}{name}", value)
        for name, value in data.items()
    }


def list_spellings(phone: str) -> Sequence[str]:
    """Return the ways in which a phone number may have been written."""
    # Imported on first use, here and below: most commands ask for people and never for a phone.
    import phonenumbers  # noqa: PLC0415

    variants = {phone, re.sub(r"[^\d+]", "", phone)}
    try:
        number = phonenumbers.parse(phone, "NG")
    except phonenumbers.NumberParseException:
        return sorted(variants)
    formats = phonenumbers.PhoneNumberFormat
    forms = (formats.E164, formats.INTERNATIONAL, formats.NATIONAL)
    formatted = [phonenumbers.format_number(number, form) for form in forms]
    formatted += [way.replace(" ", "-") for way in formatted]
    return sorted({*variants, *formatted, *(re.sub(r"\D", "", way) for way in formatted)})


def build_phone_key(phone: str) -> str:
    """Return the digits of a phone number with its country code, by which two are one; `phone_key` in SQL."""
    return re.sub(r"^0", "234", re.sub(r"\D", "", phone))


_HOME_PHONE = re.compile(r"(?:\+?234|0)([789][01]\d)(\d{3})(\d{4})")


def format_phone(number: str | None) -> str | None:
    """Format a phone number as it is dialled: "0803 123 4567" at home, "+44 7700 900123" abroad; others as given."""
    bare = re.sub(r"[\s().-]", "", number or "")
    if home := _HOME_PHONE.fullmatch(bare):
        return "0{} {} {}".format(*home.groups())
    # Imported when a number from abroad is shown: few are.
    import phonenumbers  # noqa: PLC0415

    try:
        found = phonenumbers.parse(bare)
    except phonenumbers.NumberParseException:
        return number
    return str(phonenumbers.format_number(found, phonenumbers.PhoneNumberFormat.INTERNATIONAL))


def to_international(phone: str) -> str:
    """Return a valid phone number in E.164 form."""
    import phonenumbers  # noqa: PLC0415

    return phonenumbers.format_number(phonenumbers.parse(phone, "NG"), phonenumbers.PhoneNumberFormat.E164)
