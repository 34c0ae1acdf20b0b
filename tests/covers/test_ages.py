"""Ages for covers of life and accident: the product's bound, on the first day of cover (contract S17)."""

from decimal import Decimal
from typing import Any

import pytest

from core import clock
from core.covers import credit_life
from core.covers.cover import Cover
from core.covers.insurers import insurer_f, insurer_g
from core.covers.pricing import offer
from core.covers.registry import COVERS
from core.covers.tariff import EditableTariff, Kind, Tariff, parse_tariff
from core.errors import InvalidInput
from tests.covers import shipped
from tests.every_case import every_case

LOAN = "01900000-0000-7000-8000-000000080101"
LIVES = (credit_life.CREDIT_LIFE, insurer_f.PERSONAL_ACCIDENT, insurer_g.PERSONAL_ACCIDENT)
every_life = every_case("cover", LIVES, ids=lambda cover: cover.key)


def refused(cover: Cover[Any], born: str, *, meta: dict[str, Any] | None = None, **changed: Any) -> dict[str, str]:
    """Return the refusals of somebody born on a day; empty when they can be insured."""
    request = shipped.request(cover, **{str(cover.life_insured): born}, **changed)
    rates = shipped.rates(request.product_id)
    with_meta = shipped.rates(request.product_id, meta={**rates.meta, **(meta or {})})
    try:
        offer(cover, request, with_meta)
    except InvalidInput as error:
        return {fault.field: fault.message for fault in error.faults}
    return {}


def test_covers_of_life_and_accident_name_the_date_of_birth_and_no_other_does() -> None:
    assert {cover.key: cover.life_insured for cover in COVERS if cover.life_insured} == {
        "buy-credit-life": "date_of_birth",
        "insurer-f/buy-personal-accident": "date_of_birth",
        "insurer-g/buy-personal-accident": "dob",
    }
    assert all(cover.life_insured in cover.request.model_fields for cover in LIVES)


def test_every_shipped_product_of_life_and_accident_says_its_bound() -> None:
    sold = {(cover.prefix, cover.route) for cover in LIVES}
    rows = [row for row in shipped.products().values() if (row["prefix"], row["route_name"]) in sold]
    assert {row["meta"]["minimum_age"] for row in rows} == {18}
    assert len(rows) == 6


@every_life
def test_eighteen_is_old_enough_and_a_day_less_is_not(cover: Cover[Any]) -> None:
    with clock.freeze(shipped.STILL):
        assert refused(cover, "2008-11-20") == {}
        message = "must be of somebody of at least 18 years on the first day of cover"
        assert refused(cover, "2008-11-21") == {cover.life_insured: message}
        assert refused(cover, "2020-01-01") == {cover.life_insured: message}


@every_life
def test_the_product_says_otherwise(cover: Cover[Any]) -> None:
    with clock.freeze(shipped.STILL):
        assert refused(cover, "2010-11-20", meta={"minimum_age": 16}) == {}
        found = refused(cover, "2008-11-20", meta={"minimum_age": 21})
        assert found == {cover.life_insured: "must be of somebody of at least 21 years on the first day of cover"}
        assert refused(cover, "2026-11-01", meta={"minimum_age": 0}) == {}


def test_a_product_that_says_nothing_insures_from_eighteen() -> None:
    with clock.freeze(shipped.STILL):
        request = shipped.request(credit_life.CREDIT_LIFE, date_of_birth="2009-01-01")
        meta = {k: v for k, v in shipped.rates(request.product_id).meta.items() if k != "minimum_age"}
        with pytest.raises(InvalidInput):
            offer(credit_life.CREDIT_LIFE, request, shipped.rates(request.product_id, meta=meta))


def test_the_day_that_counts_is_the_first_of_the_loan() -> None:
    with clock.freeze(shipped.STILL):
        assert refused(credit_life.CREDIT_LIFE, "2008-12-01", loan_start_date="2026-12-01") == {}
        assert refused(credit_life.CREDIT_LIFE, "2008-11-01", loan_start_date="2026-10-01")


def test_age_and_plan_are_refused_together() -> None:
    with clock.freeze(shipped.STILL):
        found = refused(insurer_g.PERSONAL_ACCIDENT, "2020-01-01", meta={"plan_prices": {"Basic": "3600.00"}})
    assert set(found) == {"plan", "dob"}


def test_the_bound_is_a_figure_of_the_product_where_lives_are_insured() -> None:
    for row in shipped.products().values():
        cover = next((c for c in COVERS if (c.prefix, c.route) == (row["prefix"], row["route_name"])), None)
        bounds = [figure for figure in _changeable(row, cover).figures if figure.field == "meta.minimum_age"]
        assert len(bounds) == (cover in LIVES), row["name"]
        assert all((figure.kind, figure.value, figure.most) == (Kind.COUNT, 18, 100) for figure in bounds)


def test_the_bound_is_changed_with_the_other_figures() -> None:
    product = _changeable(shipped.products()[LOAN], credit_life.CREDIT_LIFE)
    assert parse_tariff(product, {"meta.minimum_age": "21"}).meta["minimum_age"] == 21
    for wrong in ("-1", "101", "17.5", "", "x"):
        with pytest.raises(InvalidInput) as refusal:
            parse_tariff(product, {"meta.minimum_age": wrong})
        assert [fault.field for fault in refusal.value.faults] == ["meta.minimum_age"]


def _changeable(row: dict[str, Any], cover: Cover[Any] | None) -> EditableTariff:
    rates = shipped.rates(row["id"])
    tariff = Tariff(
        price=rates.price,
        dynamic=rates.dynamic,
        mca_commission=Decimal(row["mca_commission_percentage"]),
        distributor_commission=Decimal(row["distributor_commission_percentage"]),
        cover_months=rates.cover_months,
        meta=rates.meta,
    )
    return EditableTariff(tariff=tariff, cover=cover, renewable=row["renewable"])
