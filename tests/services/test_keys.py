"""API keys: shown once, kept as hashes, revocable (contract M1-M3)."""

from dataclasses import replace

import pytest
import sqlalchemy as sa

from core import ids
from core.errors import InvalidInput, NotAllowed, NotFound, StateForbids, Unauthorized
from core.services.catalogue import key_admin, keys
from core.services.catalogue.key_admin import KeyFilter
from core.services.lists.paging import Paging
from core.services.people.staff import Person
from core.store.access import Scope, Store
from core.store.schema.tables import ApiKey, AuditEntry, Distributor
from tests.conftest import Partner
from tests.every_case import every_case


@pytest.fixture
def admin() -> Person:
    return Person(id=ids.new(), email="ada@x.example", name="Ada", roles=("admin",), claim_limit_minor=None)


def test_key_leads_to_its_distributor_and_mode(store: Store, partner: Partner) -> None:
    with store.reading(Scope.system()) as session:
        assert keys.authenticate(session, partner.test_key).scope == partner.scope()
        assert keys.authenticate(session, partner.live_key).scope == partner.scope(is_live=True)


def test_key_is_not_in_the_store(store: Store, partner: Partner) -> None:
    with store.reading(Scope.system()) as session:
        rows = session.execute(sa.select(ApiKey)).scalars().all()
    assert all(partner.test_key not in str(row.model_dump().values()) for row in rows)


@every_case("change", [lambda k: k[:-1], lambda k: k[:-1] + "!", lambda k: k.upper(), lambda k: "é" + k])
def test_changed_key_is_rejected(store: Store, partner: Partner, change: object) -> None:
    with store.reading(Scope.system()) as session, pytest.raises(Unauthorized):
        keys.authenticate(session, change(partner.test_key))  # type: ignore[operator]


def test_revoked_key_is_rejected_and_listed_as_revoked(store: Store, partner: Partner) -> None:
    with store.writing(Scope.system()) as session:
        revoked = keys.revoke_key(session, partner.test_key, actor="tests")
    with store.reading(Scope.system()) as session:
        with pytest.raises(Unauthorized):
            keys.authenticate(session, partner.test_key)
        assert keys.authenticate(session, partner.live_key)
        assert {key.id for key in keys.list_keys(session) if key.revoked_at} == {revoked}


@every_case("unknown", ["01900000-0000-7000-8000-000000000000", "cd_test_nothing"])
def test_unknown_key_cannot_be_revoked(store: Store, unknown: str) -> None:
    with store.writing(Scope.system()) as session, pytest.raises(NotFound):
        keys.revoke_key(session, unknown, actor="tests")


def test_an_admin_issues_one_key_however_often_it_is_asked_for(store: Store, admin: Person) -> None:
    details = {"distributor": "Corner Shop", "mode": "live", "name": "Checkout"}
    with store.writing(Scope.system()) as session:
        keys.get_or_create_distributor(session, "Corner Shop")

    def issue(seed: str, **changed: str) -> str:
        return store.transact(
            Scope.system(), lambda session: key_admin.issue_key(session, {**details, **changed}, seed=seed, by=admin)
        )

    key = issue("seed")
    assert key == issue("seed")
    assert len({key, issue("other seed"), issue("seed", name="Office"), issue("seed", mode="test")}) == 4
    with store.reading(Scope.system()) as session:
        assert keys.authenticate(session, key).is_live
        page = key_admin.list_keys(session, KeyFilter(is_live=True), Paging(1, 50))
        log = session.execute(sa.select(AuditEntry)).scalars().all()
        session.expunge_all()
    assert (page.total_count, {row.distributor for row in page.items}) == (3, {"Corner Shop"})
    assert [entry.action for entry in log].count("key issued") == 4
    assert key not in str([entry.model_dump() for entry in log])


def test_a_key_is_revoked_once_and_listed_so(store: Store, partner: Partner, admin: Person) -> None:
    with store.reading(Scope.system()) as session:
        live = key_admin.list_keys(session, KeyFilter(is_live=True, revoked=False), Paging(1, 50)).items[0]
    for _ in range(2):
        store.transact(Scope.system(), lambda session: key_admin.revoke_key(session, live.id, by=admin))
    with store.reading(Scope.system()) as session:
        assert key_admin.get_key(session, live.id).state == "Revoked"
        with pytest.raises(Unauthorized):
            keys.authenticate(session, partner.live_key)
        assert key_admin.list_keys(
            session, KeyFilter(distributor_id=partner.id, revoked=True), Paging(1, 50)
        ).total_count
        actions = session.execute(sa.select(AuditEntry.action)).scalars().all()
    assert actions.count("key revoked") == 1


def test_what_is_wrong_with_a_new_key_is_said(store: Store, partner: Partner, admin: Person) -> None:
    with store.writing(Scope.system()) as session:
        with pytest.raises(InvalidInput) as refusal:
            key_admin.issue_key(session, {"distributor": " ", "mode": "real", "name": None}, seed="s", by=admin)
        assert {fault.field for fault in refusal.value.faults} == {"distributor", "mode", "name"}
        with pytest.raises(InvalidInput, match="add it there first"):
            key_admin.issue_key(session, {"distributor": "Swift", "mode": "live", "name": "x"}, seed="s", by=admin)
        assert session.count_rows(Distributor) == 1
        session.execute(sa.update(Distributor).values(active=False))
        with pytest.raises(StateForbids, match="switched off"):
            key_admin.issue_key(
                session, {"distributor": "Swift Lenders", "mode": "test", "name": "x"}, seed="s", by=admin
            )
        nobody = replace(admin, roles=("operations", "finance"))
        for verb in (
            lambda: key_admin.issue_key(session, {}, seed="s", by=nobody),
            lambda: key_admin.revoke_key(session, ids.new(), by=nobody),
        ):
            with pytest.raises(NotAllowed):
                verb()
