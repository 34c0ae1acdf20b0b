"""Renewing several policies at once: at the price that was shown, each once, the rest left out with its reason."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa

from core import clock, ids
from core.covers.insurers import insurer_a
from core.errors import InvalidInput, NotAllowed
from core.services.lists.dimensions import load_choices
from core.services.lists.paging import Paging
from core.services.people.staff import Person
from core.services.renewals import due, renewals
from core.services.renewals.records import DueFilter
from core.services.renewals.renewals import BulkRenewal, ShownTerm
from core.store.access import Scope, Store
from core.store.schema.tables import Renewal
from tests.conftest import Partner
from tests.covers import shipped
from tests.services.selling import sell

pytestmark = pytest.mark.both_databases

A_YEAR_ON = shipped.STILL + timedelta(days=362)
LIVE = Scope.staff(is_live=True)


def somebody(*roles: str) -> Person:
    return Person(id=ids.new(), email="o@coverdesk.example", name="O", roles=roles, claim_limit_minor=None)


OPERATIONS = somebody("operations")


@pytest.fixture
def shown(store: Store, partner: Partner, stranger: Partner) -> list[ShownTerm]:
    """Three policies of two distributors as the list of what is due shows them."""
    with clock.freeze(shipped.STILL):
        for place, seller in enumerate((partner, partner, stranger)):
            sell(store, seller, insurer_a.THIRD_PARTY, is_live=True, registration_number=f"ABC-12{place}-XY")
    with clock.freeze(A_YEAR_ON), store.reading(LIVE) as session:
        rows = due.list_due_rows(session, "week", DueFilter(), load_choices(session), paging=Paging(1, 50))
        return [
            ShownTerm(policy_id=row.id, expiration_at=row.expiration_at, total_minor=row.next_minor or 0)
            for row in rows
        ]


def renew(store: Store, shown: Sequence[ShownTerm], by: Person = OPERATIONS) -> BulkRenewal:
    with clock.freeze(A_YEAR_ON), store.writing(LIVE) as session:
        return renewals.renew_each(session, shown, by=by)


def test_each_is_renewed_once_at_the_price_that_was_shown(store: Store, shown: list[ShownTerm]) -> None:
    dearer = replace(shown[2], total_minor=shown[2].total_minor + 1)
    first = renew(store, [shown[0], shown[1], dearer, shown[0]])
    assert (first.done, first.total_minor) == (2, shown[0].total_minor + shown[1].total_minor)
    assert first.left_out == {renewals.REPRICED: 1}
    again = renew(store, [*shown, replace(shown[0], policy_id=ids.new())])
    assert (again.done, again.left_out) == (1, {renewals.RENEWED: 2, "Policy not found": 1})
    with store.reading(LIVE) as session:
        rows = session.execute(sa.select(Renewal.policy_id, Renewal.total_minor, Renewal.distributor_id)).all()
    assert {row.policy_id for row in rows} == {each.policy_id for each in shown}
    assert sum(row.total_minor for row in rows) == first.total_minor + again.total_minor
    assert len({row.distributor_id for row in rows}) == 2


def test_it_needs_operations_and_a_bounded_choice(store: Store, shown: list[ShownTerm]) -> None:
    with pytest.raises(NotAllowed):
        renew(store, shown, somebody("finance"))
    for wrong in ([], [replace(shown[0], policy_id=ids.new()) for _ in range(51)]):
        with pytest.raises(InvalidInput, match="policies"):
            renew(store, wrong)
