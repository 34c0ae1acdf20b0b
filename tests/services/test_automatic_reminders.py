"""Reminders that the worker sends by itself: only when switched on, each once, by day, and never after an opt-out."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
import sqlalchemy as sa

from core import clock, ids
from core.covers.insurers import insurer_a
from core.dispatch import mail
from core.errors import NotAllowed, NotFound
from core.services.lists.dimensions import load_choices
from core.services.lists.paging import Paging
from core.services.people.staff import Person
from core.services.policies import changes
from core.services.renewals import automations, calls, renewals
from core.services.renewals import due as reminders
from core.services.renewals.automations import RENEWAL_REMINDERS
from core.services.renewals.records import DueFilter
from core.store.access import Scope, Store
from core.store.schema.tables import AuditEntry, Mail, Policy
from tests.conftest import Partner
from tests.covers import shipped
from tests.services.selling import sell

# Three days before the end of what was sold; nine in the morning in Lagos.
MORNING = datetime(2027, 11, 20, 8, 0, tzinfo=UTC)
LIVE = Scope.staff(is_live=True)


def somebody(*roles: str) -> Person:
    return Person(id=ids.new(), email="o@coverdesk.example", name="O", roles=roles, claim_limit_minor=None)


ADMIN = somebody("admin")


def sold(store: Store, partner: Partner, place: int = 0, *, days: int = 3, is_live: bool = True) -> UUID:
    """A policy that ends so many days after the morning."""
    with clock.freeze(shipped.STILL + timedelta(days=days)):
        email, plate = f"customer{place}@example.com", f"ABC-12{place}-XY"
        return sell(
            store, partner, insurer_a.THIRD_PARTY, is_live=is_live, email=email, registration_number=plate
        ).policy_id


def switch(store: Store, *, on: bool = True, by: Person = ADMIN) -> None:
    with store.writing(Scope.system()) as session:
        automations.switch(session, RENEWAL_REMINDERS, on=on, by=by)


def run(store: Store, at: datetime = MORNING) -> int:
    with clock.freeze(at):
        return mail.remind(store)


def reminded(store: Store) -> set[str | None]:
    with store.reading(Scope.system()) as session:
        return set(session.execute(sa.select(Mail.about).where(Mail.template == reminders.TEMPLATE)).scalars())


def test_nothing_goes_out_until_an_admin_says_so_and_then_each_once(store: Store, partner: Partner) -> None:
    due = sold(store, partner)
    assert run(store) == 0
    with clock.freeze(MORNING):
        for by in (somebody("operations"), somebody("finance")):
            with pytest.raises(NotAllowed):
                switch(store, by=by)
        switch(store)
        switch(store)
        with store.reading(Scope.system()) as session:
            assert reminders.count_due(session) == 1
    assert [run(store, MORNING + timedelta(hours=hours)) for hours in (0, 1, 24)] == [1, 0, 0]
    assert reminded(store) == {f"policy {due}"}
    # The last of the four, a day before the end.
    assert run(store, MORNING + timedelta(days=2)) == 1
    with clock.freeze(MORNING + timedelta(days=2)), store.reading(Scope.system()) as session:
        state = automations.get_state(session, RENEWAL_REMINDERS)
        audited = session.execute(sa.select(AuditEntry.action).where(AuditEntry.actor == ADMIN.actor)).scalars().all()
        mails = session.execute(sa.select(Mail.sent_by)).scalars().all()
    assert (state.done, state.is_finished, state.changed_by) == (1, True, ADMIN.actor)
    assert list(audited) == ["automation switched on"]
    assert list(mails) == [reminders.ACTOR] * 2


def test_reminders_wait_for_the_morning_and_stop_when_switched_off(store: Store, partner: Partner) -> None:
    sold(store, partner)
    with clock.freeze(MORNING):
        switch(store)
    assert run(store, MORNING - timedelta(hours=2)) == run(store, MORNING + timedelta(hours=11)) == 0
    with clock.freeze(MORNING):
        switch(store, on=False)
    assert run(store) == 0
    with pytest.raises(NotFound), store.writing(Scope.system()) as session:
        automations.switch(session, "world peace", on=True, by=ADMIN)


def test_who_wants_none_cannot_renew_or_has_no_address_holds_up_nobody(store: Store, partner: Partner) -> None:
    keys = [sold(store, partner, place) for place in range(3)]
    unreachable = sold(store, partner, 5)
    sold(store, partner, 3, days=90)
    sold(store, partner, 4, is_live=False)
    with clock.freeze(MORNING):
        with store.writing(LIVE) as session:
            customer = session.get_one(Policy, keys[0]).customer_id
            reminders.set_opt_out(session, customer, is_out=True, by=somebody("operations"))
            session.get_one(Policy, unreachable).email = "somebody at home"
            changes.cancel(session, keys[1], actor="t", reason="sold", by_insurer=False, expected_version=1)
        switch(store)
    assert run(store) == 1
    assert reminded(store) == {f"policy {keys[2]}"}


def test_a_pass_goes_on_where_another_worker_stopped(
    store: Store, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reminders, "AT_ONCE", 2)
    keys = {sold(store, partner, place, days=3 + place) for place in range(5)}
    with clock.freeze(MORNING):
        switch(store)
        assert store.transact(Scope.system(), reminders.send_batch) == 2
        with store.reading(Scope.system()) as session:
            state = automations.get_state(session, RENEWAL_REMINDERS)
    assert (state.done, state.is_finished) == (2, False)
    assert run(store) == 3
    assert reminded(store) == {f"policy {key}" for key in keys}


def call(store: Store, policy_id: UUID, outcome: str, at: datetime) -> None:
    with clock.freeze(at), store.writing(LIVE) as session:
        calls.record_calls(session, [policy_id], {"outcome": outcome}, by=somebody("operations"))


@pytest.mark.both_databases
def test_who_does_not_want_another_term_is_not_reminded_of_it_until_a_later_call_says_otherwise(
    store: Store, partner: Partner
) -> None:
    key = sold(store, partner)
    call(store, key, "thinking", MORNING - timedelta(days=2))
    call(store, key, "refused", MORNING - timedelta(days=1))
    call(store, key, "no_answer", MORNING - timedelta(hours=2))
    with clock.freeze(MORNING):
        switch(store)
        with store.writing(LIVE) as session:
            assert reminders.count_due(session) == 0
            by_hand = reminders.remind(session, [key], by=somebody("operations"))
            (row,) = reminders.list_due_rows(session, "week", DueFilter(), load_choices(session), paging=Paging())
    assert (by_hand.done, by_hand.left_out) == (0, {reminders.UNWANTED: 1})
    assert (row.call and row.call.outcome, row.no_reminder) == ("no_answer", "does not want to renew")
    assert run(store) == 0
    call(store, key, "will_renew", MORNING + timedelta(hours=1))
    assert run(store, MORNING + timedelta(days=1)) == 1
    assert reminded(store) == {f"policy {key}"}


def test_a_term_that_was_not_wanted_stops_no_reminder_of_the_next(store: Store, partner: Partner) -> None:
    key = sold(store, partner)
    call(store, key, "refused", MORNING - timedelta(days=1))
    with clock.freeze(MORNING):
        switch(store)
        with store.writing(LIVE) as session:
            renewals.renew(session, key, partner.seller(is_live=True))
            ends = session.get_one(Policy, key).expiration_at
    assert ends
    assert run(store, ends.replace(hour=8) - timedelta(days=3)) == 1
