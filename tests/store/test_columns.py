"""Money is whole kobo in every table: no column could round it."""

import pytest
import sqlalchemy as sa

from core.store.schema import tables

pytestmark = pytest.mark.both_databases

COLUMNS = [column for table in tables.metadata().sorted_tables for column in table.columns]


def test_no_column_is_a_float_or_a_decimal() -> None:
    assert len(COLUMNS) > 100
    assert [str(column) for column in COLUMNS if isinstance(column.type, sa.Numeric)] == []


def test_every_amount_is_a_64_bit_integer() -> None:
    amounts = [column for column in COLUMNS if column.name.endswith("_minor")]
    assert len(amounts) > 10
    assert [str(column) for column in amounts if not isinstance(column.type, sa.BigInteger)] == []
