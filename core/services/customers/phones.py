"""Spelling variants of phone numbers: records keep what was submitted, a search must find every spelling."""

import re
from collections.abc import Sequence

import phonenumbers
from phonenumbers import PhoneNumberFormat

_FORMS = (PhoneNumberFormat.E164, PhoneNumberFormat.INTERNATIONAL, PhoneNumberFormat.NATIONAL)


def spellings(phone: str) -> Sequence[str]:
    """Return the ways in which a phone number may have been written."""
    found = {phone, re.sub(r"[^\d+]", "", phone)}
    try:
        number = phonenumbers.parse(phone, "NG")
    except phonenumbers.NumberParseException:
        return sorted(found)
    written = [phonenumbers.format_number(number, form) for form in _FORMS]
    return sorted({*found, *written, *(re.sub(r"\D", "", way) for way in written)})
