"""The history and submissions of a sale in the words of the desk, on both of its screens."""

from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import col
from streamlit.testing.v1 import AppTest

from core.covers.cover import Cover
from core.covers.insurers import insurer_a
from core.services.catalogue import keys
from core.services.policies import changes
from core.services.selling import buying
from core.services.selling.buying import Sale, Seller
from core.store.access import Scope, Store
from core.store.schema.tables import ApiKey
from tests.conftest import Partner
from tests.covers import shipped
from tests.every_case import every_case
from tests.ui.conftest import Screen, texts

PAGES = {"policies/policy.py": "policy_id", "sales/purchases.py#purchase": "purchase_id"}


@pytest.fixture
def cancelled(store: Store, partner: Partner) -> Sale:
    """Sold over the API with a key that has a name, and cancelled by somebody of the desk."""
    with store.writing(Scope.system()) as session:
        keys.issue_key(session, distributor_id=partner.id, is_live=True, name="Production", actor="tests")
        key = session.execute(sa.select(col(ApiKey.id)).where(col(ApiKey.name) == "Production")).scalar_one()
    request = shipped.request(insurer_a.COMPREHENSIVE, vehicle_cost=5_000_000, premium_frequency="weekly")
    with store.writing(partner.scope(is_live=True)) as session:
        seller = Seller(distributor_id=partner.id, is_live=True, actor=f"key {key}")
        sale = buying.sell(session, insurer_a.COMPREHENSIVE, request, seller)
        changes.decline(
            session, sale.policy_id, actor="staff ops@x.example", reason="Not *insurable*", expected_version=1
        )
    return sale


def name_of(cover: Cover[Any]) -> str:
    return str(shipped.products()[shipped.request(cover).product_id]["name"])


def open_page(screen: Screen, page: str, sale: Sale) -> AppTest:
    return screen("operations", "finance", path=page, id=str(getattr(sale, PAGES[page])))


@every_case("page", PAGES)
def test_the_log_names_people_products_and_money(screen: Screen, cancelled: Sale, page: str) -> None:
    at = open_page(screen, page, cancelled)
    entries = texts(at)
    assert "Swift Lenders, key Production" in entries
    assert "· ops@x.example" in entries
    assert f"Product: {name_of(insurer_a.COMPREHENSIVE)}" in entries
    assert f"Total: ₦{cancelled.price.total:,.2f}" in entries
    assert f"Refund: ₦{cancelled.price.total:,.2f}" in entries
    assert "Reason: Not *insurable*" in entries
    log = [caption for caption in at.caption if "₦" in caption.value and "Product" in caption.value]
    assert str(cancelled.purchase_id) not in log[0].value
    assert str(cancelled.purchase_id) in log[0].help.replace("\\", "")
    assert "staff ops" not in entries
    assert "key 0" not in entries


@every_case("page", PAGES)
def test_what_was_submitted_reads_as_money_days_and_words(screen: Screen, cancelled: Sale, page: str) -> None:
    shown = str([table.value.to_dict() for table in open_page(screen, page, cancelled).table]).replace("\\", "")
    assert "₦5,000,000.00" in shown
    assert "'Weekly'" in shown
