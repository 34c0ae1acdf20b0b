"""The columns of a loan book, declared once, and the values of a row read from a lender's cells (contract B2-B4)."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from core import clock, reference
from core.covers import credit_life, fields
from core.covers.request import get_message, has_control_characters
from core.errors import InvalidInput
from core.services.files.table_reader import LONGEST_CELL

REQUIRED, WANTED, OPTIONAL = "required", "wanted", "optional"
ADDITIONS, EXITS, SNAPSHOT = "additions", "exits", "snapshot"
EXIT_REASONS: Final = ("settled_early", "refinanced", "written_off", "cancelled")


@dataclass(frozen=True, slots=True)
class BookColumn:
    """One column: its name, what the template says of it, an example, and other headings that lenders give it."""

    name: str
    need: str
    says: str
    example: str
    also: tuple[str, ...] = ()


_ACCOUNT: Final = BookColumn(
    "loan_account_number",
    REQUIRED,
    "Your number of the loan. The same loan is insured once at a time.",
    "LN-2026-004711",
    ("loan account", "account number", "account no", "loan number", "loan no", "loan id", "acct no"),
)
_ADDITIONS: Final = (
    _ACCOUNT,
    BookColumn("first_name", REQUIRED, "The borrower's first name.", "Ngozi", ("given name", "firstname")),
    BookColumn("last_name", REQUIRED, "The borrower's last name.", "Okafor", ("surname", "lastname", "family name")),
    BookColumn(
        "full_name",
        OPTIONAL,
        "In place of first_name and last_name: it is divided, and you are told.",
        "",
        ("name", "customer name", "borrower name", "borrower"),
    ),
    BookColumn("date_of_birth", REQUIRED, "A day.", "1990-04-12", ("dob", "birth date", "birthdate")),
    BookColumn(
        "loan_amount",
        REQUIRED,
        "In naira, with at most two decimals.",
        "250000.00",
        ("amount", "principal", "loan value", "amount disbursed", "disbursed amount"),
    ),
    BookColumn(
        "loan_tenure_months",
        REQUIRED,
        "Whole months, 3 to 120.",
        "12",
        ("tenure", "tenor", "loan tenure", "loan tenor", "tenure months", "tenor months", "months"),
    ),
    BookColumn(
        "loan_start_date",
        REQUIRED,
        "The day on which the loan was paid out.",
        "2026-11-02",
        ("start date", "disbursement date", "date disbursed", "loan date", "value date"),
    ),
    BookColumn("gender", WANTED, "Female or Male.", "Female", ("sex",)),
    BookColumn(
        "phone_number",
        WANTED,
        "A Nigerian mobile number, or + and country code.",
        "08031234567",
        ("phone", "mobile", "phone no", "mobile number", "telephone"),
    ),
    BookColumn("email", WANTED, "The certificate is sent there.", "ngozi.okafor@example.com", ("email address",)),
    BookColumn("nin", OPTIONAL, "11 digits; sealed, and shown by the last four.", "", ("national id",)),
    BookColumn("bvn", OPTIONAL, "11 digits; sealed, and shown by the last four.", "", ("bank verification number",)),
    BookColumn(
        "benefit_coverage",
        OPTIONAL,
        "Other benefits than those of the book, divided by semicolons.",
        "",
        ("benefits", "benefit"),
    ),
    BookColumn("branch", OPTIONAL, "Your branch; it is kept with the policy.", "Ikeja"),
    BookColumn("reference", OPTIONAL, "Your own reference; it is kept with the policy.", "", ("ref",)),
)
_EXITS: Final = (
    BookColumn("policy_number", OPTIONAL, "The number of the policy, or", "", ("policy no", "certificate number")),
    BookColumn("loan_account_number", OPTIONAL, "your number of the loan.", "LN-2026-004711", _ACCOUNT.also),
    BookColumn("exit_date", REQUIRED, "The day on which the loan ended.", "2026-11-14", ("end date", "date closed")),
    BookColumn("exit_reason", REQUIRED, f"One of {', '.join(EXIT_REASONS)}.", "settled_early", ("reason",)),
)
COLUMNS: Final[Mapping[str, Sequence[BookColumn]]] = {ADDITIONS: _ADDITIONS, EXITS: _EXITS, SNAPSHOT: (_ACCOUNT,)}
_LEAST_KNOWN: Final = 2
_MOST_NAMED: Final = 8


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of a file: the names as they stand there, the place of each known column, and the unknown names."""

    names: tuple[str, ...]
    places: Mapping[str, int]
    unknown: tuple[str, ...]


def find_heading(kind: str, cells: Sequence[str], *, is_last: bool) -> Heading | None:
    """Return the heading if a row is it, None for a title above it; InvalidInput names what the heading lacks.

    `is_last` says that no further row is looked at: what is missing is named then.
    """
    names = names_of(kind)
    places: dict[str, int] = {}
    unknown: list[str] = []
    for place, cell in enumerate(cells):
        name = names.get(fold(cell))
        if name is None:
            unknown += [" ".join(cell.split())[:60]] if cell else []
        elif name in places:
            if not is_last and len(places) < _LEAST_KNOWN:
                return None
            raise InvalidInput.for_field("file", f"has two columns for {name}: keep one of them")
        else:
            places[name] = place
    if len(places) < min(_LEAST_KNOWN, len(COLUMNS[kind])) and not is_last:
        return None
    # Of a row without our headings its cells may be a borrower's: they are not repeated.
    _require(kind, places, unknown if len(places) >= _LEAST_KNOWN else ())
    shown = tuple(" ".join(cell.split())[:60] or f"Column {place + 1}" for place, cell in enumerate(cells))
    return Heading(shown, places, tuple(unknown))


def names_of(kind: str) -> dict[str, str]:
    """Return the columns of a kind by every heading that is taken for one, as it is compared."""
    return {fold(text): column.name for column in COLUMNS[kind] for text in (column.name, *column.also)}


def list_missing(kind: str, places: Collection[str] = ()) -> list[str]:
    """Return the columns that a file of a kind must have besides those that it has."""
    missing = [column.name for column in COLUMNS[kind] if column.need == REQUIRED and column.name not in places]
    if "full_name" in places:
        missing = [name for name in missing if name not in {"first_name", "last_name"}]
    if kind == EXITS and not {"policy_number", "loan_account_number"} & {*places}:
        missing.insert(0, "policy_number or loan_account_number")
    return missing


def _require(kind: str, places: Mapping[str, int], unknown: Sequence[str]) -> None:
    missing = list_missing(kind, places)
    if not missing:
        return
    fault = f"has no column {', '.join(missing)}: take the headings of the template"
    if unknown:
        more = ", ..." if len(unknown) > _MOST_NAMED else ""
        fault += f", perhaps in place of {', '.join(f'“{each}”' for each in unknown[:_MOST_NAMED])}{more}"
    raise InvalidInput.for_field("file", fault)


def fold(text: str) -> str:
    """A heading as it is compared: without case, blanks, marks and the byte order mark."""
    return re.sub(r"[^a-z0-9]", "", text.casefold())


PERSONAL: Final = ("nin", "bvn")
_NAMES: Final = {"first_name", "last_name"}
_NAME: Final = TypeAdapter(fields.Name)
_PHONE: Final = TypeAdapter(fields.Phone)
_EMAIL: Final = TypeAdapter(fields.Email)
_NAIRA: Final = TypeAdapter(fields.Naira)
_ACCOUNT_NUMBER: Final = TypeAdapter(credit_life.LoanAccountNumber)
_LOCAL_PART: Final = re.compile(r"[A-Za-z0-9_%+-]+(\.[A-Za-z0-9_%+-]+)*")
_EXPONENT: Final = re.compile(r"[+-]?\d+([.,]\d+)?[eE][+-]?\d+")
_MONEY: Final = re.compile(r"(?:₦|NGN|N)?\s*((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)", re.IGNORECASE)
_ISO: Final = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[ T]00:00(?::00(?:\.0+)?)?)?")
_YEAR_FIRST: Final = "YYYY-MM-DD"
_DAYS: Final = ("loan_start_date", "exit_date", "date_of_birth")
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
    for column in COLUMNS[kind]:
        text = texts.get(column.name)
        if text is None:
            if column.need == REQUIRED and not (column.name in _NAMES and "full_name" in found.malformed):
                found.missing.append(column.name)
        elif column.name != "full_name":
            _read_cell(column.name, text, date_order, found)
    if kind == EXITS and not {"policy_number", "loan_account_number"} & texts.keys():
        found.missing.insert(0, "policy_number or loan_account_number")
    if kind == ADDITIONS and not {"phone_number", "email"} & found.facts.keys():
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


def find_other_order(heading: Heading, rows: Sequence[Sequence[str]], date_order: str) -> tuple[str, str] | None:
    """Return a column whose days all stand in another order than was said, with one of them; None where none does.

    Days with the year first are read in either order.
    """
    if date_order != _YEAR_FIRST:
        return None
    for name in (each for each in _DAYS if each in heading.places):
        place = heading.places[name]
        texts = [cells[place] for cells in rows if place < len(cells)]
        other = next((text for text in texts if _DAY_FIRST.fullmatch(text)), None)
        if other and not any(_ISO.fullmatch(text) for text in texts):
            return name, other
    return None


def _day(text: str, date_order: str) -> date:
    match = _ISO.fullmatch(text)
    parts = match.groups()[:3] if match else None
    if parts is None and date_order != _YEAR_FIRST and (match := _DAY_FIRST.fullmatch(text)):
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


def _short(text: str, _: str, __: RowValues) -> str:
    if len(text) > 60:
        raise Malformed("must have at most 60 characters")
    return text


_READERS: Final[Mapping[str, Callable[[str, str, RowValues], Any]]] = {
    "loan_account_number": lambda text, *_: _ACCOUNT_NUMBER.validate_python(_digits_kept(text)),
    "first_name": lambda text, *_: _NAME.validate_python(text),
    "last_name": lambda text, *_: _NAME.validate_python(text),
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
    "policy_number": lambda text, *rest: _short(_digits_kept(text), *rest),
    "exit_date": _any_day,
    "exit_reason": lambda text, *_: text.strip().lower().replace(" ", "_")[:60],
}
