"""Calls about renewals: recorded by operations, the latest shown for the term, and counted by caller."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.errors import InvalidInput, NotAllowed, NotFound
from core.services.audit import log as audit
from core.services.lists.windows import Span
from core.services.people import staff
from core.services.people.staff import Person
from core.services.renewals import calls, due
from core.services.renewals.records import DueFilter
from core.store.access import Scope, Store
from core.store.schema.tables import Policy, Product, Renewal
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import NOW, Portfolio

pytestmark = pytest.mark.frozen_at(NOW)

LIVE = Scope.staff(is_live=True)


@pytest.fixture
def caller(store: Store, partner: Partner) -> Person:
    Portfolio(seed=71, size=25, sellers=(partner.id,)).write(store)
    return person(store, "cora", "operations")


def person(store: Store, name: str, *roles: str) -> Person:
    with store.writing(Scope.system()) as session:
        key: UUID = staff.add_or_update(
            session,
            email=f"{name}@x.example",
            name=name.title(),
            roles=list(roles),
            password="correct horse battery",
            actor="tests",
        )
    return Person(id=key, email=f"{name}@x.example", name=name.title(), roles=roles, claim_limit_minor=None)


def renewed_policy(store: Store) -> Renewal:
    with store.reading(LIVE) as session:
        found: Renewal = session.execute(sa.select(Renewal).where(Renewal.status).limit(1)).scalar_one()
        return found


def a_policy(store: Store) -> UUID:
    with store.reading(LIVE) as session:
        return UUID(
            str(session.execute(sa.select(Policy.id).where(Policy.expiration_at.is_not(None)).limit(1)).scalar_one())
        )


def record(store: Store, by: Person, *policy_ids: UUID, owner_id: UUID | None = None, **given: str) -> int:
    with store.writing(LIVE) as session:
        return calls.record_calls(session, policy_ids, {"outcome": "no_answer", **given}, owner_id=owner_id, by=by)


def test_the_latest_call_of_the_term_is_shown_with_its_owner(store: Store, caller: Person) -> None:
    policy_id, colleague = a_policy(store), person(store, "dan", "operations")
    record(store, caller, policy_id)
    with clock.freeze(NOW + timedelta(hours=1)):
        again = str(clock.add_days(clock.today(), 3))
        record(
            store,
            caller,
            policy_id,
            owner_id=colleague.id,
            outcome="thinking",
            note="Ask the wife",
            call_again_on=again,
        )
    with store.reading(LIVE) as session:
        latest, every = calls.load_latest(session, [policy_id])[policy_id], calls.list_calls(session, policy_id)
        log = audit.list_history(session, audit.subject_of("policy", policy_id))
    assert (latest.label, latest.note, latest.caller, latest.owner) == (
        "Thinking it over",
        "Ask the wife",
        "Cora",
        "Dan",
    )
    assert str(latest.call_again_on) == again
    assert [call.outcome for call in every] == ["thinking", "no_answer"]
    entries = [entry.after for entry in log if entry.action == "renewal call recorded"]
    assert entries == [
        {"outcome": "No answer", "with_note": False},
        {"outcome": "Thinking it over", "with_note": True, "call_again_on": again},
    ]


def test_what_is_due_is_narrowed_by_its_latest_call_and_owner(store: Store, caller: Person) -> None:
    policy_id, dan = a_policy(store), person(store, "dan", "operations")
    with store.writing(Scope.system()) as session:
        policy = session.get_one(Policy, policy_id)
        policy.expiration_at = clock.now() + timedelta(days=3)
        policy.activated = True
        session.execute(sa.update(Product).where(Product.id == policy.product_id).values(renewable=True))

    def number(**given: Any) -> int:
        with store.reading(LIVE) as session:
            of_policy = [col(Policy.id) == policy_id, *due.build_conditions(DueFilter(**given))]
            return int(session.execute(sa.select(sa.func.count()).select_from(Policy).where(*of_policy)).scalar_one())

    every: dict[str, dict[str, Any]] = {
        "none": {"call": "none"},
        "again": {"call": "again"},
        "no_answer": {"call": "no_answer"},
        "thinking": {"call": "thinking"},
        "nobody's": {"owner": "nobody"},
        "Cora's": {"owner": caller.id},
        "Dan's": {"owner": dan.id},
    }

    def found() -> set[str]:
        return {name for name, given in every.items() if number(**given)}

    assert found() == {"none", "nobody's"}
    record(store, caller, policy_id, call_again_on=str(clock.today()))
    assert found() == {"no_answer", "again", "Cora's"}
    with clock.freeze(clock.now() + timedelta(hours=1)):
        again = str(clock.add_days(clock.today(), 2))
        record(store, caller, policy_id, outcome="thinking", owner_id=dan.id, call_again_on=again)
        assert found() == {"thinking", "Dan's"}
    with clock.freeze(clock.now() + timedelta(days=2)):
        assert found() == {"thinking", "again", "Dan's"}


def test_a_call_about_an_earlier_term_is_history_only(store: Store, caller: Person) -> None:
    policy_id = a_policy(store)
    record(store, caller, policy_id)
    with store.writing(Scope.system()) as session:
        row = session.get(Policy, policy_id)
        assert row is not None
        assert row.expiration_at is not None
        row.expiration_at += timedelta(days=365)
    with store.reading(LIVE) as session:
        assert calls.load_latest(session, [policy_id]) == {}
        assert len(calls.list_calls(session, policy_id)) == 1


def test_a_renewal_is_credited_once_to_whoever_called_last_before_it(store: Store, caller: Person) -> None:
    renewal = renewed_policy(store)
    with store.writing(Scope.system()) as session:
        policy = session.get(Policy, renewal.policy_id)
        assert policy is not None
        policy.expiration_at = renewal.previous_expiration_at
    eve, fay = (person(store, name, "operations") for name in ("eve", "fay"))
    made = (
        (timedelta(days=-40), fay, "will_renew"),
        (timedelta(days=-2), eve, "thinking"),
        (timedelta(days=-1), caller, "no_answer"),
        (timedelta(hours=-1), caller, "will_renew"),
        (timedelta(hours=1), eve, "wrong_number"),
    )
    for after, by, outcome in made:
        with clock.freeze(renewal.created_at + after):
            record(store, by, renewal.policy_id, outcome=outcome)

    def figures(since: timedelta) -> dict[str, tuple[int, ...]]:
        span = Span(renewal.created_at + since, renewal.created_at + timedelta(days=1))
        with store.reading(LIVE) as session:
            return {
                each.caller: (each.calls, each.reached, each.terms, each.renewed, each.premium_minor)
                for each in calls.compute_conversion(session, span)
            }

    premium = renewal.total_minor
    assert premium > 0
    assert figures(timedelta(days=-3)) == {"Cora": (2, 1, 1, 1, premium), "Eve": (2, 1, 1, 0, 0)}
    every = figures(timedelta(days=-50))
    assert every == {**figures(timedelta(days=-3)), "Fay": (1, 1, 1, 0, 0)}
    assert sum(row[3] for row in every.values()) == 1
    assert figures(timedelta(minutes=30)) == {"Eve": (1, 0, 1, 0, 0)}, "a call after the renewal led to nothing"


@every_case(
    ("given", "field"),
    [
        ({"outcome": "bribed"}, "outcome"),
        ({"call_again_on": "2026-11-19"}, "call_again_on"),
        ({"call_again_on": "2028-01-01"}, "call_again_on"),
        ({"note": "x" * 501}, "note"),
    ],
)
def test_a_wrong_outcome_day_or_note_is_said_by_its_field(
    store: Store, caller: Person, given: dict[str, str], field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        record(store, caller, a_policy(store), **given)
    assert [fault.field for fault in refused.value.faults] == [field]


def test_who_may_not_and_what_is_not_there_is_refused_whole(store: Store, caller: Person) -> None:
    policy_id = a_policy(store)
    with pytest.raises(NotAllowed):
        record(store, person(store, "fin", "finance", "claims", "supervisor"), policy_id)
    with pytest.raises(NotFound):
        record(store, caller, policy_id, ids.new())
    with pytest.raises(InvalidInput, match="colleague"):
        record(store, caller, policy_id, owner_id=person(store, "gil", "claims").id)
    with pytest.raises(InvalidInput):
        record(store, caller)
    with store.reading(LIVE) as session:
        assert calls.list_calls(session, policy_id) == [], "one refusal records none of them"
