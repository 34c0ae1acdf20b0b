"""The demonstration has endorsed policies, told and untold, and webhooks in several states; its check still holds."""

from collections import Counter
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock, demo, settings
from core.demo import accounts
from core.demo.papers import selling, webhooks
from core.desk import store_check
from core.services.events import catalogue
from core.services.policies import policies
from core.store.access import Scope, Store
from core.store.schema.tables import AuditEntry, PolicyEndorsement, WebhookDelivery, WebhookEndpoint, WebhookTry
from tests.portfolio import NOW

LIVE = Scope.staff(is_live=True)


def test_some_policies_in_force_are_endorsed_once_and_every_second_insurer_was_told(store: Store) -> None:
    with clock.freeze(NOW):
        demo.write(store, purchases=300, seed=5, until=NOW)
        with store.writing(Scope.system()) as session:
            accounts.add_accounts(session)
        with store.writing(LIVE) as session:
            number = selling.write_endorsements(session)
        with store.writing(LIVE) as session:
            assert selling.write_endorsements(session) == 0
        with store.reading(LIVE) as session:
            rows = list(session.execute(sa.select(PolicyEndorsement)).scalars())
            _, untold = policies.list_untold(session, limit=50)
            assert len(rows) == number > 4
            assert untold == number // 2
            assert len({row.changes[0]["field"] for row in rows}) > 1
            for row in rows:
                (shown,) = policies.list_endorsements(session, row.policy_id)
                (change,) = shown.changes
                assert change["before"] != change["after"]
                listed = policies.get_policy(session, row.policy_id)["endorsements"]
                assert [each["changes"] for each in listed] == [row.changes]
        with store.reading(Scope.system()) as session:
            query = sa.select(sa.func.count()).where(col(AuditEntry.action) == "policy endorsed")
            assert session.execute(query).scalar_one() == number
            assert list(store_check.list_faults(session)) == []
    assert "policy.endorsed" in {each.name for each in catalogue.EVENT_TYPES}


@pytest.fixture
def _demonstration(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Receivers on this machine are refused outside demonstration mode."""
    monkeypatch.setenv("COVERDESK_DEMO", "true")
    settings.settings.cache_clear()
    yield
    settings.settings.cache_clear()


@pytest.mark.usefixtures("_demonstration")
def test_webhooks_of_this_machine_have_deliveries_in_every_state(store: Store) -> None:
    with clock.freeze(NOW):
        demo.write(store, purchases=300, seed=5, until=NOW)
        with store.writing(Scope.system()) as session:
            accounts.add_accounts(session)
            number = webhooks.write_endpoints(session)
            assert webhooks.write_endpoints(session) == 0
        with store.reading(Scope.system()) as session:
            rows = list(session.execute(sa.select(WebhookEndpoint)).scalars())
            deliveries = list(session.execute(sa.select(WebhookDelivery)).scalars())
            tries = Counter(session.execute(sa.select(col(WebhookTry.delivery_id))).scalars())
            faults = list(store_check.list_faults(session))
    assert sorted(row.state for row in rows) == ["active", "disabled"]
    assert all(row.url.startswith("http://127.0.0.1:") for row in rows), "nothing leaves the machine"
    assert {row.state for row in deliveries} == {"queued", "held", "sent", "dead"}
    assert len(deliveries) == number
    assert {row.id: row.attempts for row in deliveries if row.attempts} == tries
    assert faults == []
