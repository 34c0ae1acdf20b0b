"""Events that dates make: each once, and none for what was over before (contract W2)."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import orjson
import pytest

from core import clock
from core.covers.insurers import insurer_a
from core.dispatch import webhooks
from core.services.events import feed
from core.services.events.feed import FeedFilter
from core.store.access import Scope, Store
from core.store.schema.tables import Policy, Submission
from tests.conftest import Partner
from tests.covers import shipped
from tests.services.claim_office import Office
from tests.services.selling import kept, sell


def swept(store: Store, *instants: datetime) -> None:
    for at in instants:
        with clock.freeze(at):
            webhooks.sweep(store)


def list_events(store: Store, partner: Partner, *types: str) -> list[dict[str, Any]]:
    with store.reading(partner.scope()) as session:
        page = feed.read_page(session, FeedFilter(types=types), after=None, limit=500)
    return [orjson.loads(body) for body in page.bodies]


def _is_near(day: float, days: Iterable[int]) -> bool:
    return any(abs(day - each) <= 1.5 for each in days)


def test_the_end_of_cover_is_told_once_at_each_distance(store: Store, partner: Partner) -> None:
    with clock.freeze(shipped.STILL):
        sale = sell(store, partner, insurer_a.THIRD_PARTY)
    end = kept(store, partner, sale).expiration_at
    assert end is not None
    distances, half_days = [90, 60, 30, 7, 0], range(2 * 102)
    # Twice a day about each distance, and twice a week between them.
    left = [100 - step / 2 for step in half_days if step % 7 == 0 or _is_near(100 - step / 2, distances)]
    swept(store, *(end - timedelta(days=days) for days in left))
    expiring = list_events(store, partner, "policy.expiring")
    assert [event["data"]["days"] for event in expiring] == distances
    (expired,) = list_events(store, partner, "policy.expired")
    assert expired["data"]["policy_id"] == str(sale.policy_id)
    assert expired["timestamp"] >= expired["data"]["expiration_date"]


def test_what_ended_before_the_first_sweep_is_not_told(store: Store, partner: Partner) -> None:
    with clock.freeze(shipped.STILL):
        sell(store, partner, insurer_a.THIRD_PARTY)
    later = shipped.STILL + timedelta(days=800)
    swept(store, later, later + timedelta(hours=1))
    assert list_events(store, partner) == []


def test_a_cancelled_policy_does_not_expire(store: Store, partner: Partner) -> None:
    with clock.freeze(shipped.STILL):
        sale = sell(store, partner, insurer_a.THIRD_PARTY)
    end = kept(store, partner, sale).expiration_at
    assert end is not None
    with store.writing(Scope.system()) as session:
        session.get_one(Policy, sale.policy_id).cancelled_at = shipped.STILL
    swept(store, end - timedelta(hours=1), end + timedelta(hours=1))
    assert list_events(store, partner) == []


@pytest.mark.both_databases
def test_an_insurer_that_is_silent_for_a_day_is_told(store: Store, partner: Partner) -> None:
    with clock.freeze(shipped.STILL):
        sale = sell(store, partner, insurer_a.THIRD_PARTY)
        with store.writing(Scope.system()) as session:
            session.get_one(Submission, sale.policy_id).state = "queued"
    day = shipped.STILL + timedelta(hours=24)
    swept(store, day - timedelta(hours=1), day + timedelta(minutes=1), day + timedelta(hours=2))
    (delayed,) = list_events(store, partner, "policy.submission_delayed")
    assert delayed["data"]["hours"] == 24


def test_a_claim_is_due_soon_and_then_overdue_while_its_clock_runs(store: Store, partner: Partner) -> None:
    office = Office(store, partner)
    claim = office.claim(office.lodge())
    stopped = office.lodge(incident_type="Loss of job")
    office.put(stopped, clock_stopped_at=claim.clock_from)
    days = [day for day in range(70) if day % 7 == 0 or _is_near(day, (45, 55, 60))]
    swept(store, *(claim.clock_from + timedelta(days=day, minutes=1) for day in days))
    events = list_events(store, partner, "claim.due_soon", "claim.overdue")
    assert [(event["type"], event["data"]["days"]) for event in events] == [
        ("claim.due_soon", 45),
        ("claim.due_soon", 55),
        ("claim.overdue", 60),
    ]
    assert {event["object"]["id"] for event in events} == {str(claim.id)}
