"""Policies due for renewal, row by row: the edges of each bucket, the next premium, and the tile that says the same."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from core import clock, money
from core.covers.insurers import insurer_a, insurer_b, insurer_f
from core.errors import NotRenewable
from core.services.lists.dimensions import load_choices
from core.services.lists.paging import Paging
from core.services.renewals import due, renewals
from core.services.renewals.due import BUCKETS, DueRow
from core.services.renewals.records import DueFilter
from core.store.access import Scope, Store
from core.store.schema.tables import Product, ProductBlock
from tests.conftest import Partner
from tests.covers import shipped
from tests.services.selling import sell

ANNIVERSARY = datetime(2027, 11, 20, 7, 8, tzinfo=UTC)
pytestmark = pytest.mark.frozen_at(ANNIVERSARY)
# In Lagos the same day has begun already.
ONE_IN_THE_MORNING = datetime(2027, 11, 19, 23, 30, tzinfo=UTC)
TEST, LIVE = Scope.staff(is_live=False), Scope.staff(is_live=True)
EDGES = {"week": (0, 7), "month": (8, 30), "two-months": (31, 60), "quarter": (61, 90), "lapsed": (-30, -1)}


def sold(store: Store, partner: Partner, days: int, cover: Any = insurer_a.THIRD_PARTY, **changed: Any) -> UUID:
    """A policy that ends so many days from the anniversary."""
    with clock.freeze(shipped.STILL + timedelta(days=days)):
        return sell(store, partner, cover, **changed).policy_id


def listed(store: Store, bucket: str, wanted: DueFilter = DueFilter(), **options: Any) -> list[DueRow]:
    with store.reading(TEST) as session:
        return due.list_due_rows(session, bucket, wanted, load_choices(session), **{"paging": Paging(1, 50), **options})


@pytest.mark.parametrize("now", [ANNIVERSARY, ONE_IN_THE_MORNING], ids=["in the morning", "after midnight in Lagos"])
def test_each_bucket_has_both_its_edges_and_no_day_more(store: Store, partner: Partner, now: datetime) -> None:
    for number, days in enumerate((-31, *(edge for pair in EDGES.values() for edge in pair), 91)):
        sold(store, partner, days, registration_number=f"LSD-1{number:02}AB")
    with clock.freeze(now):
        assert {key: tuple(row.days_left for row in listed(store, key)) for key in BUCKETS} == EDGES
        with store.reading(TEST) as session:
            tiles = due.list_due(session, clock.today())
        assert {tile.key: (tile.policies, tile.premium_minor) for tile in tiles} == {
            key: (2, sum(row.last_minor for row in listed(store, key))) for key in BUCKETS
        }


@pytest.mark.both_databases
def test_filters_order_and_pages_hold_for_rows_as_for_tiles(store: Store, partner: Partner, stranger: Partner) -> None:
    mine = sold(store, partner, 3)
    sold(store, stranger, 5, registration_number="ABC-123-XY")
    other = sold(store, partner, 6, insurer_f.PERSONAL_ACCIDENT)
    wanted = DueFilter(distributor_ids=(partner.id,))
    assert [row.id for row in listed(store, "week", wanted)] == [mine, other]
    assert [row.id for row in listed(store, "week", wanted, order="latest")] == [other, mine]
    assert [row.id for row in listed(store, "week", wanted, paging=Paging(2, 1))] == [other]
    with store.reading(TEST) as session:
        insurer = session.get_one(Product, UUID(str(renewals.preview_next_term(session, other).sale.id))).provider_id
        tile = due.list_due(session, clock.today(), DueFilter(provider_ids=(insurer,)))[0]
    assert [row.id for row in listed(store, "week", DueFilter(provider_ids=(insurer,)))] == [other]
    assert tile.policies == 1


@pytest.mark.both_databases
def test_many_next_terms_are_those_of_each_policy_alone(store: Store, partner: Partner, stranger: Partner) -> None:
    policies = [
        sold(store, partner, 3, is_live=True),
        sold(store, partner, 3, insurer_b.THIRD_PARTY, is_live=True, bvn="22123456789"),
        sold(store, partner, 3, insurer_f.PERSONAL_ACCIDENT, is_live=True),
        sold(store, partner, 120, is_live=True, registration_number="ABC-123-XY"),
        sold(store, stranger, 3, is_live=True, registration_number="ABC-124-XY"),
        sold(store, partner, -335, insurer_a.COMPREHENSIVE, is_live=True, premium_frequency="monthly"),
    ]
    with store.reading(LIVE) as session:
        blocked = renewals.preview_next_term(session, policies[4]).sale.id
    with store.writing(Scope.system()) as session:
        session.insert(ProductBlock(product_id=blocked, distributor_id=stranger.id, created_at=clock.now()))
    with store.reading(LIVE) as session:
        together = renewals.get_next_terms(session, policies)
        for policy_id, one in together.items():
            if isinstance(one, NotRenewable):
                with pytest.raises(NotRenewable, match=re.escape(str(one))):
                    renewals.preview_next_term(session, policy_id)
            else:
                assert one == renewals.preview_next_term(session, policy_id)
    assert set(together) == set(policies)
    refusals = {str(each) for each in together.values() if isinstance(each, NotRenewable)}
    assert {"This product is no longer sold", "This policy is not active yet"} < refusals
    assert len(refusals) == 3


@pytest.mark.both_databases
def test_a_row_says_what_the_next_term_costs_and_why_it_cannot_be_bought(store: Store, partner: Partner) -> None:
    policy_id = sold(store, partner, 3)
    (row,) = listed(store, "week")
    assert (row.id, row.next_minor, row.refusal) == (policy_id, 15_000_00, None)
    assert (row.customer, row.distributor) == ("Amaka Eze", "Swift Lenders")
    with store.writing(Scope.system()) as session:
        session.get_one(Product, renewals.preview_next_term(session, policy_id).sale.id).active = False
    (row,) = listed(store, "week")
    assert (row.next_minor, row.refusal) == (None, "This product is no longer sold")
    assert row.last_minor == 15_000_00


def test_a_renewed_policy_leaves_its_bucket_and_comes_again_with_its_next_term(store: Store, partner: Partner) -> None:
    policy_id = sold(store, partner, 3)
    with store.writing(partner.scope()) as session:
        renewed = renewals.renew(session, policy_id, partner.seller())
    assert [listed(store, key) for key in BUCKETS] == [[]] * len(BUCKETS)
    with clock.freeze(clock.midnight(clock.add_months(clock.today(), 12))):
        (row,) = listed(store, "week")
        assert (row.id, row.last_minor) == (policy_id, money.to_minor(renewed.price.total))
