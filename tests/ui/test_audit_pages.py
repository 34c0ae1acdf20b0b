"""The screens of the audit log: found, narrowed, opened; before and after side by side."""

import re
from uuid import UUID, uuid4

import pytest
from sqlmodel import col

from core.services.audit import log as audit
from core.store.access import Scope, Store
from core.store.schema.tables import Product
from tests.conftest import Partner, add_colleague
from tests.pages import turn_to
from tests.services.selling import CAR
from tests.ui.conftest import Screen, lists, press, texts

LIST, ONE = "admin/audit_log.py", "admin/audit_log.py#audit_entry"
BEFORE = {"claim_limit": "500000.00", "book_premium_minor": 500_000}
PLANS = {"plan_prices": {"Gold": "5000.00"}}
AFTER = {
    "claim_limit": "1000000.00",
    "book_premium_minor": 500_000,
    "difference": "-50000.01",
    "platform_commission": "12.50",
    "expiration_date": "2027-08-22T00:00:00.000Z",
    "effective_at": "2026-11-29T23:00:00.000Z",
    "month": "2026-09",
}


@pytest.fixture
def entry_id(store: Store, partner: Partner) -> UUID:
    """One change of a product; the keys of the distributor are in the log too."""
    subject = audit.subject_of("product", CAR)
    with store.writing(Scope.system()) as session:
        audit.write(
            session,
            actor="staff ada@coverdesk.example",
            action="rates planned",
            subject=subject,
            before={"price": "1.00", "meta": {"basis": "single"}, "bvn": "22212345678", **BEFORE},
            after={
                "price": "2.00",
                "meta": {"basis": "single", **PLANS},
                "sha256": "ab" * 32,
                "new": "*bold*",
                **AFTER,
            },
        )
        return audit.list_history(session, subject)[0].id


def test_the_log_is_narrowed_by_its_address(screen: Screen, store: Store, entry_id: UUID) -> None:
    at = screen("admin", path=LIST)
    assert "**3** entries" in texts(at)
    assert lists(at)[0]["Facts"][0].startswith("Price ₦1.00 → ₦2.00 · Claim limit ₦500,000.00 → ₦1,000,000.00 · Meta,")
    assert all(re.fullmatch(r"\d+ \w{3} \d{4}, \d\d:\d\d:\d\d", when) for when in lists(at)[0]["When"])
    at.selectbox(key="kind").set_value("product").run()
    assert list(lists(at)[0]["Who"]) == ["ada@coverdesk.example"]
    field = at.text_input(key="id")
    assert (field.label, field.proto.label_visibility.value) == ("Id of the record", 0), "its label is seen"
    at.text_input(key="q").set_value("nothing like it").run()
    assert "No entry matches" in texts(at)
    press(at, "Show all entries")
    assert len(lists(at)[0]) == 3
    at = screen("admin", path=LIST, q="price", page="7")
    assert "There is no page" in texts(at)
    assert "**From** must be one day" in texts(screen("admin", path=LIST, **{"from": "soon"}))


def test_a_row_names_its_record_and_the_people_in_its_facts(screen: Screen, store: Store, entry_id: UUID) -> None:
    lost = uuid4()
    with store.writing(Scope.system()) as session:
        bola = add_colleague(session, "Bola", "claims")
        product = session.get_one(Product, CAR).name
        for subject, facts in (
            (
                audit.subject_of("claim", lost),
                {"before": {"assigned_to": None}, "after": {"assigned_to": str(bola.id)}},
            ),
            (audit.subject_of("staff", bola.id), {"after": {"asked": [str(bola.id), str(lost)]}}),
            ("store", {}),
        ):
            audit.write(session, actor="system", action="noted", subject=subject, **facts)
    at = screen("admin", path=LIST, action="noted")
    assert list(lists(at)[0]["Record"]) == ["Store", "Staff Bola", "Claim"], "one that is not there has no name"
    assert list(lists(at)[0]["Facts"]) == ["–", f"Asked Bola; {lost}", "Assigned to – → Bola"]
    at = screen("admin", path=LIST, kind="product")
    assert list(lists(at)[0]["Record"]) == [f"Product {product}"]
    assert f"Product {product}" in [text.value for text in screen("admin", path=ONE, id=str(entry_id)).text]


def test_an_entry_shows_before_and_after_and_leads_to_its_record(screen: Screen, store: Store, entry_id: UUID) -> None:
    at = screen("admin", path=ONE, id=str(entry_id))
    rows = {row["Fact"]: (row["Before"], row["After"]) for row in at.table[0].value.to_dict("records")}
    assert rows["Price"] == (":orange-background[₦1\\.00]", ":orange-background[₦2\\.00]")
    assert rows["Meta, basis"] == ("single", "single")
    assert rows["New"] == ("–", "\\*bold\\*")
    assert rows["BVN"][0].endswith("5678")
    assert "22212" not in rows["BVN"][0]
    shown = lambda name: tuple(side.replace("\\", "") for side in rows[name])  # noqa: E731
    assert shown("Claim limit") == (":orange-background[₦500,000.00]", ":orange-background[₦1,000,000.00]")
    assert shown("Book premium") == ("₦5,000.00", "₦5,000.00"), "kobo is naira on a screen"
    assert shown("Difference") == ("–", "-₦50,000.01")
    assert shown("Meta, plan prices, gold") == ("–", "₦5,000.00")
    assert shown("Platform commission") == ("–", "12.50 %")
    assert shown("Expiration date") == ("–", "22 Aug 2027"), "a term ends with a day"
    assert shown("Effective at") == ("–", "30 Nov 2026, 00:00")
    assert shown("Month") == ("–", "September 2026")
    with store.writing(Scope.system()) as session:
        session.change(Product, col(Product.id) == CAR, is_dynamic_pricing=True)
    at = screen("admin", path=LIST, kind="product")
    assert lists(at)[0]["Facts"][0].startswith("Price 1.00 % → 2.00 % ·"), "a price in percent is no naira"
    at = screen("admin", path=ONE, id=str(entry_id))
    labels = [link.proto.label for link in at.get("page_link")]
    assert {"Open the product", "All entries of this product", "All entries of this actor"} <= set(labels)


def test_only_an_admin_reads_the_log_and_an_unknown_entry_is_said(screen: Screen, store: Store) -> None:
    assert "no such entry" in texts(screen("admin", path=ONE, id=str(uuid4())))
    at = screen("operations", "finance", "supervisor")
    for page in (LIST, ONE):
        with pytest.raises(ValueError, match="page"):
            turn_to(at, page)
