"""The columns of a loan book, declared once: heading, template, reading and report follow from it (contract B2, B3)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.errors import InvalidInput

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


def describe_needed(kind: str) -> str:
    """Name the columns that a file of a kind must have."""
    return ", ".join(_list_missing(kind, {}))


def _list_missing(kind: str, places: Mapping[str, int]) -> list[str]:
    missing = [column.name for column in COLUMNS[kind] if column.need == REQUIRED and column.name not in places]
    if "full_name" in places:
        missing = [name for name in missing if name not in {"first_name", "last_name"}]
    if kind == EXITS and not {"policy_number", "loan_account_number"} & places.keys():
        missing.insert(0, "policy_number or loan_account_number")
    return missing


def _require(kind: str, places: Mapping[str, int], unknown: Sequence[str]) -> None:
    missing = _list_missing(kind, places)
    if not missing:
        return
    told = f"has no column {', '.join(missing)}: take the headings of the template"
    if unknown:
        more = ", ..." if len(unknown) > _MOST_NAMED else ""
        told += f", perhaps in place of {', '.join(f'“{each}”' for each in unknown[:_MOST_NAMED])}{more}"
    raise InvalidInput.for_field("file", told)


def fold(text: str) -> str:
    """A heading as it is compared: without case, blanks, marks and the byte order mark."""
    return re.sub(r"[^a-z0-9]", "", text.casefold())
