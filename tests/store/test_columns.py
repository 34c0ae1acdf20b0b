"""Money is whole kobo in every table: no column could round it. A phone number has one key."""

import pytest
import sqlalchemy as sa

from core.services.people.personal import build_phone_key
from core.store.access import Store
from core.store.expressions import phone_key
from core.store.schema import tables
from tests.every_case import every_case

pytestmark = pytest.mark.both_databases

COLUMNS = [column for table in tables.metadata().sorted_tables for column in table.columns]


def test_no_column_is_a_float_or_a_decimal() -> None:
    assert len(COLUMNS) > 100
    assert [str(column) for column in COLUMNS if isinstance(column.type, sa.Numeric)] == []


def test_every_amount_is_a_64_bit_integer() -> None:
    amounts = [column for column in COLUMNS if column.name.endswith("_minor")]
    assert len(amounts) > 10
    assert [str(column) for column in amounts if not isinstance(column.type, sa.BigInteger)] == []


@every_case(
    ("phone", "key"),
    [
        ("08035550101", "2348035550101"),
        ("+234 (803) 555-0101", "2348035550101"),
        ("234.803.555.0101", "2348035550101"),
        ("(0)80 3555 0101", "2348035550101"),
        ("+44 7900 123004", "447900123004"),
        ("+1 (800) 555.0100", "18005550100"),
    ],
)
def test_a_phone_has_one_key_however_it_is_written(store: Store, phone: str, key: str) -> None:
    with store.engine.connect() as connection:
        assert connection.execute(sa.select(phone_key(sa.literal(phone, sa.String)))).scalar_one() == key
    assert build_phone_key(phone) == key
