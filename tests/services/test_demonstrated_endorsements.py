"""The demonstration has endorsed policies, told and untold, and its check still holds."""

import sqlalchemy as sa
from sqlmodel import col

from core import clock, demo
from core.desk import store_check
from core.services.events import catalogue
from core.services.people import demonstration
from core.services.policies import policies
from core.services.selling import demonstration as selling
from core.store.access import Scope, Store
from core.store.schema.tables import AuditEntry, PolicyEndorsement
from tests.portfolio import NOW

LIVE = Scope.staff(is_live=True)


def test_some_policies_in_force_are_endorsed_once_and_every_second_insurer_was_told(store: Store) -> None:
    with clock.freeze(NOW):
        demo.write(store, purchases=300, seed=5, until=NOW)
        with store.writing(Scope.system()) as session:
            demonstration.add_accounts(session)
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
