"""One thing is insured once: the guard against duplicates, and the flag for what only looks alike (contract S12)."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.covers import credit_life
from core.covers.cover import PENDING, Cover, Term
from core.covers.insurers import insurer_a, insurer_b, insurer_c, insurer_d
from core.errors import DuplicateRisk
from core.services.selling import buying
from core.store.access import Scope, Store
from core.store.schema.tables import Customer, Policy
from tests.conftest import Partner
from tests.covers import shipped
from tests.services.races import run_while_open
from tests.services.selling import every_auto_cover, kept, plate_field, refusal, sell, sold

pytestmark = pytest.mark.frozen_at(shipped.STILL)


@every_auto_cover
def test_a_plate_is_insured_once_however_it_is_written(store: Store, partner: Partner, cover: Cover[Any]) -> None:
    field, before = plate_field(cover), sold(store, partner.scope())
    first = sell(store, partner, cover)
    plate = shipped.body(cover)[field]
    expected = {"policy_id": str(first.policy_id), "policy_number": first.policy["meta"]["policy_number"]}
    for written in (plate, plate.lower(), plate.replace("-", " ")):
        assert refusal(store, partner, cover, **{field: written}) == expected
    sell(store, partner, cover, **{field: "XYZ-999ZZ"})
    assert sold(store, partner.scope()) == before + 2


@every_auto_cover
def test_another_distributor_and_the_other_mode_are_not_affected(
    store: Store, partner: Partner, stranger: Partner, cover: Cover[Any]
) -> None:
    owners = [(who, is_live) for who in (partner, stranger) for is_live in (False, True)]
    before = [sold(store, who.scope(is_live=is_live)) for who, is_live in owners]
    for who, is_live in owners:
        sell(store, who, cover, is_live=is_live)
    assert [sold(store, who.scope(is_live=is_live)) for who, is_live in owners] == [count + 1 for count in before]


@pytest.mark.both_databases
def test_who_sells_under_a_wider_scope_meets_only_that_distributors_policies(
    store: Store, partner: Partner, stranger: Partner
) -> None:
    cover = insurer_a.THIRD_PARTY
    sell(store, stranger, cover)
    first = sell(store, partner, cover, scope=Scope.staff(is_live=False))
    found = refusal(store, partner, cover, scope=Scope.system())
    assert found["policy_id"] == str(first.policy_id)


def test_another_product_may_insure_the_same_plate(store: Store, partner: Partner) -> None:
    plate = "LSD-123AB"
    sell(store, partner, insurer_a.THIRD_PARTY, registration_number=plate)
    sell(store, partner, insurer_a.COMPREHENSIVE, registration_number=plate)
    sell(store, partner, insurer_d.MINI_COMPREHENSIVE, vehicle_registration_number=plate)
    with store.reading(partner.scope()) as session:
        keys = session.execute(sa.select(col(Policy.plate_key))).scalars().all()
    assert keys == ["LSD123AB"] * 3


def test_a_passport_travels_twice_only_on_other_days(store: Store, partner: Partner, subtests: pytest.Subtests) -> None:
    def travel(departure: str, arrival: str) -> dict[str, str]:
        return {"departure_date": departure, "arrival_date": arrival, "passport_number": "a 12345678"}

    first = sell(store, partner, insurer_c.TRAVEL, departure_date="2026-12-04", arrival_date="2026-12-17")
    for departure, arrival in (
        ("2026-12-04", "2026-12-17"),
        ("2026-11-25", "2026-12-04"),
        ("2026-12-17", "2026-12-20"),
        ("2026-12-10", "2026-12-10"),
        ("2026-11-25", "2026-12-30"),
    ):
        with subtests.test(f"{departure} to {arrival}"):
            found = refusal(store, partner, insurer_c.TRAVEL, **travel(departure, arrival))
            assert found["policy_id"] == str(first.policy_id)
    sell(store, partner, insurer_c.TRAVEL, **travel("2026-12-18", "2026-12-30"))
    sell(store, partner, insurer_c.TRAVEL, **travel("2026-11-25", "2026-12-03"))


@pytest.mark.both_databases
def test_a_pending_policy_meets_any_dates(store: Store, partner: Partner) -> None:
    waiting = replace(insurer_c.TRAVEL, initial_state=PENDING, term=lambda *_: Term.undated())
    first = sell(store, partner, waiting)
    later = {"departure_date": "2027-06-01", "arrival_date": "2027-06-05"}
    assert refusal(store, partner, insurer_c.TRAVEL, **later) == {
        "policy_id": str(first.policy_id),
        "policy_number": None,
    }


@pytest.mark.both_databases
def test_a_pending_sale_meets_every_policy_of_its_risk(store: Store, partner: Partner) -> None:
    first = sell(store, partner, insurer_c.TRAVEL)
    waiting = replace(insurer_c.TRAVEL, initial_state=PENDING, term=lambda *_: Term.undated())
    assert refusal(store, partner, waiting)["policy_id"] == str(first.policy_id)


@pytest.mark.both_databases
def test_a_loan_is_insured_once_however_its_number_is_written(store: Store, partner: Partner) -> None:
    cover = credit_life.CREDIT_LIFE
    first = sell(store, partner, cover, loan_account_number=" ln-00 17a ")
    for written in ("LN-0017A", "ln-0017a", "LN-00 17A"):
        found = refusal(store, partner, cover, loan_account_number=written, email="other@example.com")
        assert found["policy_id"] == str(first.policy_id)
    sell(store, partner, cover, loan_account_number="LN0017A")
    sell(store, partner, cover)
    with store.reading(partner.scope()) as session:
        named = session.execute(sa.select(col(Policy.submitted), col(Policy.payload)).order_by(col(Policy.created_at)))
        numbers = [[kept.get("loan_account_number") for kept in row] for row in named]
    assert numbers == [["LN-0017A"] * 2, ["LN0017A"] * 2, [None] * 2]


@pytest.mark.both_databases
def test_a_cancelled_or_declined_policy_frees_its_risk(store: Store, partner: Partner) -> None:
    cover = insurer_b.COMPREHENSIVE
    for ended in ("cancelled_at", "declined_at"):
        last = sell(store, partner, cover)
        with store.writing(partner.scope()) as session:
            session.execute(sa.update(Policy).where(col(Policy.id) == last.policy_id).values({ended: clock.now()}))
    sell(store, partner, cover)


def test_an_expired_policy_frees_its_risk_on_the_day_that_it_ends(store: Store, partner: Partner) -> None:
    sell(store, partner, insurer_a.THIRD_PARTY)
    with clock.freeze(shipped.STILL + timedelta(days=364)):
        refusal(store, partner, insurer_a.THIRD_PARTY)
    with clock.freeze(shipped.STILL + timedelta(days=365)):
        sell(store, partner, insurer_a.THIRD_PARTY)


@pytest.mark.both_databases
def test_of_two_sales_at_once_of_what_was_insured_before_one_is_made(store: Store, partner: Partner) -> None:
    cover = insurer_a.THIRD_PARTY
    last = sell(store, partner, cover)
    with store.writing(partner.scope()) as session:
        session.execute(sa.update(Policy).where(col(Policy.id) == last.policy_id).values(cancelled_at=clock.now()))
    refused = run_while_open(
        store,
        partner.scope(),
        lambda session: buying.sell(session, cover, shipped.request(cover), partner.seller()),
        lambda: sell(store, partner, cover),
    )
    assert isinstance(refused, DuplicateRisk)


@pytest.mark.both_databases
def test_of_many_sales_of_one_plate_at_once_one_is_made(store: Store, partner: Partner) -> None:
    def attempt(_: int) -> UUID:
        try:
            return sell(store, partner, insurer_a.THIRD_PARTY).policy_id
        except DuplicateRisk as error:
            return UUID(error.detail["policy_id"])

    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(attempt, range(24)))
    assert len(found) == sold(store, partner.scope()) == 1


def test_a_second_credit_life_sale_is_sold_and_flagged(store: Store, partner: Partner, stranger: Partner) -> None:
    cover = credit_life.CREDIT_LIFE
    first = sell(store, partner, cover)
    assert first.possible_duplicate_of is None
    assert sell(store, partner, cover, email="NGOZI.okafor@example.com").possible_duplicate_of == first.policy_id
    third = sell(store, partner, cover)
    assert kept(store, partner, third).possible_duplicate_of == first.policy_id
    for other in ({"loan_amount": 100_001}, {"loan_start_date": "2026-11-21"}, {"email": "other@example.com"}):
        assert sell(store, partner, cover, **other).possible_duplicate_of is None
    assert sell(store, stranger, cover).possible_duplicate_of is None
    assert sell(store, partner, cover, is_live=True).possible_duplicate_of is None


def test_a_refused_sale_leaves_nothing_behind(store: Store, partner: Partner) -> None:
    sell(store, partner, insurer_a.THIRD_PARTY)
    refusal(store, partner, insurer_a.THIRD_PARTY, email="new@example.com")
    with store.reading(partner.scope()) as session:
        emails = session.execute(sa.select(col(Customer.email))).scalars().all()
    assert emails == ["amaka.eze@example.com"]
