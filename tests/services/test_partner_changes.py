"""Distributors and insurers as an admin changes them, and what the lists tell of them."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from core import clock, ids
from core.covers.insurers import insurer_a
from core.covers.registry import COVERS
from core.errors import InvalidInput, NotAllowed, StaleVersion, StateForbids, Unauthorized
from core.services.audit import log as audit
from core.services.catalogue import changes, keys
from core.services.insurers import insurers
from core.services.lists.paging import Paging
from core.services.sales import distributors
from core.services.sales.distributors import DistributorFilter, DistributorRow
from core.store.access import Scope, Store
from tests.conftest import Partner
from tests.services.selling import CAR, sell
from tests.ui.conftest import person_of

ADMIN = person_of("admin")


def listed(store: Store, **wanted: Any) -> list[DistributorRow]:
    with store.reading(Scope.staff(is_live=True)) as session:
        return list(distributors.list_distributors(session, DistributorFilter(**wanted), Paging(1, 50)).items)


def switch(store: Store, row: DistributorRow, *, on: bool, **other: Any) -> None:
    options = {"seen_at": row.updated_at, "by": ADMIN, **other}
    with store.writing(Scope.system()) as session:
        changes.set_distributor_active(session, row.id, active=on, **options)


def test_every_key_of_a_distributor_that_is_switched_off_is_refused_at_once(
    store: Store, partner: Partner, stranger: Partner
) -> None:
    (row,) = listed(store, q="swift")
    switch(store, row, on=False)
    with store.reading(Scope.system()) as session:
        for key in (partner.test_key, partner.live_key):
            with pytest.raises(Unauthorized):
                keys.authenticate(session, key)
        assert keys.authenticate(session, stranger.test_key)
    (row,) = listed(store, on=False)
    switch(store, row, on=True)
    with store.reading(Scope.system()) as session:
        assert keys.authenticate(session, partner.live_key)
        entries = audit.list_history(session, audit.subject_of("distributor", partner.id))
        assert [entry.action for entry in entries] == ["distributor switched off", "distributor switched on"]
        assert ((entries[0].before or {})["active"], (entries[0].after or {})["active"]) == (True, False)


def test_who_saw_an_older_distributor_is_told(store: Store, partner: Partner) -> None:
    (row,) = listed(store)
    switch(store, row, on=False)
    with pytest.raises(StaleVersion):
        switch(store, row, on=True)
    with pytest.raises(StateForbids, match="nothing would change"):
        switch(store, listed(store)[0], on=False)
    with pytest.raises(NotAllowed):
        switch(store, listed(store)[0], on=True, by=person_of("finance"))


def test_a_distributor_is_added_once_and_its_name_is_its_own(store: Store, partner: Partner) -> None:
    new_id = ids.new()
    for _ in range(2):
        with store.writing(Scope.system()) as session:
            changes.add_distributor(session, new_id, {"name": "Lagos Loans", "email": ""}, by=ADMIN)
    assert [row.name for row in listed(store)] == ["Lagos Loans", "Swift Lenders"]
    for same in ("Lagos Loans", "LAGOS loans"):
        with store.writing(Scope.system()) as session, pytest.raises(InvalidInput, match="name belongs"):
            changes.add_distributor(session, ids.new(), {"name": same}, by=ADMIN)
    row = listed(store, q="lagos")[0]
    for details, fault in (
        ({"name": "Swift Lenders"}, "name belongs"),
        ({"name": "swift LENDERS"}, "name belongs"),
        ({"name": "Lagos", "email": "x"}, "email must be"),
    ):
        with store.writing(Scope.system()) as session, pytest.raises(InvalidInput, match=fault):
            changes.change_distributor(session, row.id, details, seen_at=row.updated_at, by=ADMIN)
    with store.writing(Scope.system()) as session:
        changes.change_distributor(session, row.id, {"name": "LAGOS LOANS"}, seen_at=row.updated_at, by=ADMIN)


def test_two_who_name_a_distributor_at_once_in_another_case_make_one(store: Store) -> None:
    def issue(name: str) -> str:
        with store.writing(Scope.system()) as session:
            return str(keys.get_or_create_distributor(session, name))

    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(issue, ["Corner Shop", "CORNER SHOP", "corner shop", "Corner shop"] * 4))
    assert len(made) == 1


def test_the_lists_tell_what_is_sold_of_each_in_this_mode_alone(store: Store, partner: Partner) -> None:
    sell(store, partner, insurer_a.THIRD_PARTY, is_live=True)
    sell(store, partner, insurer_a.THIRD_PARTY, is_live=False)
    with clock.freeze(clock.now() - timedelta(days=400)):
        sell(store, partner, insurer_a.THIRD_PARTY, is_live=True, registration_number="OLD-123-AB")
    with store.writing(Scope.system()) as session:
        changes.set_offered(session, CAR, partner.id, offered=False, seen_version=1, by=ADMIN)
    (row,) = listed(store)
    assert (row.keys, row.customers, row.policies, row.premium_minor, row.withheld) == (1, 1, 2, 1_500_000, 1)
    with store.reading(Scope.staff(is_live=True)) as session:
        assert distributors.get_distributor(session, partner.id).withheld == [(CAR, "Third-party auto, private")]
        found = {each.segment: each for each in insurers.list_insurers(session)}
    assert found.keys() == {cover.insurer for cover in COVERS if cover.insurer}
    first = found["insurer-a"]
    assert (first.policies, first.premium_minor, first.connection) == (2, 1_500_000, "Delegated authority")
    assert found["insurer-b"].policies == 0


def test_an_insurers_connection_is_shown_by_its_host_alone(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from core.settings import settings

    monkeypatch.setenv("COVERDESK_INSURER_A_URL", "https://api.anchorline.example:8443/take/policies")
    settings.cache_clear()
    assert insurers.get_connection_host("insurer-a", is_live=True) == "api.anchorline.example:8443"


def test_an_insurer_is_renamed_with_its_before_and_after(store: Store) -> None:
    with store.reading(Scope.staff(is_live=True)) as session:
        row = insurers.list_insurers(session)[0]
    contacts = {name: getattr(row, name) for name in ("first_name", "last_name", "email", "phone_number")}
    with store.writing(Scope.system()) as session:
        changed = {**contacts, "company_name": "Anchorline Assurance"}
        changes.change_insurer(session, row.id, changed, seen_at=row.updated_at, by=ADMIN)
        (entry,) = audit.list_history(session, audit.subject_of("insurer", row.id))
        assert (entry.before or {})["company_name"] == row.name
        assert (entry.after or {})["company_name"] == "Anchorline Assurance"
    with store.writing(Scope.system()) as session, pytest.raises(InvalidInput) as refused:
        changes.change_insurer(session, row.id, {"email": "x"}, seen_at=row.updated_at, by=ADMIN)
    assert {fault.field for fault in refused.value.faults} == {*contacts, "company_name"}
