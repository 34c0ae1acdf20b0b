"""An officer's day: a decision takes the claim, and the next one follows (contract C19)."""

from uuid import UUID

import pytest

from core.errors import InvalidInput, NotAllowed
from core.services.claims.lists import queue as claim_queue
from core.services.claims.lists import totals as claim_totals
from core.services.claims.lists.filter import ClaimFilter
from core.services.claims.workflow import assignment as claim_assignment
from core.services.claims.workflow import moves as claim_moves
from core.services.claims.workflow import paying as claim_paying
from core.services.claims.workflow import questions
from core.services.claims.workflow import tasks as claim_tasks
from core.services.claims.workflow.assignment import ChosenClaim
from tests.services.claim_desk import NOON
from tests.services.claim_office import DESK, PAID, Office

pytestmark = pytest.mark.frozen_at(NOON)


def find_next(office: Office, after: UUID, by: str = "bola") -> UUID | None:
    with office.store.writing(DESK) as session:
        return claim_assignment.find_next(session, person=office.people[by], after=after)


def test_decision_on_a_claim_that_nobody_has_takes_it_and_looking_does_not(office: Office) -> None:
    claim_id = office.lodge(incident_date="2026-11-18")
    office.do(claim_moves.open_claim, claim_id)
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
    office.do(questions.ask_claimant, second, text="Please call us")
    assert find_next(office, first) == third
    office.move(third, "Declined", by="bola", reason="other", note="No")
    assert find_next(office, first) == fourth
    assert office.claim(fourth).assigned_to == office.people["bola"].id
    assert find_next(office, fourth) == first
    office.move(first, "Declined", by="bola", reason="other", note="No")
    assert find_next(office, fourth) is None
    with pytest.raises(NotAllowed):
        find_next(office, fourth, by="funmi")


def test_next_claim_goes_through_ones_own_by_urgency_and_begins_again_at_the_end(office: Office) -> None:
    first, second, third = (office.lodge() for _ in range(3))
    for claim_id in (third, first, second):
        office.move(claim_id, "Reviewing", by="bola")
    # Nothing can be decided on the most urgent ones today: the others are reached all the same.
    assert [find_next(office, each) for each in (first, second, third)] == [second, third, first]
    # The clock of the claim that was just seen may have stopped.
    office.do(questions.ask_claimant, second, text="Please call us")
    assert find_next(office, second) == third


def test_next_claim_is_none_that_waits_for_a_supervisor_or_for_finance(office: Office) -> None:
    first, second, third = (office.lodge(incident_date="2026-11-18") for _ in range(3))
    for claim_id in (first, second, third):
        office.move(claim_id, "Reviewing", by="ada")
    referral = {"to": "Approved", "amount": "75000", "note": "Please decide", "version": office.claim(second).version}
    office.do(claim_tasks.refer_claim, second, by="ada", **referral)
    assert find_next(office, first, by="ada") == third
    office.do(
        claim_moves.assign_claim, second, by="sade", to=office.people["sade"].id, version=office.claim(second).version
    )
    # It is the turn of a supervisor who has it.
    assert find_next(office, first, by="sade") == second
    office.walk(third, "Approved", "Offer sent", "Offer accepted")
    office.do(claim_paying.hand_over, third, by="sade", note=None, version=office.claim(third).version)
    assert find_next(office, second, by="ada") == first
    assert find_next(office, first, by="ada") is None


def test_view_to_pay_has_the_accepted_offers(office: Office) -> None:
    claim_id, _ = office.lodge(incident_date="2026-11-18"), office.lodge()
    office.walk(claim_id, "Approved", "Offer sent", "Offer accepted")
    with office.store.reading(DESK) as session:
        rows = claim_queue.list_rows(session, ClaimFilter(view="to_pay"))
        counts = claim_totals.count_views(session, office.people["bola"])
    assert [row.id for row in rows] == [claim_id]
    assert counts.views["to_pay"] == 1


def choose(office: Office, *claim_ids: UUID) -> list[ChosenClaim]:
    with office.store.reading(DESK) as session:
        rows = claim_queue.list_rows(session, ClaimFilter(view="all"))
    return claim_assignment.choose_rows(row for row in rows if row.id in claim_ids)


def test_several_claims_are_settled_and_asked_at_once_and_each_refusal_is_told(office: Office) -> None:
    paid, fresh, changed = (office.lodge(incident_date="2026-11-18") for _ in range(3))
    for claim_id in (paid, changed):
        office.walk(claim_id, *PAID)
    chosen = choose(office, paid, fresh, changed)
    office.move(changed, "Settled", by="ada")
    with pytest.raises(NotAllowed), office.store.writing(DESK) as session:
        claim_assignment.settle_claims(session, chosen, person=office.people["funmi"])
    with office.store.writing(DESK) as session:
        result = claim_assignment.settle_claims(session, chosen, person=office.people["bola"])
    assert result.done_count == 1
    assert {text.partition(": ")[2][:22] for text in result.refusals} == {
        "A claim that is Pendin",
        "This claim was changed",
    }
    assert [office.claim(each).claim_status for each in (paid, fresh, changed)] == ["Settled", "Pending", "Settled"]
    with pytest.raises(InvalidInput), office.store.writing(DESK) as session:
        claim_assignment.ask_claimants(session, chosen, text=" ", person=office.people["bola"])
    with office.store.writing(DESK) as session:
        outcome = claim_assignment.ask_claimants(
            session, chosen, text="Please send the letter", person=office.people["bola"]
        )
    assert (outcome.done_count, len(outcome.refusals)) == (1, 2)
    assert office.claim(fresh).clock_stopped_at == NOON
