"""A session shows one distributor in one mode, whatever a query forgets (contract M1, M2)."""

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import aliased
from sqlmodel import col

from core.covers.credit_life import CREDIT_LIFE
from core.covers.fields import build_example
from core.covers.request import validate
from core.services.selling import buying
from core.store.access import Scope, ScopeViolation, Store
from core.store.access.scope import owned_entities
from core.store.schema.tables import Customer, Policy, Purchase
from tests.conftest import Partner

pytestmark = pytest.mark.both_databases


@pytest.fixture
def sold(store: Store, partner: Partner) -> buying.Sale:
    """One policy of the partner in test mode."""
    request = validate(CREDIT_LIFE.request, build_example(CREDIT_LIFE.request))
    with store.writing(partner.scope()) as session:
        return buying.sell(session, CREDIT_LIFE, request, partner.seller())


def scopes(partner: Partner, stranger: Partner) -> dict[str, Scope]:
    return {
        "own": partner.scope(),
        "other mode": partner.scope(is_live=True),
        "stranger": stranger.scope(),
        "staff": Scope.staff(is_live=False),
        "staff, other mode": Scope.staff(is_live=True),
        "system": Scope.system(),
    }


def test_every_way_to_read_is_filtered(store: Store, partner: Partner, stranger: Partner, sold: buying.Sale) -> None:
    other = aliased(Purchase)
    reads = [
        sa.select(Purchase),
        sa.select(col(Purchase.total_minor)),
        sa.select(sa.func.count()).select_from(Purchase),
        sa.select(col(Policy.id)).join(Purchase, col(Purchase.id) == col(Policy.purchase_id)),
        sa.select(other),
        sa.select(col(Customer.id)).where(col(Customer.id).in_(sa.select(col(Purchase.customer_id)))),
        sa.select(sa.select(col(Purchase.id)).subquery("inner")),
        sa.select(sa.exists(sa.select(col(Purchase.id)))),
    ]
    for name, scope in scopes(partner, stranger).items():
        sees = name in {"own", "staff", "system"}
        with store.reading(scope) as session:
            for statement in reads:
                for rows in (session.execute(statement).scalars().all(), session.scalars(statement).all()):
                    assert any(rows) is sees, (name, str(statement))
            assert (session.get(Purchase, sold.purchase_id) is not None) is sees


def test_each_owned_table_is_limited_by_the_scope_of_now(store: Store, partner: Partner, stranger: Partner) -> None:
    """Statements are prepared once for all scopes: what differs has to be a parameter, or another statement."""
    sent: list[tuple[str, str]] = []

    def note(_: object, __: object, statement: str, parameters: object, *___: object) -> None:
        sent.append((statement, str(parameters).replace("-", "")))

    named = scopes(partner, stranger)
    del named["system"]
    sa.event.listen(store.engine, "before_cursor_execute", note)
    try:
        for entity in owned_entities():
            table = sa.inspect(entity).local_table.name
            for name, scope in named.items():
                sent.clear()
                with store.reading(scope) as session:
                    session.execute(sa.select(entity).limit(1)).all()
                statement, parameters = next(each for each in sent if f"FROM {table}" in each[0])
                is_live = "true" if scope.is_live else "false"
                assert f"{table}.is_live = {is_live if not store.is_sqlite else int(bool(scope.is_live))}" in statement
                for owner in (partner.id, stranger.id):
                    assert (owner.hex in parameters) is (owner == scope.distributor_id), (table, name)
    finally:
        sa.event.remove(store.engine, "before_cursor_execute", note)


def test_statements_that_could_slip_past_are_refused(store: Store, partner: Partner) -> None:
    table = sa.inspect(Purchase).local_table
    slipping = [
        sa.select(table),
        sa.text("SELECT * FROM purchase"),
        sa.update(table).values(request_source="x").returning(table.c.id),
        sa.delete(table),
        sa.select(sa.select(table.c.id).subquery("inner")),
        sa.insert(Purchase).values(total_minor=0),
    ]
    with store.writing(partner.scope()) as session:
        for statement in slipping:
            for way in (session.execute, session.scalars, session.scalar):
                with pytest.raises(ScopeViolation):
                    way(statement)


def test_changes_reach_only_rows_of_the_scope(store: Store, stranger: Partner, sold: buying.Sale) -> None:
    with store.writing(stranger.scope()) as session:
        changed = session.execute(sa.update(Policy).values(phone="stolen")).rowcount
        gone = session.execute(sa.delete(Customer)).rowcount
    assert (changed, gone) == (0, 0)


def test_rows_of_another_scope_cannot_be_written(store: Store, partner: Partner, stranger: Partner) -> None:
    foreign = Customer(
        distributor_id=stranger.id, is_live=False, email="a@b.example", email_key="a@b.example",
        name_key="ada obi", first_name="Ada", last_name="Obi", user_id=stranger.id,
    )  # fmt: skip
    with store.writing(partner.scope()) as session:
        with pytest.raises(ScopeViolation):
            session.insert(foreign)
        with pytest.raises(ScopeViolation):
            session.insert_if_absent(foreign)
        session.add(foreign)
        with pytest.raises(ScopeViolation):
            session.flush()
        session.expunge_all()


def test_rows_of_a_distributor_are_not_inserted_as_a_batch(store: Store) -> None:
    with pytest.raises(ScopeViolation), store.writing(Scope.staff(is_live=True)) as session:
        session.insert_batch(Customer, [{"first_name": "Ada"}])


def test_every_table_with_a_distributor_and_a_mode_is_owned() -> None:
    from sqlmodel import SQLModel

    # Keys are found by their hash before a scope is known; drafts belong to a person at the desk.
    not_for_tenants = {"api_key", "sale_draft"}
    owned = {entity.__tablename__ for entity in owned_entities()}
    for table in SQLModel.metadata.tables.values():
        if {"distributor_id", "is_live"} <= set(table.columns.keys()) and table.name not in not_for_tenants:
            assert table.name in owned
