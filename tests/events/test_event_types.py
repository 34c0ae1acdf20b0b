"""Every type of event is made by what it declares, fits its schema, and tells nobody's name (contract W2)."""

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

import jsonschema
import orjson
import pytest
from sqlmodel import col

from core import clock
from core.covers.insurers import insurer_a, insurer_b
from core.desk import examples, export_runs
from core.dispatch import loan_books, webhooks
from core.services.catalogue import changes, product_list, rate_changes
from core.services.claims.workflow import questions
from core.services.events import catalogue, feed
from core.services.events.catalogue import BY_NAME, EVENT_TYPES
from core.services.events.feed import FeedFilter
from core.services.lists.exports import Tally
from core.services.policies import changes as policy_changes
from core.services.renewals import renewals
from core.services.selling.buying import Sale
from core.settings import ROOT
from core.store.access import Scope, Store
from core.store.schema.tables import Product, Staff
from tests.conftest import Partner
from tests.covers import shipped
from tests.every_case import every_case
from tests.services.claim_office import PAID, Office
from tests.services.loan_books import Lender, as_csv, loan
from tests.services.selling import sell
from tests.ui.conftest import person_of

pytestmark = pytest.mark.frozen_at(shipped.STILL)

ACTIVE, PENDING = insurer_a.THIRD_PARTY, insurer_b.COMPREHENSIVE
ADMIN = person_of("admin")
SECOND = replace(ADMIN, id=UUID(int=ADMIN.id.int + 1), email="second@coverdesk.example")
PERSONAL = ("first_name", "last_name", "email", "phone", "address", "registration_number", "chassis_number")


def list_events(store: Store, partner: Partner, *, is_live: bool = False) -> list[dict[str, Any]]:
    """Every event of a distributor, as the feed tells them; each fits the schema of its type."""
    webhooks.catch_up(store)
    with store.reading(partner.scope(is_live=is_live)) as session:
        page = feed.read_page(session, FeedFilter(), after=None, limit=500)
    found = [orjson.loads(body) for body in page.bodies]
    for event in found:
        get_validator(event["type"]).validate(event)
    return found


@cache
def get_validator(event_type: str) -> jsonschema.Draft202012Validator:
    """Cached: building one takes longer than what it validates."""
    return jsonschema.Draft202012Validator(examples.build_schema(BY_NAME[event_type]))


def types(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


def change(store: Store, partner: Partner, verb: Any, sale: Sale, **options: Any) -> None:
    with store.writing(partner.scope()) as session:
        verb(session, sale.policy_id, **options)


def cancel(store: Store, partner: Partner, sale: Sale) -> None:
    inputs = {"actor": "desk", "reason": "asked for", "by_insurer": True, "expected_version": 1}
    change(store, partner, policy_changes.cancel, sale, **inputs)


def test_a_sale_tells_of_purchase_policy_certificate_and_customer(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, ACTIVE)
    events = list_events(store, partner)
    assert types(events) == ["purchase.created", "policy.activated", "policy.certificate_ready", "customer.created"]
    purchase, policy, certificate, _ = events
    assert purchase["object"]["id"] == str(sale.purchase_id)
    assert purchase["data"]["policy_id"] == policy["object"]["id"] == str(sale.policy_id)
    assert policy["data"]["total"] == f"{sale.price.total:.2f}"
    assert certificate["data"]["certificate_url"].startswith("http://127.0.0.1:8501/certificates/")
    assert [event["sequence"] for event in events] == [1, 1, 2, 1]
    assert {event["mode"] for event in events} == {"test"}


def test_no_event_holds_what_a_person_is_called_or_reached_by(store: Store, partner: Partner) -> None:
    body = shipped.body(ACTIVE)
    sell(store, partner, ACTIVE)
    payloads = orjson.dumps([event["data"] for event in list_events(store, partner)]).decode()
    assert [name for name in PERSONAL if body.get(name) and str(body[name]) in payloads] == []


def test_a_pending_policy_is_activated_later(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, PENDING)
    assert types(list_events(store, partner)) == ["purchase.created", "customer.created"]
    change(store, partner, policy_changes.activate, sale, actor="desk", expected_version=1, insurer_accepted=True)
    activated, ready = list_events(store, partner)[2:]
    assert (activated["type"], ready["type"]) == ("policy.activated", "policy.certificate_ready")
    assert activated["data"]["policy_number"]
    assert activated["timestamp"] == clock.to_wire(shipped.STILL)


def test_a_customer_is_told_of_again_only_when_something_is_new(store: Store, partner: Partner) -> None:
    sell(store, partner, PENDING)
    sell(store, partner, PENDING, registration_number="ABC-123-XY", engine_number="E99", chassis_number="C99")
    assert types(list_events(store, partner)).count("customer.updated") == 0
    other = {"registration_number": "ABC-124-XY", "engine_number": "E98", "chassis_number": "C98"}
    sell(store, partner, PENDING, **other, first_name="Adaeze")
    assert types(list_events(store, partner)).count("customer.updated") == 1


def test_declining_and_cancelling_tell_of_the_refund(store: Store, partner: Partner) -> None:
    declined, cancelled = sell(store, partner, PENDING), sell(store, partner, ACTIVE)
    inputs = {"actor": "desk", "reason": "too old", "expected_version": 1}
    change(store, partner, policy_changes.decline, declined, **inputs)
    cancel(store, partner, cancelled)
    ended = [
        event for event in list_events(store, partner) if event["type"].endswith(("refunded", "declined", "cancelled"))
    ]
    assert sorted(types(ended)) == ["policy.cancelled", "policy.declined", "purchase.refunded", "purchase.refunded"]
    refunds = {event["object"]["id"]: event["data"]["refund"] for event in ended if "refunded" in event["type"]}
    assert refunds[str(declined.purchase_id)] == f"{declined.price.total:.2f}"
    assert b"too old" not in orjson.dumps(ended)


def test_a_renewal_tells_the_new_end_and_the_old(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, ACTIVE)
    with clock.freeze(shipped.STILL + timedelta(days=364)), store.writing(partner.scope()) as session:
        renewals.renew(session, sale.policy_id, partner.seller())
    (renewed,) = [event for event in list_events(store, partner) if event["type"] == "policy.renewed"]
    assert renewed["previous"]["expiration_date"] < renewed["data"]["expiration_date"]
    assert renewed["data"]["renewal_id"]


def test_every_move_of_a_claim_is_told_and_its_meaning_beside_it(store: Store, partner: Partner) -> None:
    office = Office(store, partner)
    claim_id = office.lodge()
    office.walk(claim_id, "Reviewing")
    office.do(questions.ask_claimant, claim_id, text="Which account?")
    office.walk(claim_id, *PAID, "Settled", "Reviewing", "Declined")
    claims = [event for event in list_events(store, partner) if event["object"]["type"] == "claim"]
    assert types(claims).count("claim.status_changed") == 8
    assert [each for each in types(claims) if each != "claim.status_changed"] == [
        *("claim.lodged", "claim.information_requested", "claim.approved", "claim.offer_sent"),
        *("claim.offer_accepted", "claim.paid", "claim.settled", "claim.reopened", "claim.declined"),
    ]
    assert [event["sequence"] for event in claims] == list(range(1, len(claims) + 1))
    paid = next(event for event in claims if event["type"] == "claim.paid")
    assert paid["data"]["paid"] == "70000.00"
    assert paid["previous"]["claim_status"] == "Offer accepted"
    assert b"Which account?" not in orjson.dumps(claims)


def test_other_rates_are_told_to_all_who_sell_and_a_withheld_product_to_one(
    store: Store, partner: Partner, stranger: Partner
) -> None:
    product_id = UUID(str(shipped.body(ACTIVE)["product_id"]))
    with store.writing(Scope.system()) as session:
        session.insert(*(Staff(id=p.id, email=p.email, name=p.name, roles=["admin"]) for p in (ADMIN, SECOND)))
    with store.writing(Scope.system()) as session:
        known = product_list.get_product(session, product_id)
        at = clock.lagos_midnight((shipped.STILL + timedelta(days=9)).date())
        inputs = {"start": known.latest.id, "effective_at": at, "seen": known.version, "by": ADMIN}
        proposed = rate_changes.propose(session, product_id, {"price": "6000"}, **inputs)
    with store.writing(Scope.system()) as session:
        rate_changes.confirm(session, product_id, proposed, seen=known.version + 1, by=SECOND)
        inputs = {"offered": False, "seen_version": known.version + 2, "by": ADMIN}
        changes.set_offered(session, product_id, partner.id, **inputs)
    assert types(list_events(store, partner)) == ["product.price_changed", "product.withdrawn"]
    assert (
        types(list_events(store, stranger))
        == types(list_events(store, stranger, is_live=True))
        == ["product.price_changed"]
    )


def exported(store: Store, kind: str = "purchases", **address: list[str]) -> bytes:
    order = export_runs.create_order(kind, "csv", {"mode": ["test"], **address}, by="command line")
    return b"".join(export_runs.stream(order, Tally()))


def test_a_file_of_ones_own_records_alone_is_told_with_what_it_can_be_proved_by(
    store: Store, partner: Partner, stranger: Partner
) -> None:
    total = sell(store, partner, ACTIVE).price.total
    sell(store, stranger, ACTIVE)
    exported(store)
    exported(store, distributor=[str(partner.id), str(stranger.id)])
    file = exported(store, distributor=[str(partner.id)])
    exported(store, distributor=[str(partner.id)], mode=["live"])
    (ready,) = [event for event in list_events(store, partner) if event["type"] == "export.ready"]
    assert ready["data"] == {
        "export_id": ready["object"]["id"],
        "kind": "purchases",
        "format": "csv",
        "rows": 1,
        "total": f"{total:.2f}",
        "sha256": hashlib.sha256(file).hexdigest(),
    }
    assert ready["object"]["url"].endswith(f"/v1/events?object_id={ready['object']['id']}")
    assert types(list_events(store, partner, is_live=True)) == ["export.ready"]
    assert "export.ready" not in types(list_events(store, stranger))
    exported(store, "customers", distributor=[str(partner.id)])
    assert "total" not in list_events(store, partner)[-1]["data"], "customers have no sum"


def test_what_was_rolled_back_is_told_to_nobody(store: Store, partner: Partner) -> None:
    def fail(session: Any) -> None:
        from core.services.selling import buying

        buying.sell(session, ACTIVE, shipped.request(ACTIVE), partner.seller())
        raise RuntimeError("the last step failed")

    with pytest.raises(RuntimeError, match="the last step failed"):
        store.transact(partner.scope(), fail)
    assert list_events(store, partner) == []


def test_events_of_one_distributor_and_mode_are_shown_to_no_other(
    store: Store, partner: Partner, stranger: Partner
) -> None:
    sell(store, partner, ACTIVE)
    assert list_events(store, stranger) == list_events(store, partner, is_live=True) == []


@every_case("made", EVENT_TYPES, ids=lambda made: made.name)
def test_every_type_has_a_sample_that_fits_its_schema(made: catalogue.EventType) -> None:
    jsonschema.Draft202012Validator.check_schema(examples.build_schema(made))
    get_validator(made.name).validate(examples.build_sample(made))


# Audited actions that make no event, by the reason; each action of the source is one of these, or makes an event.
_REASONS = {
    "Work of the desk that changes nothing for a distributor": """
        claim commented, claim assigned, claim incident dated, claim deductions set, claimant answered,
        claim referral given back, claim approval lapsed, difference assigned, claim reserve set, claim referred,
        claim payee set, claim paid in part, claim part taken back, claim corrected, claimant set, claim task made,
        claim task done, claim letter written, claim letter sent, claim handed to finance,
        claim taken back from finance, claims paid from a file, claims paid by one transfer, claim approved anew,
        claim moved by command, credit note approval lapsed, resent to the insurer, all set aside resent,
        submission set aside, insurer answered late, adjustment proposed, adjustment confirmed, adjustment refused,
        adjustment taken back, target set, target changed, target removed, renewal call recorded, agreement added,
        terms proposed, terms confirmed, terms refused, terms taken back,
        bank account proposed, bank account confirmed, bank account refused, bank account withdrawn,
        commission share proposed, commission share confirmed, commission share refused, commission share taken back,
        statement prepared, statement approved, statement reversed, statement disputed, statement given up,
        statement part paid, statement payment returned, view saved, view deleted, view mailed, view no longer mailed,
        e-mail queued, e-mail text changed, e-mail text reset, reminders switched off, reminders switched on,
        customer noted, insurer told of endorsement, customers merged, customers taken apart, automation switched on,
        automation switched off, owner of a waiting policy set, payment prepared, payment approved, payment confirmed,
        payment returned, payment given up, bordereau issued, bordereau sent, bordereau acknowledged,
        bordereau queried, file reconciled, difference explained, difference adjusted, write-off asked,
        difference written off, month closing begun, month closing given up, month closed, month reopening asked,
        month reopened, credit note approved first, credit note approved, credit note paid, credit note returned,
        payout prepared, payout approved, payout approved anew, payout given up, bank file opened, rates proposed,
        rates refused, rates taken back, rates withdrawn, product described, tax rate proposed, tax rate confirmed,
        tax rate refused, tax rate taken back
    """,
    "An act of whoever would be told of it, or of the installation": """
        loan book uploaded, loan book read again, loan book resumed, loan book report taken, loan book rows forgotten,
        file uploaded, file opened, export started, personal numbers sealed anew, distributor added,
        distributor changed, distributor switched on, distributor switched off, insurer changed, key issued,
        key revoked, product switched on, product offered to a distributor, endpoint registered, endpoint changed,
        endpoint deleted, endpoint enabled, endpoint verified, endpoint secret rotated, endpoint replayed,
        delivery sent again, mail sent again, store backed up, store restored, signed in, signed out, sessions ended,
        staff added, staff changed, roles proposed, roles confirmed, roles refused, roles taken back, staff saved,
        first admin set up, staff enabled, staff disabled, password link made, account change proposed,
        account change confirmed, account change refused, account change taken back, account confirmed,
        staff details set, password link, password chosen
    """,
    "Work of the privacy desk, which is nobody's business outside": """
        breach registered, breach judged, breach notified to the Commission, breach told to people, breach closed,
        complaint registered, complaint answered, data pack made, data request registered, data request acknowledged,
        data request extended, data request answered, data request refused, data request identity checked,
        data request records chosen, erasure prepared, erasure carried out, erasure refused, erasure taken back,
        erasures applied again, figure set, legal hold set, legal hold lifted, yearly figures taken, return prepared,
        return figures taken, return checked, return sent
    """,
}
UNTOLD = {action.strip(): reason for reason, actions in _REASONS.items() for action in actions.split(",")}


def written_actions() -> set[str]:
    """Every action that the source writes into the audit log: literals that reach a parameter called `action`."""
    trees = [ast.parse(path.read_text()) for path in _sources()]
    places: dict[str, set[int]] = {"write": set()}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                names = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
                if "action" in names and names[0] == "session":
                    places.setdefault(node.name, set()).add(names.index("action"))
    return {text for tree in trees for text in _literals(tree, places) if " " in text}


def _sources() -> list[Path]:
    return [path for folder in ("services", "desk", "commands") for path in (ROOT / "core" / folder).rglob("*.py")]


def _literals(tree: ast.Module, places: dict[str, set[int]]) -> Iterator[str]:
    named = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called not in places:
            continue
        given = [each.value for each in node.keywords if each.arg == "action"]
        given = given or [node.args[place] for place in places[called] if place < len(node.args)]
        for each in given:
            value = named.get(each.id, each) if isinstance(each, ast.Name) else each
            yield from (
                part.value for part in ast.walk(value) if isinstance(part, ast.Constant) and isinstance(part.value, str)
            )


def test_every_audited_action_makes_an_event_or_says_why_not() -> None:
    written = written_actions()
    assert len(written) > 40
    assert written - catalogue.by_action().keys() - UNTOLD.keys() == set()
    source = "".join(path.read_text() for path in _sources() if path.parent.name != "events")
    assert [action for action in catalogue.by_action() if f'"{action}"' not in source] == []


def test_a_loan_book_that_was_refused_or_has_stopped_says_why_in_the_words_of_the_book(
    store: Store, partner: Partner
) -> None:
    lender = Lender(store, partner)
    unread = lender.read(b"Ngozi,Okafor,1990-01-31\n")
    stopped = lender.read(as_csv([loan(1)]))
    lender.confirm(stopped)
    with store.writing(Scope.system()) as session:
        session.change(Product, col(Product.id) == stopped.product_id, active=False)
    loan_books.work(store)
    told = {event["type"]: event["data"].get("refusal") for event in list_events(store, partner)}
    assert told["loan_book.refused"] == unread.refusal
    assert told["loan_book.paused"] == lender.get(stopped.id).refusal
    assert "it needs the columns" in str(unread.refusal)
    assert told["loan_book.validated"] is None
