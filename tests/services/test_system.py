"""The operator's view of the installation: true, and nothing secret."""

import pytest

from core import settings
from core.covers import credit_life
from core.desk import store_check, system
from core.store.access import Scope, Store
from core.store.schema import versions
from tests.conftest import SECRET, Partner
from tests.services.selling import sell


def test_the_state_of_the_store_is_told(store: Store, partner: Partner) -> None:
    sell(store, partner, credit_life.CREDIT_LIFE)
    with store.reading(Scope.system()) as session:
        found = system.get_system_facts(session)
    assert found.store.kind == ("SQLite" if store.is_sqlite else "PostgreSQL")
    assert found.store.version[:1].isdigit()
    assert found.store.size_bytes > 100_000
    assert (found.store.journal is None) is not store.is_sqlite
    assert found.store.journal_is_safe
    assert (found.store.migration, found.store.is_current) == (versions.newest(), True)
    assert [(line.state, line.count) for line in found.queue] == [("delegated", 1)]
    assert found.queue[0].oldest_at
    assert (found.files.count, found.files.size_bytes, found.files.writable) == (0, 0, True)
    assert found.kept_answers == 0


def test_settings_are_told_without_their_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COVERDESK_DATABASE_URL", "postgresql://desk:hidden1@db.internal/desk?options=hidden2")
    monkeypatch.setenv("COVERDESK_INSURER_A_KEY", "hidden3-hidden3")
    monkeypatch.setenv("COVERDESK_OIDC_CLIENT_SECRET", "hidden4")
    settings.settings.cache_clear()
    found = {setting.name: setting for setting in system.list_settings()}
    settings.settings.cache_clear()
    text = str(found)
    assert "hidden" not in text
    assert SECRET not in text
    assert found["COVERDESK_DATABASE_URL"].value == "postgresql+psycopg://db.internal/desk"
    assert (found["COVERDESK_SECRET_KEY"].value, found["COVERDESK_OIDC_CLIENT_SECRET"].value) == ("set", "set")
    assert (found["COVERDESK_RATE_LIMIT"].value, found["COVERDESK_RATE_LIMIT"].is_default) == ("600000", True)


def test_every_rule_is_checked_and_named_once(store: Store) -> None:
    with store.reading(Scope.system()) as session:
        found = list(store_check.run_rules(session))
    assert len(found) == store_check.count_rules() == len({finding.rule for finding in found}) > 20
    assert not [finding for finding in found if finding.faults]
