"""A loss is held against the terms that were paid for: premium, waiting period and exclusions (contract C13)."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from core import clock, ids
from core.errors import InvalidInput, NotAllowed
from core.money import Split
from core.services.catalogue import product_list, rate_changes
from core.services.claims.review import coverage_checks
from core.services.claims.review import review as claim_review
from core.services.claims.workflow import limits as claim_limits
from core.services.policies import refunds
from core.services.policies.refunds import PaidTerm
from core.store.access import Scope
from core.store.schema.tables import Claim, Policy, Purchase, Refund, Staff
from tests.services.claim_desk import NOON
from tests.services.claim_office import DESK, Office

pytestmark = pytest.mark.frozen_at(NOON)


def judged(office: Office, claim_id: UUID, key: str) -> tuple[bool | None, str]:
    with office.store.reading(DESK) as session:
        found = claim_review.get_review(session, claim_id, person=office.people["bola"])
    return next((check.passed, check.detail) for check in found.checks if check.key == key)


def refund(office: Office, *, part: int = 1) -> None:
    """Give back the premium of the first term, or one of several equal parts of it, past the services."""
    with office.store.writing(DESK) as session:
        policy = session.get_one(Policy, office.desk.sale.policy_id)
        sale = session.get_one(Purchase, policy.purchase_id)
        names = ("distributor_id", "is_live", "customer_id", "product_id", "product_version_id", "product_category_id")
        same: dict[str, Any] = {name: getattr(sale, name) for name in (*names, "provider_id")}
        amounts: dict[str, Any] = {
            name: getattr(sale, name) // part
            for name in ("total_minor", "mca_profit_minor", "distributor_profit_minor")
        }
        session.insert(
            Refund(
                id=ids.new(),
                policy_id=policy.id,
                purchase_id=sale.id,
                method="pro_rata",
                reason="Tests",
                created_at=clock.now(),
                **same,
                **amounts,
            )
        )


def test_premium_is_that_of_the_term_which_holds_the_loss(office: Office) -> None:
    claim_id = office.lodge(incident_date="2026-11-18")
    passed, detail = judged(office, claim_id, "premium")
    assert passed is True
    assert detail.endswith("for 22 Aug 2026 to 22 Aug 2027")
    for day, holds in (("2026-08-22", True), ("2027-08-21", True), ("2026-08-21", False), ("2027-08-22", False)):
        office.put(claim_id, incident_date=day)
        assert judged(office, claim_id, "premium")[0] is holds, day
    office.put(claim_id, incident_date=None)
    assert judged(office, claim_id, "premium") == (None, "The day of the incident is not known yet")


def test_premium_that_was_given_back_insures_nothing(office: Office) -> None:
    claim_id = office.lodge(incident_date="2026-11-18")
    refund(office)
    passed, detail = judged(office, claim_id, "premium")
    assert (passed, detail.endswith("given back")) == (False, True)
    with pytest.raises(NotAllowed, match="Premium paid for the term of the loss"):
        office.move(claim_id, "Approved", by="bola", amount="75000")


def test_part_of_a_premium_given_back_is_said_and_insures(office: Office) -> None:
    claim_id = office.lodge(incident_date="2026-11-18")
    refund(office, part=2)
    passed, detail = judged(office, claim_id, "premium")
    assert (passed, detail.endswith("given back")) == (True, True)


def test_loss_within_the_waiting_period_takes_a_supervisor_and_a_reason(office: Office) -> None:
    claim_id = office.lodge(incident_date="2026-09-20")
    assert judged(office, claim_id, "waiting") == (False, "30 days from 22 Aug 2026, over on 21 Sep 2026")
    with pytest.raises(NotAllowed, match="Waiting period over"):
        office.move(claim_id, "Approved", by="bola", amount="75000")
    with pytest.raises(InvalidInput, match=r"reasons\.waiting"):
        office.move(claim_id, "Approved", by="sade", amount="75000", reasons={})
    office.put(claim_id, incident_date="2026-09-21")
    assert judged(office, claim_id, "waiting")[0] is True
    office.move(claim_id, "Approved", by="bola", amount="75000", reasons={})


def test_a_waiting_period_that_two_admins_change_does_not_bind_a_sale_of_before(office: Office) -> None:
    claim_id = office.lodge(incident_date="2026-11-18")
    before = judged(office, claim_id, "waiting"), judged(office, claim_id, "exclusions")
    with office.store.writing(Scope.system()) as session:
        session.add(Staff(email="second@x.example", name="second", roles=["admin"]))
    product_id = office.claim(claim_id).product_id
    typed = {"meta.waiting_days.Loss of job": "360", "meta.exclusions": ["Loss of job"]}
    with office.store.writing(Scope.system()) as session:
        product = product_list.get_product(session, product_id)
        at = rate_changes.earliest()
        given: dict[str, Any] = {"start": product.in_force.id, "effective_at": at, "by": office.people["root"]}
        proposal = rate_changes.propose(session, product_id, typed, seen=product.version, **given)
    with office.store.writing(Scope.system()) as session:
        seen = product_list.get_product(session, product_id).version
        rate_changes.confirm(session, product_id, proposal, seen=seen, by=office.person("second"))
    with clock.freeze(NOON + timedelta(days=2)):
        assert (judged(office, claim_id, "waiting"), judged(office, claim_id, "exclusions")) == before
        with office.store.reading(Scope.system()) as session:
            rules = product_list.get_product(session, product_id).in_force.tariff.meta
    assert rules["waiting_days"] == {"Critical illness": 30, "Loss of job": 360}
    assert rules["exclusions"] == ["Loss of job"]


def test_incident_without_a_waiting_period_has_none(office: Office) -> None:
    claim_id = office.lodge(incident_type="Death", incident_date="2026-08-23")
    assert judged(office, claim_id, "waiting") == (True, "The product has none for death")


def test_what_was_said_is_searched_for_the_exclusions_of_the_product(office: Office) -> None:
    claim_id = office.lodge(incident_date="2026-11-18")
    assert judged(office, claim_id, "exclusions") == (True, "Not named: resignation, misconduct, self-inflicted")
    with office.store.writing(DESK) as session:
        session.execute(sa.update(Claim).values(claim_description="Dismissed after MISCONDUCT at work"))
    assert judged(office, claim_id, "exclusions") == (None, "Said with the claim: misconduct")
    with pytest.raises(InvalidInput, match=r"reasons\.exclusions"):
        office.move(claim_id, "Approved", by="bola", amount="75000", reasons={})


def test_incident_that_is_excluded_fails_and_a_word_within_another_names_nothing() -> None:
    terms = coverage_checks.CoverTerms(
        happened_on=date(2026, 11, 1),
        is_dated=True,
        term=None,
        refunded_minor=0,
        begins_on=None,
        rules={"exclusions": ["war", "delay"]},
    )
    claim = Claim(
        claim_type="Marine", claim_description="Stored in the warehouse", claim_meta={"incident_type": "Theft"}
    )
    results = {check.key: check.passed for check in coverage_checks.check_terms(claim, terms)}
    assert results == {"premium": False, "bought": None, "waiting": True, "exclusions": True}
    excluded = replace(terms, rules={"exclusions": ["theft"]})
    assert coverage_checks.check_terms(claim, excluded)[-1].passed is False


def test_waiting_period_runs_from_the_first_of_unbroken_terms() -> None:
    def term(start: tuple[int, int, int], end: tuple[int, int, int]) -> PaidTerm:
        return PaidTerm(
            start_at=datetime(*start, tzinfo=UTC),
            expiration_at=datetime(*end, tzinfo=UTC),
            paid=Split(100, 0, 0),
            version_id=ids.new(),
        )

    first, second = term((2024, 1, 1), (2025, 1, 1)), term((2025, 1, 1), (2026, 1, 1))
    late = term((2026, 2, 1), (2027, 2, 1))
    terms = [first, second, late]
    assert refunds.find_term(terms, date(2025, 1, 1)) is second
    assert refunds.find_term(terms, date(2026, 1, 15)) is None
    assert coverage_checks.find_beginning(terms, second) == date(2024, 1, 1)
    assert coverage_checks.find_beginning(terms, late) == date(2026, 2, 1)
    # The limits count a loss in the term that covers it, on the last day of one that ends at noon too.
    at_noon = replace(second, expiration_at=second.expiration_at + timedelta(hours=12))
    assert refunds.find_term([first, at_noon], date(2026, 1, 1)) is at_noon
    assert claim_limits._find_term([first, at_noon], date(2026, 1, 1)) is at_noon
    assert claim_limits._find_term([first, at_noon], date(2026, 1, 2)) is first
    # And what was paid on that day uses its premium up.
    paid = refunds.PolicyClaim(id=ids.new(), status="Paid", happened_on=date(2026, 1, 1), is_open=False, was_paid=True)
    assert (paid.falls_in(at_noon), paid.falls_in(second)) == (True, False)
