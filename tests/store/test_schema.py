"""Migrations lead from an empty store to exactly the tables that the code declares, and from none before 0.2.0."""

import re
import shutil
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations

from core.errors import StateForbids
from core.states.claims import ClaimStatus
from core.store.access import Store
from core.store.schema import migrating, versions
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import Portfolio

pytestmark = pytest.mark.both_databases

WORDS = ", ".join(f"'{status}'" for status in ClaimStatus)


def test_migrated_store_and_models_agree(store: Store) -> None:
    assert versions.version(store) == versions.newest()
    assert migrating.differences(store) == []


def test_migrating_again_changes_nothing(store: Store) -> None:
    migrating.migrate(store)
    assert migrating.differences(store) == []


# Another expression, another uniqueness, another condition, and none at all.
OTHERWISE = {
    "ix_claim_reference": "INDEX ix_claim_reference ON claim (is_live, substr({id}, -6))",
    "ix_refund_of_purchase": "INDEX ix_refund_of_purchase ON refund (purchase_id) WHERE renewal_id IS NULL",
    "ix_role_grant_open": "UNIQUE INDEX ix_role_grant_open ON role_grant (staff_id) WHERE state <> 'open'",
    "ix_claim_unsettled": None,
}


def test_an_index_with_another_text_is_a_difference(store: Store) -> None:
    with store.writers.begin() as connection:
        for name, anew in OTHERWISE.items():
            connection.exec_driver_sql(f"DROP INDEX {name}")
            if anew:
                connection.exec_driver_sql(f"CREATE {anew.format(id='id' if store.is_sqlite else 'id::text')}")
    found = [str(each) for each in migrating.differences(store) if "differing_index" in each]  # type: ignore[operator]
    assert len(found) == len(OTHERWISE), found
    assert [name for name in OTHERWISE if not any(name in each for each in found)] == []


def test_a_check_with_another_condition_is_a_difference(store: Store) -> None:
    replace_check(store, "status", "claim_status <> 'Lost'")
    found = [str(each) for each in migrating.differences(store)]
    replace_check(store, "status", f"claim_status IN ({WORDS})")
    assert len(found) == 1, found
    assert all(part in found[0] for part in ("differing_check", "ck_claim_status", "Lost")), found
    assert migrating.differences(store) == []


@pytest.mark.parametrize(
    ("version", "words"), [("0042", "bring it to release 0.2.0"), ("9999", "was made by a newer release")]
)
def test_a_store_that_no_migration_leads_from_is_left_as_it_is(store: Store, version: str, words: str) -> None:
    with store.writers.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = :version"), {"version": version})
        connection.exec_driver_sql("DELETE FROM store_secret")
    with pytest.raises(StateForbids, match=words):
        migrating.migrate(store)
    assert versions.version(store) == version
    with store.engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM store_secret").scalar_one() == 0


def test_a_drafted_migration_follows_the_newest(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newest, highest = versions.newest(), max(versions.known_versions())
    shutil.copytree(versions.MIGRATIONS, tmp_path / "migrations")
    monkeypatch.setattr(versions, "MIGRATIONS", tmp_path / "migrations")
    migrating.draft(store, "nothing new")
    (drafted,) = (tmp_path / "migrations" / "versions").glob("*_nothing_new.py")
    assert int(drafted.name[:4]) == int(highest) + 1
    text = drafted.read_text()
    assert f"down_revision = {newest!r}" in text
    # Nothing is missing from this store: a view is no table that was forgotten.
    assert re.findall(r"^    (op\.\S+|with \S+)", text, re.MULTILINE) == []


def replace_check(store: Store, name: str, condition: str) -> None:
    with store.writers.begin() as connection, Operations.context(MigrationContext.configure(connection)):
        migrating.replace_check("claim", name, condition)


def test_a_check_is_replaced_under_rows_that_others_refer_to(store: Store, partner: Partner) -> None:
    Portfolio(seed=5, size=40, sellers=(partner.id,)).write(store)
    count = sa.text("SELECT count(*) FROM claim")
    with store.engine.connect() as connection:
        rows = connection.execute(count).scalar_one()
    assert rows
    for condition, written in (
        (f"claim_status IN ({WORDS}, 'Lost :)')", "Lost :)"),
        (f"claim_status IN ({WORDS})", ""),
    ):
        replace_check(store, "status", condition)
        with store.writers.connect() as connection:
            assert connection.execute(count).scalar_one() == rows
            if written:
                connection.execute(sa.text("UPDATE claim SET claim_status = :written"), {"written": written})
            with pytest.raises(sa.exc.IntegrityError, match="ck_claim_status"):
                connection.execute(sa.text("UPDATE claim SET claim_status = 'Lost'"))
    assert migrating.differences(store) == []


def test_a_check_that_a_table_has_not_is_an_error_and_nothing_is_changed(store: Store) -> None:
    with pytest.raises((LookupError, sa.exc.ProgrammingError)):
        replace_check(store, "colour", "true")
    assert migrating.differences(store) == []


@every_case(
    "statement",
    [
        "UPDATE product_version SET price_minor = 1",
        "DELETE FROM product_version",
    ],
)
def test_rates_that_were_sold_cannot_be_rewritten(store: Store, statement: str) -> None:
    with store.writers.connect() as connection, pytest.raises(sa.exc.DBAPIError, match="keeps what it holds"):
        connection.execute(sa.text(statement))
