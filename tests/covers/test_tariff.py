"""The figures of every shipped product: found, and unchanged by being read back as they are shown."""

from decimal import Decimal
from typing import Any

import pytest

from core.covers.claims.lines import INCIDENTS, list_incidents
from core.covers.registry import get_cover
from core.covers.tariff import EditableTariff, Kind, Tariff, parse_tariff
from core.errors import InvalidInput
from core.ui.kit import words
from pages.admin import products as product_words
from tests.covers import shipped
from tests.every_case import every_case


def changeable(row: dict[str, Any]) -> EditableTariff:
    tariff = Tariff(
        price=Decimal(row["price"]),
        dynamic=row["is_dynamic_pricing"],
        mca_commission=Decimal(row["mca_commission_percentage"]),
        distributor_commission=Decimal(row["distributor_commission_percentage"]),
        cover_months=int(row["cover_period"]),
        meta=row["meta"],
    )
    cover = get_cover(row["prefix"], row["route_name"])
    return EditableTariff(tariff=tariff, cover=cover, renewable=row["renewable"])


def test_a_form_that_is_sent_back_as_it_is_changes_nothing() -> None:
    for row in shipped.products().values():
        product = changeable(row)
        whole = (Kind.TABLE, Kind.ONE, Kind.SEVERAL, Kind.PHRASES)
        typed = {
            figure.field: figure.value if figure.kind in whole else words.read_naira(product_words.format_typed(figure))
            for figure in product.figures
        }
        assert parse_tariff(product, typed) == parse_tariff(product, {}) == product.tariff, row["name"]


def test_only_what_no_price_reads_is_kept_untouched() -> None:
    kept = {name for row in shipped.products().values() for name in changeable(row).other_meta}
    assert kept == {"benefits", "benefit_cap", "note"}


def credit_life() -> EditableTariff:
    return changeable(next(row for row in shipped.products().values() if row["route_name"] == "buy-credit-life"))


def test_waiting_periods_and_exclusions_are_figures_of_what_claims_are_checked_against() -> None:
    product = credit_life()
    waiting = [figure for figure in product.figures if figure.path[1:2] == ("waiting_days",)]
    assert {figure.label: figure.value for figure in waiting} == {
        **dict.fromkeys(INCIDENTS, 0),
        "Critical illness": 30,
        "Loss of job": 30,
    }
    changed = {
        "meta.waiting_days.Loss of job": "90",
        "meta.waiting_days.Death": "14",
        "meta.waiting_days.Critical illness": "0",
        "meta.exclusions": ["  pandemic ", "Pandemic", "civil  war"],
    }
    meta = parse_tariff(product, changed).meta
    commissions = parse_tariff(product, {"mca_commission": "7", "distributor_commission": "2.5"})
    assert f"{commissions.mca_commission} {commissions.distributor_commission}" == "7.00 2.50", "as it is stored"
    assert meta["waiting_days"] == {"Loss of job": 90, "Death": 14, "Critical illness": 0}
    assert meta["exclusions"] == ["Pandemic", "civil war"]
    assert parse_tariff(product, {"meta.exclusions": []}).meta["exclusions"] == []


@every_case(
    ("field", "wrong", "message"),
    [
        ("meta.waiting_days.Death", "366", "at most 365"),
        ("meta.waiting_days.Death", "1.5", "whole number"),
        ("meta.waiting_days.Death", "-1", "at least 0"),
        ("meta.exclusions", ["a"], "3 to 60 characters"),
        ("meta.exclusions", ["x" * 61], "3 to 60 characters"),
        ("meta.exclusions", [f"cause {number}" for number in range(31)], "at most 30"),
    ],
)
def test_a_wrong_waiting_period_or_exclusion_is_named(field: str, wrong: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_tariff(credit_life(), {field: wrong})
    assert [(fault.field, message in fault.message) for fault in refused.value.faults] == [(field, True)]


def test_each_incident_of_a_cover_has_a_waiting_period() -> None:
    for row in shipped.products().values():
        product = changeable(row)
        incidents = list_incidents((row["prefix"], row["route_name"])) if product.cover else ()
        waiting = [figure.path[2] for figure in product.figures if figure.path[1:2] == ("waiting_days",)]
        assert tuple(waiting) == incidents, row["name"]
