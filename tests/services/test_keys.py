"""API keys: shown once, kept as hashes, revocable (contract M1-M3)."""

import pytest
import sqlalchemy as sa

from core.errors import NotFound, Unauthorized
from core.services import keys
from core.store.engine import Store
from core.store.scope import Scope
from core.store.tables import ApiKey
from tests.conftest import Partner


def test_key_leads_to_its_distributor_and_mode(store: Store, partner: Partner) -> None:
    with store.reading(Scope.system()) as session:
        assert keys.authenticate(session, partner.test_key).scope == partner.scope()
        assert keys.authenticate(session, partner.live_key).scope == partner.scope(is_live=True)


def test_key_is_not_in_the_store(store: Store, partner: Partner) -> None:
    with store.reading(Scope.system()) as session:
        rows = session.execute(sa.select(ApiKey)).scalars().all()
    assert all(partner.test_key not in str(row.model_dump().values()) for row in rows)


@pytest.mark.parametrize("change", [lambda k: k[:-1], lambda k: k[:-1] + "!", lambda k: k.upper(), lambda k: "é" + k])
def test_changed_key_is_rejected(store: Store, partner: Partner, change: object) -> None:
    with store.reading(Scope.system()) as session, pytest.raises(Unauthorized):
        keys.authenticate(session, change(partner.test_key))  # type: ignore[operator]


def test_revoked_key_is_rejected_and_listed_as_revoked(store: Store, partner: Partner) -> None:
    with store.writing(Scope.system()) as session:
        revoked = keys.revoke(session, partner.test_key, actor="tests")
    with store.reading(Scope.system()) as session:
        with pytest.raises(Unauthorized):
            keys.authenticate(session, partner.test_key)
        assert keys.authenticate(session, partner.live_key)
        assert {key.id for key in keys.all_keys(session) if key.revoked_at} == {revoked}


@pytest.mark.parametrize("unknown", ["01900000-0000-7000-8000-000000000000", "cd_test_nothing"])
def test_unknown_key_cannot_be_revoked(store: Store, unknown: str) -> None:
    with store.writing(Scope.system()) as session, pytest.raises(NotFound):
        keys.revoke(session, unknown, actor="tests")
