"""API keys on the screen: listed, issued and shown once, revoked after a second thought."""

import pytest
from sqlmodel import col
from streamlit.testing.v1 import AppTest

from core.covers import request
from core.errors import Unauthorized
from core.services.catalogue import key_admin, keys
from core.services.catalogue.key_admin import KeyFilter
from core.services.events.webhooks import endpoints
from core.services.events.webhooks.endpoints import EndpointRequest
from core.services.lists.paging import Paging
from core.store.access import Owner, Scope, Store
from core.store.schema.tables import Distributor
from tests.conftest import Partner
from tests.ui.conftest import Screen, address, labels, lists, press, texts

LIST = "admin/keys.py"


def issue(at: AppTest, distributor: str | None, name: str) -> AppTest:
    at.selectbox[0].set_value(distributor)
    at.text_input[0].set_value(name)
    return press(at, "Issue the key")


def place_of_form(at: AppTest) -> str:
    return next(str(node.proto.id) for node in at.main if getattr(node, "type", "") == "popover")


def test_a_key_is_shown_once_and_kept_nowhere(screen: Screen, store: Store, partner: Partner) -> None:
    at = screen("admin", path=LIST)
    before = place_of_form(at)
    at = issue(at, "Swift Lenders", "Check *out*")
    key = at.code[0].value
    assert place_of_form(at) != before, "the form is closed, which lay over the key"
    with store.reading(Scope.system()) as session:
        caller = keys.authenticate(session, key)
    assert (caller.distributor_id, caller.is_live) == (partner.id, False)
    assert "Check \\*out\\*" in at.markdown[0].value or "Check *out*" in texts(at)
    assert key not in str(at.session_state._state.filtered_state) + str(at.query_params)
    again = press(at, "Issue the key")
    assert again.code[0].value == key, "a second click loses nothing"
    at.run()
    assert not at.code
    assert len(lists(at)[0]) == 3


def test_an_incomplete_order_issues_nothing(screen: Screen, partner: Partner) -> None:
    at = issue(screen("admin", path=LIST), None, "")
    assert texts(at).count("Fill this in") == 2
    assert not at.code


def test_part_of_a_name_makes_no_distributor(screen: Screen, partner: Partner) -> None:
    at = screen("admin", path=LIST)
    assert at.selectbox[0].options == ["Swift Lenders"]
    assert not at.selectbox[0].proto.accept_new_options


def test_without_a_distributor_the_first_is_added_before_its_key(screen: Screen, store: Store) -> None:
    at = screen("admin", path=LIST)
    assert "There is no key yet" in texts(at)
    assert "Add the distributor that the first key is for" in [link.proto.label for link in at.get("page_link")]
    assert "Issue the key" not in labels(at)


def test_keys_are_narrowed_by_the_address(screen: Screen, partner: Partner) -> None:
    at = screen("admin", path=LIST)
    assert sorted(lists(at)[0]["Mode"]) == ["Live", "Test"]
    at.selectbox(key="kind").set_value("live").run()
    assert address(at) == {"kind": ["live"]}
    assert list(lists(at)[0]["Mode"]) == ["Live"]
    at.selectbox(key="state").set_value("revoked").run()
    assert "No key matches" in texts(at)


def test_keys_of_a_distributor_that_is_switched_off_are_found(screen: Screen, store: Store, partner: Partner) -> None:
    with store.writing(Scope.system()) as session:
        other = keys.get_or_create_distributor(session, "Other Motors")
        keys.issue_key(session, distributor_id=other, is_live=True, name="Shop", actor="tests")
        session.change(Distributor, col(Distributor.id) == partner.id, active=False)
    at = screen("admin", path=LIST, distributor=str(partner.id))
    assert address(at) == {"distributor": [str(partner.id)]}
    assert set(lists(at)[0]["Distributor"]) == {"Swift Lenders"}
    assert at.selectbox[0].options == ["Other Motors"], "nobody issues a key of one that is switched off"


def test_a_key_is_revoked_on_its_page(screen: Screen, store: Store, partner: Partner) -> None:
    with store.reading(Scope.system()) as session:
        key = key_admin.list_keys(session, KeyFilter(is_live=True), Paging(1, 1)).items[0]
    at = screen("admin", path="admin/keys.py#key")
    at.query_params["id"] = str(key.id)
    at.run()
    assert key.hint in str([line.value for line in at.text])
    press(at, "Revoke the key")
    assert "Revoked" in at.title[0].value
    assert "Revoke the key" not in labels(at)
    with store.reading(Scope.system()) as session, pytest.raises(Unauthorized):
        keys.authenticate(session, partner.live_key)


@pytest.mark.parametrize("is_stolen", [False, True])
def test_revoking_a_key_names_its_endpoints_which_go_on_unless_it_was_stolen(
    screen: Screen, store: Store, partner: Partner, *, is_stolen: bool
) -> None:
    details = request.validate(EndpointRequest, {"url": "https://hooks.example.com/", "events": ["*"]})
    with store.writing(Scope.system()) as session:
        key = next(row for row in key_admin.list_keys(session, KeyFilter(is_live=True), Paging(1, 9)).items)
        owner = Owner(distributor_id=partner.id, is_live=True)
        made = endpoints.register(session, details, owner, actor="tests", key_id=key.id)
    at = screen("admin", path="admin/keys.py#key", id=str(key.id))
    assert "go on, as they belong to the distributor" in texts(at)
    assert "- https" in texts(at)
    at.checkbox[0].set_value(is_stolen).run()
    press(at, "Revoke the key")
    assert ("Endpoints disabled with it, whose events are held: 1" in texts(at)) == is_stolen
    with store.reading(Scope.system()) as session:
        state = endpoints.get_endpoint(session, made.endpoint.id).state
    assert state == ("disabled" if is_stolen else "unverified")


def test_an_address_of_no_key_says_so(screen: Screen) -> None:
    at = screen("admin", path="admin/keys.py#key")
    assert "open it from its list" in at.error[0].value
