"""The migration divides refunds that had no split yet, on the terms that they belong to."""

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command

from core import clock, ids, money
from core.covers.insurers import insurer_a
from core.services.admin import store_check
from core.services.policies import changes as policy_changes
from core.services.renewals import renewals
from core.services.selling.buying import Sale
from core.store.access import Scope, Store
from core.store.schema import migrating
from core.store.schema.tables import ProductVersion, Purchase, Refund, Renewal
from tests.conftest import Partner
from tests.covers import shipped
from tests.services.selling import sell

pytestmark = [pytest.mark.both_databases, pytest.mark.frozen_at(shipped.STILL)]

BEFORE = "0005"
AMOUNTS = ("total_minor", "mca_profit_minor", "distributor_profit_minor")


@pytest.fixture
def ended(store: Store, partner: Partner) -> Sale:
    """A declined sale, and one that was renewed and then cancelled by its customer 73 days before its term was over."""
    pending = sell(store, partner, insurer_a.COMPREHENSIVE, registration_number="KJA-777ZZ")
    sale = sell(store, partner, insurer_a.THIRD_PARTY)
    with store.writing(partner.scope()) as session:
        policy_changes.decline(session, pending.policy_id, actor="desk", reason="too old", expected_version=1)
    with clock.freeze(shipped.STILL + timedelta(days=365 - 73)), store.writing(partner.scope()) as session:
        renewals.renew(session, sale.policy_id, partner.seller())
        given = {"actor": "desk", "reason": "sold it", "by_insurer": False, "expected_version": 2}
        policy_changes.cancel(session, sale.policy_id, **given)
    return sale


def parts(row: Any) -> tuple[int, ...]:
    return tuple(getattr(row, name) for name in AMOUNTS)


def refunds(store: Store) -> list[Refund]:
    with store.reading(Scope.system()) as session:
        found = list(session.execute(sa.select(Refund)).scalars())
        session.expunge_all()
        return found


def back_to_before(store: Store) -> None:
    with store.writers.begin() as connection:
        command.downgrade(migrating._config(connection), BEFORE)


def faults(store: Store) -> list[str]:
    with store.reading(Scope.system()) as session:
        return store_check.list_faults(session)


def test_the_way_back_and_forth_changes_no_amount_and_no_rule(store: Store, ended: Sale) -> None:
    before = {(refund.purchase_id, refund.renewal_id): parts(refund) for refund in refunds(store)}
    assert len(before) == 3
    back_to_before(store)
    with store.engine.connect() as connection:
        kept = connection.exec_driver_sql("SELECT count(*), sum(amount_minor) FROM refund").one()
    assert tuple(map(int, kept)) == (2, sum(amounts[0] for amounts in before.values()))
    migrating.migrate(store)
    assert migrating.differences(store) == []
    assert {(refund.purchase_id, refund.renewal_id): parts(refund) for refund in refunds(store)} == before
    assert faults(store) == []
    refunds_are_still_only_added(store)
    a_refund_is_still_bound_to_its_term(store)


def refunds_are_still_only_added(store: Store) -> None:
    for statement in ("UPDATE refund SET total_minor = 0", "DELETE FROM refund"):
        with store.writers.connect() as connection, pytest.raises(sa.exc.DBAPIError, match="keeps what it holds"):
            connection.execute(sa.text(statement))


def a_refund_is_still_bound_to_its_term(store: Store) -> None:
    with store.reading(Scope.system()) as session:
        purchase = session.execute(sa.select(Purchase).limit(1)).scalar_one()
        session.expunge_all()
    (refund,) = [each for each in refunds(store) if each.purchase_id == purchase.id and each.renewal_id is None]
    values = {name: getattr(refund, name) for name in Refund.model_fields}
    again = Refund(**{**values, "id": ids.new()})
    with pytest.raises(sa.exc.IntegrityError), store.writing(Scope.system()) as session:
        session.insert(again)


def test_a_refund_rounded_once_over_two_terms_is_divided_without_losing_a_kobo(store: Store, ended: Sale) -> None:
    back_to_before(store)
    with store.writers.begin() as connection:
        connection.exec_driver_sql("DROP TRIGGER refund_update" + ("" if store.is_sqlite else " ON refund"))
        connection.exec_driver_sql("UPDATE refund SET amount_minor = 1620001 WHERE method = 'short_rate'")
    migrating.migrate(store)
    divided = [refund for refund in refunds(store) if refund.method == "short_rate"]
    with store.reading(Scope.system()) as session:
        renewal = session.execute(sa.select(Renewal)).scalar_one()
        version = session.get_one(ProductVersion, renewal.product_version_id)
        session.expunge_all()
    by_term = {refund.renewal_id: refund for refund in divided}
    assert by_term.keys() == {None, renewal.id}
    assert [by_term[term].total_minor for term in (None, renewal.id)] == [270_000, 1_350_001]
    for refund in divided:
        split = money.split(
            refund.total_minor, mca_bp=version.mca_commission_bp, distributor_bp=version.distributor_commission_bp
        )
        assert parts(refund) == (split.total_minor, split.mca_profit_minor, split.distributor_profit_minor)
        assert refund.explained[-1]["amount"] == f"{refund.total_minor / 100:.2f}"
    assert len({refund.id for refund in divided}) == 2
    assert faults(store) == []


def test_a_refund_above_what_was_paid_stops_the_migration_by_its_id(store: Store, ended: Sale) -> None:
    back_to_before(store)
    with store.writers.begin() as connection:
        connection.exec_driver_sql("DROP TRIGGER refund_update" + ("" if store.is_sqlite else " ON refund"))
        connection.exec_driver_sql("UPDATE refund SET amount_minor = 100000000000 WHERE method = 'full'")
    with pytest.raises(RuntimeError, match="gives back more than its policy paid"):
        migrating.migrate(store)
    with store.engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar_one() == BEFORE


def test_a_store_from_the_first_release_comes_to_the_same_books(store: Store, ended: Sale) -> None:
    with store.writers.begin() as connection:
        command.downgrade(migrating._config(connection), "0002")
    migrating.migrate(store)
    assert migrating.differences(store) == []
    assert faults(store) == []
