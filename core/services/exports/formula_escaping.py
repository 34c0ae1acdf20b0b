"""Text on its way into a spreadsheet: a formula that somebody typed must arrive as text, not run there."""

import re
import unicodedata

_STARTS_FORMULA = frozenset("=+-@\t\r\n\0")
# What a spreadsheet would make a number or a day of: "08031234567", "+234...", "12E5", "11/26".
_LIKE_A_NUMBER = re.compile(r"\+?[0-9][0-9 .,:/-]*([eE][0-9]+)?")
_PHONE = re.compile(r"\+[1-9][0-9]{6,14}")


def plain(apart: str = "") -> str:
    """A pattern of what stays as it is: empty, a phone number, or a letter or digit first and nothing that CSV reads.

    Nearly every cell is. Several cells can be looked at as one text, with what stands between them, in none of them.
    """
    return rf'(?:[A-Za-z0-9][^,"\r\n{apart}]*|{_PHONE.pattern})?'


_is_plain = re.compile(plain()).fullmatch


def defused(text: str) -> str:
    """The text with a leading apostrophe where a spreadsheet would read a formula.

    What counts is the first visible character, or a control character that shifts what follows into a new
    cell; full-width and other forms of = + - @ count as those. A plain E.164 phone number stays as it is.
    """
    if text[:1].isalnum() or _PHONE.fullmatch(text):
        return text
    first = next((character for character in text if not _unseen(character)), "")
    return f"'{text}" if unicodedata.normalize("NFKC", first)[:1] in _STARTS_FORMULA and first else text


def undefused(text: str) -> str:
    """The text that was defused, for a cell that is text whatever stands in it."""
    return text[1:] if text.startswith("'") and defused(text[1:]) == text else text


def kept_as_text(text: str) -> str:
    """A text of figures as a spreadsheet keeps it when it opens a CSV file: with every digit, zero and plus sign."""
    return f'="{text}"' if _LIKE_A_NUMBER.fullmatch(text) else text


def _unseen(character: str) -> bool:
    if character in _STARTS_FORMULA:
        return False
    # Separators, and marks that only steer others, such as a zero-width space or a byte order mark.
    return unicodedata.category(character)[0] in "ZC"


def cell(text: str | None) -> str:
    """A text as a field of a CSV line (RFC 4180), defused; none is an empty field."""
    if not text:
        return ""
    if _is_plain(text):
        return text
    safe = defused(text)
    return '"' + safe.replace('"', '""') + '"' if any(sign in safe for sign in ',"\r\n') else safe
