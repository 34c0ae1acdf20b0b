"""Products as an admin changes them: rates from an instant on, on and off, texts; each seen, checked and noted."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from threading import Barrier
from typing import Any
from uuid import UUID

import orjson
import pytest
import sqlalchemy as sa

from core import clock, money
from core.covers import credit_life
from core.covers.insurers import insurer_a, insurer_c, insurer_f
from core.errors import InvalidInput, NotAllowed, StaleVersion, StateForbids
from core.services.audit import log as audit
from core.services.catalogue import changes, product_list, products, rate_changes
from core.services.catalogue.product_list import ProductDetail, ProductFilter
from core.services.lists.paging import Paging
from core.services.people import accounts, credentials, role_grants, staff
from core.services.people.staff import Person
from core.services.policies import policies
from core.services.sales import api_purchases
from core.store.access import Scope, ScopedSession, Store
from core.store.schema.tables import ProductVersion, Purchase, RateProposal, Staff
from tests.conftest import Partner
from tests.covers import shipped
from tests.services.selling import CAR, sell
from tests.services.sign_in_links import choose
from tests.ui.conftest import person_of

pytestmark = pytest.mark.frozen_at(shipped.STILL)

ADMIN = person_of("admin")
SECOND = replace(person_of("admin"), email="second@coverdesk.example", name="Second")
TOO_MUCH = "must leave the insurer at least 50 % of the premium, both commissions together"
LOAN = UUID("01900000-0000-7000-8000-000000080101")
TRIP = UUID("01900000-0000-7000-8000-000000030101")
GUARD = UUID(str(shipped.body(insurer_f.COVERS[0])["product_id"]))
TOMORROW = clock.lagos_midnight((shipped.STILL + timedelta(days=1)).date())
# COVERDESK_RACES for more.
ROUNDS = int(os.environ.get("COVERDESK_RACES", "5"))
LATER = shipped.STILL + timedelta(days=10)


def seen(store: Store, product_id: UUID) -> ProductDetail:
    with store.reading(Scope.system()) as session:
        return product_list.get_product(session, product_id)


@pytest.fixture(autouse=True)
def admins(store: Store) -> None:
    """Two admins: one proposes, the other confirms."""
    with store.writing(Scope.system()) as session:
        for person in (ADMIN, SECOND):
            session.insert(Staff(id=person.id, email=person.email, name=person.name, roles=["admin"]))


def propose(store: Store, product_id: UUID, typed: dict[str, Any], at: datetime = LATER, **other: Any) -> UUID:
    product = seen(store, product_id)
    options = {"start": product.latest.id, "seen": product.version, "by": ADMIN, **other}
    with store.writing(Scope.system()) as session:
        return rate_changes.propose(session, product_id, typed, effective_at=at, **options)


def decide(store: Store, verb: Any, product_id: UUID, proposal_id: UUID, by: Person = SECOND, **other: Any) -> Any:
    options = {"seen": seen(store, product_id).version, **other}
    with store.writing(Scope.system()) as session:
        return verb(session, product_id, proposal_id, by=by, **options)


def plan(store: Store, product_id: UUID, typed: dict[str, Any], at: datetime = LATER) -> UUID:
    """A change that one admin has proposed and another confirmed."""
    version_id: UUID = decide(store, rate_changes.confirm, product_id, propose(store, product_id, typed, at))
    return version_id


def refused(store: Store, product_id: UUID, typed: dict[str, Any], at: datetime = LATER) -> dict[str, str]:
    with pytest.raises(InvalidInput) as refusal:
        propose(store, product_id, typed, at)
    assert seen(store, product_id).version == 1, "nothing is written"
    return {fault.field: fault.message for fault in refusal.value.faults}


def money_of(store: Store, partner: Partner, purchase_id: UUID) -> tuple[UUID, int, int, int]:
    with store.reading(partner.scope()) as session:
        row = session.get_one(Purchase, purchase_id)
        return row.product_version_id, row.total_minor, row.mca_profit_minor, row.distributor_profit_minor


def test_a_sale_costs_the_old_price_until_the_instant_and_the_previewed_one_from_it(
    store: Store, partner: Partner
) -> None:
    old = seen(store, LOAN).in_force
    figures = {"meta.shares.death": "0.5", "meta.minimum_premium": "900.00", "mca_commission": "12.50"}
    new_id = plan(store, LOAN, figures)
    planned = seen(store, LOAN).planned_changes[0]
    request = shipped.request(credit_life.CREDIT_LIFE)
    expected = credit_life.CREDIT_LIFE.premium(request, planned.tariff.rates)
    split = product_list.split_price(expected, planned.tariff)
    assert (expected.total, split.mca_profit_minor) == (Decimal("900.00"), 11_250)
    sales = {}
    for name, at in (("before", LATER - timedelta(milliseconds=1)), ("from", LATER)):
        with clock.freeze(at):
            sale = sell(
                store, partner, credit_life.CREDIT_LIFE, loan_start_date="2026-12-10", email=f"{name}@x.example"
            )
        sales[name] = money_of(store, partner, sale.purchase_id)
    assert sales["before"][:2] == (old.id, 57_500)
    assert sales["from"] == (new_id, split.total_minor, split.mca_profit_minor, split.distributor_profit_minor)
    with clock.freeze(LATER):
        assert [version.state for version in seen(store, LOAN).versions] == ["In force", "Past"]


def test_a_change_is_written_down_by_both_who_made_it(store: Store, partner: Partner) -> None:
    plan(store, CAR, {"price": "16000"}, at=TOMORROW)
    with clock.freeze(TOMORROW):
        assert sell(store, partner, insurer_a.THIRD_PARTY).price.total == Decimal("16000.00")
    with store.reading(Scope.system()) as session:
        entries = audit.list_history(session, audit.subject_of("product", CAR))
        log = [(entry.action, entry.actor) for entry in entries]
        assert log == [("rates proposed", ADMIN.actor), ("rates confirmed", SECOND.actor)]
        for entry in entries:
            assert (entry.before or {})["price"] == "15000.00"
            assert (entry.after or {})["price"] == "16000.00"


def test_what_is_not_changed_stays_to_the_letter(store: Store) -> None:
    meta = seen(store, GUARD).in_force.tariff.meta
    plan(store, GUARD, {"meta.plan_prices.FlexiGuard-Gold": "5500"})
    after = seen(store, GUARD).planned_changes[0].tariff.meta
    assert after == {**meta, "plan_prices": {**meta["plan_prices"], "FlexiGuard-Gold": "5500.00"}}


def test_the_travel_table_takes_a_new_band(store: Store) -> None:
    figure = next(
        f for f in seen(store, TRIP).get_editable_tariff(seen(store, TRIP).in_force).figures if f.field == "meta.rates"
    )
    first = {**figure.value[0], "days": 3, "schengen": "5000"}
    plan(store, TRIP, {"meta.rates": [first, *figure.value]})
    tariff = seen(store, TRIP).planned_changes[0].tariff
    assert tariff.meta["days"][:2] == [3, 7]
    trip = shipped.request(insurer_c.TRAVEL, arrival_date="2026-12-05", num_of_passengers=1)
    assert insurer_c.TRAVEL.premium(trip, tariff.rates).total == Decimal("5000.00")


COMMISSIONS = ("mca_commission", "distributor_commission")
WRONG: list[tuple[UUID, dict[str, Any], dict[str, str]]] = [
    (CAR, {"price": "0"}, {"price": "must be more than 0"}),
    (CAR, {"price": "1.001"}, {"price": "must have at most 2 decimals"}),
    (
        CAR,
        {"price": "NaN", "cover_months": "1.5"},
        {"price": "must be a number", "cover_months": "must be a whole number"},
    ),
    (CAR, {"mca_commission": "-1"}, {"mca_commission": "must be at least 0.00"}),
    (
        CAR,
        {"mca_commission": "60", "distributor_commission": "40.01"},
        {"distributor_commission": "must leave something of the premium: both together are over 100 %"},
    ),
    (
        CAR,
        {"mca_commission": "70", "distributor_commission": "30"},
        {"mca_commission": TOO_MUCH, "distributor_commission": TOO_MUCH},
    ),
    (CAR, {"mca_commission": "0", "distributor_commission": "50.01"}, dict.fromkeys(COMMISSIONS, TOO_MUCH)),
    (CAR, {"meta.renewal_window.days_before": "366"}, {"meta.renewal_window.days_before": "must be at most 365"}),
    (
        LOAN,
        {"meta.shares.death": "", "meta.basis": "free"},
        {
            "meta.shares.death": "is required",
            "meta.basis": "must be one of single, monthly, reducing",
        },
    ),
    (TRIP, {"meta.age_factors": []}, {"meta.age_factors": "must have a row"}),
    (
        TRIP,
        {"meta.age_factors": [{"to_age": 40, "factor": "1"}, {"to_age": 40, "factor": "x"}]},
        {
            "meta.age_factors.1.factor": "must be a number",
            "meta.age_factors.1.to_age": "must be more than in the row above",
        },
    ),
]


def test_figures_out_of_bounds_are_refused_by_name(store: Store) -> None:
    for product_id, typed, faults in WRONG:
        assert refused(store, product_id, typed) == faults


def test_a_change_begins_tomorrow_at_the_earliest_and_not_twice_at_one_time(store: Store) -> None:
    for at in (clock.now(), clock.now() - timedelta(days=1), TOMORROW - timedelta(milliseconds=1)):
        assert refused(store, CAR, {"price": "1"}, at) == {"effective_at": "must be tomorrow in Lagos at the earliest"}
    plan(store, CAR, {"price": "16000"})
    with pytest.raises(InvalidInput, match="planned for this one already"):
        propose(store, CAR, {"price": "17000"})
    with pytest.raises(StateForbids, match="nothing would change"):
        propose(store, CAR, {"price": "16000"}, LATER + timedelta(days=1))


def test_nothing_holds_before_another_admin_has_confirmed_it(store: Store, partner: Partner) -> None:
    proposal_id = propose(store, CAR, {"price": "16000"}, TOMORROW)
    with pytest.raises(NotAllowed, match="another admin confirms"):
        decide(store, rate_changes.confirm, CAR, proposal_id, by=ADMIN)
    for nobody in (person_of("finance", "operations", "claims", "supervisor"), person_of("supervisor")):
        with pytest.raises(NotAllowed, match="Only an admin"):
            decide(store, rate_changes.confirm, CAR, proposal_id, by=nobody)
    with clock.freeze(TOMORROW):
        assert sell(store, partner, insurer_a.THIRD_PARTY).price.total == Decimal("15000.00")
        with pytest.raises(StateForbids, match="effective at must be tomorrow in Lagos at the earliest"):
            decide(store, rate_changes.confirm, CAR, proposal_id)
    assert len(seen(store, CAR).versions) == 1


def test_the_store_itself_wants_two_people_and_keeps_what_was_proposed(store: Store) -> None:
    proposal_id = propose(store, CAR, {"price": "16000"})
    mine = sa.update(RateProposal).where(sa.column("id") == proposal_id)
    decided = {"decided_by": ADMIN.id, "decided_at": clock.now()}
    for statement in (
        mine.values(state="refused", **decided),
        mine.values(price_minor=1),
        sa.delete(RateProposal),
    ):
        with store.writers.connect() as connection, pytest.raises(sa.exc.DBAPIError):
            connection.execute(statement)
    decide(store, rate_changes.refuse, CAR, proposal_id, reason="Not agreed")
    with store.writers.connect() as connection, pytest.raises(sa.exc.DBAPIError, match="keeps what it holds"):
        connection.execute(mine.values(reason="Another"))


def test_two_admins_who_confirm_at_once_make_one_change(store: Store) -> None:
    third = replace(person_of("admin"), email="third@coverdesk.example")
    with store.writing(Scope.system()) as session:
        session.insert(Staff(id=third.id, email=third.email, name="Third", roles=["admin"]))
    for number in range(ROUNDS):
        proposal_id = propose(store, CAR, {"price": f"{16_000 + number}"}, LATER + timedelta(days=number))
        version, meet = seen(store, CAR).version, Barrier(3)

        def attempt(who: tuple[Any, Person], key: UUID = proposal_id, at: int = version, meet: Barrier = meet) -> str:
            verb, by = who
            meet.wait()
            more = {"reason": "Not agreed"} if verb is rate_changes.refuse else {}
            try:
                decide(store, verb, CAR, key, by=by, seen=at, **more)
            except StaleVersion:
                return "late"
            return "done"

        ways = [(rate_changes.confirm, SECOND), (rate_changes.refuse, third), (rate_changes.take_back, ADMIN)]
        with ThreadPoolExecutor(3) as pool:
            assert sorted(pool.map(attempt, ways)) == ["done", "late", "late"]
        assert seen(store, CAR).proposal is None


def test_one_proposal_waits_at_a_time_and_is_decided_once(store: Store) -> None:
    proposal_id = propose(store, CAR, {"price": "16000"})
    with pytest.raises(StateForbids, match="waits for a second admin already"):
        propose(store, CAR, {"price": "17000"}, LATER + timedelta(days=1), by=SECOND)
    with pytest.raises(NotAllowed, match="you can refuse it"):
        decide(store, rate_changes.take_back, CAR, proposal_id, by=SECOND)
    with pytest.raises(InvalidInput, match="reason"):
        decide(store, rate_changes.refuse, CAR, proposal_id, reason=" ")
    decide(store, rate_changes.refuse, CAR, proposal_id, reason="The insurer has not agreed")
    for verb in (rate_changes.confirm, rate_changes.take_back):
        with pytest.raises(StateForbids, match="does not wait"):
            decide(store, verb, CAR, proposal_id)
    again = propose(store, CAR, {"price": "16000"})
    decide(store, rate_changes.take_back, CAR, again, by=ADMIN)
    assert (seen(store, CAR).proposal, len(seen(store, CAR).versions)) == (None, 1)


def test_a_floor_that_was_raised_meanwhile_stops_the_confirmation(store: Store, monkeypatch: Any) -> None:
    proposal_id = propose(store, CAR, {"mca_commission": "40", "distributor_commission": "10"})
    monkeypatch.setattr(rate_changes, "floor", lambda: Decimal("50.01"))
    with pytest.raises(StateForbids, match=r"must leave the insurer at least 50\.01 %"):
        decide(store, rate_changes.confirm, CAR, proposal_id)


def test_who_had_a_password_reset_confirms_nothing_for_a_day(store: Store) -> None:
    proposal_id = propose(store, CAR, {"price": "16000"})
    with store.writing(Scope.system()) as session:
        session.get_one(Staff, SECOND.id).password_hash = credentials.hash_password("a password of theirs before")
        session.add(Staff(email="third@x.example", name="Third", roles=["admin"], password_hash="x"))
        assert accounts.create_password_link(session, SECOND.id, by=ADMIN) is None
    with store.writing(Scope.system()) as session:
        (waits,) = role_grants.list_open(session)
        link = accounts.confirm_change(session, waits.id, by=staff.get_by_email(session, "third@x.example"))
    assert link
    choose(store, link, "a new password of theirs")
    with store.reading(Scope.system()) as session:
        taken_over = staff.get_by_email(session, SECOND.email)
    with pytest.raises(NotAllowed, match="21 Nov 2026, 08:08"):
        decide(store, rate_changes.confirm, CAR, proposal_id, by=taken_over)
    with clock.freeze(shipped.STILL + timedelta(hours=24)):
        decide(store, rate_changes.confirm, CAR, proposal_id, by=taken_over)


def test_every_product_that_ships_leaves_the_insurer_its_share(store: Store) -> None:
    with store.reading(Scope.system()) as session:
        rows = product_list.list_products(session, ProductFilter(), Paging(1, 100)).items
    assert [row.name for row in rows if rate_changes.check_insurer_share(row.tariff)] == []


def test_a_planned_change_can_be_withdrawn_and_planned_anew(store: Store, partner: Partner) -> None:
    version_id = plan(store, CAR, {"price": "16000"})
    with store.writing(Scope.system()) as session:
        rate_changes.withdraw(session, CAR, version_id, seen=3, by=ADMIN)
    assert [version.state for version in seen(store, CAR).versions] == ["Withdrawn", "In force"]
    plan(store, CAR, {"price": "17000"})
    with clock.freeze(LATER):
        assert sell(store, partner, insurer_a.THIRD_PARTY).price.total == Decimal("17000.00")


def test_rates_that_were_in_force_never_change(store: Store) -> None:
    version_id = plan(store, CAR, {"price": "16000"})
    with clock.freeze(LATER), store.writing(Scope.system()) as session, pytest.raises(StateForbids):
        rate_changes.withdraw(session, CAR, version_id, seen=3, by=ADMIN)
    with store.writers.connect() as connection, pytest.raises(sa.exc.DBAPIError, match="keeps what it holds"):
        connection.execute(sa.update(ProductVersion).where(ProductVersion.id == version_id).values(withdrawn_at=LATER))


def test_who_saw_an_older_version_is_told_and_changes_nothing(store: Store) -> None:
    product = seen(store, CAR)
    proposal_id = propose(store, CAR, {"price": "16000"})
    with pytest.raises(StaleVersion):
        propose(store, CAR, {"price": "17000"}, LATER + timedelta(days=1), seen=product.version)
    with pytest.raises(StaleVersion):
        decide(store, rate_changes.confirm, CAR, proposal_id, seen=product.version)
    assert len(seen(store, CAR).versions) == 1


def test_only_an_admin_changes_products(store: Store) -> None:
    with pytest.raises(NotAllowed):
        propose(store, CAR, {"price": "16000"}, by=person_of("finance", "operations"))


def test_a_product_is_switched_off_for_one_distributor_at_once(
    store: Store, partner: Partner, stranger: Partner
) -> None:
    with store.writing(Scope.system()) as session:
        changes.set_offered(session, CAR, partner.id, offered=False, seen_version=1, by=ADMIN)
    with pytest.raises(InvalidInput, match="product_id"):
        sell(store, partner, insurer_a.THIRD_PARTY)
    assert sell(store, stranger, insurer_a.THIRD_PARTY)
    assert {seller.name: seller.blocked for seller in seen(store, CAR).sellers} == {
        "Other Motors": False,
        "Swift Lenders": True,
    }
    with store.writing(Scope.system()) as session:
        changes.set_offered(session, CAR, partner.id, offered=True, seen_version=2, by=ADMIN)
    assert sell(store, partner, insurer_a.THIRD_PARTY, registration_number="NEW-123-AB")


def test_a_product_that_is_off_is_sold_to_nobody_and_its_policies_stay(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.THIRD_PARTY)
    with store.writing(Scope.system()) as session:
        changes.set_active(session, CAR, active=False, seen_version=1, by=ADMIN)
    with pytest.raises(InvalidInput, match="product_id"):
        sell(store, partner, insurer_a.THIRD_PARTY, registration_number="NEW-123-AB")
    with store.reading(partner.scope()) as session:
        assert policies.get_policy(session, sale.policy_id)["active"]


def test_texts_keep_their_lines_and_lose_what_could_harm(store: Store) -> None:
    texts = {
        "description": "Cover for cars.\nAnd jeeps.",
        "key_benefits": '<ul><li onclick="x()">One</li></ul><script>alert(1)</script><a href="javascript:x">a</a>',
        "how_it_works": "",
        "how_to_claim": "Call us",
    }
    with store.writing(Scope.system()) as session:
        changes.change_texts(session, CAR, texts, seen_version=1, by=ADMIN)
    product = seen(store, CAR)
    assert product.description == "Cover for cars.\nAnd jeeps."
    assert product.key_benefits == '<ul><li>One</li></ul><a rel="noopener noreferrer">a</a>'
    assert (product.how_it_works, product.how_to_claim) == (None, "Call us")
    with store.writing(Scope.system()) as session, pytest.raises(InvalidInput, match="key_benefits"):
        changes.change_texts(session, CAR, {**texts, "key_benefits": "<script>x</script>"}, seen_version=2, by=ADMIN)


def test_what_is_embedded_elsewhere_is_new_at_the_next_look(store: Store, partner: Partner) -> None:
    sell(store, partner, credit_life.CREDIT_LIFE)

    def embedded() -> tuple[str, str]:
        with store.reading(partner.scope()) as session:
            (row,) = api_purchases.list_purchases(session).items
        product = orjson.loads(orjson.dumps(row))["product"]
        return product["description"], product["mca_commission_percentage"]

    before = embedded()
    plan(store, LOAN, {"mca_commission": "12.50"})
    texts = {"description": "Another text", "key_benefits": "One", "how_it_works": "", "how_to_claim": ""}
    with store.writing(Scope.system()) as session:
        changes.change_texts(session, LOAN, texts, seen_version=3, by=ADMIN)
    assert embedded() == ("Another text", before[1])
    with clock.freeze(LATER):
        assert embedded() == ("Another text", "12.50")
    assert embedded() == ("Another text", before[1])


def test_a_work_reads_the_catalogue_with_its_own_change_and_nobody_else_keeps_it(store: Store) -> None:
    def described(session: ScopedSession) -> str:
        texts = {"description": "Never committed", "key_benefits": "One", "how_it_works": "", "how_to_claim": ""}
        changes.change_texts(session, LOAN, texts, seen_version=1, by=ADMIN)
        session.flush()
        raise StateForbids(str(products.get_catalogue(session).records[LOAN, True]["description"]))

    with pytest.raises(StateForbids, match="Never committed"):
        store.transact(Scope.system(), described)
    with store.reading(Scope.system()) as session:
        assert products.get_catalogue(session).records[LOAN, True]["description"] != "Never committed"


def test_the_list_tells_what_is_off_and_what_is_planned(store: Store, partner: Partner) -> None:
    plan(store, CAR, {"price": "16000"})
    with store.writing(Scope.system()) as session:
        changes.set_offered(session, CAR, partner.id, offered=False, seen_version=3, by=ADMIN)
        changes.set_active(session, LOAN, active=False, seen_version=1, by=ADMIN)
    with store.reading(Scope.system()) as session:
        found = product_list.list_products(session, ProductFilter(q="PRIVATE"), Paging(1, 50))
        off = product_list.list_products(session, ProductFilter.read({"on": ["false"]}), Paging(1, 50))
    row = next(row for row in found.items if row.id == CAR)
    assert (row.withheld, row.changes_at, money.to_minor(row.tariff.price)) == (1, LATER, 1_500_000)
    assert {row.name for row in off.items} == {"Credit life, single premium", "Device protection"}
