"""An address says one selection, a selection writes one address, and what cannot be meant is named."""

from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

import pytest

from core.errors import InvalidInput
from core.services.lists.windows import EARLIEST, LATEST, Span, Window, open_days
from core.services.sales.purchases import PurchaseFilter
from tests.every_case import every_case

ONE, TWO = UUID("01900000-0000-7000-8000-000000000001"), UUID("01900000-0000-7000-8000-000000000002")


def test_a_selection_survives_its_address() -> None:
    selection = PurchaseFilter(
        created=open_days(date(2026, 11, 1), date(2026, 11, 20)),
        provider_ids=(ONE, TWO),
        category_ids=(TWO,),
        product_ids=(ONE,),
        distributor_ids=(TWO,),
        customer_email="ngozi@example.com",
        request_sources=("api", "desk"),
        premium_from=Decimal("1000.50"),
        premium_to=Decimal(2000),
    )
    assert PurchaseFilter.read(selection.address()) == selection
    assert list(PurchaseFilter().address()) == []


def test_days_count_on_both_ends_and_are_those_of_lagos() -> None:
    criteria = PurchaseFilter.read({"from": ["2026-11-01"], "to": ["2026-11-01"]})
    assert criteria.created == Span(datetime(2026, 10, 31, 23, tzinfo=UTC), datetime(2026, 11, 1, 23, tzinfo=UTC))


@every_case(
    ("address", "broken"),
    [
        ({"from": ["2026-02-31"]}, ["from"]),
        ({"from": ["20261101"]}, ["from"]),
        ({"from": ["1999-12-31"]}, ["from"]),
        ({"from": ["2026-11-01", "2026-11-02"]}, ["from"]),
        ({"from": ["2026-11-02"], "to": ["2026-11-01"]}, ["to"]),
        ({"to": ["yesterday"], "provider": ["nope"], "product": ["1"]}, ["to", "provider", "product"]),
        ({"email": ["a@example.com", "b@example.com"]}, ["email"]),
        ({"email": ["x" * 201]}, ["email"]),
        ({"source": ["api\x00"]}, ["source"]),
        ({"premium_from": ["much"], "premium_to": ["1.234"]}, ["premium_from", "premium_to"]),
    ],
)
def test_every_value_that_cannot_be_meant_is_named(address: dict[str, list[str]], broken: list[str]) -> None:
    with pytest.raises(InvalidInput) as refusal:
        PurchaseFilter.read(address)
    assert [fault.field for fault in refusal.value.faults] == broken


def test_blank_values_and_other_parameters_say_nothing() -> None:
    assert PurchaseFilter.read({"from": [" "], "email": [""], "page": ["7"], "provider": []}) == PurchaseFilter()


def test_repeated_values_count_once() -> None:
    assert PurchaseFilter.read({"provider": [str(ONE), str(ONE).upper(), str(TWO)]}).provider_ids == (ONE, TWO)


@every_case(
    ("window", "months"),
    [
        (Window(date(2026, 1, 1), date(2026, 4, 1)), Window(date(2026, 1, 1), date(2026, 4, 1))),
        (Window(date(2026, 1, 2), date(2026, 4, 5)), Window(date(2026, 2, 1), date(2026, 4, 1))),
        (Window(date(2026, 1, 2), date(2026, 2, 28)), None),
        (Window(date(2025, 12, 31), date(2026, 2, 1)), Window(date(2026, 1, 1), date(2026, 2, 1))),
    ],
)
def test_whole_months_lie_inside_a_window(window: Window, months: Window | None) -> None:
    assert window.whole_months == months


def test_a_window_is_found_only_in_whole_days() -> None:
    window = Window(date(2026, 11, 1), date(2026, 11, 8))
    assert Window.from_span(window.span) == window
    assert Window.from_span(Span()) == Window(EARLIEST, LATEST)
    assert Window.from_span(Span(datetime(2026, 11, 1, tzinfo=UTC), window.span.end)) is None
    assert window.previous == Window(date(2026, 10, 25), date(2026, 11, 1))
