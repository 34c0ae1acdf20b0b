"""The command palette's search: any text that a record is known by, and only what a person may open."""

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import ids
from core.desk import finder
from core.desk.finder import Hit
from core.errors import InvalidInput
from core.services.people import personal
from core.services.people.staff import Person
from core.store.access import Scope, Store
from core.store.schema.tables import Customer, Policy, Purchase
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import NOW, Portfolio, Sales

pytestmark = [pytest.mark.both_databases, pytest.mark.frozen_at(NOW)]

LIVE = Scope.staff(is_live=True)


@pytest.fixture
def sales() -> Sales:
    return Sales(
        fixture="sold",
        of_partner=(
            Portfolio(seed=41, size=30),
            Portfolio(seed=42, size=10, is_live=False),
        ),
    )


@pytest.fixture
def sold(store: Store, partner: Partner) -> Store:
    return store


def find(store: Store, text: str, *roles: str) -> list[Hit]:
    person = Person(id=ids.new(), email="o@coverdesk.example", name="O", roles=roles, claim_limit_minor=None)
    with store.reading(LIVE) as session:
        return finder.find_records(session, text, person)


def a_policy(store: Store) -> Policy:
    with store.reading(LIVE) as session:
        query = sa.select(Policy).where(Policy.policy_number.is_not(None)).limit(1)
        policy: Policy = session.execute(query).scalar_one()
        return policy


def test_a_policy_is_found_by_number_e_mail_and_id(sold: Store) -> None:
    policy = a_policy(sold)
    for text in (policy.policy_number or "", (policy.policy_number or "").lower(), policy.email, str(policy.id)):
        found = find(sold, text, "operations")
        assert any((hit.kind, hit.id) == ("policy", policy.id) for hit in found), text


def test_what_is_found_has_its_phone_as_it_is_dialled(sold: Store) -> None:
    with sold.reading(LIVE) as session:
        is_sold = sa.exists().where(col(Policy.customer_id) == col(Customer.id))
        phones = session.execute(sa.select(col(Customer.phone_number)).where(is_sold).limit(1))
        dialled = personal.format_phone(phones.scalar_one()) or ""
    found = find(sold, dialled[:8], "operations")
    assert "customer" in {hit.kind for hit in found}
    assert all(dialled[:8] in hit.detail for hit in found), [hit.detail for hit in found]


def test_finance_is_led_to_the_purchase_of_a_policy(sold: Store) -> None:
    policy = a_policy(sold)
    found = find(sold, policy.policy_number or "", "finance")
    assert [(hit.kind, hit.id) for hit in found] == [("purchase", policy.purchase_id)]
    with sold.reading(LIVE) as session:
        assert session.get(Purchase, policy.purchase_id) is not None


@every_case(
    ("roles", "kinds"),
    [
        (("operations",), {"policy", "customer"}),
        (("finance",), {"purchase"}),
        (("claims",), {"policy", "customer", "claim"}),
        (("supervisor",), {"policy", "customer", "claim"}),
        (("admin",), {"policy", "customer", "claim"}),
    ],
)
def test_a_person_finds_only_what_they_may_open(sold: Store, roles: tuple[str, ...], kinds: set[str]) -> None:
    found = [hit for text in ("okafor", "quoted", "o'neil") for hit in find(sold, text, *roles)]
    assert {hit.kind for hit in found} <= kinds
    assert {hit.kind for hit in found} >= kinds - {"claim"}


def test_products_are_for_operations_and_partners_for_admins(sold: Store, partner: Partner) -> None:
    assert {hit.kind for hit in find(sold, "credit life", "operations")} == {"product"}
    assert {hit.kind for hit in find(sold, "credit life", "admin")} == {"product"}
    assert find(sold, "credit life", "finance", "claims") == []
    assert {hit.kind for hit in find(sold, "insurance", "admin")} >= {"insurer"}
    assert not [hit for hit in find(sold, "insurance", "operations") if hit.kind == "insurer"]


def test_the_newest_are_the_same_however_many_are_found(sold: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few policies are looked for once and named to the next statement; very many are asked for by their page."""
    texts = ("okafor", "quoted", (a_policy(sold).policy_number or "")[-4:], "0803")
    few = [find(sold, text, "operations", "claims") for text in texts]
    assert any(few)
    monkeypatch.setattr(finder, "_MOST_FOUND", 0)
    assert [find(sold, text, "operations", "claims") for text in texts] == few


def test_the_other_mode_is_never_searched(sold: Store) -> None:
    with sold.reading(Scope.staff(is_live=False)) as session:
        other = session.execute(sa.select(Policy.id).limit(1)).scalar_one()
    assert find(sold, str(other), "admin") == []


@every_case("text", ["x", "y" * 101, "a\x00b"])
def test_a_text_that_cannot_be_searched_is_refused(store: Store, text: str) -> None:
    with pytest.raises(InvalidInput):
        find(store, text, "admin")
    assert find(store, "   ", "admin") == []
