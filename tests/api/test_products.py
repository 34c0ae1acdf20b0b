"""The catalogue over the API: what existing clients read of prices and categories (contract S18, P3)."""

from decimal import Decimal
from typing import Any
from uuid import UUID

from core import clock
from core.store.access import Scope, Store
from core.store.schema.tables import Product, ProductBlock
from tests.api.conftest import Client
from tests.api.selling import UNKNOWN, broken, data_of
from tests.conftest import Partner

LOAN = "01900000-0000-7000-8000-000000080101"
ACCIDENT = "01900000-0000-7000-8000-000000070101"
CAR = "01900000-0000-7000-8000-000000010201"


def product(client: Client, partner: Partner, product_id: str) -> dict[str, Any]:
    found: dict[str, Any] = data_of(client, partner.test_key, f"products/{product_id}")["product"]
    return found


def counts(client: Client, partner: Partner) -> dict[str, int]:
    """Return the number of products of each category, by its id."""
    rows = data_of(client, partner.test_key, "products/get-product-categories")["product_category"]
    return {row["id"]: row["product_count"] for row in rows}


def test_price_and_cover_period_agree(client: Client, partner: Partner) -> None:
    loan, accident = product(client, partner, LOAN), product(client, partner, ACCIDENT)
    assert (loan["price"], loan["is_dynamic_pricing"]) == ("0.575", True)
    assert (accident["price"], accident["cover_period"]) == ("3600.00", "12")
    listed = data_of(client, partner.test_key, "products/get-all-products")["products"]
    assert all(Decimal(row["price"]) > 0 for row in listed)
    assert accident in listed


def test_a_filter_of_commas_alone_is_refused_and_a_blank_one_is_none(client: Client, partner: Partner) -> None:
    catalogue, key = "products/get-all-products", partner.test_key
    for name in ("product_ids", "category_id"):
        for given in (f"{name}=,", f"{name}=%20,%20", f"{name}=&{name}=,"):
            assert broken(client.get(f"/v1/{catalogue}?{given}", key=key)) == [name]
        everything = data_of(client, key, catalogue)
        assert data_of(client, key, f"{catalogue}?{name}=") == data_of(client, key, f"{catalogue}?{name}=%20")
        assert data_of(client, key, f"{catalogue}?{name}=") == everything
        assert data_of(client, key, f"{catalogue}?{name}={UNKNOWN},")["products"] == []
    (found,) = data_of(client, key, f"{catalogue}?product_ids=%20{LOAN}%20,")["products"]
    assert found["id"] == LOAN


def test_fixed_prices_stand_by_stretch_in_meta(client: Client, partner: Partner) -> None:
    assert product(client, partner, CAR)["meta"]["mca_price"] == {
        "monthly": "1250.00",
        "quarterly": "3750.00",
        "biannually": "7500.00",
        "annually": "15000.00",
    }
    assert product(client, partner, ACCIDENT)["meta"]["mca_price"]["monthly"] == "350.00"
    assert "mca_price" not in product(client, partner, LOAN)["meta"]


def test_products_of_lives_say_their_minimum_age(client: Client, partner: Partner) -> None:
    assert product(client, partner, LOAN)["meta"]["minimum_age"] == 18
    assert "minimum_age" not in product(client, partner, CAR)["meta"]


def test_a_category_counts_the_products_that_the_caller_may_sell(
    client: Client, store: Store, partner: Partner, stranger: Partner
) -> None:
    before = counts(client, partner)
    for category_id, count in before.items():
        found = data_of(client, partner.test_key, f"products/get-all-products?category_id={category_id}")
        assert found["total_count"] == count
    category_id = product(client, partner, CAR)["product_category_id"]
    with store.writing(Scope.system()) as session:
        session.insert(ProductBlock(product_id=UUID(CAR), distributor_id=partner.id, created_at=clock.now()))
        session.get_one(Product, UUID(LOAN)).active = False
    assert counts(client, partner)[category_id] == before[category_id] - 1
    assert counts(client, stranger)[category_id] == before[category_id]
    assert sum(before.values()) - sum(counts(client, partner).values()) == 2


def test_a_category_without_products_counts_none(client: Client, partner: Partner) -> None:
    assert 0 in counts(client, partner).values()
