"""Errors of refused statements: the place, and nothing of the values they carried."""

import warnings

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.store.access import Scope, Store
from core.store.schema.tables import Product, Provider

pytestmark = pytest.mark.both_databases

BVN, EMAIL = "22212345678", "ada@insurer.example"


def test_a_broken_rule_of_the_database_is_told_without_personal_values(store: Store) -> None:
    now = clock.now()
    twice = Provider(
        id=ids.new(),
        created_at=now,
        updated_at=now,
        segment="insurer-a",
        company_name="Insurer A",
        number_series="AAA",
        first_name="Ada",
        last_name="Obi",
        email=EMAIL,
        phone_number="08031234567",
        country="NG",
        bvn_number=BVN,
    )
    with pytest.raises(sa.exc.IntegrityError) as refused, store.writing(Scope.system()) as session:
        session.add(twice)
    message = str(refused.value)
    assert "segment" in message
    assert BVN not in message
    assert EMAIL not in message


def test_tables_that_nothing_joins_are_refused_as_their_sums_would_be_multiplied(store: Store) -> None:
    multiplied = sa.select(sa.func.count(col(Product.id))).select_from(Product).where(col(Provider.segment) != "")
    with warnings.catch_warnings():
        # As a server has them, which no test has told to raise.
        warnings.simplefilter("default")
        Store(str(store.url)).close()
        with (
            pytest.raises(sa.exc.SAWarning, match="cartesian product"),
            store.reading(Scope.system()) as session,
        ):
            session.execute(multiplied)
