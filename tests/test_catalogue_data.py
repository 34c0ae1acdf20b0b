"""The shipped catalogue is complete, consistent and written in exact decimals (contract P7, P8, S3, S4)."""

import json
import re
import string
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

from core.covers import credit_life
from core.covers.claims.lines import LINES
from core.covers.registry import COVERS
from tests.every_case import every_case

FOLDER = Path(__file__).parents[1] / "data" / "catalogue"
PROVIDERS, CATEGORIES, PRODUCTS = (
    json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    for name in ("providers", "categories", "products")
)
BUY_ENDPOINTS = {(cover.prefix, cover.route) for cover in COVERS}
PROVIDER_FIELDS = {
    *(
        "id",
        "segment",
        "owner_id",
        "wallet_id",
        "bank_account_id",
        "first_name",
        "last_name",
        "email",
        "phone_number",
    ),
    *("country", "company_name", "verification_type", "verification_number", "bvn_number", "business_type"),
    *("claim_email", "business_email", "support_email", "verification_images", "active", "number_series"),
}
PRODUCT_FIELDS = {
    *("id", "provider", "category", "name", "description", "key_benefits", "full_benefits", "meta", "prefix"),
    *(
        "route_name",
        "renewable",
        "claimable",
        "inspectable",
        "certificateable",
        "is_dynamic_pricing",
        "active",
    ),
    *(
        "price",
        "distributor_commission_percentage",
        "mca_commission_percentage",
        "cover_period",
        "how_it_works",
    ),
    *("how_to_claim", "document"),
}
PLAN_NAMES = {
    "insurer-f": {"FlexiGuard-Silver", "FlexiGuard-Gold", "FlexiGuard-Platinum"},
    "insurer-g": {"Silver", "Basic", "Monthly"},
}
ZONES = ["africa", "schengen", "worldwide_without_usa_canada", "worldwide"]


# What is shipped, by the last letter of its segment: a newcomer is added here.
INSURERS = "abcdefg"
# Credit life is sold for an insurer too, and its products have a number of their own: the eighth insurer has 09.
CREDIT_LIFE = 8


def insurer_number(letter: str) -> int:
    """The number in the ids of an insurer's products."""
    number = 1 + string.ascii_lowercase.index(letter)
    return number + (number >= CREDIT_LIFE)


def product(number: str) -> dict[str, Any]:
    return next(row for row in PRODUCTS if row["id"].endswith(number))


def on_route(route: str) -> list[dict[str, Any]]:
    return [row for row in PRODUCTS if row["route_name"] == route]


def leaves(value: object, path: str = "") -> list[tuple[str, object]]:
    if isinstance(value, dict):
        return [leaf for key, inner in value.items() for leaf in leaves(inner, f"{path}/{key}")]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in leaves(inner, path)]
    return [(path, value)]


def test_ids_are_unique_and_shaped_like_version_seven() -> None:
    ids = [row["id"] for row in (*PROVIDERS, *CATEGORIES, *PRODUCTS)]
    assert len(set(ids)) == len(ids)
    assert all(UUID(value).version == 7 and value.startswith("01900000-0000-7000-8000-") for value in ids)


def test_the_ids_of_providers_and_categories_are_fixed() -> None:
    assert [row["id"][-12:] for row in PROVIDERS] == [f"00000000b{n:03}" for n in range(1, len(INSURERS) + 1)]
    assert [row["segment"] for row in PROVIDERS] == [f"insurer-{letter}" for letter in INSURERS]
    assert [row["id"][-12:] for row in CATEGORIES] == [f"0000000c{n:04d}" for n in range(1, 12)]


def test_the_id_of_a_product_names_its_insurer() -> None:
    for row in PRODUCTS:
        match = re.fullmatch(r"0{6}(\d\d)(\d\d)(\d\d)", row["id"][-12:])
        assert match
        credit_life = row["route_name"] == "buy-credit-life"
        assert int(match[1]) == (CREDIT_LIFE if credit_life else insurer_number(row["provider"][-1]))


@every_case("letter, number", [("a", 1), ("g", 7), ("h", 9), ("z", 27)])
def test_every_insurer_has_a_number_of_its_own_beside_that_of_credit_life(letter: str, number: int) -> None:
    assert insurer_number(letter) == number


def test_the_products_of_one_endpoint_share_its_number_and_no_others_do() -> None:
    pairs = {(row["id"][-6:-2], row["prefix"], row["route_name"]) for row in PRODUCTS}
    assert len(pairs) == len({number for number, _, _ in pairs}) == len(BUY_ENDPOINTS) + 1


def test_every_record_has_exactly_its_fields() -> None:
    assert all(set(row) == PROVIDER_FIELDS for row in PROVIDERS)
    assert all(set(row) == {"id", "name"} for row in CATEGORIES)
    assert all(set(row) == PRODUCT_FIELDS for row in PRODUCTS)


def test_every_provider_and_category_of_a_product_exists() -> None:
    assert {row["provider"] for row in PRODUCTS} == {row["segment"] for row in PROVIDERS}
    assert {row["category"] for row in PRODUCTS} <= {row["name"] for row in CATEGORIES}


def test_there_are_at_least_25_products_and_their_names_differ_within_a_provider() -> None:
    names = Counter((row["provider"], row["name"]) for row in PRODUCTS)
    assert len(PRODUCTS) >= 25
    assert max(names.values()) == 1


def test_every_buy_endpoint_has_an_active_product_and_nothing_else_is_active() -> None:
    assert {(row["prefix"], row["route_name"]) for row in PRODUCTS if row["active"]} == BUY_ENDPOINTS


def test_one_product_is_no_longer_sold_but_can_still_be_claimed_on() -> None:
    (retired,) = (row for row in PRODUCTS if not row["active"])
    assert retired["category"] == "Gadget"
    assert retired["claimable"]


def test_what_claims_are_taken_on_says_so() -> None:
    loans = credit_life.CREDIT_LIFE
    claimed = {(loans.prefix, loans.route), *(endpoint for line in LINES for endpoint in line.covers)}
    claimable = {(row["prefix"], row["route_name"]): row["claimable"] for row in PRODUCTS}
    assert [endpoint for endpoint in sorted(claimed) if not claimable[endpoint]] == []


@every_case("field", ["price", "distributor_commission_percentage", "mca_commission_percentage"])
def test_prices_and_percentages_are_decimal_strings_with_two_places(field: str) -> None:
    assert all(re.fullmatch(r"(0|[1-9]\d*)\.\d\d", row[field]) for row in PRODUCTS)


def test_only_credit_life_has_a_zero_price() -> None:
    assert {row["category"] for row in PRODUCTS if Decimal(row["price"]) == 0} == {"Credit Life"}


def test_commissions_are_of_the_usual_size() -> None:
    for row in PRODUCTS:
        assert 10 <= Decimal(row["mca_commission_percentage"]) <= 18
        assert 2 <= Decimal(row["distributor_commission_percentage"]) <= 8


def test_no_meta_holds_a_float_or_a_minimum_premium() -> None:
    found = [leaf for row in PRODUCTS for leaf in leaves(row["meta"])]
    assert not any(isinstance(value, float) for _, value in found)
    assert not any("minimum_premium" in path for path, _ in found)
    whole = ("days", "to_age", "days_before", "days_after", "Monthly", "minimum_age")
    assert all(path.endswith(whole) or "waiting_days" in path for path, value in found if isinstance(value, int))


def test_percentages_of_a_sum_insured_are_small_and_flat_prices_are_naira() -> None:
    for row in PRODUCTS:
        assert (Decimal(row["price"]) < 10) is row["is_dynamic_pricing"]


def test_third_party_prices_follow_the_tariff() -> None:
    prices = {row["id"][-2:]: row["price"] for row in on_route("buy-thirdparty")}
    assert list(prices.values()) == [
        *("15000.00", "20000.00", "20000.00", "100000.00", "20000.00", "5000.00", "3000.00")
    ]
    assert product("020401")["meta"]["category_prices"] == {"Private": "15000.00", "Commercial": "20000.00"}


def test_third_party_products_say_when_they_can_be_renewed() -> None:
    for row in on_route("buy-thirdparty") + on_route("buy-third-party-auto"):
        assert row["renewable"]
        assert row["meta"]["renewal_window"] == {"days_before": 90, "days_after": 30}


def test_comprehensive_products_of_insurer_a_name_every_frequency() -> None:
    for row in on_route("buy-comprehensive"):
        assert row["meta"]["premium_frequencies"] == [
            "weekly",
            "monthly",
            "quarterly",
            "biannually",
            "annually",
        ]


def test_shop_stock_is_loaded_by_its_kind() -> None:
    loadings = product("020301")["meta"]["stock_loadings"]
    assert loadings == {"non perishable": "1.00", "mixed": "1.10", "perishable": "1.25"}


@every_case("row", on_route("buy-personal-accident"), ids=lambda row: row["name"])
def test_a_personal_accident_product_has_a_price_and_benefits_for_every_plan(row: dict[str, Any]) -> None:
    meta = row["meta"]
    assert set(meta["plan_prices"]) == set(meta["benefits"]) == PLAN_NAMES[row["provider"]]
    # Of the plans that last the cover period.
    lasting = [price for plan, price in meta["plan_prices"].items() if plan not in meta.get("plan_months", {})]
    assert row["price"] == min(lasting, key=Decimal)
    assert all(re.fullmatch(r"\d+\.\d\d", str(value)) for _, value in leaves(meta["benefits"]))
    assert len({tuple(sums) for sums in meta["benefits"].values()}) == 1


def test_the_monthly_plan_lasts_one_month() -> None:
    assert product("070101")["meta"]["plan_months"] == {"Monthly": 1}


@every_case("row", on_route("buy-travel"), ids=lambda row: row["name"])
def test_a_travel_table_is_complete_and_rises_with_days_and_zone(row: dict[str, Any]) -> None:
    meta = row["meta"]
    assert meta["days"] == [7, 15, 31, 60, 92, 180, 365]
    assert [(band["to_age"], band["factor"]) for band in meta["age_factors"]] == [
        *((17, "0.50"), (65, "1.00"), (75, "1.50"), (80, "2.00"))
    ]
    table = [[Decimal(rate) for rate in meta["rates"][zone]] for zone in ZONES]
    assert list(meta["rates"]) == ZONES
    assert all(len(rates) == 7 and rates == sorted(set(rates)) for rates in table)
    assert all(list(column) == sorted(set(column)) for column in zip(*table, strict=True))
    assert Decimal(row["price"]) == table[0][0]
    assert not row["is_dynamic_pricing"]


def test_premium_travel_costs_more_than_standard_everywhere() -> None:
    standard, premium = (row["meta"]["rates"] for row in on_route("buy-travel"))
    for zone in ZONES:
        assert all(Decimal(a) < Decimal(b) for a, b in zip(standard[zone], premium[zone], strict=True))


def test_credit_life_is_sold_on_all_three_bases_with_the_shares_of_the_specification() -> None:
    rows = {row["meta"]["basis"]: row for row in on_route("buy-credit-life")}
    assert {basis: row["provider"] for basis, row in rows.items()} == {
        "single": "insurer-g",
        "monthly": "insurer-f",
        "reducing": "insurer-a",
    }
    for row in rows.values():
        shares = row["meta"]["shares"]
        assert set(shares) == {"death", "permanent_disability", "temporary_disability", "loss_of_job"}
        assert sum(Decimal(share) for share in shares.values()) == Decimal("0.575")


def test_benefit_caps_and_the_insured_share_of_cargo_are_given() -> None:
    assert [row["meta"]["benefit_cap"] for row in on_route("buy-mini-comprehensive")] == [
        "500000.00",
        "1500000.00",
    ]
    shares = {row["meta"]["sum_insured_percentage"] for row in on_route("buy-marine-import-cover")}
    assert shares == {"110.00"}


def test_full_benefits_occur_as_a_list_and_as_text() -> None:
    shapes = Counter(type(row["full_benefits"]).__name__ for row in PRODUCTS)
    assert set(shapes) == {"list", "str"}
    listed = [row["full_benefits"] for row in PRODUCTS if isinstance(row["full_benefits"], list)]
    parts = [part for benefits in listed for part in benefits]
    assert all(set(part) == {"name", "description"} and all(part.values()) for part in parts)


def test_key_benefits_occur_with_and_without_markup() -> None:
    marked = {row["key_benefits"].startswith("<ul><li>") for row in PRODUCTS}
    assert marked == {True, False}
    tags = {tag for row in PRODUCTS for tag in re.findall(r"<(/?\w+)", row["key_benefits"])}
    assert tags <= {"ul", "/ul", "li", "/li", "strong", "/strong"}


def test_every_product_is_described_in_sentences() -> None:
    for row in PRODUCTS:
        texts = [row["description"], row["how_it_works"], row["how_to_claim"]]
        assert all(text.endswith(".") and len(text) > 40 for text in texts if text is not None)
        assert row["cover_period"] == "12"


@every_case("row", PROVIDERS, ids=lambda row: row["segment"])
def test_a_provider_is_reachable_only_at_reserved_addresses(row: dict[str, Any]) -> None:
    emails = [row[field] for field in ("email", "claim_email", "business_email", "support_email")]
    assert all(re.fullmatch(r"[a-z]+@[a-z]+\.example", email) for email in emails)
    assert re.fullmatch(r"\+234[789][01]\d{8}", row["phone_number"])
    numbers = (row["verification_number"], row["bvn_number"])
    assert all(number is None or re.fullmatch(r"\d{11}", number) for number in numbers)


def test_policy_numbers_of_a_series_differ_and_no_two_insurers_share_one() -> None:
    assert len({row["number_series"] for row in PROVIDERS}) == len(PROVIDERS)
    numbers = [
        row["number_series"].format(year=2026, yy="26", month="01", n=n)
        for row in PROVIDERS
        for n in (1, 2, 999_999, 1_000_000)
    ]
    assert len(set(numbers)) == len(numbers) == 4 * len(INSURERS)
    assert all(re.fullmatch(r"[A-Z0-9/-]+", number) for number in numbers)
