"""Lodged claims: none is turned away for what an officer should see, and every oddity is flagged (contract C2-C6)."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import ids
from core.covers.claims.lines import INCIDENTS
from core.errors import InvalidInput
from core.services.claims.intake import submitted
from core.services.claims.lists import records as claim_records
from core.services.claims.lists.filter import ClaimFilter
from core.services.people import staff
from core.store.access import Owner, Scope, Store
from core.store.schema.tables import Claim, ClaimComment, ClaimEvent, UploadedFile
from tests.conftest import Partner
from tests.every_case import every_case
from tests.services.claim_desk import NOON, Desk

LOST_JOB = {"incident_type": "Loss of job"}


@pytest.fixture
def desk(store: Store, partner: Partner) -> Desk:
    return Desk(store, partner)


def test_every_incident_of_the_specification_has_its_benefit_and_papers() -> None:
    assert {name: incident.benefit for name, incident in INCIDENTS.items()} == {
        "Death": "death",
        "Permanent disability": "permanent_disability",
        "Temporary disability": "temporary_disability",
        "Critical illness": None,
        "Loss of job": "loss_of_job",
        "Burglary": None,
    }
    assert submitted.list_required_of_incident("Death", accidental=True) == (
        "loan_offer_letter",
        "police_report",
        "medical_report",
    )
    assert submitted.list_required_of_incident("Burglary", accidental=False) == ("loan_offer_letter",)


def test_sound_claim_raises_no_flag(desk: Desk) -> None:
    assert desk.lodge(**LOST_JOB, incident_date="2026-11-01")[1] == []


@every_case("incident", ["Burglary", "Critical illness"])
def test_incident_that_no_benefit_answers_for_is_flagged(desk: Desk, incident: str) -> None:
    assert desk.lodge(incident_type=incident)[1] == ["benefit_not_bought"]


def test_benefit_that_was_not_chosen_is_flagged(store: Store, partner: Partner) -> None:
    desk = Desk(store, partner, benefit_coverage=["death"])
    assert desk.lodge(**LOST_JOB)[1] == ["benefit_not_bought"]
    assert desk.lodge(incident_type="Death")[1] == []


@every_case(
    ("incident_date", "raised"),
    [
        ("2026-08-21", {"outside_cover", "outside_loan"}),
        ("2026-08-22", {"early_loss"}),
        ("2026-09-20", {"early_loss"}),
        ("2026-09-21", set()),
        ("2026-11-20", set()),
        ("2026-11-21", {"future_incident"}),
        ("2027-08-21", {"future_incident"}),
        ("2027-08-22", {"future_incident", "outside_cover"}),
        ("2027-08-23", {"future_incident", "outside_cover", "outside_loan"}),
        (None, set()),
    ],
)
def test_day_of_the_incident_is_held_against_cover_and_loan(
    desk: Desk, incident_date: str | None, raised: set[str]
) -> None:
    record, flags = desk.lodge(incident_date=incident_date)
    assert set(flags) == raised | {"benefit_not_bought"}
    assert record["incident_date"] == incident_date


def test_expired_policy_is_claimed_on_and_flagged(desk: Desk) -> None:
    record, flags = desk.lodge(at=datetime(2027, 8, 22, tzinfo=UTC))
    assert record["claim_status"] == "Pending"
    assert record["policy"]["active"] is False
    assert "policy_expired" in flags


@pytest.mark.parametrize("column", ["cancelled_at", "declined_at"])
def test_cancelled_or_declined_policy_is_claimed_on_and_flagged(desk: Desk, column: str) -> None:
    desk.change_policy(**{column: NOON})
    assert "policy_cancelled" in desk.lodge()[1]


def test_another_loan_than_the_insured_one_is_flagged(desk: Desk) -> None:
    assert "loan_differs" in desk.lodge(loan_amount="100000.01")[1]
    assert "loan_differs" not in desk.lodge(loan_amount="100000.00")[1]


def test_same_incident_and_day_on_one_policy_is_flagged_as_duplicate(desk: Desk) -> None:
    loss = {"incident_date": "2026-11-01"}
    assert "duplicate" not in desk.lodge(**loss)[1]
    assert "duplicate" in desk.lodge(**loss)[1]
    assert "duplicate" not in desk.lodge(incident_date="2026-11-02")[1]
    assert "duplicate" not in desk.lodge()[1]
    assert "duplicate" in desk.lodge()[1], "twice without a day is the same again"


def test_same_paper_with_two_claims_is_flagged(desk: Desk) -> None:
    first, flags = desk.lodge(text="The letter", incident_date="2026-11-01")
    assert "same_file" not in flags
    assert "same_file" in desk.lodge(text="The letter", incident_date="2026-11-02")[1]
    assert "same_file" not in desk.lodge(text="Another letter", incident_date="2026-11-03")[1]
    assert first["credit_life_claim_meta"] is not None
    link = first["credit_life_claim_meta"]["loan_offer_letter"]
    assert "same_file" in desk.lodge(police_report=link, accidental="true", incident_date="2026-11-04")[1]


def test_flags_are_words_that_the_rules_explain(desk: Desk) -> None:
    desk.change_policy(cancelled_at=NOON)
    desk.lodge(text="x", incident_date="2026-08-01")
    _, flags = desk.lodge(text="x", incident_date="2026-08-01", loan_amount="200000")
    assert flags == [name for name in submitted.FLAG_DESCRIPTIONS if name in flags]
    assert len(flags) == 7


def test_desk_lodges_for_a_distributor_by_the_same_rules(desk: Desk, partner: Partner, stranger: Partner) -> None:
    record, _ = desk.lodge(scope=Scope.staff(is_live=False))
    assert record["distributor_id"] == str(partner.id)
    desk.owner = Owner(distributor_id=stranger.id, is_live=False)
    with pytest.raises(InvalidInput, match="policy_number"):
        desk.lodge(scope=Scope.staff(is_live=False))


def test_papers_belong_to_the_claim_that_used_them_first(desk: Desk) -> None:
    first, _ = desk.lodge()
    assert first["credit_life_claim_meta"] is not None
    desk.lodge(police_report=first["credit_life_claim_meta"]["loan_offer_letter"])
    with desk.store.reading(desk.scope) as session:
        owners = session.execute(sa.select(col(UploadedFile.claim_id))).scalars().all()
    assert len(owners) == len(set(owners)) == 2
    assert ids.parse(first["id"]) in owners


@every_case(
    ("instant", "shown"),
    [
        (datetime(2026, 11, 20, 7, 8, tzinfo=UTC), "Nov 20, 2026 8:08 AM"),
        (datetime(2026, 3, 1, 23, 5, tzinfo=UTC), "Mar 2, 2026 12:05 AM"),
        (datetime(2026, 12, 31, 11, 0, tzinfo=UTC), "Dec 31, 2026 12:00 PM"),
    ],
)
def test_times_in_a_history_are_read_in_lagos(instant: datetime, shown: str) -> None:
    assert claim_records.format_time_stamp(instant) == shown


def _later(claim: Claim, table: type, **values: Any) -> Any:
    return table(id=ids.new(), claim_id=claim.id, distributor_id=claim.distributor_id, is_live=claim.is_live, **values)


def _comment(claim: Claim, officer: UUID, text: str, at: datetime) -> Any:
    return _later(claim, ClaimComment, staff_id=officer, text=text, for_claimant=True, created_at=at)


def test_history_and_comments_are_told_in_order(desk: Desk) -> None:
    record, _ = desk.lodge(at=NOON)
    with desk.store.writing(Scope.system()) as session:
        officer = staff.add_or_update(
            session, email="o@x.example", name="Ada", roles=["claims"], password="long enough for tests", actor="tests"
        )
    with desk.store.writing(desk.scope) as session:
        claim = session.get_one(Claim, ids.parse(record["id"]))
        session.insert(
            _later(claim, ClaimEvent, status="Offer sent", created_at=NOON + timedelta(days=2)),
            _later(claim, ClaimEvent, status="Approved", created_at=NOON + timedelta(days=1)),
            _comment(claim, officer, "Second", NOON + timedelta(days=1)),
            _comment(claim, officer, "First", NOON),
        )
    with desk.store.reading(desk.scope) as session:
        found = claim_records.get_claim(session, ids.parse(record["id"]))
    line, comments = found["status_time_line"], found["comments"]
    assert [comment["text"] for comment in comments] == ["First", "Second"]
    assert set(comments[0]) == {"id", "text", "created_at"}
    assert [entry["name"] for entry in line] == ["Pending", "Approved", "Offer sent"]
    assert line[-1]["time_stamp"] == "Nov 22, 2026 1:00 PM"


def test_gadget_claim_shows_its_history_inside_and_only_the_end_of_an_account(desk: Desk) -> None:
    record, _ = desk.lodge(at=NOON)
    with desk.store.writing(desk.scope) as session:
        claim = session.get_one(Claim, ids.parse(record["id"]))
        claim.claim_type, claim.credit_life_claim_meta = "Gadget", None
        claim.gadget_claim_meta = {"account_number": "0123456789", "bank_name": "A Bank"}
    with desk.store.reading(desk.scope) as session:
        (found,) = claim_records.list_claims(session, ClaimFilter(claim_types=("gadget",))).items
    assert found["credit_life_claim_meta"] is None
    assert found["gadget_claim_meta"] == {
        "account_number": "******6789",
        "bank_name": "A Bank",
        "status_time_line": [{"name": "Pending", "time_stamp": "Nov 20, 2026 1:00 PM"}],
    }


def test_claims_of_a_policy_and_deleted_ones(desk: Desk) -> None:
    record, _ = desk.lodge()
    with desk.store.reading(desk.scope) as session:
        assert claim_records.list_claims(session, ClaimFilter(policy_id=desk.sale.policy_id)).total_count == 1
        assert claim_records.list_claims(session, ClaimFilter(policy_id=ids.new())).total_count == 0
    with desk.store.writing(desk.scope) as session:
        session.get_one(Claim, ids.parse(record["id"])).deleted_at = NOON
    with desk.store.reading(desk.scope) as session:
        assert claim_records.list_claims(session).total_count == 0
