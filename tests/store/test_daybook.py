"""The daybook follows every way of writing a sale, and a migration can have it rebuilt."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from core import money
from core.store.access import Scope, Store
from core.store.rollups import daily_rollup
from core.store.rollups.day_totals import MEASURED
from core.store.schema import migrating, versions
from core.store.schema.rollups import MEASURES
from core.store.schema.tables import DaybookLine, DayTotal, Policy, ProductVersion, Purchase, Renewal
from tests.conftest import Partner
from tests.portfolio import NOW, sales_at

pytestmark = pytest.mark.both_databases


def lines(store: Store) -> list[tuple[str, str, int, int, int]]:
    with store.reading(Scope.system()) as session:
        sums = [sa.func.sum(measure) for measure in (DaybookLine.sold, DaybookLine.renewed, DaybookLine.refunds)]
        query = sa.select(DaybookLine.grain, DaybookLine.day, *sums).group_by(DaybookLine.grain, DaybookLine.day)
        found = session.execute(query.order_by(DaybookLine.grain, DaybookLine.day))
        return [
            (grain, str(day), int(sold), int(renewed), int(refunds)) for grain, day, sold, renewed, refunds in found
        ]


def faults(store: Store) -> list[str]:
    with store.engine.connect() as connection:
        return daily_rollup.list_faults(connection)


def renewal(purchase: Purchase, policy: Policy, version: ProductVersion, **changed: object) -> Renewal:
    money = {name: getattr(purchase, name) for name in ("total_minor", "mca_profit_minor", "distributor_profit_minor")}
    place = {name: getattr(purchase, name) for name in ("distributor_id", "is_live", "customer_id", "provider_id")}
    facts: dict[str, object] = {
        "created_at": NOW,
        "policy_id": policy.id,
        "purchase_id": purchase.id,
        "product_id": purchase.product_id,
        "product_category_id": purchase.product_category_id,
        "product_version_id": version.id,
        "previous_expiration_at": NOW,
        "start_at": NOW,
        "expiration_at": NOW + timedelta(days=30),
    }
    return Renewal(**{**money, **place, **facts, **changed})


def test_a_sale_is_entered_on_its_day_and_in_its_month(store: Store, partner: Partner) -> None:
    with store.writing(Scope.system()) as session:
        sales_at(session, partner.id, NOW)
    assert lines(store) == [("day", "2026-11-20", 1, 0, 0), ("month", "2026-11-01", 1, 0, 0)]


def test_added_inserted_and_claimed_rows_are_all_entered_once(store: Store, partner: Partner) -> None:
    with store.writing(Scope.system()) as session:
        sales_at(session, partner.id, NOW)
        purchase, policy = (session.execute(sa.select(entity)).scalar_one() for entity in (Purchase, Policy))
        version = session.get_one(ProductVersion, purchase.product_version_id)
        session.add(renewal(purchase, policy, version))
        session.flush()
        later = {"previous_expiration_at": NOW + timedelta(days=1)}
        assert session.insert_if_absent(renewal(purchase, policy, version, **later))
        assert not session.insert_if_absent(renewal(purchase, policy, version, **later))
        session.insert(renewal(purchase, policy, version, previous_expiration_at=NOW - timedelta(days=1), status=False))
    assert lines(store)[0] == ("day", "2026-11-20", 1, 2, 0)
    assert faults(store) == []


_STALE = """
from alembic import context
from core.store.schema import versions
revision, down_revision, branch_labels, depends_on = "9999", {newest!r}, None, None
def upgrade() -> None:
    context.config.attributes[versions.STALE] = True
"""


def test_a_migration_that_made_the_daybook_stale_is_followed_by_its_rebuilding(
    store: Store, partner: Partner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.writing(Scope.system()) as session:
        sales_at(session, partner.id, NOW)
        session.execute(sa.update(Purchase).values(premium_frequency=None))
    with store.writers.begin() as connection:
        connection.execute(sa.delete(DaybookLine))
        connection.execute(sa.delete(DayTotal))
    assert faults(store) != []
    shutil.copytree(versions.MIGRATIONS, tmp_path / "migrations")
    (tmp_path / "migrations/versions/9999_stale.py").write_text(_STALE.format(newest=versions.newest()))
    monkeypatch.setattr(versions, "MIGRATIONS", tmp_path / "migrations")
    migrating.migrate(store)
    assert faults(store) == []
    assert lines(store) == [("day", "2026-11-20", 1, 0, 0), ("month", "2026-11-01", 1, 0, 0)]


def test_the_totals_of_days_follow_a_policy_through_its_life(store: Store, partner: Partner) -> None:
    with store.writing(Scope.system()) as session:
        sales_at(session, partner.id, NOW)
        sold = session.execute(sa.select(Policy.id)).scalar_one()
    day = timedelta(days=1)
    life: list[dict[str, object]] = [
        {"activated": False},
        {"activated": True, "number_key": "life", "expiration_at": NOW + 9 * day},
        {"expiration_at": NOW + 30 * day},
        {"declined_at": NOW + 40 * day},
        {"declined_at": None, "cancelled_at": NOW + 2 * day},
        {"deleted_at": NOW + 3 * day},
    ]
    held = []
    for change in life:
        with store.writing(Scope.system()) as session:
            policy = session.get_one(Policy, sold)
            for name, value in change.items():
                setattr(policy, name, value)
        assert faults(store) == []
        with store.reading(Scope.system()) as session:
            query = sa.select(DayTotal.day, DayTotal.in_force_change, DayTotal.terms_ended).order_by(DayTotal.day)
            found = session.execute(query)
            held.append([(str(day)[5:], change, ended) for day, change, ended in found if change])
    started = ("11-20", 1, 0)
    ends = [("11-29", -1, 1), ("12-20", -1, 1), ("12-20", -1, 1), ("11-22", -1, 0)]
    assert held == [[], *([started, end] for end in ends), []]


def test_each_measure_of_the_roll_ups_is_declared_once() -> None:
    names = [
        name for measures in MEASURED.values() for name in measures.of(money.split(10_000, mca_bp=0, distributor_bp=0))
    ]
    assert sorted(names) == sorted(MEASURES)
