"""Staff on the screen: everybody with their state, somebody new, one person changed, locked out, let in."""

import pytest
import sqlalchemy as sa
from streamlit.testing.v1 import AppTest

from core.services.lists.paging import Paging
from core.services.people import accounts, credentials, staff
from core.services.people.staff import Person, StaffFilter, StaffRow
from core.store.access import Scope, Store
from core.store.schema.tables import Staff
from core.ui.kit import words
from tests.every_case import every_case
from tests.pages import turn_to
from tests.ui.conftest import Screen, address, confirm, follow, labels, lists, press, row_links, texts

LIST, ONE = "admin/staff.py", "admin/staff.py#person"
PASSWORD = "correct horse battery"


@pytest.fixture
def admin(store: Store, monkeypatch: pytest.MonkeyPatch) -> Person:
    """An admin with an account, as the one who looks; there is a second one, Eze."""
    with store.writing(Scope.system()) as session:
        for name in ("Ada", "Eze"):
            email = f"{name.lower()}@x.example"
            staff.add_or_update(session, email=email, name=name, roles=["admin"], password=PASSWORD, actor="tests")
        session.execute(sa.update(Staff).values(confirms_from=None))
        return staff.get_by_email(session, "ada@x.example")


@pytest.fixture
def second(store: Store, admin: Person) -> Person:
    """Another admin, who confirms what the first one proposes."""
    with store.reading(Scope.system()) as session:
        return staff.get_by_email(session, "eze@x.example")


@pytest.fixture
def bola(store: Store) -> StaffRow:
    with store.writing(Scope.system()) as session:
        staff.add_or_update(
            session,
            email="bola@x.example",
            name="Bola *Ade*",
            roles=["claims"],
            password=PASSWORD,
            claim_limit="250000",
            actor="tests",
        )
    return row(store, "bola@x.example")


def row(store: Store, email: str) -> StaffRow:
    with store.reading(Scope.system()) as session:
        return staff.list_staff(session, StaffFilter(text=email), Paging(1, 50)).items[0]


def open_page(screen: Screen, monkeypatch: pytest.MonkeyPatch, admin: Person, page: str, **query: str) -> AppTest:
    return screen(path=page, signed_in=admin, **query)


def test_everybody_is_listed_with_state_and_limit(screen: Screen, store: Store, bola: StaffRow) -> None:
    with store.writing(Scope.system()) as session:
        credentials.open_session(session, bola.id)
    at = screen("admin", path=LIST)
    shown = lists(at)[0]
    assert shown[["Name", "Roles", "State", "Sessions", "Claim limit"]].values.tolist() == [
        ["Bola *Ade*", "Claims", "Enabled", "1", "₦250,000.00"]
    ]
    assert "Bola \\*Ade\\*" in follow(at, row_links(at)[0]).title[0].value


def test_the_filters_stand_in_the_address_and_nobody_found_says_what_to_do(screen: Screen, bola: StaffRow) -> None:
    at = screen("admin", path=LIST)
    at.selectbox(key="role").set_value("finance").run()
    assert address(at) == {"role": ["finance"]}
    assert "No person matches" in texts(at)
    press(at, "Reset")
    assert len(lists(at)[0]) == 1


def test_somebody_new_gets_a_link_that_is_shown_once_to_who_confirms(
    screen: Screen, store: Store, admin: Person, second: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = open_page(screen, monkeypatch, admin, LIST)
    press(at, "Add")
    assert "Must be an e-mail address" in texts(at) or "Fill this in" in texts(at)
    assert "Must be chosen: at least one" in texts(at)
    at.text_input(key="add.email").set_value("new@x.example")
    at.text_input(key="add.name").set_value("New")
    at.button_group(key="add.roles").set_value(["claims"])
    at.text_input(key="add.claim_limit").set_value("₦1,000.50")
    follow(press(at, "Add"))
    assert "New" in at.title[0].value
    assert not at.code
    assert "A new account: claims, up to ₦1,000.50" in texts(at)
    at = open_page(screen, monkeypatch, second, ONE, id=str(row(store, "new@x.example").id))
    press(at, "Confirm it")
    link = at.code[0].value
    with store.reading(Scope.system()) as session:
        invitation = accounts.open_invitation(session, link.partition("t=")[2])
    assert (invitation.email, invitation.needs_code) == ("new@x.example", True)
    assert row(store, "new@x.example").claim_limit_minor == 100_050
    assert link not in str(at.query_params)
    at.run()
    assert not at.code
    told, new = "Code of the link", row(store, "new@x.example").id
    assert told not in texts(at), "who has the link"
    assert told in texts(open_page(screen, monkeypatch, admin, ONE, id=str(new)))
    _choose_with_code(screen, store, admin, link.partition("t=")[2])


def _choose_with_code(screen: Screen, store: Store, admin: Person, ticket: str) -> None:
    at = screen(t=ticket)
    with store.reading(Scope.system()) as session:
        code = accounts.find_link_code(session, row(store, "new@x.example").id, by=admin) or ""
    for typed, is_chosen in (("1234", False), (code.lower(), True)):
        for field, text in zip(at.text_input, (typed, PASSWORD, PASSWORD), strict=True):
            field.set_value(text)
        at.button[0].click().run()
        assert ("Must be the one that Ada, an admin, tells you" in texts(at)) is not is_chosen
        assert row(store, "new@x.example").has_password is is_chosen


def test_duties_are_changed_and_what_is_wrong_is_said(
    screen: Screen, store: Store, admin: Person, second: Person, bola: StaffRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = open_page(screen, monkeypatch, admin, ONE, id=str(bola.id))
    name, limit = at.text_input[0], at.text_input[1]
    assert (name.value, limit.value) == ("Bola *Ade*", "250,000.00")
    limit.set_value("much")
    press(at, "Save")
    assert row(store, bola.email).claim_limit_minor == 25_000_000
    assert at.text_input[1].value == "much"
    at.text_input[1].set_value("")
    at.button_group[0].set_value(["claims", "operations"])
    press(at, "Save")
    press(open_page(screen, monkeypatch, second, ONE, id=str(bola.id)), "Confirm it")
    changed = row(store, bola.email)
    assert (changed.roles, changed.claim_limit_minor) == (("claims", "operations"), 0)
    at = open_page(screen, monkeypatch, admin, ONE, id=str(bola.id))
    assert "The higher limit" not in texts(at), "a lower one counts at once"
    at.text_input[1].set_value("90,000")
    press(at, "Save")
    at = press(open_page(screen, monkeypatch, second, ONE, id=str(bola.id)), "Confirm it")
    until = words.moment(row(store, bola.email).limit_holds_from)
    assert f"The higher limit counts from {until}; until then it is ₦0.00." in texts(at)
    shown = lists(open_page(screen, monkeypatch, admin, LIST))[0]
    assert shown.set_index("Name")["Claim limit"]["Bola *Ade*"] == "₦0.00", "the list has the limit that counts now"


def test_a_role_that_approves_is_confirmed_by_another_admin(
    screen: Screen, store: Store, admin: Person, second: Person, bola: StaffRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = open_page(screen, monkeypatch, admin, ONE, id=str(bola.id))
    at.button_group[0].set_value(["claims", "finance"])
    press(at, "Save")
    assert row(store, bola.email).roles == ("claims",)
    at = open_page(screen, monkeypatch, admin, ONE, id=str(bola.id))
    assert "claims, finance, up to ₦250,000.00** waits for a second admin" in texts(at)
    assert "Confirm it" not in labels(at)
    at = open_page(screen, monkeypatch, second, ONE, id=str(bola.id))
    press(at, "Confirm it")
    assert row(store, bola.email).roles == ("claims", "finance")


def test_two_admins_on_one_account_are_told_apart(
    screen: Screen, store: Store, admin: Person, bola: StaffRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = open_page(screen, monkeypatch, admin, ONE, id=str(bola.id))
    with store.writing(Scope.system()) as session:
        staff.add_or_update(session, email=bola.email, name="Bola", roles=["finance"], password=PASSWORD, actor="tests")
    at.text_input[0].set_value("Bola Typed")
    press(at, "Save")
    assert "Somebody else changed this account" in texts(at)
    assert row(store, bola.email).name == "Bola"
    assert at.text_input[0].value == "Bola Typed"
    press(at, "Save")
    assert row(store, bola.email).name == "Bola Typed"


def test_a_person_is_locked_out_and_let_in_again(
    screen: Screen, store: Store, admin: Person, second: Person, bola: StaffRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.writing(Scope.system()) as session:
        token = credentials.open_session(session, bola.id)
    at = open_page(screen, monkeypatch, admin, ONE, id=str(bola.id))
    press(at, "End")
    with store.reading(Scope.system()) as session:
        assert staff.get_by_token(session, token) is None
    assert "Claims of this person that are not settled or declined are unassigned then" in texts(at)
    press(at, "Disable the account")
    assert "Disabled" in at.title[0].value
    press(at, "Enable")
    assert row(store, bola.email).state == "Disabled"
    press(open_page(screen, monkeypatch, second, ONE, id=str(bola.id)), "Confirm it")
    assert row(store, bola.email).state == "Enabled"
    at = open_page(screen, monkeypatch, admin, ONE, id=str(bola.id))
    press(at, "Reset the password")
    assert not at.code
    at = press(open_page(screen, monkeypatch, second, ONE, id=str(bola.id)), "Confirm it")
    assert at.code[0].value.startswith("http://127.0.0.1:8501/set-password?t=")


def test_an_admin_cannot_lock_themselves_out(screen: Screen, admin: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    at = open_page(screen, monkeypatch, admin, ONE, id=str(admin.id))
    assert "Disable the account" not in labels(at)
    at.button_group[0].set_value(["finance"])
    press(at, "Save")
    assert "your own access" in at.error[0].value


@every_case(
    ("given", "message"),
    [("nope", "open it from its list"), ("01900000-0000-7000-8000-0000000000ff", "No such person")],
)
def test_an_address_of_nobody_says_so_and_leads_back(screen: Screen, given: str, message: str) -> None:
    at = screen("admin", path=ONE, id=given)
    at.query_params["id"] = given
    assert message in at.run().error[0].value


@every_case("page", [LIST, ONE, "admin/keys.py", "admin/keys.py#key", "admin/system.py"])
def test_nobody_but_an_admin_comes_here(screen: Screen, page: str) -> None:
    at = screen("operations", "claims", "finance", "supervisor")
    with pytest.raises(ValueError, match=page):
        turn_to(at, page)


def test_own_phone_and_account_are_set_by_another_admin_and_shown_masked(
    screen: Screen, store: Store, admin: Person, bola: StaffRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = press(open_page(screen, monkeypatch, admin, ONE, id=str(bola.id)), "Change phone or account")
    confirm(at, phone_number="08031234567", account_number="123")
    assert "account_number" in texts(at) or "digits" in texts(at)
    confirm(at, phone_number="08031234567", account_number="0123456789")
    at = open_page(screen, monkeypatch, admin, ONE, id=str(bola.id))
    assert {"ending in 6789", "+2348031234567"} <= {text.value for text in at.text}
    with store.reading(Scope.system()) as session:
        person = staff.get_by_email(session, bola.email)
    assert (person.phone_numbers, len(person.account_keys)) == (("+2348031234567",), 1)
    at = open_page(screen, monkeypatch, admin, ONE, id=str(admin.id))
    assert "Change phone or account" not in labels(at)
    assert "another admin sets them" in texts(at)
