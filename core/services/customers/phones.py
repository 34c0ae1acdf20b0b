"""Spelling variants of phone numbers: records keep what was submitted, a search must find every spelling."""

import re
from collections.abc import Sequence

import phonenumbers
from phonenumbers import PhoneNumberFormat

_FORMATS = (PhoneNumberFormat.E164, PhoneNumberFormat.INTERNATIONAL, PhoneNumberFormat.NATIONAL)


def list_spellings(phone: str) -> Sequence[str]:
    """Return the ways in which a phone number may have been written."""
    variants = {phone, re.sub(r"[^\d+]", "", phone)}
    try:
        number = phonenumbers.parse(phone, "NG")
    except phonenumbers.NumberParseException:
        return sorted(variants)
    formatted = [phonenumbers.format_number(number, form) for form in _FORMATS]
    return sorted({*variants, *formatted, *(re.sub(r"\D", "", way) for way in formatted)})
