"""A month is one number: with the days of Lagos the lists of the API have what the desk has (contract P4)."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from core import clock, money
from core.services.finance import movements
from core.store.access import Scope, Store
from tests.api.claiming import Lodge, claim_of
from tests.api.conftest import Client
from tests.conftest import Partner
from tests.covers import shipped
from tests.every_case import every_case
from tests.portfolio import sales_at
from tests.services.finance_office import select

pytestmark = pytest.mark.both_databases

# The first and the last millisecond of November in Lagos, and those beside them.
BEGINS, ENDS = datetime(2026, 10, 31, 23, tzinfo=UTC), datetime(2026, 11, 30, 23, tzinfo=UTC)
BEFORE, LAST = BEGINS - timedelta(milliseconds=1), ENDS - timedelta(milliseconds=1)
NOVEMBER = "start_date=2026-11-01&end_date=2026-11-30"


@pytest.fixture
def sold(store: Store, partner: Partner) -> None:
    with store.writing(Scope.system()) as session:
        sales_at(session, partner.id, BEFORE, BEGINS, datetime(2026, 11, 15, tzinfo=UTC), LAST, ENDS)


def listed(client: Client, partner: Partner, path: str, query: str) -> list[dict[str, Any]]:
    answer = client.get(f"/v1/{path}?{query}", key=partner.live_key)
    assert answer.status_code == 200
    data = answer.json()["data"]
    (rows,) = [value for value in data.values() if isinstance(value, list)]
    assert len(rows) == data["total_count"]
    return list(rows)


@pytest.mark.usefixtures("sold")
@every_case(
    ("query", "first", "last"),
    [
        (NOVEMBER, datetime(2026, 11, 15, tzinfo=UTC), ENDS),
        (f"{NOVEMBER}&timezone=UTC", datetime(2026, 11, 15, tzinfo=UTC), ENDS),
        (f"{NOVEMBER}&timezone=Africa/Lagos", BEGINS, LAST),
        (f"{NOVEMBER}&timezone=africa%2Flagos", BEGINS, LAST),
        # A timestamp without an offset is read in the time zone, one with an offset says its own.
        ("start_date=2026-11-01T00:00:00&end_date=2026-11-30T23:59:59.999&timezone=Africa/Lagos", BEGINS, LAST),
        ("start_date=2026-10-31T23:00:00Z&end_date=2026-11-30T22:59:59.999Z&timezone=Africa/Lagos", BEGINS, LAST),
        ("start_date=0001-01-01&end_date=9999-12-31&timezone=Africa/Lagos", BEFORE, ENDS),
    ],
)
def test_days_are_those_of_the_time_zone(
    client: Client, partner: Partner, query: str, first: datetime, last: datetime
) -> None:
    for path in ("purchase/search", "policies/search"):
        rows = listed(client, partner, path, query)
        assert [rows[0]["created_at"], rows[-1]["created_at"]] == [clock.to_wire(last), clock.to_wire(first)]


@pytest.mark.usefixtures("sold")
def test_premium_and_commission_of_a_month_are_those_of_the_desk(
    client: Client, partner: Partner, store: Store
) -> None:
    rows = listed(client, partner, "purchase/search", f"{NOVEMBER}&timezone=Africa/Lagos")
    with store.reading(Scope.staff(is_live=True)) as session:
        tile = movements.compute_totals(session, select(from_="2026-11-01", to="2026-11-30")).purchases
    sums = [sum(Decimal(row[name]) for row in rows) for name in ("total", "distributor_profit")]
    assert [money.to_minor(each) for each in sums] == [tile.total_minor, tile.distributor_profit_minor]


@pytest.mark.usefixtures("sold")
def test_a_term_that_is_dated_by_day_is_moved_by_no_time_zone(client: Client, partner: Partner) -> None:
    ends = sorted(
        {
            row["expiration_date"][:10]
            for row in listed(client, partner, "policies/search", "")
            if row["expiration_date"]
        }
    )
    day = date.fromisoformat(ends[-1])
    query = f"expired_start_date={day}&expired_end_date={day}"
    found = listed(client, partner, "policies/search", query)
    assert found == listed(client, partner, "policies/search", f"{query}&timezone=Africa/Lagos") != []


@every_case(("query", "field"), [("timezone=Lagos", "timezone"), ("time_zone=Africa/Lagos", "time_zone")])
def test_another_time_zone_or_a_misspelt_parameter_is_refused_by_name(
    client: Client, partner: Partner, query: str, field: str
) -> None:
    answer = client.get(f"/v1/customers?{query}", key=partner.live_key)
    assert answer.status_code == 400
    assert [fault["field"] for fault in answer.json()["errorData"]] == [field]


def test_the_time_zone_moves_the_days_in_which_claims_were_lodged(client: Client, partner: Partner) -> None:
    with clock.freeze(shipped.STILL):
        lodge = Lodge(client, partner)
    for moment in (BEFORE, BEGINS):
        with clock.freeze(moment):
            claim_of(lodge())
    day = "start_date=2026-11-01&end_date=2026-11-01"
    for path in ("claims", "claims/search"):
        counts = [
            client.get(f"/v1/{path}?{query}", key=partner.test_key).json()["data"]["total_count"]
            for query in (day, f"{day}&timezone=Africa/Lagos", "end_date=2026-10-31", "start_date=2026-11-02")
        ]
        assert counts == [0, 1, 2, 0]
