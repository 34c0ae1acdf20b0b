"""One purchase in full: the money adds up, papers stay put, and another mode does not know it."""

from uuid import UUID

import pytest

from core import ids, money, reference
from core.covers.registry import COVERS
from core.desk import sale as sale_view
from core.errors import NotFound
from core.store.access import Scope, Store
from tests.conftest import Partner
from tests.services.selling import sell

LIVE, TEST = Scope.staff(is_live=True), Scope.staff(is_live=False)


def sold(store: Store, partner: Partner, key: str) -> UUID:
    cover = next(cover for cover in COVERS if cover.key == key)
    return sell(store, partner, cover, is_live=True).purchase_id


def test_the_parts_are_the_whole_and_the_log_begins_with_the_sale(store: Store, partner: Partner) -> None:
    purchase_id = sold(store, partner, "insurer-f/buy-personal-accident")
    with store.reading(LIVE) as session:
        sale = sale_view.get_sale(session, purchase_id)
    assert sum(part.amount_minor for part in sale.premium_shares) == sale.total_minor
    assert (
        money.share(sale.total_minor, sale.premium_shares[1].basis_points or 0) == sale.premium_shares[1].amount_minor
    )
    assert (sale.distributor, sale.stage, sale.refunded_minor) == ("Swift Lenders", "In force", 0)
    assert sale.certificate_url
    assert sale.history[0].action == "policy sold"


def test_papers_are_hidden_personal_numbers_masked_and_ids_named(store: Store, partner: Partner) -> None:
    with_papers = sold(store, partner, "insurer-b/buy-third-party-auto")
    with_ids = sold(store, partner, "insurer-a/buy-thirdparty")
    with store.reading(LIVE) as session:
        papers = sale_view.get_sale(session, with_papers).submitted
        vehicle = sale_view.get_sale(session, with_ids).submitted
    assert papers["identification_url"] == sale_view.HIDDEN_PLACEHOLDER
    assert papers["bvn"].startswith("*")
    assert vehicle["vehicle_make"] in {make.name for make in reference.list_vehicle_makes(None)}
    assert "product_id" not in vehicle


def test_the_other_mode_and_unknown_ids_are_not_found(store: Store, partner: Partner) -> None:
    purchase_id = sold(store, partner, "insurer-f/buy-personal-accident")
    for scope, wanted in ((TEST, purchase_id), (LIVE, ids.new())):
        with store.reading(scope) as session, pytest.raises(NotFound):
            sale_view.get_sale(session, wanted)
