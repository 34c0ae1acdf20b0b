"""Time and ids come from one place each, and behave as the rest relies on."""

from datetime import UTC, date, datetime, timedelta, timezone
from uuid import UUID

import pytest

from core import clock, ids
from core.errors import InvalidInput
from tests.every_case import every_case


def test_frozen_clock_stands_still_and_moves_on_afterwards() -> None:
    at = datetime(2026, 11, 20, 7, 8, 0, 123456, UTC)
    with clock.freeze(at):
        assert clock.now() == at.replace(microsecond=123000)
        assert clock.to_wire(clock.now()) == "2026-11-20T07:08:00.123Z"
    assert clock.now() > at


def test_lagos_is_already_tomorrow_an_hour_before_midnight_utc() -> None:
    with clock.freeze(datetime(2026, 11, 20, 23, 30, tzinfo=UTC)):
        assert clock.today() == date(2026, 11, 21)
    assert clock.lagos_midnight(date(2026, 11, 21)) == datetime(2026, 11, 20, 23, tzinfo=UTC)


@every_case(
    ("day", "months", "later"),
    [
        (date(2024, 2, 29), 12, date(2025, 2, 28)),
        (date(2026, 1, 31), 1, date(2026, 2, 28)),
        (date(2026, 11, 20), 12, date(2027, 11, 20)),
        (date(2026, 12, 31), 120, date(2036, 12, 31)),
    ],
)
def test_months_later_is_the_same_day_where_it_exists(day: date, months: int, later: date) -> None:
    assert clock.add_months(day, months) == later


def test_wire_time_is_utc() -> None:
    lagos = datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))
    assert clock.to_wire(lagos) == "2026-01-01T00:00:00.000Z"
    assert clock.to_wire(None) is None


def test_ids_are_time_ordered_version_seven() -> None:
    made = [ids.new() for _ in range(20_000)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)
    assert {each.version for each in made} == {7}
    assert {each.variant for each in made} == {"specified in RFC 4122"}


def test_ids_stay_ordered_when_the_clock_stands_still() -> None:
    with clock.freeze(clock.now()):
        made = [ids.new() for _ in range(10_000)]
    assert made == sorted(made)


@every_case("text", ["", "x", "01900000000070008000000000080101", "{01900000-0000-7000-8000-000000080101}"])
def test_malformed_id_is_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidInput, match="policy_id must be a UUID"):
        ids.parse(text, "policy_id")


def test_id_in_any_case_is_read() -> None:
    assert ids.parse("01900000-0000-7000-8000-00000000B007") == UUID("01900000-0000-7000-8000-00000000b007")


def test_codes_and_tokens_do_not_repeat() -> None:
    assert len({ids.new_code() for _ in range(1000)}) == len({ids.new_token() for _ in range(1000)}) == 1000
    assert len(ids.new_code()) == 26
