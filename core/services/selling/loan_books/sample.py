"""Sample files of new loans, with chosen faults."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from random import Random
from typing import Final

from core import clock

_FIRST: Final = ("Ngozi", "Tunde", "Amina", "Chidi", "Yetunde", "Ibrahim", "Efe", "Halima", "Emeka", "Bisi")
_LAST: Final = ("Okafor", "Bakare", "Yusuf", "Eze", "Adeyemi", "Danladi", "Oghene", "Bello", "Nwosu", "Alabi")
_BRANCHES: Final = ("Ikeja", "Wuse", "Aba", "Kano")
HEADING: Final = (
    *("Loan Number", "First Name", "Surname", "DOB", "Principal", "Tenor", "Start Date", "Sex", "Phone", "Email"),
    "Branch",
)
Row = dict[str, str]
# What each fault does to a row; `duplicate` is given the row before it.
FAULTS: Final[Mapping[str, Callable[[Row, Row], Row]]] = {
    "missing": lambda row, _: {**row, "Surname": ""},
    "amount": lambda row, _: {**row, "Principal": "12,5"},
    "date": lambda row, _: {**row, "Start Date": "31/02/2026"},
    "child": lambda row, _: {**row, "DOB": f"{clock.today().year - 9}-04-12"},
    "ahead": lambda row, _: {**row, "Start Date": str(clock.add_days(clock.today(), 20))},
    "over": lambda row, _: {**row, "Start Date": str(clock.add_months(clock.today(), -14)), "Tenor": "12"},
    "duplicate": lambda row, before: {**row, "Loan Number": before["Loan Number"]},
    "zeros": lambda row, _: {**row, "Phone": row["Phone"].lstrip("0")},
    "contact": lambda row, _: {**row, "Phone": "", "Email": ""},
}
# Every so many rows one has a fault.
_EVERY: Final = 12


def build_sample(loans: int, faults: Sequence[str] = (), *, seed: int = 1, prefix: str = "LN") -> bytes:
    """Return a CSV file of new loans as a lender keeps it; the named faults stand in every twelfth row in turn."""
    dice, rows = Random(f"{seed} loan book"), list[Row]()  # noqa: S311 - a demonstration has no secrets
    for number in range(loans):
        row = _build_row(dice, number, prefix)
        place, is_faulty = divmod(number, _EVERY)
        rows.append(FAULTS[faults[place % len(faults)]](row, rows[-1]) if faults and is_faulty == _EVERY - 1 else row)
    file = io.StringIO()
    writer = csv.DictWriter(file, HEADING)
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode()


def _build_row(dice: Random, number: int, prefix: str) -> Row:
    first, last = dice.choice(_FIRST), dice.choice(_LAST)
    born = date(dice.randint(1966, 2001), dice.randint(1, 12), dice.randint(1, 28))
    started = clock.add_days(clock.today(), -dice.randint(0, 9))
    account = f"{prefix}-{clock.today():%y%m}-{number + 1:06d}"
    values = (
        *(account, first, last, born, f"{dice.randint(6, 150) * 10_000}.00", dice.choice((6, 9, 12, 18, 24)), started),
        *(dice.choice(("F", "M")), f"0803{dice.randint(0, 9_999_999):07d}"),
        *(f"{first}.{last}.{account}@example.com".lower(), dice.choice(_BRANCHES)),
    )
    return dict(zip(HEADING, map(str, values), strict=True))
