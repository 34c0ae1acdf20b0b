"""Endpoints and the feed as a distributor's program meets them: HTTP, right and wrong input (contract W3, W6)."""

import secrets
from typing import Any

import httpx
import pytest
import standardwebhooks

from core import settings
from core.api.http import envelope
from core.desk import export_runs
from core.services.audit import log as audit
from core.services.catalogue import keys
from core.services.events.catalogue import EVENT_TYPES
from core.services.events.feed import object_path
from core.services.lists.exports import Tally
from core.store.access import Scope
from tests.api.conftest import Client
from tests.conftest import Partner
from tests.covers import shipped
from tests.events.conftest import COVER, Hooks
from tests.events.receivers import Receiver, answers, receiving
from tests.every_case import every_case
from tests.services.claim_office import Office

pytestmark = pytest.mark.usefixtures("hooks")
WEBHOOKS = "/v1/webhooks"


class Distributor:
    """A program of one distributor."""

    def __init__(self, client: Client, key: str) -> None:
        self._client, self._key = client, key

    def call(self, method: str, path: str, body: Any = None, *, status: int = 200, **headers: str) -> Any:
        """The data of an answer that has this status, or the error of a refusal."""
        if method == "POST":
            headers.setdefault("Idempotency-Key", secrets.token_hex(8))
        answer = self._client.request(method, path, key=self._key, json=body, headers=headers)
        assert answer.status_code == status, answer.text
        return answer.json()["data"] if status < 400 else answer.json()

    def register(self, url: str, **changed: Any) -> Any:
        """A registered endpoint as a ping left it, with its secret."""
        made = self.call("POST", WEBHOOKS, {"url": url, "events": ["purchase.*"], **changed}, status=201)
        pinged = self.call("POST", f"{WEBHOOKS}/{made['endpoint']['id']}/ping")
        return {**made, "endpoint": pinged["endpoint"]}


@pytest.fixture
def api(client: Client, partner: Partner) -> Distributor:
    return Distributor(client, partner.test_key)


@pytest.fixture
def other(client: Client, stranger: Partner) -> Distributor:
    return Distributor(client, stranger.test_key)


def test_an_endpoint_is_registered_changed_tried_and_deleted(api: Distributor, hooks: Hooks) -> None:
    with receiving() as receiver, receiving() as second:
        made = api.register(receiver.url, description="Back office")
        endpoint, secret = made["endpoint"], made["secret"]
        assert (endpoint["state"], endpoint["mode"], endpoint["held"]) == ("active", "test", 0)
        assert receiver.events == ["endpoint.ping"]
        standardwebhooks.Webhook(secret).verify(receiver.received[0].body, receiver.received[0].headers)

        one = f"{WEBHOOKS}/{endpoint['id']}"
        assert api.call("GET", one) == {"endpoint": endpoint}
        assert api.call("GET", WEBHOOKS) == {"endpoints": [endpoint], **envelope.counts(1)}
        changed = api.call("PATCH", one, {"events": ["claim.*"], "description": "Claims"})["endpoint"]
        assert (changed["events"], changed["description"], changed["state"]) == (["claim.*"], "Claims", "active")
        moved = api.call("PATCH", one, {"url": second.url})["endpoint"]
        assert moved["state"] == "unverified"
        pinged = api.call("POST", f"{one}/ping")
        assert (pinged["endpoint"]["state"], pinged["answer"], pinged["delivery"]["status"]) == (
            "active",
            "thanks",
            200,
        )
        assert second.events == ["endpoint.ping"]

        assert api.call("DELETE", one) == {"id": endpoint["id"]}
        assert api.call("GET", WEBHOOKS) == {"endpoints": [], **envelope.counts(0)}
        for method, path in (("GET", one), ("DELETE", one), ("POST", f"{one}/ping")):
            assert api.call(method, path, status=404)["responseCode"] == 0
    with hooks.store.reading(Scope.system()) as session:
        entries = {one.action: one for one in audit.list_history(session, f"endpoint {endpoint['id']}")}
    registered, deleted = entries["endpoint registered"].after or {}, entries["endpoint deleted"].before or {}
    assert registered["mode"] == deleted["mode"] == "test"


def test_a_change_names_what_an_endpoint_does_not_have(api: Distributor, client: Client, partner: Partner) -> None:
    one = f"{WEBHOOKS}/{api.register('http://127.0.0.1:9/hook')['endpoint']['id']}"
    for changes, status in (({"description": "q", "foo": 1}, 200), ({"url": "x", "foo": 1}, 400)):
        answer = client.request("PATCH", one, key=partner.test_key, json=changes)
        assert (answer.status_code, answer.headers["X-Ignored-Fields"]) == (status, "foo")


def test_a_receiver_is_pinged_once_it_can_know_the_secret(api: Distributor) -> None:
    with receiving() as receiver:
        made = api.call("POST", WEBHOOKS, {"url": receiver.url, "events": ["*"]}, status=201)
        assert made["endpoint"]["state"] == "unverified"
        assert receiver.received == []

        def verified(handler: Any) -> None:
            taken = receiver.received[-1]
            try:
                standardwebhooks.Webhook(made["secret"]).verify(taken.body, taken.headers)
            except standardwebhooks.WebhookVerificationError:
                answers(401)(handler)
            else:
                answers(204, b"")(handler)

        receiver.behave = verified
        assert api.call("POST", f"{WEBHOOKS}/{made['endpoint']['id']}/ping")["endpoint"]["state"] == "active"


def test_pings_are_in_no_feed_and_no_replay(api: Distributor, hooks: Hooks) -> None:
    with receiving() as receiver, receiving() as other:
        first = api.register(receiver.url)["endpoint"]["id"]
        second = f"{WEBHOOKS}/{api.register(other.url, events=['*'])['endpoint']['id']}"
        api.call("DELETE", f"{WEBHOOKS}/{first}")
        hooks.sell()
        events = api.call("GET", "/v1/events")["events"]
        assert {event["object"]["type"] for event in events} == {"purchase", "policy", "customer"}
        span = {"from": "2020-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z", "dry_run": True}
        assert api.call("POST", f"{second}/replay", span)["events"] == len(events)


def test_a_secret_is_answered_once(api: Distributor) -> None:
    with receiving() as receiver:
        body = {"url": receiver.url, "events": ["*"]}
        first = api.call("POST", WEBHOOKS, body, status=201, **{"Idempotency-Key": "one"})
        again = api.call("POST", WEBHOOKS, body, status=201, **{"Idempotency-Key": "one"})
        assert first["secret"].startswith("whsec_")
        assert again["secret"] is None
        assert again["endpoint"]["id"] == first["endpoint"]["id"]
        one = f"{WEBHOOKS}/{first['endpoint']['id']}"
        rotated = api.call("POST", f"{one}/rotate-secret", **{"Idempotency-Key": "two"})
        assert rotated["secret"] not in (None, first["secret"])
        assert api.call("POST", f"{one}/rotate-secret", **{"Idempotency-Key": "two"})["secret"] is None
        shown = str([api.call("GET", WEBHOOKS), api.call("GET", one), api.call("GET", f"{one}/deliveries")])
        assert "whsec_" not in shown


def test_a_ping_is_sent_once_for_a_key(api: Distributor) -> None:
    with receiving() as receiver:
        endpoint = api.register(receiver.url)["endpoint"]
        before, key = len(receiver.received), {"Idempotency-Key": secrets.token_hex(8)}
        ping = f"{WEBHOOKS}/{endpoint['id']}/ping"
        first, again = (api.call("POST", ping, **key) for _ in range(2))
        assert len(receiver.received) == before + 1
        assert first == again
        assert (first["answer"], first["delivery"]["status"]) == ("thanks", 200)
        assert api.call("POST", ping)["delivery"]["id"] != first["delivery"]["id"]
        assert len(receiver.received) == before + 2
        other = api.register(receiver.url)["endpoint"]
        assert api.call("POST", f"{WEBHOOKS}/{other['id']}/ping", status=409, **key)["responseCode"] == 0


def test_what_was_delivered_is_listed_sent_again_and_replayed(api: Distributor, hooks: Hooks) -> None:
    with receiving() as receiver:
        one = f"{WEBHOOKS}/{api.register(receiver.url)['endpoint']['id']}"
        began = hooks.now
        for _ in range(3):
            hooks.sell()
        hooks.drain()
        found = api.call("GET", f"{one}/deliveries?limit=2&page=2")
        assert found["total_count"] == 4  # the ping too
        assert len(found["deliveries"]) == 2
        sent = api.call("GET", f"{one}/deliveries?state=sent")["deliveries"]
        assert {row["state"] for row in sent} == {"sent"}
        assert api.call("GET", f"{one}/deliveries?state=dead")["deliveries"] == []

        last = sent[0]
        again = api.call("POST", f"{one}/deliveries/{last['id']}/redeliver")["delivery"]
        assert (again["id"], again["state"], again["event_id"]) == (last["id"], "queued", last["event_id"])
        hooks.drain()
        ids = [each.headers["webhook-id"] for each in receiver.received]
        assert ids.count(last["event_id"]) == 2

        span = {"from": began.isoformat(), "to": (hooks.now.replace(year=hooks.now.year + 1)).isoformat()}
        assert api.call("POST", f"{one}/replay", {**span, "dry_run": True}) == {"events": 3, "queued": False}
        assert len(receiver.received) == 5
        assert api.call("POST", f"{one}/replay", span) == {"events": 3, "queued": True}
        hooks.drain()
        assert len(receiver.received) == 8
        assert receiver.received[-1].headers["coverdesk-replay"] == "true"


def test_a_replay_takes_the_events_whose_timestamps_lie_in_the_span(api: Distributor, hooks: Hooks) -> None:
    with receiving() as receiver:
        one = f"{WEBHOOKS}/{api.register(receiver.url)['endpoint']['id']}"
        for _ in range(4):
            hooks.sell()
            hooks.later(minutes=1)
        hooks.later(hours=1)
        hooks.drain()
        events = (each.event for each in receiver.received if each.event["type"] == "purchase.created")
        sold = sorted(events, key=lambda event: str(event["timestamp"]))
        expected = {event["id"] for event in sold[1:3]}
        span = {"from": sold[1]["timestamp"], "to": sold[2]["timestamp"]}
        before = len(receiver.received)
        assert api.call("POST", f"{one}/replay", span) == {"events": 2, "queued": True}
        hooks.drain()
    assert {each.event["id"] for each in receiver.received[before:]} == expected


def test_a_replay_is_asked_for_by_instants_and_by_nothing_else(api: Distributor, hooks: Hooks) -> None:
    with receiving() as receiver:
        one = f"{WEBHOOKS}/{api.register(receiver.url)['endpoint']['id']}"
    hooks.sell()
    hooks.drain()
    ends = ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00")
    wrong = (5, 5.5, "5", "1e9", True, [], "2026-11-01", "2026-11-01T00:00:00", "20261101", "T", *ends)
    for value in wrong:
        for name, other in (("from", "to"), ("to", "from")):
            given = {name: value, other: "2026-11-01T00:00:00Z"}
            refusal = api.call("POST", f"{one}/replay", given, status=400)
            assert [fault["field"] for fault in refusal["errorData"]] == [name], given
    everything = {"from": "0001-01-01T00:00:00Z", "to": "9999-12-31T23:59:59Z", "dry_run": True}
    assert api.call("POST", f"{one}/replay", everything) == {"events": 1, "queued": False}


def test_a_disabled_endpoint_holds_what_happens_until_it_is_enabled(api: Distributor, hooks: Hooks) -> None:
    with receiving() as receiver:
        one = f"{WEBHOOKS}/{api.register(receiver.url)['endpoint']['id']}"
        api.call("POST", f"{one}/enable", {}, status=409)
        api.call("POST", f"{one}/enable", {"send_held": "perhaps"}, status=400)
        api.call("POST", f"{one}/replay", status=415)
        receiver.behave = answers(410)
        hooks.sell()
        hooks.drain()
        hooks.sell()
        hooks.drain()
        disabled = api.call("GET", one)["endpoint"]
        assert (disabled["state"], disabled["held"]) == ("disabled", 2)
        receiver.behave = answers(204, b"")
        # Without a body, as a button in a console sends it.
        assert api.call("POST", f"{one}/enable") == {"events": 2, "queued": True}
        hooks.drain()
        assert api.call("GET", one)["endpoint"]["state"] == "active"
        assert len({row["event_id"] for row in api.call("GET", f"{one}/deliveries?state=sent")["deliveries"]}) == 3


WRONG = [
    ({}, {"url", "events"}),
    ({"url": "ftp://example.com/", "events": ["*"]}, {"url"}),
    ({"url": "https://user:pass@example.com/", "events": ["*"]}, {"url"}),
    ({"url": "not an address", "events": ["*"]}, {"url"}),
    ({"url": "https://hooks.example.com:0/", "events": ["*"]}, {"url"}),
    ({"url": "http://127.0.0.1:0/", "events": ["*"]}, {"url"}),
    ({"url": "https://127.1/", "events": ["*"]}, {"url"}),
    ({"url": "https://example.com/", "events": []}, {"events"}),
    ({"url": "https://example.com/", "events": ["claims.*"]}, {"events"}),
    ({"url": "https://example.com/", "events": "claim.*"}, {"events"}),
    ({"url": "https://example.com/", "events": ["*"], "format": "xml"}, {"format"}),
    ({"url": "https://example.com/", "events": ["*"], "signature_header": "Host"}, {"signature_header"}),
    ({"url": "https://example.com/", "events": ["*"], "description": "x" * 201}, {"description"}),
    ({"url": "https://example.com/" + "x" * 3000, "events": ["*"]}, {"url"}),
]


@every_case(("body", "fields"), WRONG, ids=[str(refused_body)[:60] for refused_body, _ in WRONG])
def test_a_wrong_endpoint_is_refused_by_field_and_not_kept(api: Distributor, body: Any, fields: set[str]) -> None:
    refusal = api.call("POST", WEBHOOKS, body, status=400)
    assert {fault["field"].split(".")[0] for fault in refusal["errorData"]} == fields
    assert api.call("GET", WEBHOOKS) == {"endpoints": [], **envelope.counts(0)}


@every_case("url", ["http://127.0.0.1:9/", "https://127.0.0.1/", "https://[::ffff:10.0.0.1]/"])
def test_outside_of_a_demonstration_no_address_of_ours_is_called(
    api: Distributor, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("COVERDESK_DEMO", "false")
    settings.settings.cache_clear()
    refusal = api.call("POST", WEBHOOKS, {"url": url, "events": ["*"]}, status=400)
    assert [fault["field"] for fault in refusal["errorData"]] == ["url"]
    assert not {"127.0.0.1", "10.0.0.1"} & set(refusal["responseText"].split())


def test_a_stranger_and_the_other_mode_find_none_of_it(
    api: Distributor, other: Distributor, client: Client, partner: Partner, hooks: Hooks
) -> None:
    with receiving() as receiver:
        one = f"{WEBHOOKS}/{api.register(receiver.url)['endpoint']['id']}"
        hooks.sell()
        hooks.drain()
        delivery = api.call("GET", f"{one}/deliveries?state=sent")["deliveries"][0]["id"]
        span = {"from": "2020-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z"}
        for who in (other, Distributor(client, partner.live_key)):
            assert who.call("GET", WEBHOOKS) == {"endpoints": [], **envelope.counts(0)}
            assert who.call("GET", "/v1/events")["events"] == []
            for method, path, body in (
                ("GET", one, None),
                ("PATCH", one, {"description": "mine"}),
                ("DELETE", one, None),
                ("POST", f"{one}/ping", None),
                ("POST", f"{one}/rotate-secret", None),
                ("POST", f"{one}/enable", {}),
                ("GET", f"{one}/deliveries", None),
                ("POST", f"{one}/deliveries/{delivery}/redeliver", None),
                ("POST", f"{one}/replay", span),
            ):
                who.call(method, path, body, status=404)
        assert len(receiver.received) == 2
    for path in ("", "/not-an-id"):
        answer: httpx.Response = client.get(f"{WEBHOOKS}{path}")
        assert answer.status_code == 401


def test_a_distributor_that_rotates_its_keys_loses_no_event(api: Distributor, hooks: Hooks, partner: Partner) -> None:
    with receiving() as receiver:
        api.register(receiver.url)
        with hooks.store.writing(Scope.system()) as session:
            keys.revoke_key(session, partner.test_key, actor="tests")
        hooks.sell()
        hooks.drain()
        assert receiver.events == ["endpoint.ping", "purchase.created"]


def test_the_feed_is_followed_by_its_cursor(api: Distributor, hooks: Hooks) -> None:
    empty = api.call("GET", "/v1/events")
    assert (empty["events"], empty["has_more"]) == ([], False)
    for _ in range(3):
        hooks.sell()
    seen, cursor, more = [], "", True
    while more:
        page = api.call("GET", f"/v1/events?limit=4{cursor}")
        seen += page["events"]
        cursor, more = f"&after={page['cursor']}", page["has_more"]
    assert len(seen) == len({event["id"] for event in seen}) > 8
    assert [event["type"] for event in seen].count("purchase.created") == 3
    assert api.call("GET", f"/v1/events?limit=4{cursor}")["events"] == []
    purchase = next(event for event in seen if event["type"] == "purchase.created")
    of_one = api.call("GET", f"/v1/events?object_id={purchase['object']['id']}")["events"]
    assert of_one == [purchase]
    only = api.call("GET", "/v1/events?types=customer.*,policy.activated")["events"]
    assert {event["type"] for event in only} <= {"customer.created", "policy.activated"}


def test_whoever_waits_is_told_what_happens_meanwhile(api: Distributor, hooks: Hooks) -> None:
    before = api.call("GET", "/v1/events")["cursor"]
    query = f"/v1/events?wait=1{f'&after={before}' if before else ''}"
    assert api.call("GET", query)["events"] == []
    hooks.sell()
    assert api.call("GET", query)["events"]


@every_case(
    ("query", "field"),
    [
        ("after=nonsense", "after"),
        ("after=01a1f7c0-3c00-7000-8000-0000000000f1", "after"),
        ("limit=501", "limit"),
        ("limit=0", "limit"),
        ("wait=21", "wait"),
        ("wait=-1", "wait"),
        ("types=claims.*", "types"),
        ("types=,", "types"),
        ("object_id=7", "object_id"),
    ],
)
def test_a_wrong_question_to_the_feed_names_its_parameter(api: Distributor, query: str, field: str) -> None:
    refusal = api.call("GET", f"/v1/events?{query}", status=400)
    assert [fault["field"] for fault in refusal["errorData"]] == [field]


def test_every_type_is_listed_with_schema_and_sample(api: Distributor) -> None:
    answer = api.call("GET", "/v1/event-types")
    found = answer["event_types"]
    assert answer["total_count"] == answer["total"] == answer["total_result"] == len(found)
    names = [each["type"] for each in found]
    assert {"purchase.created", "claim.status_changed", "endpoint.ping"} <= set(names)
    assert all(each["schema"]["properties"] and each["sample"]["type"] == each["type"] for each in found)


def test_the_eleventh_endpoint_of_a_mode_is_refused(api: Distributor) -> None:
    with receiving() as receiver:
        for _ in range(10):
            api.register(receiver.url)
        refusal = api.call("POST", WEBHOOKS, {"url": receiver.url, "events": ["*"]}, status=409)
    assert "10" in refusal["responseText"]
    assert len(api.call("GET", WEBHOOKS)["endpoints"]) == 10


def test_a_receiver_that_says_no_leaves_the_endpoint_unverified(api: Distributor) -> None:
    def refused(receiver: Receiver) -> Any:
        receiver.behave = answers(500, b"no")
        return api.register(receiver.url)["endpoint"]

    with receiving() as receiver:
        endpoint = refused(receiver)
    assert endpoint["state"] == "unverified"
    assert "500" in endpoint["last_error"]


def test_the_address_of_every_object_answers_with_that_object(api: Distributor, hooks: Hooks, office: Office) -> None:
    office.lodge()
    with receiving() as receiver:
        made = api.register(receiver.url)["endpoint"]
    hooks.sell()
    address = {"mode": ["test"], "distributor": [str(hooks.partner.id)]}
    b"".join(export_runs.stream(export_runs.create_order("purchases", "csv", address, by="command line"), Tally()))
    events = api.call("GET", "/v1/events?limit=500")["events"]
    objects = {event["object"]["type"]: event["object"] for event in events}
    endpoint = {"id": made["id"], "url": f"http://127.0.0.1:8501/v1/webhooks/{made['id']}"}
    objects |= {"endpoint": endpoint, "product": _product()}
    # A statement needs a month of business, and a loan book a file: their addresses are followed where they are made.
    assert {each.object for each in EVENT_TYPES} == {*objects, "statement", "loan_book"}
    for kind, found in objects.items():
        answer = api.call("GET", found["url"].removeprefix("http://127.0.0.1:8501"))
        record = answer[kind] if kind != "export" else answer["events"][0]["object"]
        assert record["id"] == found["id"], kind


def _product() -> dict[str, str]:
    product_id = str(shipped.body(COVER)["product_id"])
    return {"id": product_id, "url": object_path("product", product_id)}


def test_the_address_in_events_of_the_first_releases_answers_too(api: Distributor, hooks: Hooks) -> None:
    purchase_id = hooks.sell().purchase_id
    assert api.call("GET", f"/v1/purchases/{purchase_id}") == api.call("GET", f"/v1/purchase/{purchase_id}")


def test_the_sample_of_every_type_names_an_address_of_the_api(api: Distributor, client: Client) -> None:
    documented = {path.partition("{")[0] for path in client.get("/v1/docs/openapi.json").json()["paths"]}
    for each in api.call("GET", "/v1/event-types")["event_types"]:
        path, _, query = each["sample"]["object"]["url"].removeprefix("https://desk.example/v1").partition("?")
        assert (path if query else f"{path.rpartition('/')[0]}/") in documented, each["type"]
