"""Authority over claims: a new officer's limit, and decisions that are referred to a supervisor (contract C15)."""

from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from core.errors import InvalidInput, NotAllowed, StaleVersion, StateForbids
from core.services.claims.lists import queue as claim_queue
from core.services.claims.lists import totals as claim_totals
from core.services.claims.lists.filter import ClaimFilter
from core.services.claims.review import review as claim_review
from core.services.claims.workflow import tasks as claim_tasks
from core.services.people import staff
from core.store.access import Scope
from tests.services.claim_desk import NOON
from tests.services.claim_office import DESK, Office
from tests.services.races import run_at_once

pytestmark = pytest.mark.frozen_at(NOON)


def added(office: Office, email: str, roles: list[str], limit: str | None = None) -> int | None:
    with office.store.writing(Scope.system()) as session:
        staff.add_or_update(
            session,
            email=email,
            name="Somebody",
            roles=roles,
            password="a long password of tests",
            actor="tests",
            claim_limit=limit,
        )
    office.people[email] = office.person(email.partition("@")[0])
    return office.people[email].claim_limit_minor


def refer(office: Office, claim_id: UUID, *, by: str = "ada", **changed: Any) -> None:
    referral = {"to": "Approved", "amount": "75000", "note": "Above what I may decide", **changed}
    referral.setdefault("version", office.claim(claim_id).version)
    office.do(claim_tasks.refer_claim, claim_id, by=by, **referral)


def referred(office: Office) -> list[UUID]:
    with office.store.reading(DESK) as session:
        rows = claim_queue.list_rows(session, ClaimFilter(stage="referred"))
        counts = claim_totals.count_views(session, office.people["sade"])
    assert counts.views["referred"] == len(rows)
    return [row.id for row in rows]


def test_a_new_officer_decides_nothing_until_a_limit_is_set(office: Office) -> None:
    assert added(office, "new@x.example", ["claims"]) == 0
    claim_id = office.lodge(incident_date="2026-11-10")
    with pytest.raises(NotAllowed, match=r"above the limit of ₦0.00"):
        office.move(claim_id, "Approved", by="new@x.example", amount="0.01")
    office.move(claim_id, "Viewed", by="new@x.example")
    assert added(office, "new@x.example", ["claims"], "80000") == 0, "a raised limit counts after a day"
    assert added(office, "limited@x.example", ["claims"], "80000") == 8_000_000
    office.move(claim_id, "Approved", by="limited@x.example", amount="75000")


def test_who_decides_without_a_limit_keeps_that(office: Office) -> None:
    assert added(office, "over@x.example", ["supervisor", "claims"]) is None
    assert added(office, "money@x.example", ["finance"]) is None
    assert added(office, "money@x.example", ["finance", "claims"]) == 0
    # An officer of an older store, who was never given a limit.
    assert added(office, "bola@x.example", ["claims"]) is None


def test_a_referred_decision_waits_for_a_supervisor_and_is_closed_by_the_move(office: Office) -> None:
    claim_id, other = office.lodge(), office.lodge()
    refer(office, claim_id)
    assert referred(office) == [claim_id]
    with office.store.reading(DESK) as session:
        found = claim_review.get_review(session, claim_id, person=office.people["sade"]).referral
    assert found is not None
    assert (found.to, found.amount_minor, found.by) == ("Approved", 7_500_000, "ada")
    entry = office.log(claim_id)[-1]
    assert (entry.action, entry.after["referred_for"], entry.after["referred_amount"]) == (
        "claim referred",
        "Approved",
        "75000.00",
    )
    for only_begun in ("Viewed", "Reviewing"):
        office.move(claim_id, only_begun, by="sade")
        assert referred(office) == [claim_id], "what is referred is not decided yet"
    office.move(claim_id, "Approved", by="sade", amount="75000")
    assert referred(office) == []
    assert office.claim(other).version == 1
    refer(office, other, to="Reviewing", amount=None)
    office.move(other, "Reviewing", by="sade")
    assert referred(office) == [], "the review is what was referred"


def test_a_second_referral_takes_the_place_of_the_first(office: Office) -> None:
    claim_id = office.lodge()
    refer(office, claim_id)
    refer(office, claim_id, to="Declined", amount=None, note="On second thoughts")
    with office.store.reading(DESK) as session:
        found = claim_tasks.find_open_referral(session, claim_id)
    assert found is not None
    assert (found.to, found.amount_minor, found.note) == ("Declined", None, "On second thoughts")
    assert referred(office) == [claim_id]


def test_two_referrals_of_one_claim_have_one_winner(office: Office) -> None:
    claim_id = office.lodge()
    works = [partial(refer, office, claim_id, by=by, note=f"By {by}", version=1) for by in ("ada", "bola")]
    assert sorted(type(each).__name__ for each in run_at_once(*works)) == ["NoneType", "StaleVersion"]


def test_referrals_that_cannot_be_are_refused(office: Office) -> None:
    claim_id = office.lodge()
    for inputs, kind, named in (
        ({"by": "sade"}, StateForbids, "A supervisor decides"),
        ({"by": "root"}, StateForbids, "A supervisor decides"),
        ({"by": "funmi"}, NotAllowed, "claims officers"),
        ({"to": "Paid"}, StateForbids, "cannot become Paid"),
        ({"to": "no such status"}, StateForbids, "cannot become"),
        ({"to": "Declined"}, InvalidInput, "referral_amount is no part"),
        ({"note": ""}, InvalidInput, "referral_note"),
        ({"amount": "-1"}, InvalidInput, "referral_amount"),
        ({"amount": "75000.01"}, InvalidInput, "referral_amount must not be above ₦75,000.00, what is still owed"),
        ({"version": 9}, StaleVersion, "changed by somebody else"),
    ):
        with pytest.raises(kind, match=named):
            refer(office, claim_id, **inputs)
    assert referred(office) == []
    assert office.claim(claim_id).version == 1


def test_a_referral_gives_nobody_authority(office: Office) -> None:
    claim_id = office.lodge(incident_date="2026-11-10")
    office.people["ada"] = replace(office.people["ada"], claim_limit_minor=1_000)
    refer(office, claim_id)
    with pytest.raises(NotAllowed, match="above the limit"):
        office.move(claim_id, "Approved", by="ada", amount="75000")
