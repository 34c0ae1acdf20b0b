"""The screens of distributors and insurers: lists, one of each, and what an admin changes of them."""

from uuid import uuid4

import pytest

from core.errors import Unauthorized
from core.services.catalogue import changes, keys
from core.services.insurers import insurers
from core.services.sales import distributors
from core.services.sales.distributors import DistributorDetail
from core.store.access import Scope, Store
from tests.conftest import Partner
from tests.every_case import every_case
from tests.pages import turn_to
from tests.ui.conftest import Screen, confirm, lists, person_of, press, texts

LIST, ONE, INSURER = "admin/partners.py", "admin/partners.py#distributor", "admin/partners.py#insurer"


def seen(store: Store, partner: Partner) -> DistributorDetail:
    with store.reading(Scope.staff(is_live=True)) as session:
        return distributors.get_distributor(session, partner.id)


def test_the_first_distributor_is_added_from_the_empty_list(screen: Screen, store: Store) -> None:
    at = screen("admin", path=LIST)
    assert "no distributor yet" in texts(at)
    press(at, "Add a distributor")
    at.text_input(key="decision.field.name").set_value("L")
    at.text_input(key="decision.field.email").set_value("someone@x")
    confirm(at)
    assert "Must have at least 2 characters" in texts(at)
    assert "Must be an e-mail address" in texts(at)
    assert at.text_input(key="decision.field.email").value == "someone@x"
    at.text_input(key="decision.field.name").set_value("Lagos Loans")
    at.text_input(key="decision.field.email").set_value("")
    confirm(at)
    assert "Lagos Loans is added" in texts(at)
    assert list(lists(at)[0]["Distributor"]) == ["Lagos Loans"]
    at.text_input(key="q").set_value("nobody").run()
    assert "No distributor matches" in texts(at)


def test_a_distributor_is_switched_off_and_its_keys_are_refused(screen: Screen, store: Store, partner: Partner) -> None:
    at = press(screen("admin", path=ONE, id=str(partner.id)), "Switch off")
    assert "refused with 401" in texts(at)
    assert seen(store, partner).row.active
    confirm(at)
    assert ":red-badge[Off]" in at.title[0].value
    with store.reading(Scope.system()) as session, pytest.raises(Unauthorized):
        keys.authenticate(session, partner.live_key)


def test_a_name_typed_over_somebody_elses_change_is_not_written(screen: Screen, store: Store, partner: Partner) -> None:
    at = press(screen("admin", path=ONE, id=str(partner.id)), "Change")
    row = seen(store, partner).row
    with store.writing(Scope.system()) as session:
        changes.set_distributor_active(session, row.id, active=False, seen_at=row.updated_at, by=person_of("admin"))
    at.text_input(key="decision.field.name").set_value("Swifter Lenders")
    confirm(at)
    assert "Somebody else changed this" in texts(at)
    assert at.text_input(key="decision.field.name").value == "Swifter Lenders"
    assert seen(store, partner).row.name == "Swift Lenders"


def test_insurers_are_listed_opened_and_changed(screen: Screen, store: Store) -> None:
    at = screen("admin", path=LIST, view="insurers")
    assert set(lists(at)[0]["Connection"]) == {"Delegated authority"}
    with store.reading(Scope.staff(is_live=True)) as session:
        first = insurers.list_insurers(session)[0]
    at = press(screen("admin", path=INSURER, id=str(first.id)), "Change")
    at.text_input(key="decision.field.company_name").set_value("Anchorline Assurance")
    confirm(at)
    assert at.title[0].value == "Anchorline Assurance"


def test_only_an_admin_sees_partners(screen: Screen, store: Store) -> None:
    at = screen("operations", "finance")
    for page in (LIST, ONE, INSURER):
        with pytest.raises(ValueError, match="page"):
            turn_to(at, page)


@every_case(("page", "message"), [(ONE, "no such distributor"), (INSURER, "no such insurer")])
def test_an_address_without_a_record_says_so(screen: Screen, store: Store, page: str, message: str) -> None:
    at = screen("admin", path=page, id=str(uuid4()))
    assert message in texts(at)
    at.query_params["id"] = "x"
    assert "open it from its list" in texts(at.run())
