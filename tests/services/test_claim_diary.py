"""The diary: tasks by hand and by rule, what becomes of questions, and earlier versions of documents (contract C18)."""

from datetime import date, timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.desk import store_check
from core.errors import InvalidInput, NotAllowed, NotFound, StateForbids
from core.services.claims.intake import lodging
from core.services.claims.lists import records
from core.services.claims.review import review as claim_review
from core.services.claims.review.review import ClaimReview
from core.services.claims.workflow import questions, tasks
from core.services.files import files
from core.services.files.files import ReceivedFile
from core.store.access import Scope
from core.store.schema.tables import ClaimQuestion, Staff
from tests import papers
from tests.services.claim_desk import NOON
from tests.services.claim_office import DESK, Office

pytestmark = pytest.mark.frozen_at(NOON)


def review(office: Office, claim_id: UUID) -> ClaimReview:
    with office.store.reading(DESK) as session:
        return claim_review.get_review(session, claim_id, person=office.people["sade"])


def mine(office: Office, name: str, *, days: int = 0) -> list[tuple[str, date]]:
    with clock.freeze(NOON + timedelta(days=days)), office.store.reading(DESK) as session:
        return [(task.text, task.due_on) for task in tasks.list_mine(session, office.people[name])]


def add(office: Office, claim_id: UUID, *, to: str = "ada", by: str = "bola", **changed: Any) -> UUID:
    task: dict[str, Any] = {"text": "Call the lender", "due_on": NOON.date() + timedelta(days=2), **changed}
    made: UUID = office.do(tasks.add_task, claim_id, by=by, to=office.people[to].id, **task)
    return made


def finish(office: Office, task_id: UUID, *, by: str = "ada") -> None:
    with office.store.writing(DESK) as session:
        tasks.finish_task(session, task_id, person=office.people[by])


def test_a_task_of_somebody_who_has_left_is_of_who_has_the_claim(office: Office) -> None:
    claim_id = office.lodge()
    add(office, claim_id)
    office.put(claim_id, assigned_to=office.people["bola"].id)
    assert [text for text, _ in mine(office, "bola")].count("Call the lender") == 0
    with office.store.writing(Scope.system()) as session:
        session.change(Staff, col(Staff.id) == office.people["ada"].id, disabled_at=NOON)
    assert [text for text, _ in mine(office, "bola")].count("Call the lender") == 1
    assert [text for text, _ in mine(office, "sade")].count("Call the lender") == 0


def test_a_task_stands_with_its_person_until_it_is_done(office: Office) -> None:
    claim_id = office.lodge()
    task_id = add(office, claim_id)
    assert mine(office, "ada") == [("Call the lender", date(2026, 11, 22))]
    assert mine(office, "bola") == []
    with clock.freeze(NOON + timedelta(days=3)):
        assert [task.is_overdue for task in review(office, claim_id).tasks] == [True]
    finish(office, task_id)
    assert mine(office, "ada") == []
    assert [task.done_at for task in review(office, claim_id).tasks] == [NOON]
    assert [entry.action for entry in office.log(claim_id)][-2:] == ["claim task made", "claim task done"]
    assert "lender" not in str([entry.after for entry in office.log(claim_id)])
    with pytest.raises(StateForbids, match="done already"):
        finish(office, task_id, by="bola")


def test_a_task_that_cannot_be_is_refused_by_name(office: Office) -> None:
    claim_id = office.lodge()
    for changed, field in (
        ({"text": " "}, "task"),
        ({"text": "x" * 501}, "task"),
        ({"due_on": NOON.date() - timedelta(days=1)}, "due_on"),
        ({"due_on": None}, "due_on"),
        ({"to": "funmi"}, "task_for"),
    ):
        with pytest.raises(InvalidInput, match=field):
            add(office, claim_id, **changed)
    with pytest.raises(NotAllowed):
        add(office, claim_id, by="funmi")
    with pytest.raises(NotFound):
        add(office, ids.new())
    with pytest.raises(NotFound):
        finish(office, ids.new())
    task_id = add(office, claim_id)
    with pytest.raises(NotAllowed):
        finish(office, task_id, by="funmi")
    with office.store.writing(Scope.staff(is_live=True)) as session, pytest.raises(NotFound):
        tasks.finish_task(session, task_id, person=office.people["ada"])


def test_rules_ask_on_the_claims_of_an_officer_on_their_day_and_stop_with_their_reason(office: Office) -> None:
    claim_id = office.lodge()
    office.put(claim_id, assigned_to=office.people["bola"].id)
    office.do(questions.ask_claimant, claim_id, text="Which bank?")
    assert mine(office, "bola", days=6) == []
    assert mine(office, "bola", days=7) == [("The question is not answered: remind the claimant", date(2026, 11, 27))]
    assert mine(office, "ada", days=7) == []
    office.do(questions.record_answer, claim_id)
    assert mine(office, "bola", days=7) == []
    office.move(claim_id, "Approved", by="sade", amount="75000")
    assert [text for text, _ in mine(office, "bola", days=3)] == ["Approved and not paid: send the offer"]
    office.move(claim_id, "Offer sent", by="sade")
    assert mine(office, "bola", days=13) == []
    assert [text for text, _ in mine(office, "bola", days=14)] == ["The offer is not answered: call the claimant"]
    office.walk(claim_id, "Offer accepted")
    assert [text for text, _ in mine(office, "bola", days=60)] == ["Offer accepted and not paid: pay it"]
    office.walk(claim_id, "Paid")
    assert mine(office, "bola", days=60) == []


def test_papers_that_are_owed_are_asked_for_after_a_week(office: Office) -> None:
    claim_id = office.lodge()
    meta = office.claim(claim_id).credit_life_claim_meta or {}
    office.put(
        claim_id, assigned_to=office.people["ada"].id, credit_life_claim_meta={**meta, "loan_offer_letter": None}
    )
    assert mine(office, "ada", days=6) == []
    assert [text for text, _ in mine(office, "ada", days=7)] == ["Papers are owed: loan offer letter"]


def test_a_move_closes_a_question_unanswered_and_an_answer_is_kept(office: Office) -> None:
    claim_id = office.lodge()
    office.do(questions.ask_claimant, claim_id, text="Which bank?")
    office.move(claim_id, "Reviewing")
    office.do(questions.ask_claimant, claim_id, text="Which account?")
    office.do(questions.record_answer, claim_id, text="0123, with Lagoon Bank")
    with office.store.reading(DESK) as session:
        listed = records.get_claim(session, claim_id)["questions"]
        rows = session.execute(sa.select(ClaimQuestion).order_by(ClaimQuestion.asked_at)).scalars().all()
        assert [(row.answered_at is None, row.closed_at is None) for row in rows] == [(True, False), (False, True)]
    assert [(each["status"], each["due_date"], each["answer"]) for each in listed] == [
        ("Closed unanswered", "2026-11-27", None),
        ("Answered", "2026-11-27", "0123, with Lagoon Bank"),
    ]
    assert "Lagoon" not in str([entry.after for entry in office.log(claim_id)])
    with clock.freeze(NOON + timedelta(hours=1)):
        assert review(office, claim_id).clock.is_running
        with office.store.reading(Scope.system()) as session:
            assert store_check.list_faults(session) == []


def test_a_replaced_document_stays_readable_as_an_earlier_version(office: Office) -> None:
    claim_id = office.lodge()
    for version, text in ((1, "first"), (2, "second")):
        arriving = ReceivedFile(field="police_report", file_name=f"{text}.pdf", content=papers.pdf(text=text))
        with files.store_files([arriving]) as (kept,):
            office.do(lodging.attach_document, claim_id, file=kept, version=version)
    found = {paper.name: paper for paper in review(office, claim_id).documents}
    assert found["police_report"].file_name == "second.pdf"
    assert [version.file_name for version in found["police_report"].versions] == ["first.pdf"]
    assert found["loan_offer_letter"].versions == ()
