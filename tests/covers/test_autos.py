"""Auto covers: makes and models by id or name, misprints taken, prices by category (contract S14, S16)."""

from decimal import Decimal
from typing import Any

import pytest

from core import reference
from core.covers.cover import Cover
from core.covers.insurers.insurer_a import COMPREHENSIVE as A_COMPREHENSIVE
from core.covers.insurers.insurer_a import THIRD_PARTY as A_THIRD_PARTY
from core.covers.insurers.insurer_b import COMPREHENSIVE, THIRD_PARTY
from core.covers.insurers.insurer_d import MINI_COMPREHENSIVE
from core.covers.vehicles import CAMRY, TOYOTA
from core.errors import InvalidInput
from tests.covers import shipped
from tests.every_case import every_case

OPTIONAL = ("vehicle_make", "vehicle_model", "engine_number", "chassis_number", "vehicle_color", "title")
by_id_only = every_case("cover", [A_COMPREHENSIVE, A_THIRD_PARTY], ids=lambda cover: cover.key)
by_name_too = every_case("cover", [THIRD_PARTY, COMPREHENSIVE, MINI_COMPREHENSIVE], ids=lambda cover: cover.key)
insurer_b = every_case("cover", [THIRD_PARTY, COMPREHENSIVE], ids=lambda cover: cover.key)


def honda_accord() -> tuple[Any, Any]:
    make = reference.find_make_by_id_or_name("Honda")
    assert make
    return make, reference.find_model_by_id_or_name("Accord", make)


@by_id_only
def test_insurer_a_takes_ids_only_and_a_model_of_the_make(cover: Cover[Any]) -> None:
    honda, accord = honda_accord()
    assert set(shipped.faults(cover.request, shipped.body(cover, vehicle_make="Toyota"))) == {"vehicle_make"}
    assert set(shipped.faults(cover.request, shipped.body(cover, vehicle_model="Camry"))) == {"vehicle_model"}
    assert shipped.faults(cover.request, shipped.body(cover, vehicle_make=honda.id)) == {
        "vehicle_model": "must be a model of the vehicle_make"
    }
    assert shipped.request(cover, vehicle_make=honda.id, vehicle_model=accord.id).vehicle_model == accord.id


@by_name_too
def test_the_others_take_ids_or_names_and_keep_the_names(cover: Cover[Any]) -> None:
    assert TOYOTA
    assert CAMRY
    for make, model in ((TOYOTA.id, CAMRY.id), ("tOYOTA", "camry"), (TOYOTA.id.upper(), "Camry")):
        request = shipped.request(cover, vehicle_make=make, vehicle_model=model)
        assert (request.vehicle_make, request.vehicle_model) == ("Toyota", "Camry")
    assert set(shipped.faults(cover.request, shipped.body(cover, vehicle_model="Accord"))) == {"vehicle_model"}


@insurer_b
def test_what_insurer_b_does_not_list_as_required_may_be_left_out(cover: Cover[Any]) -> None:
    request = shipped.request(cover, **dict.fromkeys(OPTIONAL))
    assert all(getattr(request, name) is None for name in OPTIONAL)
    sent = cover.payload(request, cover.premium(request, shipped.rates(request.product_id)))
    assert None not in sent.values()
    assert not {"VehicleMake", "VehicleModel", "EngineNo", "ChassisNo", "VehicleColor", "Title"} & set(sent)


@insurer_b
def test_a_model_without_its_make_is_looked_for_in_every_make(cover: Cover[Any]) -> None:
    assert shipped.request(cover, vehicle_make=None, vehicle_model="accord").vehicle_model == "Accord"
    assert set(shipped.faults(cover.request, shipped.body(cover, vehicle_make=None, vehicle_model="Zzz"))) == {
        "vehicle_model"
    }


@insurer_b
@every_case(
    ("sent", "kept"), [("mr", "Mr"), ("Mr", "Mr"), ("high-chief", "High Chief"), ("REV DR", "Rev Dr"), ("mr.", "Mr")]
)
def test_title_id_takes_a_title_or_its_slug(cover: Cover[Any], sent: str, kept: str) -> None:
    assert shipped.request(cover, title_id=sent).title_id == kept


@every_case(("sent", "kept"), [("Mrs.", "Mrs."), ("mrs", "Mrs."), ("ENGR", "Engr."), ("Surv", None), ("Mrs..", None)])
def test_an_owner_title_is_taken_without_its_full_stop(sent: str, kept: str | None) -> None:
    found = shipped.faults(MINI_COMPREHENSIVE.request, shipped.body(MINI_COMPREHENSIVE, owner_title=sent))
    assert set(found) == (set() if kept else {"owner_title"})
    if kept:
        assert shipped.request(MINI_COMPREHENSIVE, owner_title=sent).owner_title == kept


@insurer_b
@every_case("cost", [6_500_000, "6500000", "6500000.00", 6500000.0])
def test_vehicle_cost_is_a_number_or_a_text(cover: Cover[Any], cost: object) -> None:
    assert shipped.request(cover, vehicle_cost=cost).vehicle_cost == Decimal("6500000.00")


def test_date_of_number_is_taken_for_the_date_of_birth_when_it_stands_alone() -> None:
    misprint = shipped.body(COMPREHENSIVE, date_of_birth=None, date_of_number="1970-05-06")
    assert not shipped.faults(COMPREHENSIVE.request, misprint)
    assert COMPREHENSIVE.request.list_ignored(misprint) == []
    assert str(COMPREHENSIVE.request.model_validate(misprint).date_of_birth) == "1970-05-06"
    both = shipped.body(COMPREHENSIVE, date_of_number="1970-05-06")
    assert str(COMPREHENSIVE.request.model_validate(both).date_of_birth) == "1985-03-14"
    assert COMPREHENSIVE.request.list_ignored(both) == ["date_of_number"]
    neither = shipped.body(COMPREHENSIVE, date_of_birth=None)
    assert shipped.faults(COMPREHENSIVE.request, neither) == {"date_of_birth": "is required"}


def test_only_insurer_b_comprehensive_knows_the_misprint() -> None:
    sent = shipped.body(THIRD_PARTY, date_of_birth=None, date_of_number="1970-05-06")
    assert shipped.faults(THIRD_PARTY.request, sent) == {"date_of_birth": "is required"}


@every_case(("category", "total"), [("private", 15_000), ("COMMERCIAL", 20_000)])
def test_third_party_of_insurer_b_costs_by_category(category: str, total: int) -> None:
    assert shipped.price(THIRD_PARTY, vehicle_category=category).total == total


@every_case(("end", "total"), [("01", 15_000), ("02", 20_000), ("04", 100_000), ("07", 3_000)])
def test_third_party_of_insurer_a_costs_what_its_product_says(end: str, total: int) -> None:
    assert shipped.price(A_THIRD_PARTY, product_id=f"01900000-0000-7000-8000-0000000102{end}").total == total


def test_comprehensive_of_insurer_b_is_pending_with_no_date_set() -> None:
    request = shipped.request(COMPREHENSIVE)
    term = COMPREHENSIVE.term(request, shipped.rates(request.product_id))
    assert (term.start_on, term.activation_on, term.expiration_on) == (None, None, None)
    assert shipped.price(COMPREHENSIVE, vehicle_cost="1234567.89").total == Decimal("61728.39")


def test_mini_comprehensive_is_flat_or_a_percentage_by_product() -> None:
    flat, plus = (f"01900000-0000-7000-8000-0000000401{end}" for end in ("01", "02"))
    assert shipped.price(MINI_COMPREHENSIVE, product_id=flat).total == Decimal(25_000)
    assert shipped.price(MINI_COMPREHENSIVE, product_id=plus, vehicle_value=3_200_000).total == Decimal(80_000)


def test_mini_comprehensive_starts_on_the_day_asked_for_and_never_in_the_past() -> None:
    def start(day: str) -> str:
        request = shipped.request(MINI_COMPREHENSIVE, insurance_start_date=day)
        term = MINI_COMPREHENSIVE.term(request, shipped.rates(request.product_id))
        return f"{term.start_on} {term.expiration_on}"

    assert start("2026-12-24") == "2026-12-24 2027-12-24"
    with pytest.raises(InvalidInput, match="insurance_start_date must be today or later"):
        start("2026-11-19")


@every_case("plate", ["LSD-123AB", "lsd 123 ab", "LSD123AB"])
def test_one_plate_is_one_risk_however_it_is_written(plate: str) -> None:
    for cover in (A_COMPREHENSIVE, A_THIRD_PARTY, THIRD_PARTY, COMPREHENSIVE):
        request = shipped.request(cover, registration_number=plate)
        assert cover.risk_key(request) == cover.registration(request) == "LSD123AB"
    request = shipped.request(MINI_COMPREHENSIVE, vehicle_registration_number=plate)
    assert MINI_COMPREHENSIVE.risk_key(request) == MINI_COMPREHENSIVE.registration(request) == "LSD123AB"


@every_case("plate", ["---", "A-1", "ЛСД-123", "LSD-123AB-LSD-123AB-LSD", "LSD_123"])
def test_a_plate_is_letters_and_digits(plate: str) -> None:
    assert set(shipped.faults(THIRD_PARTY.request, shipped.body(THIRD_PARTY, registration_number=plate))) == {
        "registration_number"
    }
