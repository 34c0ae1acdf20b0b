"""Resending at the desk, and the desk's view of submissions."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from core import clock, ids, settings
from core.covers.insurers import insurer_a, insurer_b, insurer_d
from core.errors import InvalidInput, NotAllowed, NotFound, StateForbids
from core.insurers.answers import InsurerFault
from core.services.audit import log as audit
from core.services.insurers import awaiting, insurers, resending, sending
from core.services.insurers.awaiting import OpenSubmission, SubmissionFilter
from core.services.lists.dimensions import load_choices
from core.services.lists.paging import Page, Paging
from core.services.people.staff import Person
from core.services.selling.buying import Sale
from core.store.access import Scope, Store
from core.store.schema.tables import InsurerConnection, Policy, Submission
from tests.conftest import Partner
from tests.covers import shipped
from tests.services.selling import sell
from tests.ui.conftest import person_of

OPERATIONS = person_of("operations")
PENDING = insurer_b.COMPREHENSIVE
DESK = Scope.staff(is_live=True)


@pytest.fixture(autouse=True)
def connected(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Insurer-b and insurer-d are connected; nobody listens, as nothing is sent here."""
    for letter in "bd":
        monkeypatch.setenv(f"COVERDESK_INSURER_{letter.upper()}_URL", "https://insurer.example")
    settings.settings.cache_clear()
    with clock.freeze(shipped.STILL):
        yield
    settings.settings.cache_clear()


@pytest.fixture
def sold(store: Store, partner: Partner) -> Callable[..., Sale]:
    def sell_(cover: Any = PENDING, **changed: Any) -> Sale:
        return sell(store, partner, cover, is_live=True, **changed)

    return sell_


def read_submission(store: Store, sale: Sale) -> Submission:
    with store.reading(Scope.system()) as session:
        row = session.get_one(Submission, sale.policy_id)
        session.expunge(row)
        return row


def break_(store: Store, *, kind: Any = "refused") -> None:
    """Everything that is due is sent, and fails."""
    fault = InsurerFault(kind, "The insurer broke")
    with store.writing(Scope.system()) as session:
        jobs = [
            j for i in sending.list_connected(session) for j in sending.lease_due(session, i, limit=9, concurrency=9)
        ]
    for job in jobs:
        with store.writing(Scope.system()) as session:
            sending.record_failure(session, job, fault)


def retry(store: Store, sale: Sale, person: Person = OPERATIONS, *, scope: Scope = DESK) -> None:
    with store.writing(scope) as session:
        resending.resend(session, sale.policy_id, person=person)


def waiting(store: Store, order: Any = "oldest", **criteria: Any) -> Page[OpenSubmission]:
    with store.reading(DESK) as session:
        return awaiting.list_open(
            session, load_choices(session), SubmissionFilter(**criteria), order=order, paging=Paging()
        )


def test_retry_puts_a_dead_submission_first_and_forgets_its_failures(store: Store, sold: Callable[..., Sale]) -> None:
    sale = sold()
    break_(store)
    assert read_submission(store, sale).state == "dead"
    retry(store, sale)
    again = read_submission(store, sale)
    assert (again.state, again.failures, again.next_try_at) == ("queued", 0, clock.now())
    retry(store, sale)
    with store.reading(Scope.system()) as session:
        actions = [entry.action for entry in audit.list_history(session, f"policy {sale.policy_id}")]
    assert actions[:3] == ["policy sold", "submission set aside", "resent to the insurer"]


def test_retry_is_refused_to_strangers_and_where_it_makes_no_sense(store: Store, sold: Callable[..., Sale]) -> None:
    sale, unconnected = sold(), sold(insurer_a.COMPREHENSIVE)
    with pytest.raises(NotAllowed):
        retry(store, sale, person_of("claims"))
    with pytest.raises(NotFound):
        retry(store, sale, scope=Scope.staff(is_live=False))
    with pytest.raises(StateForbids, match="no connection"):
        retry(store, unconnected)
    with store.writing(Scope.system()) as session:
        session.get_one(Submission, sale.policy_id).leased_until = clock.now() + sending.LEASE
    with pytest.raises(StateForbids, match="right now"):
        retry(store, sale)
    with store.writing(Scope.system()) as session:
        session.get_one(Submission, sale.policy_id).state = "accepted"
    with pytest.raises(StateForbids, match="it is accepted"):
        retry(store, sale)


def test_retrying_all_queues_what_was_set_aside_for_that_insurer_and_mode(
    store: Store, partner: Partner, sold: Callable[..., Sale]
) -> None:
    mine = [sold(registration_number=f"KJA-{number}ZZ") for number in (101, 102)]
    other = sold(insurer_d.COVERS[0])
    break_(store)
    provider_id = read_submission(store, mine[0]).provider_id
    with store.writing(DESK) as session:
        assert resending.resend_all(session, provider_id, person=OPERATIONS) == 2
        assert resending.resend_all(session, provider_id, person=OPERATIONS) == 0
        assert [entry.after["policies"] for entry in audit.list_history(session, "insurer insurer-b")] == [2]
    with store.writing(Scope.staff(is_live=False)) as session, pytest.raises(StateForbids, match="no connection"):
        resending.resend_all(session, provider_id, person=OPERATIONS)
    assert [read_submission(store, sale).state for sale in (*mine, other)] == ["queued", "queued", "dead"]


def test_retry_lets_a_resting_connection_be_tried_at_once(store: Store, sold: Callable[..., Sale]) -> None:
    sale = sold()
    break_(store, kind="misdirected")
    with store.reading(Scope.system()) as session:
        connection = session.get_one(InsurerConnection, read_submission(store, sale).provider_id)
        assert sending.is_resting(connection)
    retry(store, sale)
    with store.writing(Scope.system()) as session:
        insurers = {insurer.segment: insurer for insurer in sending.list_connected(session)}
        assert sending.has_due(session, insurers["insurer-b"])


def test_active_policy_can_be_noted_as_reported_and_a_pending_one_cannot(
    store: Store, sold: Callable[..., Sale]
) -> None:
    active, pending = sold(insurer_d.COVERS[0]), sold()
    with store.writing(DESK) as session:
        resending.record_reported(session, active.policy_id, person=OPERATIONS)
    with store.reading(Scope.system()) as session:
        policy = session.get_one(Policy, active.policy_id)
        assert (policy.submitted_to_provider, policy.version) == (True, 2)
    assert read_submission(store, active).state == "accepted"
    with store.writing(DESK) as session, pytest.raises(StateForbids, match="is pending"):
        resending.record_reported(session, pending.policy_id, person=OPERATIONS)


def test_queue_says_where_each_policy_stands(store: Store, sold: Callable[..., Sale]) -> None:
    sold(insurer_a.COMPREHENSIVE)
    failing, aside = sold(registration_number="KJA-101ZZ"), None
    break_(store, kind="failing")
    aside = sold(registration_number="KJA-102ZZ")
    break_(store)
    with clock.freeze(clock.now() + timedelta(minutes=1)):
        fresh = sold(registration_number="KJA-103ZZ")
    found = {row.id: row for row in waiting(store).items}
    assert len(found) == 4
    assert [found[sale.policy_id].situation for sale in (failing, aside, fresh)] == [
        "Trying again",
        "Set aside",
        "Queued",
    ]
    assert [row.situation for row in found.values() if not row.retryable] == ["Not connected"]
    assert [row.id for row in waiting(store, view="failing").items] == [failing.policy_id]
    assert [row.id for row in waiting(store, view="dead").items] == [aside.policy_id]
    assert waiting(store, provider_ids=(read_submission(store, fresh).provider_id,)).total_count == 3
    assert {row.connection for row in found.values() if row.retryable} == {"Working"}
    assert [row.connection for row in found.values() if not row.retryable] == ["Delegated"]
    assert [waiting(store, connection=word).total_count for word in ("working", "failing", "none")] == [3, 0, 1]
    with store.writing(Scope.system()) as session:
        session.execute(sa.update(InsurerConnection).values(failures=1))
    assert [waiting(store, connection=word).total_count for word in ("working", "failing", "none")] == [0, 3, 1]
    assert {row.connection for row in waiting(store, connection="failing").items} == {"Failing"}
    assert waiting(store, order="newest").items[0].id == fresh.policy_id
    assert waiting(store, order="next").total_count == 4


def test_health_counts_by_insurer_and_mode(store: Store, partner: Partner, sold: Callable[..., Sale]) -> None:
    sold()
    break_(store)
    sold(registration_number="KJA-102ZZ")
    sell(store, partner, PENDING, registration_number="KJA-103ZZ")
    with store.reading(DESK) as session:
        found = {row.segment: row for row in insurers.list_health(session)}
    assert (found["insurer-b"].queued, found["insurer-b"].dead) == (1, 1)
    assert found["insurer-b"].health == "Working"
    assert found["insurer-b"].oldest_at == clock.now()
    assert (found["insurer-d"].health, found["insurer-a"].health) == ("Not used yet", "Delegated")
    with store.reading(Scope.staff(is_live=False)) as session:
        test = {row.segment: row for row in insurers.list_health(session)}
    assert (test["insurer-b"].queued, test["insurer-b"].health) == (1, "Delegated")


def test_several_are_acted_on_at_once_and_those_that_refuse_are_left_out(
    store: Store, sold: Callable[..., Sale]
) -> None:
    waiting, active = sold(), sold(insurer_d.COVERS[0])
    break_(store)
    with store.writing(DESK) as session:
        found = resending.act_on_each(
            session,
            [waiting.policy_id, active.policy_id, waiting.policy_id],
            resending.record_reported,
            person=OPERATIONS,
        )
    assert (found.done, list(found.left_out.values())) == (1, [1])
    assert "pending" in next(iter(found.left_out))
    assert (read_submission(store, waiting).state, read_submission(store, active).state) == ("dead", "accepted")
    with store.writing(DESK) as session:
        found = resending.act_on_each(
            session, [waiting.policy_id, active.policy_id], resending.resend, person=OPERATIONS
        )
    assert (found.done, read_submission(store, waiting).state) == (1, "queued")
    with store.writing(DESK) as session:
        for wrong in ([], [waiting.policy_id, *(ids.new() for _ in range(50))]):
            with pytest.raises(InvalidInput, match="policies"):
                resending.act_on_each(session, wrong, resending.resend, person=OPERATIONS)
        with pytest.raises(NotAllowed):
            resending.act_on_each(session, [waiting.policy_id], resending.resend, person=person_of("finance"))


def test_an_age_target_is_a_day_for_a_connected_insurer_and_seven_for_another(
    store: Store, sold: Callable[..., Sale], monkeypatch: pytest.MonkeyPatch
) -> None:
    sold()

    def overdue(*, days: int, hours: int) -> bool:
        with clock.freeze(shipped.STILL + timedelta(days=days, hours=hours)), store.reading(DESK) as session:
            (row,) = awaiting.list_open(session, load_choices(session), paging=Paging(1, 50)).items
            return row.is_overdue

    assert (overdue(days=0, hours=23), overdue(days=1, hours=0)) == (False, True)
    monkeypatch.delenv("COVERDESK_INSURER_B_URL")
    settings.settings.cache_clear()
    assert (overdue(days=6, hours=23), overdue(days=7, hours=0)) == (False, True)
