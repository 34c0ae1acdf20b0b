"""Field types at their edges: money, counts, flags, phones, dates, numbers of persons (contract P8, S15)."""

from decimal import Decimal
from typing import Annotated, Any

from pydantic import Field

from core import reference
from core.covers import fields
from core.covers.request import Request
from tests.covers.shipped import faults
from tests.every_case import every_case


class Sample(Request):
    """One field of each type."""

    money: fields.Naira | None = None
    positive: fields.PositiveNaira | None = None
    count: Annotated[int, fields.WHOLE_NUMBER] | None = None
    flag: fields.Flag | None = None
    name: fields.Name | None = None
    address: fields.Address | None = None
    email: fields.Email | None = None
    phone: fields.Phone | None = None
    bvn: fields.Bvn | None = None
    passport: fields.Passport | None = None
    link: fields.Link | None = None
    day: fields.Day | None = None
    born: fields.BirthDate | None = None
    year: fields.Year | None = None
    engine: fields.EngineCapacity | None = None
    several: Annotated[list[Annotated[str, fields.one_of("one", "two")]], Field(max_length=3)] | None = None


def kept(name: str, value: Any) -> Any:
    return getattr(Sample.model_validate({name: value}), name)


def refusal(name: str, value: Any) -> str | None:
    return faults(Sample, {name: value}).get(name)


@every_case(
    ("sent", "amount"),
    [
        (0, "0.00"),
        (1, "1.00"),
        ("1", "1.00"),
        ("+1.5", "1.50"),
        (" 10.25 ", "10.25"),
        (".5", "0.50"),
        ("7.", "7.00"),
        (0.1, "0.10"),
        (Decimal("1E+3"), "1000.00"),
        (10**13, "10000000000000.00"),
        ("1.100", "1.10"),
        ("-0", "0.00"),
    ],
)
def test_money_is_a_number_or_a_decimal_text_kept_to_the_kobo(sent: object, amount: str) -> None:
    assert str(kept("money", sent)) == amount


@every_case(
    ("sent", "message"),
    [
        ("NaN", "must be a number"),
        (float("nan"), "must be a number"),
        (float("inf"), "must be a number"),
        (Decimal("sNaN"), "must be a number"),
        ("Infinity", "must be a number"),
        ("1e5", "must be a number"),
        ("1,000", "must be a number"),
        ("1_000", "must be a number"),
        ("١٢", "must be a number"),
        ("1.2.3", "must be a number"),
        ("0x10", "must be a number"),
        ("ten", "must be a number"),
        ("9" * 5_000, "must be a number"),
        (int("9" * 4_000) ** 2, "must be a number"),
        (True, "must be a number"),
        ([1], "must be a number"),
        ({"amount": 1}, "must be a number"),
        (-1, "must not be negative"),
        ("-0.01", "must not be negative"),
        ("0.001", "must have at most two decimals"),
        (1.005, "must have at most two decimals"),
        (Decimal("1." + "0" * 40 + "1"), "must have at most two decimals"),
        (Decimal("1e-999999999"), "must have at most two decimals"),
        (Decimal("1e999999999"), "must be at most 10,000,000,000,000"),
        (1e300, "must be at most 10,000,000,000,000"),
        (10**13 + 1, "must be at most 10,000,000,000,000"),
        ("10000000000000.01", "must be at most 10,000,000,000,000"),
    ],
    ids=lambda value: str(value)[:20] if not isinstance(value, int) or abs(value) < 10**20 else "huge",
)
def test_anything_else_is_no_money(sent: object, message: str) -> None:
    assert refusal("money", sent) == message


@every_case("sent", [0, "0.00", "-0"])
def test_a_positive_amount_is_more_than_0(sent: object) -> None:
    assert refusal("positive", sent) == "must be more than 0"


@every_case(("sent", "number"), [(3, 3), ("3", 3), (" 12 ", 12), (4.0, 4), ("5.00", 5), (-2, -2)])
def test_a_count_is_a_whole_number_or_its_text(sent: object, number: int) -> None:
    assert kept("count", sent) == number


@every_case("sent", [1.5, "1.5", "x", "1e2", "1_0", "٣", True, [1], "NaN"])
def test_a_count_is_nothing_else(sent: object) -> None:
    assert refusal("count", sent) == "must be a whole number"


@every_case(("sent", "bound"), [(10**7, "most "), (Decimal("1e999999999"), "most "), ("-99999999999999", "least -")])
def test_a_count_beyond_every_bound_is_told_one(sent: object, bound: str) -> None:
    assert refusal("count", sent) == f"must be at {bound}1000000"


@every_case(("sent", "flag"), [(True, True), ("TRUE", True), ("false", False), (" False ", False)])
def test_a_flag_is_a_boolean_or_its_word(sent: object, flag: bool) -> None:
    assert kept("flag", sent) is flag


@every_case("sent", [1, 0, "1", "yes", "on", [], {}])
def test_a_flag_is_nothing_else(sent: object) -> None:
    assert refusal("flag", sent) == "must be true or false"


@every_case(
    "sent",
    [
        "08031234567",
        "+2348031234567",
        "2347012345678",
        "0803 123 4567",
        "(0)9123456789",
        "+442071838750",
        "+14155552671",
        "+44 20 7183-8750",
        "+1 (415) 555.2671",
    ],
)
def test_a_phone_is_a_nigerian_mobile_or_in_e164(sent: str) -> None:
    assert kept("phone", sent) == sent


@every_case("blank", ["\u00a0", "\u2009", "\u202f", "\u3000"])
def test_the_blanks_of_a_phone_are_plain_ones(blank: str) -> None:
    assert kept("phone", f"0803{blank}123{blank}4567") == "0803 123 4567"


@every_case(
    "sent", ["+1800FLOWERS", "tel:+447911123456", "+44 7911 123456 x5", "+44 20 7946 0958;ext=9", "+99912345678"]
)
def test_a_phone_is_nothing_that_cannot_be_dialled_as_it_stands(sent: str) -> None:
    assert refusal("phone", sent)


@every_case("sent", ["0603123456", "08231234567", "0803123456", "12345", "phone", "+2341234", "0" * 33])
def test_a_phone_is_nothing_else(sent: str) -> None:
    assert refusal("phone", sent)


@every_case("sent", ["2222222222", "222222222222", "2222222222a", "２２２２２２２２２２２", "22222 222222"])
def test_a_bvn_has_eleven_digits(sent: str) -> None:
    assert refusal("bvn", sent) == "must have 11 digits"
    assert kept("bvn", " 22222222222 ") == "22222222222"


@every_case(
    ("sent", "day"),
    [
        ("2026-11-20", "2026-11-20"),
        (" 2028-02-29 ", "2028-02-29"),
        ("2026-11-20T23:59:59Z", "2026-11-20"),
        ("2026-11-20T23:30:00-02:00", "2026-11-20"),
        ("2026-11-20T00:00:00+01:00", "2026-11-20"),
        ("2026-11-20 23:00:00", "2026-11-20"),
        ("2026-11-20 10:00", "2026-11-20"),
    ],
)
def test_a_day_is_a_date_or_a_timestamp(sent: str, day: str) -> None:
    assert str(kept("day", sent)) == day


@every_case(
    "sent",
    [
        *(
            "2026-02-29",
            "20-11-2026",
            "2026-11-20 25:00",
            "2026-11-20 ten",
            "2026-1-1",
            "2026-13-01",
            "0001-01-01T00:00:00+14:00",
        ),
        *("9999-12-31", "2026-11-20T25:00:00Z", "1900", 20261120, True, ["2026-11-20"], "２０２６-11-20"),
    ],
)
def test_a_day_is_nothing_else(sent: object) -> None:
    assert (refusal("day", sent) or "").startswith("must be a date")


@every_case(
    ("sent", "right"),
    [("2026-11-20", False), ("2026-11-19", True), ("1906-11-21", True), ("1906-11-19", False), ("2030-01-01", False)],
)
def test_a_date_of_birth_is_past_and_at_most_120_years_ago(sent: str, right: bool) -> None:
    assert (refusal("born", sent) is None) is right


@every_case(
    ("sent", "right"), [("1960", True), (2027, True), ("1959", False), ("2028", False), ("19x0", False), (True, False)]
)
def test_a_year_of_manufacture_is_1960_to_next_year(sent: object, right: bool) -> None:
    assert (refusal("year", sent) is None) is right


@every_case(
    ("name", "right", "wrong"),
    [
        ("name", ["Ng", "O'Neil", "Ọlá", "J. K."], ["A", "A.", "12", "--"]),
        ("address", ["1 Road", "12 Marina, Lagos"], ["Lagos", " 1 Rd "]),
        ("email", ["a@b.co", "Amaka.Eze+x@Example.com"], ["a@", "a b@c.de", "@c.de", "a@b", "a@@b.co"]),
        (
            "engine",
            ["1.8", "1,8 L", "1800", "1800cc", "2.0 litres", "V6-3000"],
            ["2", "0", "0.0", "abc", "-5", "- 1.8"],
        ),
        ("passport", ["A12345678", "a 123-456"], ["A123", "-----", "A1234567890123456789x"]),
        (
            "link",
            ["https://a.b/c.jpg", "http://127.0.0.1:8501/f"],
            ["ftp://a.b", "//a.b", "javascript:x", "https://", "a.b"],
        ),
    ],
)
def test_texts_have_their_shapes(name: str, right: list[str], wrong: list[str]) -> None:
    assert [refusal(name, value) for value in right] == [None] * len(right)
    assert all(refusal(name, value) for value in wrong)


def test_each_value_of_a_list_is_checked_and_named_by_its_place() -> None:
    assert kept("several", ["ONE", "two"]) == ["one", "two"]
    assert faults(Sample, {"several": ["one", "three", 4]}) == {
        "several.1": "must be one of one, two",
        "several.2": "must be a text",
    }
    assert faults(Sample, {"several": ["one"] * 4}) == {"several": "must have at most 3"}


def test_marks_are_found_inside_optionals_and_lists() -> None:
    found = {name: {type(mark) for mark in fields.get_metadata(field)} for name, field in Sample.model_fields.items()}
    assert fields.Personal in found["bvn"]
    assert fields.Personal in found["passport"]
    assert fields.Pick in found["several"]
    assert fields.Personal not in found["name"]


def test_every_usual_name_of_a_country_means_one_of_the_list() -> None:
    usual = reference._read_json("country_names")
    assert {reference.find_country(name) for name in usual} <= set(reference.countries())


@every_case(
    ("typed", "is_taken"),
    [
        ("1", False),
        (" 2 ", False),
        ("0", False),
        ("0.0", False),
        ("1.0", True),
        ("2.4L", True),
        ("1800", True),
        ("V6", True),
    ],
)
def test_an_engine_is_litres_with_a_decimal_or_cubic_centimetres(typed: str, is_taken: bool) -> None:
    assert (refusal("engine", typed) is None) is is_taken
