"""The figures of every shipped product: found, and unchanged by being read back as they are shown."""

from decimal import Decimal
from typing import Any

from core.covers.figures import Kind
from core.covers.registry import get_cover
from core.covers.tariff import EditableTariff, Tariff
from core.covers.tariff_reading import parse_tariff
from core.ui.admin import product_words
from core.ui.kit import words
from tests.covers import shipped


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
        whole = (Kind.TABLE, Kind.ONE, Kind.SEVERAL)
        typed = {
            figure.field: figure.value if figure.kind in whole else words.read_naira(product_words.format_typed(figure))
            for figure in product.figures
        }
        assert parse_tariff(product, typed) == parse_tariff(product, {}) == product.tariff, row["name"]


def test_only_what_no_price_reads_is_kept_untouched() -> None:
    kept = {name for row in shipped.products().values() for name in changeable(row).other_meta}
    assert kept == {"benefits", "benefit_cap", "note", "waiting_days", "exclusions"}
