"""Many rows at once: written as one by one, refused as one by one, and looked up by texts that are sent as one."""

from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.store.access import Scope, Store
from core.store.expressions import is_among
from core.store.schema.columns import entity_of, values_to_insert
from core.store.schema.tables import AuditEntry, Customer, InsuredRisk, Policy
from tests.conftest import Partner
from tests.services.loan_books import PRODUCT

pytestmark = pytest.mark.both_databases

ODD = ["plain", "it's", 'a "quoted" text', "a,b\tc\\d\nlast", "Ọ̀ṣun", "null", "{}"]


def entry(position: int, **values: Any) -> AuditEntry:
    """An entry of the log of chain 3."""
    facts = {"chain": 3, "actor": "key tests", "action": "policy sold", "subject": "policy 1", "hash": "0" * 64}
    return AuditEntry.to_insert(**{**facts, "id": ids.new(), "position": position, "created_at": clock.now(), **values})


def stored(store: Store) -> list[AuditEntry]:
    query = sa.select(AuditEntry).where(col(AuditEntry.chain) == 3).order_by(col(AuditEntry.position))
    with store.reading(Scope.system()) as session:
        return list(session.execute(query).scalars())


def test_rows_of_one_table_come_back_as_they_were(store: Store) -> None:
    rows = [entry(2**40 + place, actor=text, after={"text": text, "n": place}) for place, text in enumerate(ODD)]
    with store.writing(Scope.system()) as session:
        session.insert_many(rows)
        session.insert(entry(2**50, after={"one": "by itself"}))
    found = stored(store)
    assert [vars(row) | {"_sa_instance_state": None} for row in found[:-1]] == [
        {**vars(row), "_sa_instance_state": None} for row in rows
    ]


def test_nothing_in_a_json_column_is_the_same_however_it_is_written(store: Store) -> None:
    with store.writing(Scope.system()) as session:
        session.insert_many([entry(2**40)])
        session.insert(entry(2**41))
    query = sa.text("SELECT count(*) FROM audit_entry WHERE chain = 3 AND before IS NOT NULL AND trace_id IS NULL")
    with store.reading(Scope.system()) as session:
        assert session.execute(query).scalar_one() == 2
    assert [row.before for row in stored(store)] == [None, None]


def test_a_place_that_is_taken_is_refused_and_nothing_is_left(store: Store) -> None:
    with store.writing(Scope.system()) as session:
        session.insert(entry(2**40))
    with pytest.raises(sa.exc.IntegrityError) as refused, store.writing(Scope.system()) as session:
        session.insert_many([entry(2**41), entry(2**40, actor="ada@insurer.example")])
    assert "ada@insurer.example" not in str(refused.value)
    assert [row.position for row in stored(store)] == [2**40]


def test_what_is_there_already_is_left_out(store: Store, partner: Partner) -> None:
    product, now = UUID(PRODUCT), clock.now()

    def risks(*texts: str) -> list[InsuredRisk]:
        return [InsuredRisk.to_insert(product_id=product, risk_hash=text, sold_at=now) for text in texts]

    texts = [f"{text}-{partner.id}"[:64] for text in ("a", "b", "c")]
    with store.writing(Scope.system()) as session:
        assert session.insert_many(risks(*texts[:2]), if_absent=True)
        assert not session.insert_many(risks(*texts), if_absent=True)
        found = session.execute(sa.select(col(InsuredRisk.risk_hash)).where(col(InsuredRisk.product_id) == product))
        assert sorted(found.scalars()) == sorted(texts)


def test_only_the_named_columns_are_updated(store: Store, partner: Partner) -> None:
    owner: dict[str, Any] = {"distributor_id": partner.id, "is_live": False}
    names = {"first_name": "Ada", "last_name": "Obi", "name_key": "ada obi", "user_id": ids.new()}
    keys = [f"{number}@b.example" for number in range(len(ODD))]
    rows = [Customer.to_insert(**owner, **names, email=key, email_key=key) for key in keys]
    with store.writing(partner.scope()) as session:
        session.insert_many(rows)
        for row, text in zip(rows, ODD, strict=True):
            row.first_name, row.last_name = text, "not written"
        session.update_many(rows, "first_name")
        query = sa.select(col(Customer.first_name), col(Customer.last_name)).order_by(col(Customer.email_key))
        assert [tuple(row) for row in session.execute(query)] == [(text, "Obi") for text in ODD]


def test_texts_that_are_sent_as_one_find_what_one_by_one_would(store: Store) -> None:
    rows = [entry(2**40 + place, subject=text) for place, text in enumerate(ODD)]
    with store.writing(Scope.system()) as session:
        session.insert_many(rows)
        for wanted in ([], ODD[:3], ODD, ["missing", *ODD[3:5]]):
            query = sa.select(col(AuditEntry.subject)).where(col(AuditEntry.chain) == 3)
            found = session.execute(query.where(is_among(col(AuditEntry.subject), wanted))).scalars()
            assert sorted(found) == sorted(set(wanted) & set(ODD))


def test_texts_that_are_sent_as_one_are_looked_up_in_their_index(store: Store) -> None:
    query = sa.select(col(AuditEntry.id)).where(is_among(col(AuditEntry.subject), ODD), col(AuditEntry.chain) == 3)
    with store.reading(Scope.system()) as session:
        connection = session.connection()
        sql = str(query.compile(dialect=connection.dialect))
        # PostgreSQL reads a table as small as this one whole.
        explained = (
            connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql.replace('?', 'NULL')}") if store.is_sqlite else ()
        )
        plan = [row[3] for row in explained][:1]
    assert plan in (["SEARCH audit_entry USING INDEX ix_audit_entry_subject_created_at (subject=?)"], []), plan


def test_a_row_to_insert_has_its_defaults_and_no_session(store: Store) -> None:
    row = Customer.to_insert(distributor_id=ids.new(), is_live=False, email="a@b.example", email_key="a@b.example")
    assert isinstance(row, Customer)
    assert entity_of(row) is Customer
    assert (row.active, row.deleted_at, row.id.version) == (True, None, 7)
    row.active = False
    assert values_to_insert(row) == vars(row)
    assert vars(row)["active"] is False
    with pytest.raises(AttributeError, match="no attribute 'product_id'"):
        _ = Policy.to_insert().product_id
    with pytest.raises(TypeError, match="Customer has no colour"):
        Customer.to_insert(colour="red")
    with pytest.raises(sa.orm.exc.UnmappedInstanceError), store.writing(Scope.system()) as session:
        session.add(row)
