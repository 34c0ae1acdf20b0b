"""Movements are all the money there is: each page, total, figure and export of them agrees with the rows."""

import csv
import io
from datetime import date, timedelta
from decimal import Decimal

import pytest

from core import clock, money
from core.desk.exported_lists import get_kind
from core.services.finance import movements
from core.services.finance.movements import MovementRow
from core.services.lists import exports
from core.services.lists.exports import Tally
from core.services.lists.windows import Window
from core.services.sales import figures
from core.services.sales.figures import METRICS_BY_KEY
from core.store.access import Scope, Store
from core.store.schema.tables import Policy, Purchase
from tests.conftest import Partner, make_partner
from tests.every_case import every_case
from tests.planting import assert_named, planted
from tests.portfolio import NOW, Portfolio, sales_at
from tests.prefilled import demonstration_copy, prefilled
from tests.services.finance_office import Finance, select

pytestmark = pytest.mark.frozen_at(NOW)

# The rule of the check.
MOVEMENTS = "Every movement is its row, and its premium the sum of its shares"

# No list of these tests has a multiple of it.
PAGE = 37


def sell(store: Store) -> tuple[Partner, Partner]:
    sellers = make_partner(store, "Swift Lenders"), make_partner(store, "Other Motors")
    Portfolio(seed=21, size=160, sellers=(sellers[0].id, sellers[1].id)).write(store)
    Portfolio(seed=22, size=20, sellers=(sellers[0].id,), is_live=False).write(store)
    return sellers


@pytest.fixture
def sellers(store: Store) -> tuple[Partner, Partner]:
    """Two distributors and what they sold."""
    return prefilled(store, "movements", sell)


@pytest.fixture
def partner(sellers: tuple[Partner, Partner]) -> Partner:
    return sellers[0]


@pytest.fixture
def stranger(sellers: tuple[Partner, Partner]) -> Partner:
    return sellers[1]


@pytest.fixture
def finance(store: Store, sellers: tuple[Partner, Partner]) -> Finance:
    return Finance(store)


def sums(rows: list[MovementRow]) -> tuple[int, int, int, int]:
    return (
        len(rows),
        sum(row.total_minor for row in rows),
        sum(row.mca_profit_minor for row in rows),
        sum(row.distributor_profit_minor for row in rows),
    )


def test_every_movement_is_its_three_shares(finance: Finance) -> None:
    rows = finance.rows()
    assert {row.kind for row in rows} == {"purchase", "renewal", "refund"}
    for row in rows:
        assert row.total_minor == row.provider_share_minor + row.mca_profit_minor + row.distributor_profit_minor
        assert (row.total_minor <= 0) == (row.kind == "refund")


@pytest.mark.both_databases
@every_case(
    "address",
    [
        {},
        {"kind": "refund"},
        {"kind": ["purchase", "renewal"]},
        {"from": "2026-10-01", "to": "2026-10-31"},
        {"from": "2026-10-30", "kind": ["refund", "adjustment"]},
        {"source": "desk"},
        {"from": "2027-01-01"},
    ],
)
def test_the_total_of_a_selection_is_that_of_its_rows(finance: Finance, address: dict[str, object]) -> None:
    rows, total = finance.rows(**address), finance.read(movements.compute_totals, select(**address))
    net = total.net
    assert sums(rows) == (
        movements.count(total),
        net.total_minor,
        net.mca_profit_minor,
        net.distributor_profit_minor,
    )


def test_purchases_and_renewals_are_the_gross_written_premium_of_the_dashboard(finance: Finance) -> None:
    window = Window.from_days(date(2026, 10, 1), date(2026, 10, 31))
    rows = finance.rows(**{"from": "2026-10-01", "to": "2026-10-31"})
    summary = finance.read(figures.build_summary, window)
    gross = sum(row.total_minor for row in rows if row.kind in {"purchase", "renewal"})
    assert gross == summary.value(METRICS_BY_KEY["premium"])
    assert sum(row.mca_profit_minor for row in rows) == summary.value(METRICS_BY_KEY["platform_commission"])
    assert sum(row.distributor_profit_minor for row in rows) == summary.value(METRICS_BY_KEY["distributor_commission"])
    assert sum(row.total_minor for row in rows) == summary.value(METRICS_BY_KEY["net_premium"])
    assert sum(row.provider_share_minor for row in rows) == summary.value(METRICS_BY_KEY["net_to_insurers"])


@pytest.mark.both_databases
@every_case("order", ["newest", "oldest"])
@every_case("address", [{}, {"kind": "renewal"}, {"source": "desk"}, {"from": "2026-09-15"}])
def test_pages_hold_every_movement_once_and_in_order(finance: Finance, order: str, address: dict[str, object]) -> None:
    whole = sorted(finance.rows(**address), key=lambda row: (row.created_at, row.id), reverse=order == "newest")
    pages = [finance.rows(PAGE, page, order=order, **address) for page in range(1, len(whole) // PAGE + 3)]
    assert pages[-1] == []
    assert [row.id for page in pages for row in page] == [row.id for row in whole]


@pytest.mark.both_databases
def test_a_filter_by_customer_insurer_or_distributor_takes_its_rows_alone(finance: Finance, partner: Partner) -> None:
    everything = finance.rows()
    one = everything[3]
    with finance.reading() as session:
        provider = session.get_one(Policy, one.policy_id).provider_id
    for address, same in (
        ({"email": one.email}, lambda row: row.email == one.email),
        ({"provider": str(provider)}, lambda row: row.provider == one.provider),
        ({"distributor": str(partner.id)}, lambda row: row.distributor == "Swift Lenders"),
    ):
        found = finance.rows(**address)
        assert {row.id for row in found} == {row.id for row in everything if same(row)}
        assert sums(found)[1] == finance.read(movements.compute_totals, select(**address)).net.total_minor


@pytest.mark.both_databases
def test_a_distributor_sees_its_own_movements_and_one_mode_never_the_other(
    finance: Finance, store: Store, partner: Partner, stranger: Partner
) -> None:
    seen = [
        {row.id for row in Finance.rows(_at(finance, scope))}
        for scope in (
            Scope.of(partner.id, is_live=True),
            Scope.of(stranger.id, is_live=True),
            Scope.staff(is_live=False),
        )
    ]
    assert all(seen)
    assert not seen[0] & seen[1] | seen[2] & (seen[0] | seen[1])
    assert seen[0] | seen[1] == {row.id for row in finance.rows()}


def _at(finance: Finance, scope: Scope) -> Finance:
    other = object.__new__(Finance)
    other.store, other.scope, other.people = finance.store, scope, finance.people
    return other


@every_case("address", [{}, {"kind": ["refund"]}, {"from": "2026-11-01"}])
def test_the_export_has_the_rows_and_the_sum_of_the_list(finance: Finance, address: dict[str, object]) -> None:
    kind, tally, selection = get_kind("movements"), Tally(), select(**address)
    with finance.reading() as session:
        text = b"".join(exports.stream_lines(session, kind, selection, tally)).decode()
        assert kind.count(session, selection) == tally.rows
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    listed = finance.rows(**address)
    assert [row["id"] for row in rows] == [str(row.id) for row in listed]
    assert tally.sum_minor == sum(row.total_minor for row in listed)
    for row, one in zip(rows, listed, strict=True):
        shares = ("provider_share", "mca_profit", "distributor_profit")
        assert Decimal(row["total"]) == sum(Decimal(row[name]) for name in shares)
        assert row["total"] == money.to_wire(one.total_minor)


@pytest.mark.both_databases
def test_unplaced_premium_is_aged_in_days_of_lagos(store: Store) -> None:
    finance, partner = Finance(store), make_partner(store, "Swift Lenders")
    with store.writing(Scope.system()) as session:
        midnight = clock.lagos_midnight(clock.today())
        ages = [0, 7, 8, 14, 15, 40]
        sales_at(session, partner.id, *(midnight - timedelta(days=days) for days in ages))
    with store.writing(Scope.system()) as session:
        for policy in session.execute(Policy.__table__.select()).all():
            row = session.get_one(Policy, policy.id)
            row.activated, row.cancelled_at, row.declined_at, row.deleted_at = False, None, None, None
        paid = {row.created_at: row.total_minor for row in session.execute(Purchase.__table__.select())}
    found = finance.read(movements.compute_unplaced, select())
    assert found.numbers == (2, 2, 2)
    assert found.total_minor == sum(paid.values())
    by_age = [paid[midnight - timedelta(days=days)] for days in ages]
    assert list(found.minors) == [
        sum(by_age[:2]),
        sum(by_age[2:4]),
        sum(by_age[4:]),
    ]


@pytest.mark.both_databases
@pytest.mark.parametrize("database", ["sqlite"])
def test_the_demonstration_has_movements_that_prove_themselves(store: Store) -> None:
    demonstration_copy(store, purchases=200, seed=3, until=NOW)
    finance = Finance(store)
    assert finance.faults() == []
    assert {row.kind for row in finance.rows()} >= {"purchase", "renewal", "refund"}


@every_case(
    ("triggers", "error"),
    [
        (
            {"refund_update": "refund"},
            "UPDATE refund SET mca_profit_minor = mca_profit_minor - 1 WHERE mca_profit_minor > 0",
        ),
        ({}, "UPDATE daybook_line SET refunded_mca_minor = refunded_mca_minor + 1 WHERE grain = 'day'"),
    ],
)
def test_check_finds_a_planted_error(finance: Finance, triggers: dict[str, str], error: str) -> None:
    with planted(finance.store, error, without=triggers) as session:
        assert_named(session, "do not have the sums of the daybook")


@pytest.mark.both_databases
def test_check_finds_a_view_that_leaves_refunds_out(finance: Finance) -> None:
    with finance.store.writers.begin() as connection:
        _hide_a_refund(finance.store, connection)
    assert any("do not have the number and sums of their rows" in fault for fault in finance.faults(MOVEMENTS))


def _hide_a_refund(store: Store, connection: object) -> None:
    """The view as somebody might make it again, without the refunds of some day."""
    query = (
        "SELECT sql FROM sqlite_master WHERE name = 'movement'"
        if store.is_sqlite
        else "SELECT 'CREATE VIEW movement AS ' || pg_get_viewdef('movement'::regclass)"
    )
    made = connection.exec_driver_sql(query).scalar_one().rstrip(";")
    connection.exec_driver_sql("DROP VIEW movement")
    inner = made.split(" AS ", 1)[1]
    connection.exec_driver_sql(
        f"CREATE VIEW movement AS SELECT * FROM ({inner}) AS every WHERE kind <> 'refund' OR total_minor > -100"
    )
