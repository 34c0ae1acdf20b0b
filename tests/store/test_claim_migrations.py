"""Earlier releases and back: payments of claims are kept as they are, and claimants are found by their names."""

import pytest
import sqlalchemy as sa
from alembic import command
from sqlalchemy.exc import DBAPIError

from core.services.admin import store_check
from core.services.claims.lists import queue
from core.services.claims.lists import totals as claim_totals
from core.services.claims.lists.filter import ClaimFilter
from core.store.access import Scope, Store
from core.store.schema import migrating
from core.store.schema.tables import Claim
from tests.conftest import Partner
from tests.services.claim_desk import NOON
from tests.services.claim_office import DESK, PAID, Office

pytestmark = [pytest.mark.both_databases, pytest.mark.frozen_at(NOON)]


@pytest.fixture
def office(store: Store, partner: Partner) -> Office:
    return Office(store, partner)


def back_to(store: Store, revision: str) -> None:
    store.drop_idle_connections()
    with store.writers.begin() as connection:
        command.downgrade(migrating._config(connection), revision)


def read_payments(store: Store) -> tuple[set[str], list[tuple[object, ...]]]:
    """The columns of payments, and what was paid under which reference."""
    with store.engine.connect() as connection:
        columns = {column["name"] for column in sa.inspect(connection).get_columns("claim_payment")}
        rows = connection.exec_driver_sql("SELECT reference, amount_minor FROM claim_payment ORDER BY id").all()
    return columns, [tuple(row) for row in rows]


def refuse_changes(store: Store, statement: str) -> None:
    with pytest.raises(DBAPIError, match="keeps what it holds"), store.writers.begin() as connection:
        connection.exec_driver_sql(statement)


def test_payments_lose_their_file_on_the_way_back_and_are_kept_on_both_sides(store: Store, office: Office) -> None:
    office.walk(office.lodge(), *PAID)
    columns, paid = read_payments(store)
    assert "file_id" in columns
    assert len(paid) == 1
    back_to(store, "0050")
    assert read_payments(store) == (columns - {"file_id"}, paid)
    with store.engine.connect() as connection:
        assert not sa.inspect(connection).has_table("claim_payment_file")
    for statement in ("UPDATE claim_payment SET amount_minor = 1", "DELETE FROM claim_payment"):
        refuse_changes(store, statement)
    migrating.migrate(store)
    store.drop_idle_connections()
    assert read_payments(store) == (columns, paid)
    refuse_changes(store, "UPDATE claim_payment SET file_id = id")
    with store.reading(Scope.system()) as session:
        assert store_check.list_faults(session) == []
        assert claim_totals.get_totals(session, ClaimFilter()).paid_minor == paid[0][1]
    assert migrating.differences(store) == []


def test_claimants_of_before_are_found_by_their_names_without_accents_in_either_order(
    store: Store, office: Office
) -> None:
    claim_id, other = office.lodge(), office.lodge()
    names = {"claim_owner_first_name": "Ọláyínká", "claim_owner_last_name": "Ṣóyẹmí", "claim_owner_name_key": ""}
    office.put(claim_id, **names)
    back_to(store, "0056")
    migrating.migrate(store)
    store.drop_idle_connections()
    with store.reading(DESK) as session:
        keys = dict(tuple(row) for row in session.execute(sa.select(Claim.id, Claim.claim_owner_name_key)))
        assert keys[claim_id] == "olayinka soyemi"
        assert (
            keys[other]
            == " ".join(
                session.execute(
                    sa.select(Claim.claim_owner_first_name, Claim.claim_owner_last_name).where(Claim.id == other)
                ).one()
            ).lower()
        )
        for text in ("olayinka", "SÓYEMI", "Soyemi Olayinka"):
            criteria = ClaimFilter(view="all", search=text)
            assert [row.id for row in queue.list_rows(session, criteria)] == [claim_id]
            assert claim_totals.get_totals(session, criteria).count == 1
