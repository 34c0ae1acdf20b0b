"""Every field of every list narrows what it says, shares no statement with another question, and no roll-up guesses."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from core.api.http.queries import FilterQuery
from core.commands.export import build_command
from core.desk.export_runs import ReceiptFilter
from core.desk.exported_lists import TITLES, get_kind
from core.errors import InvalidInput
from core.services.audit.search import AuditFilter
from core.services.catalogue.product_list import ProductFilter
from core.services.claims.lists.filter import ClaimFilter
from core.services.customers.customers import CustomerFilter
from core.services.lists.filters import fields
from core.services.lists.filters.declaration import (
    RESERVED_IN_ADDRESS,
    RESERVED_IN_API,
    Filter,
    of,
    parameterise,
)
from core.services.lists.filters.fields import Field
from core.services.lists.windows import Span
from core.services.policies.policies import PolicyFilter
from core.services.renewals.records import DueFilter, RenewalFilter
from core.services.sales import totals
from core.services.sales.distributors import DistributorFilter
from core.services.sales.filter import SalesFilter
from core.services.sales.purchases import PurchaseFilter
from core.store.access import Scope
from core.store.schema.tables import Customer, DaybookLine, Purchase
from tests.every_case import every_case

ONE, TWO = UUID("01900000-0000-7000-8000-000000000001"), UUID("01900000-0000-7000-8000-000000000002")
# Whole days of Lagos, and of UTC for what is dated by day alone.
MARCH, APRIL = (
    Span(datetime(2026, month, 1, 23, tzinfo=UTC), datetime(2026, month, 28, 23, tzinfo=UTC)) for month in (3, 4)
)
LISTS: tuple[type[Filter], ...] = (
    *(SalesFilter, PurchaseFilter, RenewalFilter, PolicyFilter, DueFilter, CustomerFilter, ClaimFilter),
    *(AuditFilter, ReceiptFilter, ProductFilter, DistributorFilter),
)
# What the audit log's own search compares, in the newest entries alone or by kind and id together.
OF_THE_SEARCH = {(AuditFilter, "q"), (AuditFilter, "kind"), (AuditFilter, "id")}


def two_values(field: Field) -> tuple[Any, Any]:
    """Two values of a field that differ from each other and from none."""
    match field:
        case fields.Days():
            spans = (Span(*(at and at.replace(hour=0) for at in span.ends)) for span in (MARCH, APRIL))
            return tuple(spans) if field.dated else (MARCH, APRIL)  # type: ignore[return-value]
        case fields.Members() | fields.Member():
            return ((ONE,), (TWO,)) if field.many else (ONE, TWO)
        case fields.Flag():
            return True, False
        case fields.Naira():
            return Decimal("1.50"), Decimal(2)
        case fields.Word() | fields.Words():
            *_, first, second = field.options
        case _:
            first, second = "ada@example.com", "obi@example.com"
    return ((first,), (second,)) if field.many else (first, second)


def every_field() -> Iterator[Any]:
    for declared in LISTS:
        for name in declared.FIELDS:
            yield pytest.param(declared, name, id=f"{declared.__name__}.{name}")


EVERY_FIELD = every_case(("declared", "name"), list(every_field()))


def sql(conditions: list[sa.ColumnElement[bool]]) -> str:
    return str(sa.and_(sa.true(), *conditions).compile())


def both(declared: type[Filter], name: str) -> tuple[Filter, Filter]:
    first, second = two_values(declared.FIELDS[name])
    return declared(**{name: first}), declared(**{name: second})


def key(criteria: Filter) -> tuple[Any, ...]:
    """Return the key that separates the rows of two filters where statements are compiled once."""
    parameterised = parameterise(criteria)
    return parameterised.key, tuple(parameterised.values.items())


@EVERY_FIELD
def test_filters_that_differ_in_one_field_never_share_an_answer(declared: type[Filter], name: str) -> None:
    first, second = both(declared, name)
    assert len({key(declared()), key(first), key(second)}) == 3


@EVERY_FIELD
def test_filters_that_share_a_statement_ask_for_the_same_columns(declared: type[Filter], name: str) -> None:
    first, second = (parameterise(criteria) for criteria in both(declared, name))
    statements = [sql(each.criteria.conditions(declared.TABLES[0])) for each in (first, second)]
    assert statements[0] == statements[1] or first.key != second.key


@EVERY_FIELD
def test_every_field_narrows_every_table_of_its_list(declared: type[Filter], name: str) -> None:
    for table in declared.TABLES:
        narrowed = sql(both(declared, name)[0].conditions(table)) != sql(declared().conditions(table))
        assert narrowed is ((declared, name) not in OF_THE_SEARCH)


@EVERY_FIELD
def test_what_an_address_says_is_what_is_read_from_it(declared: type[Filter], name: str) -> None:
    is_in_address = bool(declared.FIELDS[name].address)
    for criteria in both(declared, name):
        assert (declared.read(criteria.address()) == criteria) is is_in_address


@EVERY_FIELD
def test_a_value_that_cannot_be_meant_is_named(declared: type[Filter], name: str) -> None:
    for parameter in declared.FIELDS[name].parameters:
        with pytest.raises(InvalidInput) as refusal:
            declared.read({parameter.name: ["\x00"]})
        assert [fault.field for fault in refusal.value.faults] == [parameter.name]


@every_case("name", SalesFilter.FIELDS)
def test_the_daybook_answers_only_where_its_lines_are_narrowed_by_the_field(name: str) -> None:
    criteria = both(SalesFilter, name)[0]
    assert isinstance(criteria, SalesFilter)
    narrows_lines = criteria.of_catalogue and bool(criteria.product_conditions(DaybookLine))
    assert criteria.of_catalogue is (narrows_lines or name == "created")
    assert criteria.of_catalogue is (
        name in {"created", "provider_ids", "category_ids", "product_ids", "distributor_ids"}
    )


@every_case("name", SalesFilter.FIELDS)
def test_the_totals_of_the_days_answer_nothing_but_times(name: str) -> None:
    criteria = both(SalesFilter, name)[0]
    assert isinstance(criteria, SalesFilter)
    assert totals.can_roll_up(Scope.staff(is_live=True), criteria) is (name == "created")


def declare(**attributes: Any) -> None:
    types = dict.fromkeys(attributes, str | None)
    type("Wrong", (PurchaseFilter,), {"__annotations__": types, **attributes}, on=(Purchase,))


WRONG: Mapping[str, tuple[Callable[[], None], str]] = {
    "a column that is not there": (
        lambda: declare(colour=of(fields.Text, label="Colour", column="colour")),
        "has no column of this name",
    ),
    "a field that is none": (lambda: declare(colour=None), "no declared field"),
    "no label": (lambda: declare(tint=of(fields.Text, column="request_source", address="tint")), "without a label"),
    "a name that is taken": (
        lambda: declare(other=of(fields.Text, label="Other", column="request_source", address="source")),
        "two fields named source",
    ),
    "a parameter that is taken": (
        lambda: declare(other=of(fields.Text, label="Other", column="request_source", api="provider_id")),
        "two fields named provider_id",
    ),
    "a table that the query does not join": (
        lambda: declare(buyer=of(fields.Text, label="Buyer", column=Customer.name_key)),
        "reads Customer, which the list does not join",
    ),
    "a table of its function that the query does not join": (
        lambda: declare(buyer=of(fields.Text, label="Buyer", column=lambda _, __: sa.true(), joins=Customer)),
        "reads Customer, which the list does not join",
    ),
    "no words to choose from": (
        lambda: declare(tint=of(fields.Word, label="Tint", column="request_source")),
        "no words to choose from",
    ),
    "a name of the export's options": (
        lambda: declare(tint=of(fields.Text, label="Tint", column="request_source", address="order", help="A tint.")),
        "named order, which every list has already",
    ),
    "a name of the pages of the API": (
        lambda: declare(tint=of(fields.Text, label="Tint", column="request_source", api="limit")),
        "named limit, which every list has already",
    ),
}


def test_every_option_of_an_export_and_every_parameter_of_a_page_is_reserved() -> None:
    options = set(inspect.signature(build_command(get_kind("purchases"))).parameters)
    own = {parameter.name.removesuffix("_") for parameter in PurchaseFilter.parameters()}
    assert {name.removesuffix("_") for name in options} - own <= RESERVED_IN_ADDRESS
    assert {*FilterQuery.model_fields} <= RESERVED_IN_API


@every_case("kind", TITLES)
def test_every_option_of_an_export_says_what_it_is(kind: str) -> None:
    assert [parameter.name for parameter in get_kind(kind).parameters if not parameter.help] == []


@every_case("wrong", WRONG)
def test_a_declaration_that_cannot_work_is_refused_as_it_is_made(wrong: str) -> None:
    make, why = WRONG[wrong]
    with pytest.raises(TypeError, match=why):
        make()


@every_case("declared", [SalesFilter, ClaimFilter])
def test_an_e_mail_is_compared_in_the_form_in_which_it_is_kept(declared: type[Filter]) -> None:
    field = declared.FIELDS["customer_email"]
    assert isinstance(field, fields.Text)
    assert field.normalise("Jose\u0301@X.example") == "jos\u00e9@x.example"


def test_an_empty_text_or_list_narrows_nothing() -> None:
    criteria = replace(PurchaseFilter(), customer_email="", provider_ids=())
    assert list(criteria.in_use()) == []
    assert criteria.of_catalogue
