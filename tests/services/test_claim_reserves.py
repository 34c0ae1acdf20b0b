"""Reserves: set when the work begins, changed with a reason, zero at the end, and in every figure (contract C11)."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DatabaseError
from sqlmodel import col

from core import clock
from core.desk import store_check
from core.errors import InvalidInput, NotAllowed, StaleVersion, StateForbids
from core.services.claims.lists import queue as claim_queue
from core.services.claims.lists import totals as claim_totals
from core.services.claims.lists.filter import ClaimFilter
from core.services.claims.reports import figures as claim_figures
from core.services.claims.review import review as claim_review
from core.services.claims.workflow import reserves as claim_reserves
from core.services.lists.windows import Window
from core.store.access import Scope
from core.store.schema.tables import ClaimPayment, ClaimReserve
from tests.services.claim_desk import NOON
from tests.services.claim_office import DESK, PAID, Office

pytestmark = pytest.mark.frozen_at(NOON)


def changes(office: Office, claim_id: UUID) -> list[int]:
    with office.store.reading(DESK) as session:
        return [change.change_minor for change in claim_reserves.list_changes(session, claim_id)]


def put(
    office: Office, claim_id: UUID, amount: str, *, by: str = "bola", reason: str = "Heard more", **options: Any
) -> None:
    version = options.get("version", office.claim(claim_id).version)
    office.do(claim_reserves.set_reserve, claim_id, by=by, amount=amount, reason=reason, version=version)


def test_a_reserve_begins_with_what_is_claimed_and_ends_at_zero(office: Office) -> None:
    claim_id = office.lodge()
    office.move(claim_id, "Viewed")
    assert changes(office, claim_id) == []
    office.move(claim_id, "Reviewing")
    assert changes(office, claim_id) == [7_500_000]
    office.walk(claim_id, *PAID)
    assert changes(office, claim_id) == [7_500_000, -7_500_000]
    office.walk(claim_id, "Settled", "Reviewing")
    # 70,000 of the 75,000 were paid.
    assert changes(office, claim_id) == [7_500_000, -7_500_000, 500_000]
    office.move(claim_id, "Declined", by="sade", reason="other", note="Nothing more")
    assert sum(changes(office, claim_id)) == 0


def test_a_first_reserve_is_not_above_what_is_insured(office: Office) -> None:
    claim_id = office.lodge(loan_amount="500000", pending_repayment_amount="400000")
    office.move(claim_id, "Reviewing")
    assert changes(office, claim_id) == [10_000_000]


def test_a_reserve_is_changed_with_a_reason_that_stays(office: Office) -> None:
    claim_id = office.lodge()
    office.move(claim_id, "Reviewing")
    put(office, claim_id, "60000", reason="The lender  sent a statement")
    with office.store.reading(DESK) as session:
        last = claim_reserves.list_changes(session, claim_id)[-1]
    assert (last.change_minor, last.reserve_minor, last.by) == (-1_500_000, 6_000_000, "bola")
    entry = office.log(claim_id)[-1]
    assert (entry.action, entry.after["reserve"], entry.after["reserve_before"]) == (
        "claim reserve set",
        "60000.00",
        "75000.00",
    )


def test_a_reserve_is_refused_with_the_field_and_changes_nothing(office: Office) -> None:
    claim_id = office.lodge()
    office.move(claim_id, "Reviewing")
    for amount, reason, named in (
        ("100000.01", "More", r"reserve must not be above ₦100,000.00, what is insured"),
        ("75000", "The same", "reserve is what it was"),
        ("-1", "Less than nothing", "reserve"),
        ("60000", "", "reserve_reason"),
    ):
        with pytest.raises(InvalidInput, match=named):
            put(office, claim_id, amount, reason=reason)
    office.people["ada"] = replace(office.people["ada"], claim_limit_minor=5_000_000)
    with pytest.raises(NotAllowed, match="above the limit"):
        put(office, claim_id, "60000", by="ada")
    with pytest.raises(NotAllowed):
        put(office, claim_id, "60000", by="funmi")
    with pytest.raises(StaleVersion):
        put(office, claim_id, "60000", version=1)
    assert changes(office, claim_id) == [7_500_000]
    office.move(claim_id, "Declined", by="sade", reason="other", note="No")
    with pytest.raises(StateForbids, match="that is Declined has no reserve"):
        put(office, claim_id, "1")


def test_an_approval_above_the_reserve_raises_it_and_nobody_goes_below_what_is_approved_or_offered(
    office: Office,
) -> None:
    claim_id = office.lodge()
    office.move(claim_id, "Reviewing")
    put(office, claim_id, "15000")
    office.move(claim_id, "Approved", amount="60000")
    assert changes(office, claim_id) == [7_500_000, -6_000_000, 4_500_000]
    with pytest.raises(InvalidInput, match=r"reserve must not be below ₦60,000.00, what is approved and not paid yet"):
        put(office, claim_id, "59999.99")
    office.move(claim_id, "Offer sent", amount="50000", note="As agreed")
    put(office, claim_id, "50000")
    office.move(claim_id, "Offer accepted")
    with pytest.raises(InvalidInput, match=r"below ₦50,000.00"):
        put(office, claim_id, "0")
    office.move(claim_id, "Reviewing", by="sade")
    put(office, claim_id, "20000")
    office.move(claim_id, "Approved", amount="60000", by="sade")
    assert sum(changes(office, claim_id)) == 6_000_000


def test_outstanding_and_incurred_are_sums_of_the_rows(office: Office) -> None:
    paid, reviewing = office.lodge(), office.lodge()
    office.walk(paid, *PAID)
    office.move(reviewing, "Reviewing")
    window = Window(clock.today() - timedelta(days=3), clock.today() + timedelta(days=1))
    with office.store.reading(DESK) as session:
        total = claim_totals.get_totals(session, ClaimFilter())
        rows = claim_queue.list_rows(session, ClaimFilter())
        facts = claim_figures.build_summary(session, window).current
        held = session.execute(sa.select(sa.func.sum(col(ClaimReserve.change_minor)))).scalar_one()
        spent = session.execute(sa.select(sa.func.sum(col(ClaimPayment.amount_minor)))).scalar_one()
        seen = claim_review.get_review(session, reviewing, person=office.people["sade"])
    assert (held, spent) == (7_500_000, 7_000_000)
    assert (total.outstanding_minor, total.paid_minor, total.incurred_minor) == (held, spent, held + spent)
    assert sum(row.outstanding_minor for row in rows) == held
    assert facts.paid_minor + facts.reserved_minor == held + spent
    assert seen.reserve_minor == held


def test_check_finds_a_reserve_that_outlived_its_claim(office: Office) -> None:
    claim_id = office.lodge()
    office.move(claim_id, "Reviewing")
    office.put(claim_id, claim_status="Declined")
    with office.store.reading(Scope.system()) as session:
        broken = store_check.list_faults(session)
    assert any(
        "claims with a reserve below zero, or with one after their decision" in each for each in map(str, broken)
    )


def test_rows_are_kept_as_they_were_written(office: Office) -> None:
    office.move(office.lodge(), "Reviewing")
    for change in (sa.update(ClaimReserve).values(change_minor=1), sa.delete(ClaimReserve)):
        with pytest.raises(DatabaseError, match="keeps what it holds"), office.store.writing(DESK) as session:
            session.execute(change)
