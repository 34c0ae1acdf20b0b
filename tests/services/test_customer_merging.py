"""Two records of one person: shown together with their sums, nothing moved, refused where they cannot be, undone."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from uuid import UUID

import pytest
import sqlalchemy as sa

from core import clock, ids
from core.covers.insurers import insurer_a, insurer_f
from core.desk import customer as customer_view
from core.desk.customer import CustomerDetail
from core.errors import InvalidInput, NotAllowed, NotFound, StateForbids
from core.services.audit import log as audit
from core.services.compliance import requests
from core.services.customers import customers, merging, notes
from core.services.customers.customers import CustomerFilter
from core.services.lists.dimensions import load_choices
from core.services.people.staff import Person
from core.services.renewals import due
from core.store.access import Scope, Store
from core.store.schema.tables import CustomerMerge, Policy, Purchase
from tests.conftest import Partner, add_colleague
from tests.covers import shipped
from tests.services.selling import sell

pytestmark = pytest.mark.both_databases

LIVE = Scope.staff(is_live=True)
NGOZI = {"first_name": "Ngozi", "last_name": "Okafor", "phone_number": "08051112222"}


@pytest.fixture(autouse=True)
def still() -> Iterator[datetime]:
    with clock.freeze(shipped.STILL):
        yield shipped.STILL


@pytest.fixture
def bola(store: Store) -> Person:
    with store.writing(Scope.system()) as session:
        return add_colleague(session)


def bought(store: Store, partner: Partner, email: str, **changed: str) -> UUID:
    """The customer of a live sale to this address."""
    cover = insurer_a.THIRD_PARTY if changed.get("registration_number") else insurer_f.COVERS[0]
    policy = sell(store, partner, cover, is_live=True, email=email, **{**NGOZI, **changed}).policy_id
    with store.reading(LIVE) as session:
        return session.get_one(Policy, policy).customer_id


@pytest.fixture
def both(store: Store, partner: Partner) -> tuple[UUID, UUID]:
    """Ngozi's record with two sales, and another with one."""
    first = bought(store, partner, "ngozi@example.com", registration_number="ABC-123-XY")
    bought(store, partner, "ngozi@example.com", registration_number="ABC-124-XY")
    return first, bought(store, partner, "n.okafor@example.com")


def merge(store: Store, kept: UUID, merged: UUID, by: Person) -> None:
    with store.writing(LIVE) as session:
        merging.merge(session, kept, merged, by=by)


def shown(store: Store, key: UUID) -> CustomerDetail:
    with store.reading(LIVE) as session:
        return customer_view.get_customer(session, key, load_choices(session))


def owners(store: Store) -> dict[UUID, UUID]:
    with store.reading(LIVE) as session:
        return {row.id: row.customer_id for row in session.execute(sa.select(Purchase.id, Purchase.customer_id))}


def test_a_person_is_shown_whole_and_taken_apart_again(store: Store, both: tuple[UUID, UUID], bola: Person) -> None:
    kept, merged = both
    before, apart = owners(store), [shown(store, key) for key in both]
    with store.writing(LIVE) as session:
        notes.add_note(session, merged, {"text": "Called"}, by=bola)
        assert [each.id for each in merging.list_candidates(session, kept)] == [merged]
        assert [each.id for each in merging.list_candidates(session, kept, "n.okafor@")] == [merged]
    merge(store, kept, merged, bola)
    whole, part = shown(store, kept), shown(store, merged)
    assert whole.bought.policies == whole.purchases.total_count == whole.policies.total_count == 3
    assert whole.bought.premium_minor == sum(each.bought.premium_minor for each in apart)
    assert whole.bought.premium_minor == sum(row["total"] for row in whole.purchases.items)
    assert [(each.id, each.email, each.merged_by) for each in whole.group.merged] == [
        (merged, "n.okafor@example.com", "Bola")
    ]
    assert (part.group.kept_id, part.bought) == (kept, apart[1].bought)
    assert owners(store) == before, "nothing is moved"
    with store.reading(LIVE) as session:
        assert len(notes.list_notes(session, *whole.group.ids)) == 1
        assert customers.list_customers(session).total_count == 2, "the API shows what it always showed"
        assert customers.list_customers(session, CustomerFilter(merged=False)).total_count == 1
        assert merging.list_candidates(session, kept) == []
    for _ in range(2):
        with store.writing(LIVE) as session:
            merging.undo(session, merged, by=bola)
    assert [shown(store, key).bought for key in both] == [each.bought for each in apart]
    with store.reading(LIVE) as session:
        actions = [entry.action for entry in audit.list_history(session, audit.subject_of("customer", kept))]
    assert actions[-2:] == ["customers merged", "customers taken apart"]


def test_what_cannot_be_one_person_is_refused(
    store: Store, partner: Partner, stranger: Partner, both: tuple[UUID, UUID], bola: Person
) -> None:
    kept, merged = both
    elsewhere = bought(store, stranger, "ngozi@example.com")
    third = bought(store, partner, "third@example.com")
    finance = Person(id=ids.new(), email="f@x.example", name="F", roles=("finance",), claim_limit_minor=None)
    for pair, by, expected in (
        ((kept, merged), finance, NotAllowed),
        ((kept, kept), bola, InvalidInput),
        ((kept, elsewhere), bola, InvalidInput),
        ((kept, ids.new()), bola, NotFound),
    ):
        with pytest.raises(expected):
            merge(store, *pair, by)
    merge(store, kept, merged, bola)
    for pair in ((kept, merged), (third, merged), (merged, third), (third, kept)):
        with pytest.raises(StateForbids):
            merge(store, *pair, bola)
    merge(store, kept, third, bola)
    assert len(shown(store, kept).group.merged) == 2


def test_the_check_of_the_store_finds_merges_that_no_screen_could_make(
    store: Store, partner: Partner, stranger: Partner, both: tuple[UUID, UUID], bola: Person
) -> None:
    def faults() -> list[str]:
        with store.reading(Scope.system()) as session:
            return list(merging.find_merge_faults(session))

    kept, merged = both
    merge(store, kept, merged, bola)
    assert faults() == []
    elsewhere = bought(store, stranger, "ngozi@example.com")
    with store.writing(Scope.system()) as session:
        row = CustomerMerge(
            distributor_id=partner.id, is_live=True, merged_id=kept, kept_id=elsewhere, merged_by=bola.id
        )
        session.insert(row)
    assert faults() == [
        "1 merged customers of another distributor or mode",
        "1 customers merged into a record that is part of another",
    ]


def test_wishes_and_requests_are_the_persons_not_a_records(store: Store, both: tuple[UUID, UUID], bola: Person) -> None:
    kept, merged = both
    with store.writing(LIVE) as session:
        due.set_opt_out(session, merged, is_out=True, by=bola)
    merge(store, kept, merged, bola)
    with store.writing(LIVE) as session:
        assert due.list_opted_out(session, both) == set(both)
        due.set_opt_out(session, kept, is_out=False, by=bola)
        assert due.list_opted_out(session, both) == set()
        due.set_opt_out(session, kept, is_out=True, by=bola)
        assert due.list_opted_out(session, both) == set(both)
    typed = {"kind": "access", "name": "Ngozi", "email": "ngozi@example.com", "details": "Everything, please"}
    desk = Person(id=bola.id, email="d@x.example", name="D", roles=("compliance",), claim_limit_minor=None)
    with store.writing(Scope.system()) as session:
        request = requests.register(session, typed, by=desk)
        row = requests.get_request(session, request)
        found = {each.id for each in requests.find_records(session, row) if each.is_chosen}
    assert found == set(both)


def test_what_waits_stands_first_then_what_ends_soonest_and_last_what_is_over(
    store: Store, partner: Partner, both: tuple[UUID, UUID]
) -> None:
    kept, _ = both
    first, second = (row.id for row in shown(store, kept).policies.items)
    with store.writing(partner.scope(is_live=True)) as session:
        session.get_one(Policy, second).expiration_at = clock.now() + timedelta(days=5)
    assert [row.id for row in shown(store, kept).policies.items] == [second, first]
    for days_ago, order in ((5, [second, first]), (40, [first, second])):
        with store.writing(partner.scope(is_live=True)) as session:
            over = session.get_one(Policy, second)
            over.expiration_at = clock.now() - timedelta(days=days_ago)
            over.start_at = over.activation_at = over.expiration_at - timedelta(days=365)
        assert [row.id for row in shown(store, kept).policies.items] == order, "lapsed can still be renewed for a month"
    with store.writing(partner.scope(is_live=True)) as session:
        session.get_one(Policy, first).activated = False
    assert [row.id for row in shown(store, kept).policies.items] == [first, second]
    with store.writing(partner.scope(is_live=True)) as session:
        session.get_one(Policy, second).cancelled_at = clock.now()
        session.get_one(Policy, first).activated = True
    assert [row.id for row in shown(store, kept).policies.items] == [first, second]
