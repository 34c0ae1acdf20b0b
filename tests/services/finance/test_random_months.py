"""Random months of money: tile, list, exports, statements, bordereaux and journal have the sums of the rows.

The sums are made again by `independent`, from the rows alone. COVERDESK_RANDOM_MONTHS says how many runs of three
months are played, 1 unless told; 50 are the full size. COVERDESK_TESTS_DATABASES=both plays others on PostgreSQL.
"""

import csv
import io
import os
from decimal import Decimal

import pytest
import sqlalchemy as sa

from core import clock, money
from core.desk import store_check
from core.desk.exported_lists import get_kind
from core.services.finance import journal, movements
from core.services.lists import exports
from core.services.lists.exports import Tally
from core.services.lists.windows import Window
from core.services.sales import figures
from core.services.sales.figures import METRICS_BY_KEY
from core.store.access import Scope, Store
from tests.conftest import Partner
from tests.planting import find_faults
from tests.portfolio import NOW
from tests.services.finance import independent
from tests.services.finance.independent import Sums
from tests.services.finance.random_months import MONTHS, RandomMonths
from tests.services.finance_office import Finance, select

pytestmark = pytest.mark.frozen_at(NOW)

RUNS = int(os.environ.get("COVERDESK_RANDOM_MONTHS", "1"))
_NET = {
    "net_premium": "premium",
    "net_to_insurers": "insurer",
    "platform_commission": "platform",
    "distributor_commission": "seller",
}
_AMOUNTS = ("total", "provider_share", "mca_profit", "distributor_profit")


class _TakenBack(Exception):
    """Ends the transaction of a planted error."""


@pytest.mark.parametrize("seed", range(RUNS))
def test_all_sums_are_those_of_the_rows_and_every_planted_error_is_found(
    store: Store, partner: Partner, stranger: Partner, seed: int
) -> None:
    finance = Finance(store)
    # The databases play different months.
    played = RandomMonths(finance, [partner, stranger], seed * 2 + store.is_sqlite)
    played.play()
    assert {"sell", "late", "statement", "bordereau", "month closed", "payment"} <= played.done.keys(), played.done
    with store.reading(Scope.system()) as session:
        connection = session.connection()
        entries = independent.read_entries(connection)
        # What waits when the last month is closed goes back in the month after it.
        months = sorted({*MONTHS, *(each.on.replace(day=1) for each in entries)})
        expected = {month: independent.add_up(independent.of_month(entries, month)) for month in months}
        accounts = {month: independent.journal(connection, month) for month in months}
        assert independent.find_faults(connection) == []
    assert sum(sums.rows for sums in expected.values()) == len(entries) > 15
    for month, sums in expected.items():
        window = Window(month, clock.add_months(month, 1))
        assert _tile(finance, window) == sums
        assert _listed(finance, window) == sums
        assert _exported(finance, window) == sums
        assert _journal(finance, window) == accounts[month]
    assert finance.faults() == []
    # The short run plants half of the errors on each database.
    for planted in _PLANTED if RUNS > 1 else _PLANTED[store.is_sqlite :: 2]:
        assert _is_found(store, planted), planted


def _tile(finance: Finance, window: Window) -> Sums:
    summary = finance.read(figures.build_summary, window)
    tile = finance.read(movements.compute_totals, select(from_=window.start, to=window.last))
    values = {name: summary.value(METRICS_BY_KEY[key]) for key, name in _NET.items()}
    net = tile.net
    shown = (net.total_minor, net.provider_share_minor, net.mca_profit_minor, net.distributor_profit_minor)
    assert tuple(values.values()) == shown
    return Sums(movements.count(tile), *shown)


def _listed(finance: Finance, window: Window) -> Sums:
    rows = finance.rows(from_=window.start, to=window.last)
    names = ("total_minor", "provider_share_minor", "mca_profit_minor", "distributor_profit_minor")
    return Sums(len(rows), *(sum(getattr(row, name) for row in rows) for name in names))


def _exported(finance: Finance, window: Window) -> Sums:
    with finance.reading() as session:
        chosen = select(from_=window.start, to=window.last)
        content = b"".join(exports.stream_lines(session, get_kind("movements"), chosen, Tally()))
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    return Sums(
        len(rows), *(money.to_minor(sum((Decimal(row[name]) for row in rows), Decimal(0))) for name in _AMOUNTS)
    )


def _journal(finance: Finance, window: Window) -> dict[str, int]:
    content = b"".join(journal.csv_chunks(finance.read(journal.list_entries, window.start))).decode()
    accounts: dict[str, int] = {}
    for row in csv.DictReader(io.StringIO(content)):
        minor = money.to_minor(Decimal(row["debit"])) - money.to_minor(Decimal(row["credit"]))
        accounts[row["account"]] = accounts.get(row["account"], 0) + minor
    assert sum(accounts.values()) == 0
    return {name: minor for name, minor in accounts.items() if minor}


# Of the first row in the order of ids: each is one that a hand at the database could make.
_FIRST = "id = (SELECT id FROM {table} WHERE {where} ORDER BY CAST(id AS VARCHAR(40)) LIMIT 1)"
_PLANTED: tuple[tuple[str, str, str], ...] = (
    ("purchase", "total_minor = total_minor + 100", "is_live"),
    ("purchase", "mca_profit_minor = mca_profit_minor - 1", "mca_profit_minor > 1"),
    ("purchase", "deleted_at = created_at", "is_live"),
    ("renewal", "status = NOT status", "status"),
    ("refund", "total_minor = total_minor - 1", "total_minor > mca_profit_minor + distributor_profit_minor"),
    ("adjustment", "total_minor = total_minor + 1", "is_live"),
    ("statement", "opening_minor = opening_minor + 1, closing_minor = closing_minor + 1", "reverses_id IS NULL"),
    ("statement", "number = number + 100", "reverses_id IS NULL"),
    ("statement", "withheld_minor = withheld_minor + 1, vat_minor = vat_minor + 1", "state <> 'Void'"),
    ("statement", "sha256 = 'x'", "state <> 'Void'"),
    ("bordereau", "sha256 = 'x'", "kind = 'premium'"),
    ("bordereau", "rows = rows + 1", "kind = 'premium'"),
    ("credit_note", "total_minor = total_minor + 1", "is_live"),
    ("credit_note", "number = number + 50", "is_live"),
    ("payment", "net_minor = net_minor + 1, gross_minor = gross_minor + 1", "direction = 'out'"),
    ("payment", "state = 'Prepared'", "state = 'Confirmed'"),
    ("payout_batch", "net_minor = net_minor + 1", "state = 'Approved'"),
    ("month_step", "sha256 = 'x'", ""),
    ("statement_line", "net_minor = net_minor + 1", ""),
    ("statement_line", "premium_minor = premium_minor + 1", ""),
    ("statement_line", "", ""),
    ("bordereau_line", "amount_minor = amount_minor + 1", ""),
    ("bordereau_line", "", ""),
    ("statement_payment", "amount_minor = amount_minor + 1", ""),
    ("payment_settlement", "net_minor = net_minor + 1", ""),
    ("daybook_line", "sold_minor = sold_minor + 1", ""),
    ("daybook_line", "", ""),
)


def _is_found(store: Store, planted: tuple[str, str, str]) -> bool:
    """Plant an error past the triggers, ask the check, and take all of it back."""
    table, change, where = planted
    found = False
    try:
        with store.writing(Scope.system()) as session:
            _drop_triggers(session.connection(), table)
            chosen = (
                f" WHERE {_FIRST.format(table=table, where=where)}"
                if where
                else " WHERE is_live" * (table == "daybook_line")
            )
            statement = f"UPDATE {table} SET {change}{chosen}" if change else f"DELETE FROM {table}{chosen}"
            if not session.connection().execute(sa.text(statement)).rowcount:
                return True
            # A rule that names what was changed is likely to find it, and the first that does is enough.
            rules = sorted(store_check._RULES, key=lambda rule: table.partition("_")[0] not in rule)
            found = any(find_faults(session, rule) for rule in rules)
            raise _TakenBack
    except _TakenBack:
        return found


def _drop_triggers(connection: sa.Connection, table: str) -> None:
    if connection.dialect.name == "sqlite":
        query = f"SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = '{table}'"
        on = ""
    else:
        query = f"SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgrelid = '{table}'::regclass"
        on = f" ON {table}"
    for (name,) in connection.execute(sa.text(query)).all():
        connection.exec_driver_sql(f"DROP TRIGGER {name}{on}")
