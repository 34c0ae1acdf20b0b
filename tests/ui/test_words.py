"""Figures, days and texts of others as written on screens."""

from datetime import UTC, date, datetime
from decimal import Decimal

from core.ui.kit import words
from tests.every_case import every_case


def test_money_is_shown_with_its_kobo() -> None:
    assert words.naira(123456700) == "₦1,234,567.00"
    assert words.naira(-50) == "-₦0.50"
    assert words.naira_of(Decimal("575")) == words.naira_of("575.00") == "₦575.00"
    assert words.naira(None) == words.naira_of(None) == "–"
    assert [words.short_naira(minor) for minor in (-5_000_000, 5_000_000, -50)] == ["-₦50.0k", "₦50.0k", "-₦0"]


@every_case(("typed", "read"), [("₦100,000.50", "100000.50"), (" 1 000 ", "1000"), (None, ""), ("1,50", "1,50")])
def test_an_amount_is_read_however_it_is_typed(typed: str | None, read: str) -> None:
    assert words.read_naira(typed) == read


@every_case(
    ("typed", "shown"), [("100000", "100,000"), ("1,5", "1,5"), ("99.5", "99.5"), ("1.005", "1.005"), ("x", "x")]
)
def test_an_amount_is_tidied_once_typed_and_nonsense_is_left(typed: str, shown: str) -> None:
    assert words.as_typed(typed) == shown


def test_days_are_those_of_lagos() -> None:
    late = datetime(2026, 11, 19, 23, 30, tzinfo=UTC)
    assert words.day(late) == "20 Nov 2026"
    assert words.moment(late) == "20 Nov 2026, 00:30"
    assert words.day("2026-11-19T23:30:00.000Z") == words.day(date(2026, 11, 20)) == words.day("2026-11-20")
    assert words.day(None) == words.moment(None) == "–"


def test_days_of_a_sentence_are_written_as_everywhere() -> None:
    sentence = "This policy could be renewed until 2025-08-24"
    assert words.format_dates(sentence) == "This policy could be renewed until 24 Aug 2025"
    assert words.format_dates("Policy 1/2026-11-2 of 12026-11-20") == "Policy 1/2026-11-2 of 12026-11-20"


def test_shares_and_counts() -> None:
    assert words.percent(Decimal("0.125")) == "12.5 %"
    assert words.percent(None) == "–"
    assert words.count(1234567) == "1,234,567"


@every_case(
    ("name", "title"),
    [("loan_start_date", "Loan start date"), ("email", "E-mail"), ("bvn", "BVN"), ("id_image", "ID image")],
)
def test_names_of_fields_are_sentences(name: str, title: str) -> None:
    assert words.title(name) == title


def test_texts_of_others_are_never_formatted() -> None:
    assert words.plain("*b* [x](http://e) :red[y] $1 <i>") == (
        r"\*b\* \[x\]\(http" + "\u2060" + r"\://e\) \:red\[y\] \$1 \<i\>"
    )
    assert words.plain("an@b.ng") == r"an:color[@]b\.ng", "no link to a mail program, and nothing hidden to copy"
    assert words.plain(None) == ""


def test_a_state_has_one_colour_everywhere() -> None:
    assert words.badge("In force") == ":green-badge[In force]"
    assert words.badge("Unheard of") == ":gray-badge[Unheard of]"
