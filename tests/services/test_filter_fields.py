"""Every field of a sales filter reaches the key of its statement, the choice of the daybook and a condition.

Three lists in the code are about the fields; a field that one of them lacks would give rows of another question.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from core.services import filters
from core.services.filters import SalesFilter, Span, marked
from core.services.policies import policies
from core.services.renewals import records as renewal_records
from core.services.sales import conditions as sale_conditions
from core.services.sales import day_totals
from core.store.access import Scope
from core.store.schema.tables import DaybookLine

ONE, TWO = UUID("01900000-0000-7000-8000-000000000001"), UUID("01900000-0000-7000-8000-000000000002")
MARCH, APRIL = (
    Span(datetime(2026, month, 1, tzinfo=UTC), datetime(2026, month + 1, 1, tzinfo=UTC)) for month in (3, 4)
)
# Two values of each field that differ from each other and from its default.
VALUES: Mapping[str, tuple[Any, Any]] = {
    "created": (MARCH, APRIL),
    "expiring": (MARCH, APRIL),
    "customer_id": (ONE, TWO),
    "customer_email": ("ada@example.com", "obi@example.com"),
    "customer_type": ("principal", "beneficiary"),
    "provider_ids": ((ONE,), (TWO,)),
    "product_ids": ((ONE,), (TWO,)),
    "category_ids": ((ONE,), (TWO,)),
    "distributor_ids": ((ONE,), (TWO,)),
    "request_sources": (("api",), ("desk",)),
    "status": (True, False),
}
CONDITIONS: Mapping[str, Callable[[SalesFilter], list[sa.ColumnElement[bool]]]] = {
    "purchases": sale_conditions.build_conditions,
    "renewals": renewal_records.build_conditions,
    "policies": policies.build_conditions,
}
# A purchase has no status that anybody could ask for.
WITHOUT = {("purchases", "status")}
every_field = pytest.mark.parametrize("name", VALUES)


def sql(conditions: list[sa.ColumnElement[bool]]) -> str:
    return str(sa.and_(*conditions).compile())


def of_lines(wanted: SalesFilter) -> list[sa.ColumnElement[bool]]:
    return [sa.true(), *filters.on_catalogue(wanted, DaybookLine)]


def key(wanted: SalesFilter) -> tuple[Any, ...]:
    """What tells the rows of one filter from those of another where statements are prepared once."""
    return marked(wanted).shape, tuple(marked(wanted).values.items())


def test_every_field_of_a_sales_filter_is_tried_here() -> None:
    assert VALUES.keys() == {field.name for field in fields(SalesFilter)}, "say two values of the new field above"


@every_field
def test_filters_that_differ_in_one_field_never_share_an_answer(name: str) -> None:
    first, second = (SalesFilter(**{name: value}) for value in VALUES[name])
    assert len({key(SalesFilter()), key(first), key(second)}) == 3


@every_field
@pytest.mark.parametrize("record", CONDITIONS)
def test_filters_that_share_a_statement_ask_for_the_same_columns(record: str, name: str) -> None:
    first, second = (marked(SalesFilter(**{name: value})) for value in VALUES[name])
    asked = [sql(CONDITIONS[record](each.wanted)) for each in (first, second)]
    assert asked[0] == asked[1] or first.shape != second.shape


@every_field
@pytest.mark.parametrize("record", CONDITIONS)
def test_every_field_narrows_every_kind_of_record(record: str, name: str) -> None:
    conditions = CONDITIONS[record]
    narrowed = sql(conditions(SalesFilter(**{name: VALUES[name][0]}))) != sql(conditions(SalesFilter()))
    assert narrowed is ((record, name) not in WITHOUT)


@every_field
def test_the_daybook_answers_only_where_its_lines_are_narrowed_by_the_field(name: str) -> None:
    wanted = SalesFilter(**{name: VALUES[name][0]})
    narrowed = sql(of_lines(wanted)) != sql(of_lines(SalesFilter()))
    assert wanted.of_catalogue is (narrowed or name == "created")


@every_field
def test_the_totals_of_the_days_answer_nothing_but_times(name: str) -> None:
    wanted = SalesFilter(**{name: VALUES[name][0]})
    assert day_totals.can_answer(Scope.staff(is_live=True), wanted) is (name == "created")


@dataclass(frozen=True, kw_only=True, slots=True)
class WithPlantedField(SalesFilter):
    colour: str | None = None


def test_a_field_that_nobody_listed_has_statements_of_its_own_and_no_answer_of_the_daybook() -> None:
    red, blue, plain = WithPlantedField(colour="red"), WithPlantedField(colour="blue"), WithPlantedField()
    assert len({key(red), key(blue), key(plain)}) == 3
    assert (plain.of_catalogue, red.of_catalogue) == (True, False)
