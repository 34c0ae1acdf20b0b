"""The browser's tab says in plain text which record it holds, whatever that is called."""

import ast
from pathlib import Path

import pytest
import sqlalchemy as sa
import streamlit as st

from core.covers.insurers import insurer_b
from core.settings import ROOT
from core.store.access import Scope, Store
from core.store.schema.tables import Customer, Distributor, Product, Purchase
from tests.conftest import Partner
from tests.services.selling import sell
from tests.ui.conftest import Screen

HOSTILE = ":red[x] @home *bold* [a](http://b.example)"
HEADERS = {"page_header", "header_with_buttons"}
PLANTED = 'frame.page_header(f"{words.plain(row.name)}", "One record.")\n'


def offenders(source: str) -> list[int]:
    """The lines that head a page with a title made by ours or of parts, thus Markdown, and no plain one for the tab."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and node.args]
    heads = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr in HEADERS]
    return [
        call.lineno
        for call in heads
        if "tab" not in {keyword.arg for keyword in call.keywords}
        and (isinstance(call.args[0], ast.JoinedStr | ast.BinOp) or any(map(is_of_ours, ast.walk(call.args[0]))))
    ]


def is_of_ours(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in {"words", "facts"}


def test_every_computed_title_has_a_plain_one_for_the_tab() -> None:
    assert offenders(PLANTED) == [1]
    sources = [path for folder in ("pages", "core/ui") for path in Path(ROOT, folder).rglob("*.py")]
    found = {str(path): offenders(path.read_text()) for path in sources if path.name != "frame.py"}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_names_with_marks_stand_in_the_tab_as_they_are(
    store: Store, screen: Screen, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    sale = sell(store, partner, insurer_b.THIRD_PARTY, is_live=True)
    with store.writing(Scope.system()) as session:
        session.execute(sa.update(Customer).values(first_name=HOSTILE, last_name="Eze"))
        session.execute(sa.update(Product).values(name=HOSTILE))
        session.execute(sa.update(Distributor).where(Distributor.id == partner.id).values(business_name=HOSTILE))
        customer_id, product_id = session.execute(sa.select(Purchase.customer_id, Purchase.product_id)).one()
    titles: list[str] = []
    config = st.set_page_config
    monkeypatch.setattr(st, "set_page_config", lambda **given: (titles.append(given["page_title"]), config(**given)))
    pages = {
        "sales/customers.py#customer": (customer_id, f"{HOSTILE} Eze · Customer"),
        "admin/product.py": (product_id, f"{HOSTILE} · Product"),
        "admin/partners.py#distributor": (partner.id, f"{HOSTILE} · Distributor"),
        "policies/policy.py": (sale.policy_id, " · Policy"),
        "sales/purchases.py#purchase": (sale.purchase_id, " · Purchase"),
    }
    for page, (id_, title) in pages.items():
        screen("operations", "admin", path=page, id=str(id_))
        assert titles[-1].endswith(f"{title} · Coverdesk"), page
        assert not any(mark in titles[-1] for mark in ("\\", ":color", "-badge")), page
