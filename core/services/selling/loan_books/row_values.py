"""The values of one row, read from a lender's cells: what is missing or malformed, and what was put right (B2-B4)."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from core import clock, reference
from core.covers import credit_life, fields
from core.covers.request import get_message, has_control_characters
from core.services.selling.loan_books import columns
from core.services.selling.loan_books.columns import Heading
from core.services.selling.loan_books.file_reader import LONGEST_CELL

PERSONAL: Final = ("nin", "bvn")
_NAMES: Final = {"first_name", "last_name"}
_NAME: Final = TypeAdapter(fields.Name)
_PHONE: Final = TypeAdapter(fields.Phone)
_EMAIL: Final = TypeAdapter(fields.Email)
_NAIRA: Final = TypeAdapter(fields.Naira)
_ACCOUNT: Final = TypeAdapter(credit_life.LoanAccountNumber)
_LOCAL_PART: Final = re.compile(r"[A-Za-z0-9_%+-]+(\.[A-Za-z0-9_%+-]+)*")
_EXPONENT: Final = re.compile(r"[+-]?\d+([.,]\d+)?[eE][+-]?\d+")
_MONEY: Final = re.compile(r"(?:₦|NGN|N)?\s*((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)", re.IGNORECASE)
_ISO: Final = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[ T]00:00(?::00(?:\.0+)?)?)?")
_DAY_FIRST: Final = re.compile(r"(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})")
_OLDEST_YEARS: Final = 120
_SEXES: Final = {"f": "Female", "m": "Male", "female": "Female", "male": "Male"}


class Malformed(ValueError):
    """A cell that cannot be read; the text says what it must be."""


@dataclass(slots=True)
class RowValues:
    """The values of a row by column, the columns that are missing, the malformed ones with why, and the warnings."""

    facts: dict[str, Any] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    malformed: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def read(kind: str, heading: Heading, cells: Sequence[str], date_order: str) -> RowValues:
    """Read the known cells of a row."""
    found = RowValues()
    texts = {name: cells[place] for name, place in heading.places.items() if place < len(cells) and cells[place]}
    _split_name(texts, found)
    for column in columns.COLUMNS[kind]:
        text = texts.get(column.name)
        if text is None:
            if column.need == columns.REQUIRED and not (column.name in _NAMES and "full_name" in found.malformed):
                found.missing.append(column.name)
        elif column.name != "full_name":
            _read_cell(column.name, text, date_order, found)
    if kind == columns.EXITS and not {"policy_number", "loan_account_number"} & texts.keys():
        found.missing.insert(0, "policy_number or loan_account_number")
    if kind == columns.ADDITIONS and not {"phone_number", "email"} & found.facts.keys():
        found.warnings.append("CONTACT_MISSING")
    return found


def _read_cell(name: str, text: str, date_order: str, found: RowValues) -> None:
    try:
        if len(text) > LONGEST_CELL:
            raise Malformed(f"has more than {LONGEST_CELL} characters")
        if has_control_characters(text):
            raise Malformed("has characters that cannot be printed")
        if text.startswith("="):
            raise Malformed("is a formula: save the file with values only")
        found.facts[name] = _READERS[name](text, date_order, found)
    except Malformed as fault:
        found.malformed[name] = str(fault)
    except ValidationError as error:
        found.malformed[name] = get_message(error.errors(include_url=False, include_input=False)[0])


def _split_name(texts: dict[str, str], found: RowValues) -> None:
    """Divide a full name where the two parts are not given."""
    whole = texts.get("full_name", "")
    if not whole or texts.keys() >= _NAMES:
        return
    last, comma, first = whole.partition(",")
    if not comma:
        first, _, last = whole.partition(" ")
    parts = {"first_name": " ".join(first.split()), "last_name": " ".join(last.split())}
    texts |= {name: part for name, part in parts.items() if part and name not in texts}
    if texts.keys() >= _NAMES:
        found.warnings.append("NAME_SPLIT")
    else:
        found.malformed["full_name"] = "must hold a first and a last name"


def _day(text: str, date_order: str) -> date:
    match = _ISO.fullmatch(text)
    parts = match.groups()[:3] if match else None
    if parts is None and date_order != "YYYY-MM-DD" and (match := _DAY_FIRST.fullmatch(text)):
        parts = match.groups()[::-1]
    if parts is None:
        raise Malformed(f"must be a date as {date_order}")
    try:
        day = date(*(int(part) for part in parts))
    except ValueError:
        raise Malformed(f"must be a date that exists, as {date_order}") from None
    if not 1900 <= day.year < 2200:
        raise Malformed("must be a date from 1900 to 2199")
    return day


def _birth_date(text: str, date_order: str, _: RowValues) -> str:
    day, today = _day(text, date_order), clock.today()
    if not day < today or today.year - day.year > _OLDEST_YEARS:
        raise Malformed("must be in the past and at most 120 years ago")
    return day.isoformat()


def _any_day(text: str, date_order: str, _: RowValues) -> str:
    return _day(text, date_order).isoformat()


def _digits_kept(text: str) -> str:
    """The text of a number; Malformed where a spreadsheet has lost digits of it."""
    if _EXPONENT.fullmatch(text):
        raise Malformed("is shown as a rounded number: format the column as text, and type it again")
    return text


def _account(text: str, _: str, __: RowValues) -> str:
    return str(_ACCOUNT.validate_python(_digits_kept(text)))


def _amount(text: str, _: str, __: RowValues) -> str:
    if _EXPONENT.fullmatch(text):
        raise Malformed("is shown as a rounded number: write it in full, such as 250000.00")
    match = _MONEY.fullmatch(text)
    if match is None:
        raise Malformed("must be an amount in naira, such as 250000.00")
    amount: Decimal = _NAIRA.validate_python(match[1].replace(",", ""))
    return f"{amount:.2f}"


def _months(text: str, _: str, __: RowValues) -> int:
    match = re.fullmatch(r"(\d{1,4})(?:\.0+)?", text)
    if match is None:
        raise Malformed("must be a whole number of months")
    if not 3 <= (months := int(match[1])) <= 120:
        raise Malformed("must be 3 to 120 months")
    return months


def _phone(text: str, _: str, found: RowValues) -> str:
    # A spreadsheet keeps a number without its zeros in front.
    if re.fullmatch(r"[789][01]\d{8}", _digits_kept(text)):
        found.warnings.append("LEADING_ZEROS_LOST")
        text = f"0{text}"
    return str(_PHONE.validate_python(text))


def _personal(text: str, _: str, found: RowValues) -> str:
    digits = _digits_kept(text)
    if re.fullmatch(r"\d{9,10}", digits):
        found.warnings.append("LEADING_ZEROS_LOST")
        digits = digits.zfill(11)
    if not re.fullmatch(r"\d{11}", digits):
        raise Malformed("must have 11 digits")
    return digits


@lru_cache(maxsize=4096)
def _domain(domain: str) -> str:
    """The usual spelling of the domain of an e-mail; ValidationError for none."""
    return str(_EMAIL.validate_python(f"a@{domain}")).partition("@")[2]


def _email(text: str, _: str, __: RowValues) -> str:
    local, _at, domain = text.rpartition("@")
    if len(text) <= 120 and len(local) <= 64 and _LOCAL_PART.fullmatch(local):
        return f"{local}@{_domain(domain)}"
    return str(_EMAIL.validate_python(text))


def _gender(text: str, _: str, __: RowValues) -> str:
    found = _SEXES.get(text.casefold()) or reference.find_option(reference.genders(), text)
    if found is None:
        raise Malformed(f"must be one of {', '.join(reference.genders())}")
    return found


def _benefits(text: str, _: str, __: RowValues) -> list[str]:
    chosen = {part.strip().lower().replace(" ", "_") for part in re.split(r"[;,|]", text) if part.strip()}
    if not chosen or not chosen <= set(credit_life.BENEFITS):
        raise Malformed(f"must be of {', '.join(credit_life.BENEFITS)}, divided by semicolons")
    return [name for name in credit_life.BENEFITS if name in chosen]


def _name(text: str, _: str, __: RowValues) -> str:
    return str(_NAME.validate_python(text))


def _short(text: str, _: str, __: RowValues) -> str:
    if len(text) > 60:
        raise Malformed("must have at most 60 characters")
    return text


def _number(text: str, _: str, __: RowValues) -> str:
    return _short(_digits_kept(text), "", RowValues())


def _reason(text: str, _: str, __: RowValues) -> str:
    return text.strip().lower().replace(" ", "_")[:60]


_READERS: Final[Mapping[str, Callable[[str, str, RowValues], Any]]] = {
    "loan_account_number": _account,
    "first_name": _name,
    "last_name": _name,
    "date_of_birth": _birth_date,
    "loan_amount": _amount,
    "loan_tenure_months": _months,
    "loan_start_date": _any_day,
    "gender": _gender,
    "phone_number": _phone,
    "email": _email,
    "nin": _personal,
    "bvn": _personal,
    "benefit_coverage": _benefits,
    "branch": _short,
    "reference": _short,
    "policy_number": _number,
    "exit_date": _any_day,
    "exit_reason": _reason,
}
