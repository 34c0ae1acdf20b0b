"""Deliveries to real receivers: signed, tried again, held, and never in the way of others (contract W3, W4)."""

import base64
import hmac
from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson
import pytest
import sqlalchemy as sa
from alembic import command
from sqlmodel import col
from standardwebhooks import Webhook, WebhookVerificationError

from core import clock, seal, telemetry
from core.covers import request as requests
from core.desk import examples, queues, status
from core.dispatch import webhooks as event_dispatch
from core.errors import NotFound, StateForbids
from core.outbound import signing
from core.outbound.webhook_client import SendResult, WebhookClient
from core.services.catalogue import keys
from core.services.events import catalogue
from core.services.events.webhooks import endpoints, log, sending
from core.services.events.webhooks.endpoints import EndpointChange, EndpointRequest, NewSecret, ReplayRequest
from core.services.renewals import renewals
from core.store.access import Scope
from core.store.schema import migrating
from core.store.schema.tables import AuditEntry, Distributor, Event, Mail, WebhookEndpoint, WebhookTry
from tests.conftest import Partner
from tests.events.conftest import IMPATIENT, Hooks
from tests.events.receivers import answers, closes_early, drips, floods, hangs, receiving
from tests.ui.conftest import person_of

# What a sale tells of: the purchase, the policy, its certificate, and the customer.
EVENTS_OF_A_SALE = 4


def test_a_ping_that_gets_2xx_activates_an_endpoint_and_its_secret_is_sealed(hooks: Hooks) -> None:
    with receiving() as receiver:
        made = hooks.register(receiver.url, ping=False)
        assert made.endpoint.state == "unverified"
        hooks.sell()
        hooks.drain()
        assert receiver.received == []
        hooks.ping(made.endpoint.id)
    assert hooks.endpoint(made).state == "active"
    assert receiver.events == ["endpoint.ping"]
    assert made.secret.startswith("whsec_")
    assert len(base64.b64decode(made.secret.removeprefix("whsec_"))) == 32
    with hooks.store.reading(Scope.system()) as session:
        assert made.secret not in session.execute(sa.select(col(WebhookEndpoint.secret))).scalar_one()


def test_the_standards_own_verifier_accepts_the_bytes_that_were_stored(hooks: Hooks) -> None:
    with receiving() as receiver:
        made = hooks.register(receiver.url)
        sale = hooks.sell()
        hooks.drain()
    taken = receiver.received[-1]
    verified = Webhook(made.secret).verify(taken.body, taken.headers)
    assert verified["object"]["id"] == str(sale.purchase_id)
    assert taken.headers["webhook-id"] == verified["id"]
    assert {name: taken.headers[name] for name in taken.headers if name.startswith("coverdesk")} == {
        "coverdesk-event": "purchase.created",
        "coverdesk-mode": "test",
        "coverdesk-attempt": "1",
        "coverdesk-replay": "false",
    }
    assert taken.headers["user-agent"].startswith("coverdesk/")
    assert hooks.detail(hooks.log(made)[0]).body == taken.body
    # The same facts in other bytes are another message.
    with pytest.raises(WebhookVerificationError):
        Webhook(made.secret).verify(orjson.dumps(orjson.loads(taken.body), option=orjson.OPT_INDENT_2), taken.headers)


def test_a_delivery_continues_the_trace_of_the_request_behind_it(hooks: Hooks) -> None:
    with receiving() as receiver:
        hooks.register(receiver.url)
        plain = hooks.sell()
        with telemetry.within_trace("4bf92f3577b34da6a3ce929d0e0e4736"):
            traced = hooks.sell()
        hooks.drain()
    given = {each.event["object"]["id"]: each.headers.get("traceparent") for each in receiver.received[1:]}
    assert given[str(plain.purchase_id)] is None
    caller = telemetry.parse_caller(str(given[str(traced.purchase_id)]))
    assert caller is not None
    assert caller.trace_id == "4bf92f3577b34da6a3ce929d0e0e4736"


def test_a_receiver_whose_clock_is_off_is_not_believed_by_the_verifier(hooks: Hooks) -> None:
    with receiving() as receiver:
        made = hooks.register(receiver.url)
        hooks.later(minutes=-10)
        hooks.sell()
        hooks.later(minutes=1)
        hooks.drain()
    with pytest.raises(WebhookVerificationError, match="too old"):
        Webhook(made.secret).verify(receiver.received[-1].body, receiver.received[-1].headers)


def test_both_secrets_sign_for_a_day_after_a_rotation(hooks: Hooks) -> None:
    with receiving() as receiver:
        made = hooks.register(receiver.url)
        with hooks.store.writing(hooks.scope) as session:
            fresh = endpoints.rotate_secret(session, made.endpoint.id, actor="tests")
        hooks.sell()
        hooks.drain()
        for secret in (made.secret, fresh.secret):
            Webhook(secret).verify(receiver.received[-1].body, receiver.received[-1].headers)
        hooks.later(hours=25)
        hooks.sell()
        hooks.drain()
    signatures = receiver.received[-1].headers["webhook-signature"].split()
    assert len(signatures) == 1


def test_a_second_rotation_within_a_day_ends_no_secret(hooks: Hooks) -> None:
    def rotate() -> str:
        with hooks.store.writing(hooks.scope) as session:
            return endpoints.rotate_secret(session, made.endpoint.id, actor="tests").secret

    def accepted() -> list[bool]:
        hooks.sell()
        hooks.drain()
        taken = receiver.received[-1]
        signatures = taken.headers["webhook-signature"].split()
        mine = [signing.sign_standard([each], taken.headers["webhook-id"], hooks.now, taken.body) for each in secrets]
        return [each in signatures for each in mine]

    with receiving() as receiver:
        made = hooks.register(receiver.url)
        secrets = [made.secret]
        for hours in (0, 12, 6):
            hooks.later(hours=hours)
            secrets.append(rotate())
        assert accepted() == [True, True, True, True]
        hooks.later(hours=7)
        assert accepted() == [False, True, True, True]
        secrets += [rotate(), rotate()]
        with pytest.raises(StateForbids, match="wait until one of them has ended"):
            rotate()
        hooks.later(hours=25)
        assert accepted() == [False, False, False, False, False, True]


@pytest.mark.both_databases
def test_a_secret_that_an_earlier_release_replaced_signs_until_its_end(hooks: Hooks) -> None:
    with receiving() as receiver:
        made = hooks.register(receiver.url)
        with hooks.store.writing(Scope.system()) as session:
            row = session.get_one(WebhookEndpoint, made.endpoint.id)
            row.old_secret = seal.seal({"secret": signing.new_secret()})
            row.old_secret_until = hooks.now + timedelta(hours=3)
        hooks.sell()
        hooks.drain()
        assert len(receiver.received[-1].headers["webhook-signature"].split()) == 2
        hooks.later(hours=4)
        hooks.sell()
        hooks.drain()
        assert len(receiver.received[-1].headers["webhook-signature"].split()) == 1


@pytest.mark.parametrize(
    ("behave", "error"),
    [
        (answers(500), "The receiver answered 500"),
        (answers(404), "The receiver answered 404"),
        (answers(301, location="/elsewhere"), "pointed elsewhere"),
        (closes_early, "closed the connection"),
        (hangs, "did not answer within"),
        (drips, "did not answer within"),
    ],
)
def test_a_failure_is_told_without_the_address_and_tried_again_by_the_schedule(
    hooks: Hooks, behave: object, error: str
) -> None:
    hooks.limits = IMPATIENT
    with receiving() as receiver:
        made = hooks.register(receiver.url)
        receiver.behave = behave  # type: ignore[assignment]
        hooks.sell()
        hooks.drain()
        (delivery,) = hooks.log(made)
        assert error in str(delivery.last_error)
        assert "127.0.0.1" not in str(delivery.last_error)
        assert delivery.state == "queued"
        assert "followed" not in receiver.events
        wait = delivery.next_try_at - hooks.now  # type: ignore[operator]
        assert timedelta(seconds=4) <= wait <= timedelta(seconds=6)
        receiver.closing.set()
        receiver.behave = answers(204, b"")
        hooks.later(seconds=7)
        hooks.drain()
    (delivery,) = hooks.log(made)
    assert (delivery.state, delivery.attempts, delivery.status) == ("sent", 2, 204)
    ids = [each.headers["webhook-id"] for each in receiver.received[1:]]
    assert len(ids) == 2
    assert len(set(ids)) == 1
    assert [each.headers["coverdesk-attempt"] for each in receiver.received[1:]] == ["1", "2"]


def test_of_a_gigabyte_the_first_512_bytes_are_read_and_kept(hooks: Hooks) -> None:
    with receiving() as receiver:
        made = hooks.register(receiver.url)
        receiver.behave = floods
        hooks.sell()
        hooks.drain()
    (tried,) = hooks.detail(hooks.log(made)[0]).tries
    assert (tried.status, tried.answer) == (200, "x" * 512)


def test_ten_tries_follow_the_schedule_and_then_it_is_given_up(hooks: Hooks) -> None:
    with receiving() as receiver:
        made = hooks.register(receiver.url)
        receiver.behave = answers(503)
        hooks.sell()
        hooks.drain()
        waits = []
        while (delivery := hooks.log(made)[0]).state == "queued":
            assert delivery.next_try_at is not None
            waits.append(delivery.next_try_at - hooks.now)
            hooks.later(seconds=waits[-1].total_seconds() + 0.01)
            hooks.drain()
    planned = [5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400]
    assert all(0.8 <= wait.total_seconds() / plan <= 1.2 for wait, plan in zip(waits, planned, strict=True))
    assert (delivery.state, delivery.attempts) == ("dead", 10)


def test_retry_after_is_obeyed_and_410_disables(hooks: Hooks) -> None:
    with receiving() as receiver:
        made = hooks.register(receiver.url)
        receiver.behave = answers(429, retry_after="600")
        hooks.sell()
        hooks.drain()
        (delivery,) = hooks.log(made)
        assert delivery.next_try_at == hooks.now + timedelta(seconds=600)
        receiver.behave = answers(410)
        hooks.later(seconds=601)
        hooks.drain()
        assert hooks.endpoint(made).state == "disabled"
        assert hooks.log(made)[0].state == "held"


@pytest.mark.both_databases
def test_what_happens_while_an_endpoint_is_disabled_is_held_and_sent_when_it_is_enabled(hooks: Hooks) -> None:
    with receiving() as receiver:
        made = hooks.register(receiver.url)
        receiver.behave = answers(410)
        hooks.sell()
        hooks.drain()
        held = [str(hooks.sell().purchase_id) for _ in range(3)]
        hooks.drain()
        assert hooks.endpoint(made).held == 4
        calls = len(receiver.received)
        receiver.behave = answers(200)
        with hooks.store.writing(hooks.scope) as session:
            assert endpoints.enable(session, made.endpoint.id, send_held=True, actor="tests") == 4
        hooks.drain()
    sent = [each.event["object"]["id"] for each in receiver.received[calls:]]
    assert len(sent) == 4
    assert set(held) < set(sent)
    assert hooks.endpoint(made).held == 0


def test_held_events_can_be_left_out(hooks: Hooks) -> None:
    with receiving() as receiver:
        made = hooks.register(receiver.url)
        receiver.behave = answers(410)
        hooks.sell()
        hooks.drain()
        calls = len(receiver.received)
        with hooks.store.writing(hooks.scope) as session:
            endpoints.enable(session, made.endpoint.id, send_held=False, actor="tests")
        hooks.drain()
        assert len(receiver.received) == calls
        with hooks.store.writing(hooks.scope) as session, pytest.raises(StateForbids, match="active"):
            endpoints.enable(session, made.endpoint.id, send_held=False, actor="tests")


@pytest.mark.both_databases
def test_an_hour_of_failures_is_told_to_other_endpoints_and_by_mail_and_five_days_disable(hooks: Hooks) -> None:
    with hooks.store.writing(Scope.system()) as session:
        session.get_one(Distributor, hooks.partner.id).email = "tech@lender.example"
    with receiving() as good, receiving() as bad:
        other = hooks.register(good.url, events=["endpoint.*"])
        made = hooks.register(bad.url)
        bad.behave = answers(500)
        states = []
        for _ in range(14):
            hooks.sell()
            hooks.drain()
            states.append(hooks.endpoint(made).state)
            hooks.later(hours=10)
        hooks.drain()
        assert hooks.endpoint(other).state == "active"
    assert (states[0], states[2], states[-1]) == ("active", "failing", "disabled")
    events = [each.event for each in good.received if each.headers["coverdesk-event"] != "endpoint.ping"]
    assert [(each["type"], each["data"]["state"]) for each in events] == [
        ("endpoint.failing", "failing"),
        ("endpoint.disabled", "disabled"),
    ]
    assert events[0]["previous"] == {"state": "active"}
    with hooks.store.reading(Scope.system()) as session:
        letters = session.execute(sa.select(col(Mail.template), col(Mail.recipient))).all()
    assert sorted(row.template for row in letters) == ["endpoint disabled", "endpoint failing"]


@pytest.mark.both_databases
def test_an_endpoint_that_recovers_is_active_again(hooks: Hooks) -> None:
    with receiving() as receiver:
        made = hooks.register(receiver.url)
        receiver.behave = answers(500)
        for _ in range(3):
            hooks.sell()
            hooks.drain()
            hooks.later(hours=2)
        assert hooks.endpoint(made).state == "failing"
        receiver.behave = answers(200)
        hooks.later(days=1)
        hooks.drain()
    endpoint = hooks.endpoint(made)
    assert (endpoint.state, endpoint.failing_since) == ("active", None)
    assert {each.state for each in hooks.log(made)} == {"sent"}


@pytest.mark.both_databases
def test_a_dead_endpoint_leaves_most_places_to_the_others(hooks: Hooks) -> None:
    with receiving() as receiver:
        dead = [hooks.register(receiver.url, description=str(n)) for n in range(5)]
        good = hooks.register(receiver.url)
        for _ in range(8):
            hooks.sell()
        event_dispatch.catch_up(hooks.store)
        with hooks.store.writing(Scope.system()) as session:
            for made in dead:
                session.get_one(WebhookEndpoint, made.endpoint.id).failing_since = hooks.now
        with hooks.store.writing(Scope.system()) as session:
            jobs = sending.lease_due(session, sending.AT_ONCE)
        with hooks.store.writing(Scope.system()) as session:
            more = sending.lease_due(session, sending.AT_ONCE)
    counts = {made.endpoint.id: sum(job.endpoint_id == made.endpoint.id for job in jobs) for made in (*dead, good)}
    assert list(counts.values()) == [1, 1, 1, 1, 1, 4]
    assert more == []


@pytest.mark.both_databases
def test_an_endpoint_is_sent_more_at_once_while_it_keeps_up_and_few_for_an_hour_once_it_does_not(hooks: Hooks) -> None:
    def leased() -> int:
        for _ in range(2 * sending.MOST_EACH // EVENTS_OF_A_SALE):
            hooks.sell()
        event_dispatch.catch_up(hooks.store)
        with hooks.store.writing(Scope.system()) as session:
            number = len(sending.lease_due(session, sending.AT_ONCE))
        hooks.later(seconds=61)
        return number

    with receiving() as receiver:
        made = hooks.register(receiver.url, events=["purchase.*", "policy.*", "customer.*"])
        assert leased() == sending.FEWEST_EACH
        hooks.drain()
        assert leased() > 4 * sending.FEWEST_EACH
        receiver.behave = answers(503)
        hooks.drain()
        receiver.behave = answers(200)
        hooks.later(minutes=40)
        hooks.drain()
        assert hooks.endpoint(made).failing_since is None
        assert leased() == sending.FEWEST_EACH
        hooks.later(minutes=61)
        hooks.drain()
        assert leased() > 4 * sending.FEWEST_EACH


def test_a_lease_that_ended_is_taken_over_and_the_late_answer_ignored(hooks: Hooks) -> None:
    with receiving() as receiver:
        made = hooks.register(receiver.url)
        hooks.sell()
        event_dispatch.catch_up(hooks.store)
        (lost,) = _leased(hooks)
        hooks.later(seconds=61)
        hooks.drain()
        assert hooks.log(made)[0].state == "sent"
        late = SendResult(milliseconds=1, error="The receiver answered 500", status=500)
        with hooks.store.writing(Scope.system()) as session:
            sending.record_results(session, [(lost, late)])
    (delivery,) = hooks.log(made)
    assert (delivery.state, delivery.attempts) == ("sent", 2)


def _leased(hooks: Hooks) -> list[sending.DeliveryJob]:
    with hooks.store.writing(Scope.system()) as session:
        return sending.lease_due(session, 9)


def registered_with_key(hooks: Hooks, url: str, **changed: Any) -> tuple[UUID, NewSecret]:
    """The id of a key, and the endpoint that it registered."""
    with hooks.store.writing(Scope.system()) as session:
        caller = keys.authenticate(session, hooks.partner.test_key)
    request = requests.validate(EndpointRequest, {"url": url, "events": ["purchase.*"], **changed})
    with hooks.store.writing(hooks.scope) as session:
        made = endpoints.register(session, request, caller, actor="tests", key_id=caller.key_id)
    hooks.ping(made.endpoint.id)
    return caller.key_id, made


def test_an_endpoint_goes_on_when_the_key_that_registered_it_is_revoked(hooks: Hooks) -> None:
    with receiving() as receiver:
        _, made = registered_with_key(hooks, receiver.url)
        with hooks.store.writing(Scope.system()) as session:
            keys.revoke_key(session, hooks.partner.test_key, actor="tests")
        hooks.sell()
        hooks.drain()
        assert receiver.events == ["endpoint.ping", "purchase.created"]
    assert hooks.endpoint(made).state == "active"


@pytest.mark.both_databases
def test_endpoints_of_a_stolen_key_are_disabled_with_it_and_told_to_the_others_and_on_system(hooks: Hooks) -> None:
    with receiving() as stolen, receiving() as good:
        key_id, made = registered_with_key(hooks, stolen.url)
        other = hooks.register(good.url, events=["endpoint.*"])
        with hooks.store.writing(Scope.system()) as session:
            assert [each.id for each in endpoints.list_of_key(session, key_id)] == [made.endpoint.id]
            assert endpoints.revoke_key(session, key_id, with_endpoints=True, by=person_of("admin")) == 1
        hooks.sell()
        hooks.drain()
        assert stolen.events == ["endpoint.ping"]
    assert (hooks.endpoint(made).state, hooks.endpoint(made).held) == ("disabled", 1)
    event = good.received[-1].event
    assert (event["type"], event["object"]["id"]) == ("endpoint.disabled", str(made.endpoint.id))
    assert "key that registered it was revoked" in event["data"]["reason"]
    with hooks.store.reading(Scope.system()) as session:
        assert queues.count_endpoints(session) == {"active": 1, "disabled": 1}
    assert hooks.endpoint(other).state == "active"


@pytest.mark.both_databases
def test_endpoints_that_ended_with_their_key_in_an_earlier_release_are_disabled_and_hold(hooks: Hooks) -> None:
    with receiving() as receiver:
        _, made = registered_with_key(hooks, receiver.url)
        other = hooks.register(receiver.url)
        hooks.sell()
        event_dispatch.catch_up(hooks.store)
        with hooks.store.writing(Scope.system()) as session:
            keys.revoke_key(session, hooks.partner.test_key, actor="tests")
        hooks.store.drop_idle_connections()
        with hooks.store.writers.begin() as connection:
            command.downgrade(migrating._config(connection), "0065-1")
        migrating.migrate(hooks.store)
        hooks.store.drop_idle_connections()
        ended = hooks.endpoint(made)
        assert (ended.state, ended.held, ended.disabled_at) == ("disabled", 1, hooks.now)
        assert "enable it to go on" in str(ended.last_error)
        assert hooks.endpoint(other).state == "active"


@pytest.mark.both_databases
def test_a_distributor_that_is_off_stops_its_endpoints(hooks: Hooks) -> None:
    with receiving() as receiver:
        made = hooks.register(receiver.url)
        with hooks.store.writing(Scope.system()) as session:
            session.get_one(Distributor, hooks.partner.id).active = False
        hooks.sell()
        hooks.drain()
        assert receiver.events == ["endpoint.ping"]
    assert [each.state for each in hooks.log(made)] == ["queued"]


def test_a_receiver_that_fails_is_no_fault_of_the_installation(hooks: Hooks) -> None:
    def read_status() -> status.Status:
        with hooks.store.reading(Scope.system()) as session:
            return status.get_status(session)

    hooks.limits = IMPATIENT
    # A name that leads nowhere, as a typo does: its ping is given up at once.
    hooks.register("https://hooks.no-such-name.invalid/")
    with receiving() as receiver:
        made = hooks.register(receiver.url)
        receiver.behave = answers(500)
        hooks.sell()
        hooks.drain()
        hooks.later(hours=2)
        (webhooks,) = [each for each in read_status().queues if each.name == "Webhooks"]
        assert (webhooks.dead, webhooks.refused, webhooks.oldest_seconds) == (0, 1, 0)
        assert not [fault for fault in read_status().faults if "Webhooks" in fault or "work" in fault]
        hooks.later(days=3)
        while (delivery := hooks.log(made)[0]).state == "queued":
            hooks.later(hours=30)
            hooks.drain()
        assert delivery.state in {"dead", "held"}
    assert not [fault for fault in read_status().faults if "Webhooks" in fault]


def test_what_broke_here_and_what_nobody_sends_is_a_fault_of_the_installation(
    hooks: Hooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    with receiving() as receiver:
        made = hooks.register(receiver.url)
        hooks.sell()
        event_dispatch.catch_up(hooks.store)
        hooks.later(hours=2)
        with hooks.store.reading(Scope.system()) as session:
            faults = status.get_status(session).faults
        assert "Webhooks: work has been due for 120 minutes" in faults
        assert "work waits and no worker was heard of for two minutes" in faults
    monkeypatch.setattr(WebhookClient, "send", lambda *_: {}["a defect"])
    while hooks.log(made)[0].state == "queued":
        hooks.drain()
        hooks.later(hours=30)
    with hooks.store.reading(Scope.system()) as session:
        assert "Webhooks: 1 were given up and need a person" in status.get_status(session).faults
    assert hooks.endpoint(made).state == "active", "its receiver is not to blame"


@pytest.mark.both_databases
def test_a_delivery_can_be_sent_again_under_its_id(hooks: Hooks) -> None:
    with receiving() as receiver:
        made = hooks.register(receiver.url)
        hooks.sell()
        hooks.drain()
        (delivery,) = hooks.log(made)
        with hooks.store.writing(hooks.scope) as session:
            log.redeliver(session, delivery.id, actor="tests")
        hooks.drain()
    first, again = receiver.received[1:]
    assert first.headers["webhook-id"] == again.headers["webhook-id"]
    assert first.body == again.body
    assert again.headers["coverdesk-replay"] == "true"


@pytest.mark.both_databases
def test_a_replay_is_counted_first_and_brings_what_an_endpoint_never_saw(hooks: Hooks) -> None:
    sold = {str(hooks.sell().purchase_id) for _ in range(3)}
    with receiving() as receiver:
        hooks.drain()
        made = hooks.register(receiver.url)
        receiver.behave = answers(500)
        failed = str(hooks.sell().purchase_id)
        hooks.drain()
        receiver.behave = answers(200)
        span = {"from": (hooks.now - timedelta(days=1)).isoformat(), "to": hooks.now.isoformat()}
        whole = requests.validate(ReplayRequest, {**span, "events": ["purchase.*"]})
        broken = requests.validate(ReplayRequest, {**span, "only_failed": True})
        with hooks.store.writing(hooks.scope) as session:
            assert log.count_replay(session, made.endpoint.id, whole) == 4
            assert log.count_replay(session, made.endpoint.id, broken) == 1
        calls = len(receiver.received)
        with hooks.store.writing(hooks.scope) as session:
            assert log.replay(session, made.endpoint.id, whole, actor="tests") == 4
            noted = sa.select(AuditEntry.after).where(col(AuditEntry.action) == "endpoint replayed")
            (entry,) = session.execute(noted).scalars()
        assert (entry["count"], "purchase" in entry["events"]) == (4, True)
        hooks.drain()
    assert {each.event["object"]["id"] for each in receiver.received[calls:]} == {*sold, failed}


@pytest.mark.both_databases
def test_ten_endpoints_in_a_mode_and_none_of_a_stranger(hooks: Hooks, stranger: Partner) -> None:
    made = [hooks.register("http://127.0.0.1:1/", ping=False) for _ in range(endpoints.MAX_ENDPOINTS)]
    with pytest.raises(StateForbids, match="10 endpoints"):
        hooks.register("http://127.0.0.1:1/", ping=False)
    hooks.register("http://127.0.0.1:1/", ping=False, partner=stranger)
    one = made[0].endpoint.id
    change = requests.validate(EndpointChange, {"events": ["*"]})
    with hooks.store.writing(stranger.scope()) as session:
        for act in (
            lambda: endpoints.get_endpoint(session, one),
            lambda: endpoints.change(session, one, change, actor="x"),
            lambda: endpoints.rotate_secret(session, one, actor="x"),
            lambda: endpoints.enable(session, one, send_held=True, actor="x"),
            lambda: endpoints.delete(session, one, actor="x"),
        ):
            with pytest.raises(NotFound):
                act()
    with hooks.store.reading(hooks.partner.scope(is_live=True)) as session:
        assert endpoints.list_endpoints(session) == []


def test_another_address_is_unverified_until_it_answers(hooks: Hooks) -> None:
    with receiving() as receiver, receiving() as second:
        made = hooks.register(receiver.url)
        with hooks.store.writing(hooks.scope) as session:
            change = requests.validate(EndpointChange, {"url": second.url})
            assert endpoints.change(session, made.endpoint.id, change, actor="tests").state == "unverified"
        hooks.sell()
        hooks.drain()
        assert second.received == []
        with hooks.store.writing(hooks.scope) as session, pytest.raises(StateForbids, match="a ping that it answers"):
            endpoints.enable(session, made.endpoint.id, send_held=True, actor="tests")


@pytest.mark.both_databases
def test_a_deleted_endpoint_gets_nothing_more(hooks: Hooks) -> None:
    with receiving() as receiver:
        made = hooks.register(receiver.url)
        hooks.sell()
        event_dispatch.catch_up(hooks.store)
        with hooks.store.writing(hooks.scope) as session:
            endpoints.delete(session, made.endpoint.id, actor="tests")
        hooks.sell()
        hooks.drain()
    assert receiver.events == ["endpoint.ping"]


@pytest.mark.both_databases
def test_an_hour_old_log_is_kept_and_an_old_one_removed(hooks: Hooks) -> None:
    with receiving() as receiver:
        hooks.register(receiver.url)
        hooks.sell()
        hooks.drain()
    with hooks.store.writing(Scope.system()) as session:
        assert log.purge(session) == 0
    hooks.later(days=91)
    with hooks.store.writing(Scope.system()) as session:
        log.purge(session)
        assert session.execute(sa.select(sa.func.count()).select_from(WebhookTry)).scalar_one() == 0
        assert session.execute(sa.select(sa.func.count()).select_from(Event)).scalar_one() > 0
    hooks.later(days=330)
    with hooks.store.writing(Scope.system()) as session:
        log.purge(session)
        assert session.execute(sa.select(sa.func.count()).select_from(Event)).scalar_one() == 0


@pytest.mark.parametrize("chosen", [["*", "renewal.successful"], ["renewal.successful"], ["policy.renewed"]])
def test_an_endpoint_of_the_classic_form_chooses_the_older_name(hooks: Hooks, chosen: list[str]) -> None:
    with receiving() as receiver:
        hooks.register(receiver.url, events=chosen, format="classic")
        sale = hooks.sell()
        with hooks.store.writing(hooks.scope) as session:
            renewals.renew(session, sale.policy_id, hooks.partner.seller())
        hooks.drain()
    renewed = [each.event for each in receiver.received if each.event["data"]["meta"]["type"] == "policy.renewed"]
    assert [(each["event"], each["status"]) for each in renewed] == [
        ("renewal.successful" if "renewal.successful" in chosen else "purchase.renewed", "successful")
    ]
    assert renewed[0]["data"]["policy_id"] == str(sale.policy_id)


def test_an_older_name_is_that_of_one_type(hooks: Hooks) -> None:
    for older, type_ in catalogue.OLDER_NAMES.items():
        body = orjson.dumps(examples.build_sample(catalogue.BY_NAME[type_]))
        names = [orjson.loads(sending.render_classic(body, wanted) or b"")["event"] for wanted in ([older], ["*"])]
        assert names[0] == older != names[1]
        assert catalogue.is_pattern(older)
        assert [name for name in catalogue.BY_NAME if catalogue.fits(older, name)] == [type_]
    with receiving() as receiver:
        hooks.register(receiver.url, events=["claim.rejected"])
        hooks.sell()
        hooks.drain()
    assert receiver.events == ["endpoint.ping"]


def test_the_classic_form_is_signed_over_its_own_bytes(hooks: Hooks) -> None:
    with receiving() as receiver:
        made = hooks.register(receiver.url, events=["*"], format="classic", signature_header="X-Partner-Signature")
        sale = hooks.sell()
        hooks.drain()
    by_name = {each.event["event"]: each for each in receiver.received}
    assert set(by_name) == {"endpoint.ping", "purchase.successful", "policy.updated"}
    purchase = by_name["purchase.successful"]
    expected = hmac.new(made.secret.encode(), purchase.body, "sha512").hexdigest()
    assert purchase.headers["x-partner-signature"] == expected == signing.sign_classic(made.secret, purchase.body)
    assert "webhook-signature" not in purchase.headers
    assert set(purchase.event) == {"event", "status", "event_id", "data"}
    own = {"meta", "essential", "created_at", "updated_at"}
    for each in by_name.values():
        # Handlers of this form look for a field in one of the two places.
        data = each.event["data"]
        assert {name: value for name, value in data.items() if name not in own} == data["essential"]
    assert purchase.event["data"]["essential"]["id"] == str(sale.purchase_id)
    assert purchase.event["data"]["policy_id"] == str(sale.policy_id)
    cover = by_name["policy.updated"].event["data"]
    assert {"id", "purchase_id", "policy_number", "start_date", "expiration_date", "certificate_url"} <= set(cover)
    assert by_name["policy.updated"].event["data"]["essential"]["certificate_url"]
    withdrawn = [each for each in hooks.log(made) if each.state == "withdrawn"]
    assert {each.event_type for each in withdrawn} == {"policy.activated", "customer.created"}
    assert clock.now() == hooks.now
