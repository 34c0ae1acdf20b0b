"""Activating says before what it will do, and never that an insurer accepted what nobody heard of it (contract S20)."""

from datetime import date, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.covers.insurers import insurer_a, insurer_b
from core.desk import sale as policy_view
from core.desk import store_check
from core.errors import InvalidInput, StateForbids
from core.services.audit import log as audit
from core.services.insurers import resending
from core.services.people.staff import Person
from core.services.policies import changes, policies
from core.services.policies.changes import Activation, PolicyChange
from core.services.selling.buying import Sale
from core.store.access import Scope, Store
from core.store.schema.tables import AuditEntry, NumberCounter, Policy, Submission
from tests.conftest import Partner
from tests.covers import shipped
from tests.every_case import every_case
from tests.services.selling import kept, sell

pytestmark = pytest.mark.frozen_at(shipped.STILL)

ADA = "staff ada@x.example"
TODAY, LATER = date(2026, 11, 20), shipped.STILL + timedelta(days=40)


@pytest.fixture
def pending(store: Store, partner: Partner) -> Sale:
    return sell(store, partner, insurer_b.COMPREHENSIVE)


def preview(store: Store, partner: Partner, sale: Sale, **given: Any) -> Activation:
    with store.reading(partner.scope()) as session:
        return changes.preview_activation(session, sale.policy_id, **given)


def activate(store: Store, partner: Partner, sale: Sale, **given: Any) -> PolicyChange:
    with store.writing(partner.scope()) as session:
        return changes.activate(session, sale.policy_id, actor="staff ada@x.example", expected_version=1, **given)


def submission(store: Store, sale: Sale) -> Submission:
    with store.reading(Scope.system()) as session:
        row = session.get_one(Submission, sale.policy_id)
        session.expunge(row)
        return row


def last_entry(store: Store, sale: Sale) -> AuditEntry:
    with store.reading(Scope.system()) as session:
        entry = audit.list_history(session, f"policy {sale.policy_id}")[-1]
        session.expunge(entry)
        return entry


def test_what_blanks_would_do_is_known_before_and_is_what_happens(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.COMPREHENSIVE, premium_frequency="annually")
    with clock.freeze(LATER):
        would = preview(store, partner, sale)
        assert (would.is_drawn, would.days_back) == (True, 40)
        assert clock.to_lagos_day(would.start_at) == TODAY
        with store.reading(Scope.system()) as session:
            drawn = sa.select(sa.func.count()).where(col(NumberCounter.series) != "distributor names")
            assert session.execute(drawn).scalar_one() == 0
        assert not kept(store, partner, sale).activated
        change = activate(store, partner, sale)
    policy = kept(store, partner, sale)
    assert (policy.policy_number, policy.start_at, policy.expiration_at) == (
        would.policy_number,
        would.start_at,
        would.expiration_at,
    )
    assert change.policy["meta"]["policy_number"] == would.policy_number
    assert last_entry(store, sale).after["backdated_days"] == 40


def test_without_the_insurers_word_it_is_issued_by_hand_and_goes_on_waiting(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_b.COMPREHENSIVE)
    before = submission(store, sale)
    change = activate(store, partner, sale)
    assert change.policy["active"] is True
    assert change.policy["submitted_to_provider"] is False
    with store.reading(partner.scope()) as session:
        assert policies.get_policy(session, sale.policy_id)["submitted_to_provider"] is False
        submitted = policy_view.get_policy(session, sale.policy_id).submission
    after = submission(store, sale)
    assert (after.state, after.next_try_at, after.answer) == ("queued", before.next_try_at, None)
    assert submitted is not None
    assert (submitted.situation, submitted.waits, submitted.reportable) == ("Not connected", True, True)
    entry = last_entry(store, sale)
    assert (entry.action, entry.actor) == ("policy issued by hand", ADA)
    assert entry.after["insurer_accepted"] is False
    with store.reading(Scope.system()) as session:
        assert store_check.list_faults(session) == []


def test_a_policy_issued_by_hand_can_be_noted_as_reported_later(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_b.COMPREHENSIVE)
    activate(store, partner, sale)
    person = Person(id=sale.policy_id, email="ada@x.example", name="Ada", roles=("operations",), claim_limit_minor=None)
    with store.writing(partner.scope()) as session:
        resending.record_reported(session, sale.policy_id, person=person)
    assert submission(store, sale).state == "accepted"
    assert kept(store, partner, sale).submitted_to_provider


def test_the_insurers_word_is_kept_where_it_was_heard_at_the_desk(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_b.COMPREHENSIVE)
    change = activate(store, partner, sale, insurer_accepted=" E-mail of the  underwriter ", policy_number="INS/1")
    assert change.policy["submitted_to_provider"] is True
    submitted, entry = submission(store, sale), last_entry(store, sale)
    assert (submitted.state, submitted.answer, submitted.last_error) == ("accepted", None, "E-mail of the underwriter")
    assert (entry.action, entry.after["insurer_accepted"]) == ("policy activated", "E-mail of the underwriter")


@every_case("word", ["", " ", "x", "y" * 201])
def test_an_acceptance_without_saying_how_it_is_known_is_refused(
    store: Store, partner: Partner, pending: Sale, word: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        activate(store, partner, pending, insurer_accepted=word)
    assert [fault.field for fault in refused.value.faults] == ["insurer_accepted"]
    assert not kept(store, partner, pending).activated


def test_a_preview_refuses_what_activating_would_refuse(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_b.COMPREHENSIVE)
    with pytest.raises(InvalidInput, match="no premium, no cover"):
        preview(store, partner, sale, expiration_on=date(2028, 11, 20))
    activate(store, partner, sale)
    with pytest.raises(StateForbids, match="cannot be activated"):
        preview(store, partner, sale)


def test_nobody_activates_a_policy_from_a_day_further_ahead_than_its_product_is_sold(
    store: Store, partner: Partner
) -> None:
    sale = sell(store, partner, insurer_b.COMPREHENSIVE)
    assert preview(store, partner, sale, start_on=TODAY + timedelta(days=5 * 365)).days_back == 0
    with pytest.raises(InvalidInput) as refused:
        activate(store, partner, sale, start_on=TODAY + timedelta(days=5 * 365 + 1))
    assert [fault.field for fault in refused.value.faults] == ["start_on"]


def test_a_number_that_is_given_is_shown_as_it_is(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_b.COMPREHENSIVE)
    would = preview(store, partner, sale, policy_number=" INS/1 ", start_on=TODAY + timedelta(days=3))
    assert (would.policy_number, would.is_drawn, would.days_back) == ("INS/1", False, 0)


def test_test_records_draw_numbers_from_a_series_of_their_own(store: Store, partner: Partner) -> None:
    def number(*, is_live: bool, plate: str) -> str:
        sale = sell(store, partner, insurer_a.THIRD_PARTY, is_live=is_live, registration_number=plate)
        return str(sale.policy["meta"]["policy_number"])

    live = number(is_live=True, plate="KJA-101ZZ")
    tried = [number(is_live=False, plate=f"KJA-10{n}ZZ") for n in (2, 3, 4)]
    assert all(each.startswith("TEST/") for each in tried)
    assert [each.rpartition("/")[2] for each in tried] == ["1", "2", "3"]
    body, _, counted = live.rpartition("/")
    assert not live.startswith("TEST/")
    assert number(is_live=True, plate="KJA-105ZZ") == f"{body}/{int(counted) + 1}"


def test_a_test_policy_that_was_given_a_live_number_keeps_it_from_the_live_ones(store: Store, partner: Partner) -> None:
    live = sell(store, partner, insurer_a.THIRD_PARTY, is_live=True).policy["meta"]["policy_number"]
    body, _, counted = str(live).rpartition("/")
    pending = sell(store, partner, insurer_a.COMPREHENSIVE)
    activate(store, partner, pending, policy_number=f"{body}/{int(counted) + 1}")
    after = sell(store, partner, insurer_a.THIRD_PARTY, is_live=True, registration_number="KJA-777ZZ")
    assert after.policy["meta"]["policy_number"] == f"{body}/{int(counted) + 2}"
    with store.reading(Scope.system()) as session:
        numbers = list(session.execute(sa.select(col(Policy.number_key))).scalars())
    assert len(set(numbers)) == len(numbers) == 3
