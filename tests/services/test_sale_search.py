"""The search of purchases by one text, and by the state of the policy and of the payment."""

from uuid import UUID

import pytest
import sqlalchemy as sa

from core.covers.insurers import insurer_a, insurer_f
from core.services.lists.dimensions import load_choices
from core.services.lists.listing import Row
from core.services.lists.paging import Paging
from core.services.policies import changes
from core.services.sales import purchases
from core.services.sales.purchases import PurchaseFilter
from core.services.selling.buying import Sale
from core.store.access import Scope, Store
from core.store.schema.tables import Policy, Refund
from tests.conftest import Partner
from tests.covers import shipped
from tests.services.selling import sell

pytestmark = [pytest.mark.both_databases, pytest.mark.frozen_at(shipped.STILL)]

DESK = Scope.staff(is_live=True)
NGOZI = {"first_name": "Ngozi", "last_name": "Okafor-Bello", "email": "ngozi@example.com"}
TUNDE = {"first_name": "Tunde", "last_name": "Ademola", "email": "Tunde@example.com", "phone_number": "08051112222"}


@pytest.fixture
def two_sales(store: Store, partner: Partner) -> tuple[Sale, Sale]:
    """A motor policy of Ngozi and an accident policy of Tunde."""
    return (
        sell(store, partner, insurer_a.THIRD_PARTY, is_live=True, registration_number="ABC-123-XY", **NGOZI),
        sell(store, partner, insurer_f.COVERS[0], is_live=True, **TUNDE),
    )


def listed(store: Store, **address: str | list[str]) -> list[Row]:
    """The rows that an address asks for; their sum is the total of the same selection."""
    given = {name: [value] if isinstance(value, str) else value for name, value in address.items()}
    criteria = PurchaseFilter.read(given)
    with store.reading(DESK) as session:
        rows = purchases.PURCHASES.read_page(session, criteria, load_choices(session), paging=Paging(1, 50))
        total = purchases.sum_purchases(session, criteria)
        purchases.sum_refunds(session, criteria)
    assert (total.sold, total.sold_minor) == (len(rows), sum(row["total"] for row in rows))
    return rows


def found(store: Store, **address: str | list[str]) -> set[UUID]:
    return {row.id for row in listed(store, **address)}


def cancel(store: Store, partner: Partner, sale: Sale, *, by_insurer: bool) -> None:
    with store.writing(partner.scope(is_live=True)) as session:
        changes.cancel(
            session, sale.policy_id, actor="t", reason="moved away", by_insurer=by_insurer, expected_version=1
        )


def test_one_box_finds_a_purchase_by_all_that_a_caller_may_say(store: Store, two_sales: tuple[Sale, Sale]) -> None:
    ngozi, tunde = two_sales
    number = str(ngozi.policy["meta"]["policy_number"])
    for text in (
        *("ngozi okafor", "NGOZI@example.com", "abc 123xy", number, f" {number.lower()} ", number[-9:]),
        *(str(ngozi.policy_id), str(ngozi.purchase_id)),
    ):
        assert found(store, find=text) == {ngozi.purchase_id}, text
    for text in ("0805 111 2222", "+2348051112222", "ademola, tunde"):
        assert found(store, find=text) == {tunde.purchase_id}, text
    assert found(store, find="nobody") == found(store, find="%%%") == set()
    assert found(store, find="ngozi", source="nowhere") == set()


def test_parts_of_what_a_caller_says_find_a_purchase(
    store: Store, partner: Partner, two_sales: tuple[Sale, Sale]
) -> None:
    ngozi, tunde = two_sales
    number = "ACC/AR/11/26/HQ/74967"
    with store.writing(partner.scope(is_live=True)) as session:
        policy = session.get_one(Policy, ngozi.policy_id)
        policy.policy_number = policy.number_key = number
        session.get_one(Policy, tunde.policy_id).plate_key = "LSR462KJ"
    for text in ("ABC 123", "abc123", "bc-123", "HQ 7496", "hq74967", "hq/749", "11/26/hq", "bello ngozi", "goz okaf"):
        assert found(store, find=text) == {ngozi.purchase_id}, text
    for text in ("LSR 462", "lsr462", "462kj", "0805 111", "+234 805 11", "234805111", "51112", "ademola tun"):
        assert found(store, find=text) == {tunde.purchase_id}, text
    for text in ("LSR 463", "HQ 4968", "0806 111", "+44 805 111", "ngozi ademola"):
        assert found(store, find=text) == set(), text


def test_a_whole_number_does_not_find_the_longer_ones_that_contain_it(
    store: Store, partner: Partner, two_sales: tuple[Sale, Sale]
) -> None:
    whole = str(two_sales[0].policy["meta"]["policy_number"])
    with store.writing(partner.scope(is_live=True)) as session:
        policy = session.get_one(Policy, two_sales[1].policy_id)
        policy.policy_number = policy.number_key = f"{whole.upper()}1"
        session.flush()
    assert found(store, find=whole) == {two_sales[0].purchase_id}
    assert found(store, find=whole[:-1]) == {sale.purchase_id for sale in two_sales}


def test_purchases_are_listed_by_the_state_of_policy_and_payment(
    store: Store, partner: Partner, two_sales: tuple[Sale, Sale]
) -> None:
    ngozi, tunde = (sale.purchase_id for sale in two_sales)
    assert found(store, policy="In force", payment="paid") == {ngozi, tunde}
    cancel(store, partner, two_sales[1], by_insurer=False)
    with store.reading(DESK) as session:
        given_back = session.execute(sa.select(Refund.total_minor).where(Refund.purchase_id == tunde)).scalar_one()
    row = next(row for row in listed(store) if row.id == tunde)
    assert 0 < given_back < row["total"]
    assert (row["state"], row["payment"]) == ("Cancelled", "Part refunded")
    assert found(store, policy="Cancelled") == found(store, payment="part") == {tunde}
    assert found(store, policy="In force") == found(store, payment="paid") == {ngozi}
    assert found(store, payment="refunded") == set()
    assert found(store, policy=["Cancelled", "In force"], payment=["paid", "part"]) == {ngozi, tunde}
    cancel(store, partner, two_sales[0], by_insurer=True)
    states = {row.id: row["payment"] for row in listed(store)}
    assert found(store, payment="refunded") == {key for key, state in states.items() if state == "Refunded"}
