"""CSV injection: escape text that a spreadsheet would run as a formula."""

import re
import unicodedata

_STARTS_FORMULA = frozenset("=+-@\t\r\n\0")
# What a spreadsheet would make a number or a day of: "08031234567", "+234...", "12E5", "11/26".
_LIKE_A_NUMBER = re.compile(r"\+?[0-9][0-9 .,:/-]*([eE][0-9]+)?")
_PHONE = re.compile(r"\+[1-9][0-9]{6,14}")


def build_plain_pattern(separator: str = "") -> str:
    """Return a pattern of texts that need no escaping: empty, a phone number, or alphanumeric first without CSV syntax.

    Nearly every cell matches. With a separator, which no text may contain, several joined cells match as one text.
    """
    return rf'(?:[A-Za-z0-9][^,"\r\n{separator}]*|{_PHONE.pattern})?'


_is_plain = re.compile(build_plain_pattern()).fullmatch


def escape_formula(text: str) -> str:
    """Prefix the text with an apostrophe where a spreadsheet would read a formula.

    Decided by the first visible character, or a control character that shifts what follows into a new cell;
    full-width and other forms of = + - @ count too. A plain E.164 phone number is left as it is.
    """
    if text[:1].isalnum() or _PHONE.fullmatch(text):
        return text
    first_visible = next((character for character in text if not _is_invisible(character)), "")
    return f"'{text}" if unicodedata.normalize("NFKC", first_visible)[:1] in _STARTS_FORMULA and first_visible else text


def undefused(text: str) -> str:
    """The text that was defused, for a cell that is text whatever stands in it."""
    return text[1:] if text.startswith("'") and escape_formula(text[1:]) == text else text


def kept_as_text(text: str) -> str:
    """A text of figures as a spreadsheet keeps it when it opens a CSV file: with every digit, zero and plus sign."""
    return f'="{text}"' if _LIKE_A_NUMBER.fullmatch(text) else text


def _is_invisible(character: str) -> bool:
    if character in _STARTS_FORMULA:
        return False
    # Separators and control or format characters, such as a zero-width space or a byte order mark.
    return unicodedata.category(character)[0] in "ZC"


def csv_field(text: str | None) -> str:
    """Return a text as a field of a CSV line (RFC 4180), escaped against formulas; None is an empty field."""
    if not text:
        return ""
    if _is_plain(text):
        return text
    escaped = escape_formula(text)
    return '"' + escaped.replace('"', '""') + '"' if any(sign in escaped for sign in ',"\r\n') else escaped
