"""Text of others arrives in a spreadsheet as text, and nothing that is harmless is touched."""

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from core.services.lists.spreadsheets import csv_field, escape_formula
from tests.every_case import every_case

FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\tcmd",
    "\rcmd",
    "\ncmd",
    "\0cmd",
    "  =1+1",
    "\u00a0=1+1",
    "\ufeff=1+1",
    "\u200b=1+1",
    "\uff1d1+1",
    "\uff0b1",
    "\uff0d1",
    "\uff20SUM",
    "\ufe62" + "1",
    "+2348031234567890123",
    "+234803-1234567",
    "+0123456789",
    "+234 803 123 4567=1",
    "=",
]
HARMLESS = [
    "",
    "Ngozi",
    "O'Neil, Jr.",
    "a=b",
    "1-2",
    "+2348031234567",
    "ngozi@example.com",
    "Ọládélé",
    "(none)",
    "'quoted'",
    "_x",
    "…",
]


@every_case("text", FORMULAS)
def test_a_formula_gets_an_apostrophe(text: str) -> None:
    assert escape_formula(text) == f"'{text}"


@every_case("text", HARMLESS)
def test_harmless_text_and_plain_phone_numbers_stay_as_they_are(text: str) -> None:
    assert escape_formula(text) == text


@given(st.text())
def test_a_cell_is_read_back_as_the_defused_text(text: str) -> None:
    line = f"{csv_field(text)},{csv_field('end')}\r\n"
    assert next(csv.reader(io.StringIO(line, newline=""))) == [escape_formula(text), "end"]


@given(st.text())
def test_no_cell_starts_as_a_formula(text: str) -> None:
    read = next(csv.reader(io.StringIO(f"{csv_field(text)},x\r\n", newline="")))[0]
    assert not read.lstrip().startswith(("=", "+", "-", "@")) or read == text == escape_formula(text)


def test_nothing_is_an_empty_field() -> None:
    assert csv_field(None) == csv_field("") == ""
