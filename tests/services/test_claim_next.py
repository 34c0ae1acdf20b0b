"""An officer's day: a decision takes the claim, and the next one follows (contract C19)."""

from collections.abc import Iterator
from uuid import UUID

import pytest

from core import clock
from core.errors import NotAllowed
from core.services.claims.lists import queue as claim_queue
from core.services.claims.lists.filter import ClaimFilter
from core.services.claims.workflow import actions as claim_actions
from core.services.claims.workflow import assignment
from core.services.claims.workflow import questions as claim_questions
from core.store.access import Store
from tests.conftest import Partner
from tests.services.claim_office import DESK, Office
from tests.services.test_lodging import NOON


@pytest.fixture(autouse=True)
def still() -> Iterator[None]:
    with clock.freeze(NOON):
        yield


@pytest.fixture
def office(store: Store, partner: Partner) -> Office:
    return Office(store, partner)


def find_next(office: Office, after: UUID, by: str = "bola") -> UUID | None:
    with office.store.writing(DESK) as session:
        return assignment.find_next(session, person=office.people[by], after=after)


def test_decision_on_a_claim_that_nobody_has_takes_it_and_looking_does_not(office: Office) -> None:
    claim_id = office.lodge(incident_date="2026-11-18")
    office.do(claim_actions.open_claim, claim_id)
    assert office.claim(claim_id).assigned_to is None
    office.move(claim_id, "Reviewing", by="bola")
    assert office.claim(claim_id).assigned_to == office.people["bola"].id
    assert office.log(claim_id)[-1].after["assigned_to"] == str(office.people["bola"].id)
    office.move(claim_id, "Declined", by="sade", reason="exclusion", note="Excluded")
    assert office.claim(claim_id).assigned_to == office.people["bola"].id


def test_next_claim_is_ones_own_most_urgent_and_then_one_that_nobody_has(office: Office) -> None:
    first, second, third, fourth = (office.lodge() for _ in range(4))
    for claim_id in (first, second, third):
        office.move(claim_id, "Reviewing", by="bola")
    # Whoever waits for the claimant is no next claim.
    office.do(claim_questions.ask_claimant, second, text="Please call us")
    assert find_next(office, first) == third
    office.move(third, "Declined", by="bola", reason="other", note="No")
    assert find_next(office, first) == fourth
    assert office.claim(fourth).assigned_to == office.people["bola"].id
    assert find_next(office, fourth) == first
    office.move(first, "Declined", by="bola", reason="other", note="No")
    assert find_next(office, fourth) is None
    with pytest.raises(NotAllowed):
        find_next(office, fourth, by="funmi")


def test_view_to_pay_has_the_accepted_offers(office: Office) -> None:
    claim_id, _ = office.lodge(incident_date="2026-11-18"), office.lodge()
    office.walk(claim_id, "Approved", "Offer sent", "Offer accepted")
    with office.store.reading(DESK) as session:
        rows = claim_queue.list_rows(session, ClaimFilter(view="to_pay"))
        counts = claim_queue.count_views(session, office.people["bola"])
    assert [row.id for row in rows] == [claim_id]
    assert counts.views["to_pay"] == 1
