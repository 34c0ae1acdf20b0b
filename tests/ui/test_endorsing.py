"""Endorsing a policy on its screen: the form with the present values, the versions, and telling the insurer."""

import re
from datetime import UTC, date, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core import clock
from core.covers.claims.lines import MotorClaimRequest
from core.covers.fields import build_example
from core.covers.insurers import insurer_a
from core.covers.request import validate
from core.services.claims.intake import lodging
from core.services.people import staff
from core.services.people.staff import Person
from core.services.policies import policies
from core.services.selling import endorsing
from core.services.selling.buying import Sale
from core.store.access import Owner, Scope, Store
from core.store.schema.tables import Policy
from core.ui.kit import words
from pages.policies._shared import list_versions
from tests.conftest import Partner
from tests.services.selling import sell
from tests.ui.conftest import Screen, lists, press, texts
from tests.ui.policy_pages import PAGE, confirm, open_page

AWAITING = "policies/awaiting.py"
NOON = datetime(2026, 3, 2, 11, tzinfo=UTC)
PLATE = "decision.field.changes.registration_number"


@pytest.fixture
def active(store: Store, partner: Partner) -> Sale:
    return sell(store, partner, insurer_a.THIRD_PARTY, is_live=True)


@pytest.fixture
def ope(store: Store) -> Person:
    with store.writing(Scope.system()) as session:
        session.add(staff.Staff(email="ope@d.example", name="Ope Ade", roles=["operations"]))
    with store.reading(Scope.system()) as session:
        return staff.get_by_email(session, "ope@d.example")


def opened(screen: Screen, person: Person, policy_id: Any) -> AppTest:
    return screen(signed_in=person, path=PAGE, id=str(policy_id))


def test_a_policy_is_endorsed_shows_its_versions_and_its_insurer_is_told(
    screen: Screen, store: Store, partner: Partner, active: Sale, ope: Person
) -> None:
    other = sell(store, partner, insurer_a.THIRD_PARTY, is_live=True, registration_number="XYZ-111AA")
    at = press(opened(screen, ope, active.policy_id), "Endorse")
    assert at.text_input(key=PLATE).value == active_plate(store, active)
    at.text_input(key=PLATE).set_value("XYZ-111AA")
    at.text_input(key="decision.field.changes.email").set_value("x")
    confirm(at)
    assert all(fault in texts(at) for fault in ("Must be an e-mail address", "Say who asked, and how, in 2 to"))
    at.text_input(key="decision.field.changes.email").set_value("obi@people.example")
    at.text_input(key="decision.field.reason").set_value("New plates")
    at.text_input(key="decision.field.requested_by").set_value("The owner by phone")
    confirm(at)
    assert f"Is insured in these days by {other.policy['meta']['policy_number']}" in texts(at)
    assert at.text_input(key="decision.field.reason").value == "New plates", "nothing that was typed is lost"
    at.text_input(key=PLATE).set_value("NEW-222BB")
    confirm(at)
    done = ("The policy has endorsement 1. Its insurer is still to be told.", "Insurer to be told")
    assert [sentence for sentence in done if sentence not in texts(at)] == []
    assert "Fields: Registration number" in texts(at), "the history names fields in words"
    assert {"NEW222BB", "₦0.00", "The owner by phone"} <= {text.value for text in at.text}
    assert versions(at)[:2] == [
        ["Endorsement 1", "As sold"],
        ["Registration number: LSD-123AB → NEW-222BB; E-mail: amaka.eze@example.com → obi@people.example", "–"],
    ]
    assert versions(at)[2:] == [["₦0.00", "–"], [words.naira_of(active.price.total)] * 2, ["Ope Ade", "Swift Lenders"]]
    waiting = screen(signed_in=ope, path=AWAITING)
    assert [found.label for found in waiting.expander if "reported by hand" in found.label] == [
        "1 endorsement to be reported by hand"
    ]
    at = press(opened(screen, ope, active.policy_id), "Note that the insurer was told")
    at.text_input(key="decision.field.note").set_value("E-mail to the underwriter")
    at = at.button(key="decision.confirm").click().run()
    assert any(re.fullmatch(r"Ope Ade, .*: E-mail to the underwriter", text.value) for text in at.text)
    assert "Insurer to be told" not in texts(at)
    assert not [found for found in screen(signed_in=ope, path=AWAITING).expander if "by hand" in found.label]


def versions(at: AppTest) -> list[list[str]]:
    (shown,) = (shown for shown in lists(at) if "Premium difference" in shown)
    return [list(shown[name]) for name in ("Version", "Changed", "Premium difference", "Premium", "Made by")]


def test_a_version_holds_until_the_day_before_the_next_unless_that_began_earlier() -> None:
    def made(number: int, day: int, cost: int) -> Any:
        return SimpleNamespace(
            number=number, effective_on=date(2026, 3, day), premium_minor=cost, changes=[], made_by="Ope", made_at=NOON
        )

    sold = SimpleNamespace(start_at=NOON, total_minor=100, distributor="Swift", created_at=NOON)
    policy: Any = SimpleNamespace(sale=sold, endorsements=[made(1, 9, 0), made(2, 5, 30), made(3, 20, -10)])
    found = [
        (row.name, row.from_on and row.from_on.day, row.last_on and row.last_on.day, row.premium_minor)
        for row in list_versions(policy)
    ]
    assert found == [
        ("As sold", 2, 8, 100),
        ("Endorsement 1", 9, None, 100),
        ("Endorsement 2", 5, 19, 130),
        ("Endorsement 3", 20, None, 120),
    ]


def active_plate(store: Store, sale: Sale) -> str:
    with store.reading(Scope.system()) as session:
        return str(session.get_one(Policy, sale.policy_id).submitted["registration_number"])


def test_what_somebody_else_endorsed_meanwhile_is_shown_and_stays(
    screen: Screen, store: Store, active: Sale, ope: Person
) -> None:
    at = press(opened(screen, ope, active.policy_id), "Endorse")
    at.text_input(key="decision.field.changes.address").set_value("2 Second Street")
    at.text_input(key="decision.field.reason").set_value("Moved house")
    at.text_input(key="decision.field.requested_by").set_value("The owner")
    with store.writing(Scope.system()) as session:
        words_of = {"reason": "Married", "requested_by": "The owner"}
        version = policies.get_state(session, active.policy_id).version
        day, seen = clock.today(), {"expected_version": version, "by": ope}
        endorsing.endorse(session, active.policy_id, {"last_name": "Obi"}, effective_on=day, **words_of, **seen)
    confirm(at)
    assert "Somebody else changed this policy" in texts(at)
    assert "Last name is **Obi** now." in texts(at)
    confirm(at)
    assert "The policy has endorsement 2." in texts(at)
    with store.reading(Scope.system()) as session:
        _, last = policies.find_rows(session, active.policy_id)
    assert [change["field"] for change in last.changes] == ["address"]


def test_while_a_claim_is_open_the_form_says_so_and_asks_for_contacts_alone(
    screen: Screen, store: Store, partner: Partner, active: Sale, ope: Person
) -> None:
    fields = {**build_example(MotorClaimRequest), "policy_number": active.policy["meta"]["policy_number"]}
    given = validate(MotorClaimRequest, {name: value for name, value in fields.items() if value is not None})
    with store.writing(partner.scope(is_live=True)) as session:
        owner = Owner(distributor_id=partner.id, is_live=True)
        lodging.lodge_claim(session, given, [], owner=owner, actor="tests")
    at = press(opened(screen, ope, active.policy_id), "Endorse")
    assert "is open, only address, e-mail and phone can be endorsed" in texts(at)
    start = "decision.field.changes."
    field_names = {str(field.key).removeprefix(start) for field in at.text_input if str(field.key).startswith(start)}
    assert field_names == {"address", "email", "phone_number"}


def test_a_claims_officer_reads_the_versions_and_changes_nothing(
    screen: Screen, store: Store, active: Sale, ope: Person
) -> None:
    at = press(opened(screen, ope, active.policy_id), "Endorse")
    at.text_input(key="decision.field.changes.last_name").set_value("Obi")
    at.text_input(key="decision.field.reason").set_value("Married")
    at.text_input(key="decision.field.requested_by").set_value("The owner")
    confirm(at)
    officer = open_page(screen, active.policy_id, "claims")
    assert "Endorsement 1" in texts(officer)
    assert not {"Endorse", "Note that the insurer was told"} & {button.label for button in officer.button}
