"""One more term: when, at which price, once, and for every renewable product (contract R1-R4, S4)."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from decimal import Decimal
from threading import Barrier
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.covers.insurers import insurer_a, insurer_b, insurer_c, insurer_f, insurer_g
from core.errors import DuplicateRisk, NotFound, NotRenewable
from core.services.audit import log as audit
from core.services.policies import changes
from core.services.renewals import due, records, renewals
from core.services.renewals.records import DueFilter
from core.services.renewals.renewals import RenewalResult, RenewalWindow, compute_policy_year, compute_window
from core.services.selling.buying import Sale
from core.store.access import Scope, Store
from core.store.schema.tables import AuditEntry, Certificate, Policy, Product, ProductVersion, Renewal
from tests.conftest import Partner
from tests.covers import shipped
from tests.every_case import every_case
from tests.services.selling import kept, sell

pytestmark = pytest.mark.frozen_at(shipped.STILL)

YEAR = clock.midnight(date(2027, 11, 20))


@pytest.fixture
def of_a_year(store: Store, partner: Partner) -> Sale:
    """A live policy that ends with `YEAR`."""
    return sell(store, partner, insurer_a.THIRD_PARTY, is_live=True)


@contextmanager
def days_from(instant: datetime, days: int, hours: int = 9) -> Iterator[None]:
    with clock.freeze(instant + timedelta(days=days, hours=hours)):
        yield


def renew(store: Store, partner: Partner, policy_id: UUID, *, is_live: bool = False, **options: Any) -> RenewalResult:
    with store.writing(partner.scope(is_live=is_live)) as session:
        return renewals.renew(session, policy_id, partner.seller(is_live=is_live), **options)


def refusal(store: Store, partner: Partner, policy_id: UUID, **options: Any) -> dict[str, Any]:
    with pytest.raises(NotRenewable) as refused:
        renew(store, partner, policy_id, **options)
    assert refused.value.status == 409
    assert refused.value.detail["reason"] == str(refused.value)
    detail: dict[str, Any] = refused.value.detail
    return detail


def rows_of(store: Store, entity: Any) -> list[Any]:
    with store.reading(Scope.system()) as session:
        found = session.execute(sa.select(entity).order_by(col(entity.created_at))).scalars().all()
        session.expunge_all()
        return list(found)


def activated(store: Store, partner: Partner, sale: Sale, *, is_live: bool = False) -> None:
    with store.writing(partner.scope(is_live=is_live)) as session:
        changes.activate(session, sale.policy_id, actor="desk", expected_version=1)


def test_renewed_policy_keeps_its_id_and_gets_a_new_term_and_certificate(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.THIRD_PARTY)
    with days_from(YEAR, -30):
        renewed = renew(store, partner, sale.policy_id, cover=insurer_a.THIRD_PARTY)
    assert renewed.policy["id"] == str(sale.policy_id)
    assert renewed.policy["start_date"] == sale.policy["start_date"]
    assert renewed.policy["expiration_date"] == "2028-11-20T00:00:00.000Z"
    assert renewed.policy["meta"]["policy_number"] == sale.policy["meta"]["policy_number"]
    assert renewed.policy["meta"]["certificate_url"] != sale.policy["meta"]["certificate_url"]
    assert kept(store, partner, sale).version == 2
    first, second = rows_of(store, Certificate)
    assert (first.start_at, first.expiration_at) == (clock.midnight(date(2026, 11, 20)), YEAR)
    assert (second.start_at, second.expiration_at) == (YEAR, clock.midnight(date(2028, 11, 20)))


def test_renewal_keeps_both_dates_the_total_and_both_profits(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.THIRD_PARTY)
    with days_from(YEAR, -30):
        renewed = renew(store, partner, sale.policy_id)
    with store.reading(partner.scope()) as session:
        record = records.get_renewal(session, renewed.renewal_id)
    assert record["previous_expiration_date"] == "2027-11-20T00:00:00.000Z"
    assert record["start_date"] == "2027-11-20T00:00:00.000Z"
    assert record["expiration_date"] == "2028-11-20T00:00:00.000Z"
    assert (record["total"], record["mca_profit"], record["distributor_profit"]) == ("15000.00", "1875.00", "750.00")
    assert record["status"] is True
    assert record["policy"]["id"] == record["policy_id"] == str(sale.policy_id)
    assert record["purchase_id"] == str(sale.purchase_id)


@every_case("days", [-90, -1, 0, 30])
def test_window_holds_from_90_days_before_to_30_after(store: Store, partner: Partner, days: int) -> None:
    sale = sell(store, partner, insurer_a.THIRD_PARTY, is_live=True, registration_number=f"LSD-{200 + days}AB")
    with days_from(YEAR, days):
        assert renew(store, partner, sale.policy_id, is_live=True).price.total == Decimal("15000.00")


@every_case("days", [-91, 31, -365])
def test_outside_the_window_the_reason_and_the_dates_are_told(
    store: Store, partner: Partner, of_a_year: Sale, days: int
) -> None:
    with days_from(YEAR, days):
        detail = refusal(store, partner, of_a_year.policy_id, is_live=True)
    assert detail["renewable_from"] == "2027-08-22"
    assert detail["renewable_until"] == "2027-12-20"
    assert detail["expiration_date"] == "2027-11-20T00:00:00.000Z"
    assert rows_of(store, Renewal) == []


def test_lapsed_policy_starts_anew_now_and_not_backwards(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.THIRD_PARTY)
    with days_from(YEAR, 10):
        assert renew(store, partner, sale.policy_id).policy["expiration_date"] == "2028-11-30T00:00:00.000Z"
        (renewal,) = rows_of(store, Renewal)
        assert renewal.start_at == clock.now()


def test_renewal_closes_its_window_and_names_itself(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.THIRD_PARTY, is_live=True)
    with days_from(YEAR, -5):
        first = renew(store, partner, sale.policy_id, is_live=True)
        detail = refusal(store, partner, sale.policy_id, is_live=True)
    assert detail["renewal_id"] == str(first.renewal_id)
    assert detail["renewable_from"] == "2028-08-22"
    with days_from(YEAR, 300):
        renew(store, partner, sale.policy_id, is_live=True)
    assert len(rows_of(store, Renewal)) == 2


@pytest.mark.both_databases
def test_two_renewals_that_meet_have_one_winner(store: Store, partner: Partner) -> None:
    sale, meet = sell(store, partner, insurer_a.THIRD_PARTY, is_live=True), Barrier(2)

    def attempt(_: int) -> Any:
        meet.wait()
        try:
            return store.transact(
                partner.scope(is_live=True),
                lambda session: renewals.renew(session, sale.policy_id, partner.seller(is_live=True)),
            )
        except NotRenewable as refused:
            return refused

    with days_from(YEAR, -5), ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(attempt, range(2)))
    (winner,) = [answer for answer in answers if isinstance(answer, RenewalResult)]
    (loser,) = [answer for answer in answers if isinstance(answer, NotRenewable)]
    assert loser.detail["renewal_id"] == str(winner.renewal_id)
    assert len(rows_of(store, Renewal)) == 1
    assert len(rows_of(store, Certificate)) == 2


@pytest.mark.both_databases
def test_term_that_a_renewal_row_already_names_is_refused_with_its_id(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.THIRD_PARTY)
    with days_from(YEAR, -5):
        first = renew(store, partner, sale.policy_id)
        with store.writing(partner.scope()) as session:
            session.get_one(Policy, sale.policy_id).expiration_at = YEAR
            session.get_one(Renewal, first.renewal_id).status = False
        assert refusal(store, partner, sale.policy_id)["renewal_id"] == str(first.renewal_id)


def test_foreign_other_mode_and_unknown_policies_are_not_found(
    store: Store, partner: Partner, stranger: Partner
) -> None:
    sale = sell(store, partner, insurer_a.THIRD_PARTY)
    for scope in (stranger.scope(), partner.scope(is_live=True)):
        with pytest.raises(NotFound), store.writing(scope) as session:
            renewals.renew(session, sale.policy_id, partner.seller())
    with pytest.raises(NotFound):
        renew(store, partner, uuid4())


def test_other_cover_is_refused_where_third_party_is_asked_for(store: Store, partner: Partner) -> None:
    for cover in (insurer_b.THIRD_PARTY, insurer_f.PERSONAL_ACCIDENT):
        sale = sell(store, partner, cover)
        with days_from(YEAR, -5):
            detail = refusal(store, partner, sale.policy_id, cover=insurer_a.THIRD_PARTY)
        assert detail["reason"] == "This policy is not third-party auto of insurer-a"


@pytest.mark.both_databases
def test_cancelled_pending_and_unrenewable_policies_are_refused(store: Store, partner: Partner) -> None:
    cancelled = sell(store, partner, insurer_a.THIRD_PARTY)
    with store.writing(partner.scope()) as session:
        changes.cancel(
            session, cancelled.policy_id, actor="desk", reason="sold the car", by_insurer=False, expected_version=1
        )
    detail = refusal(store, partner, cancelled.policy_id)
    assert detail["reason"] == "This policy was cancelled"
    assert detail["cancelled_at"] == clock.to_wire(shipped.STILL)
    pending = sell(store, partner, insurer_a.COMPREHENSIVE)
    assert refusal(store, partner, pending.policy_id)["reason"] == "This policy is not active yet"
    travel = sell(store, partner, insurer_c.TRAVEL)
    assert refusal(store, partner, travel.policy_id)["reason"] == "This product cannot be renewed"


def test_product_taken_off_sale_is_not_renewed(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.THIRD_PARTY)
    with store.writing(Scope.system()) as session:
        session.get_one(Product, UUID(sale.policy["product_id"])).active = False
    with days_from(YEAR, -5):
        assert refusal(store, partner, sale.policy_id)["reason"] == "This product is no longer sold"


def test_what_was_sold_before_a_rule_of_its_words_is_renewed(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.THIRD_PARTY)
    with store.writing(Scope.system()) as session:
        policy = session.get_one(Policy, sale.policy_id)
        policy.submitted = {**policy.submitted, "engine_capacity": "V", "address": "4 Allen\u200b Avenue"}
    with days_from(YEAR, -5):
        assert renew(store, partner, sale.policy_id).price.total == sale.price.total


def test_thing_insured_elsewhere_after_a_lapse_is_not_insured_twice(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.THIRD_PARTY)
    with days_from(YEAR, 5):
        second = sell(store, partner, insurer_a.THIRD_PARTY)
        with pytest.raises(DuplicateRisk) as refused:
            renew(store, partner, sale.policy_id)
        assert refused.value.detail["policy_id"] == str(second.policy_id)


def test_renewed_policy_still_guards_its_risk(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.THIRD_PARTY)
    with days_from(YEAR, -5):
        renew(store, partner, sale.policy_id)
    with days_from(YEAR, 5), pytest.raises(DuplicateRisk):
        sell(store, partner, insurer_a.THIRD_PARTY)


def test_new_term_costs_what_the_product_costs_now(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.THIRD_PARTY)
    dearer(store, UUID(sale.policy["product_id"]), 18_000_00)
    with days_from(YEAR, -5):
        assert renew(store, partner, sale.policy_id).price.total == Decimal("18000.00")


def dearer(store: Store, product_id: UUID, price_minor: int) -> None:
    """A new version of a product's rates, in effect from a month after the frozen day."""
    with store.writing(Scope.system()) as session:
        first = session.execute(sa.select(ProductVersion).where(ProductVersion.product_id == product_id)).scalar_one()
        session.insert(
            ProductVersion(
                **{
                    **first.model_dump(),
                    "id": uuid4(),
                    "effective_at": shipped.STILL + timedelta(days=20),
                    "price_minor": price_minor,
                }
            )
        )


def test_instalment_renews_for_its_own_period(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.COMPREHENSIVE, is_live=True, premium_frequency="monthly")
    activated(store, partner, sale, is_live=True)
    with clock.freeze(clock.midnight(date(2026, 12, 15))):
        renewed = renew(store, partner, sale.policy_id, is_live=True)
        assert refusal(store, partner, sale.policy_id, is_live=True)["renewal_id"] == str(renewed.renewal_id)
    assert renewed.price.total == sale.price.total == Decimal("16666.67")
    assert renewed.policy["expiration_date"] == "2027-01-20T00:00:00.000Z"


def test_instalments_of_one_year_keep_its_rates_and_the_next_year_takes_the_new_ones(
    store: Store, partner: Partner
) -> None:
    sale = sell(store, partner, insurer_a.COMPREHENSIVE, premium_frequency="biannually")
    activated(store, partner, sale)
    dearer(store, UUID(sale.policy["product_id"]), 6_00)
    with clock.freeze(clock.midnight(date(2027, 5, 15))):
        assert renew(store, partner, sale.policy_id).price.total == Decimal("100000.00")
    with clock.freeze(clock.midnight(date(2027, 11, 15))):
        assert renew(store, partner, sale.policy_id).price.total == Decimal("120000.00")


def test_half_year_renews_for_half_a_year_and_a_monthly_plan_for_a_month(store: Store, partner: Partner) -> None:
    office = sell(store, partner, insurer_b.OFFICE, is_full_year=False)
    monthly = sell(store, partner, insurer_g.PERSONAL_ACCIDENT, plan="Monthly")
    with clock.freeze(clock.midnight(date(2027, 5, 15))):
        renewed = renew(store, partner, office.policy_id)
    assert renewed.policy["expiration_date"] == "2027-11-20T00:00:00.000Z"
    assert renewed.price.total == office.price.total
    with clock.freeze(clock.midnight(date(2026, 12, 18))):
        assert renew(store, partner, monthly.policy_id).policy["expiration_date"] == "2027-01-20T00:00:00.000Z"


def test_sealed_numbers_do_not_hinder_a_renewal_and_stay_sealed(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_b.THIRD_PARTY, bvn="22123456789")
    with days_from(YEAR, -5):
        renewed = renew(store, partner, sale.policy_id)
    assert "22123456789" not in str(renewed)
    assert "22123456789" not in str(kept(store, partner, sale).model_dump())


def test_staff_renew_through_the_same_service(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_f.PERSONAL_ACCIDENT)
    with days_from(YEAR, -5), store.writing(Scope.staff(is_live=False)) as session:
        renewals.renew(session, sale.policy_id, partner.seller())
    (renewal,) = rows_of(store, Renewal)
    assert (renewal.distributor_id, renewal.is_live) == (partner.id, False)
    (entry,) = [entry for entry in rows_of(store, AuditEntry) if entry.action == "policy renewed"]
    assert entry.before == {"expiration_date": "2027-11-20T00:00:00.000Z"}
    assert entry.after["renewal_id"] == str(renewal.id)
    with store.reading(Scope.system()) as session:
        assert audit.find_broken_links(session) == []


@pytest.mark.both_databases
def test_due_policies_are_counted_by_days_with_the_premium_at_risk(store: Store, partner: Partner) -> None:
    expiring = {"0-7 days": 3, "8-30 days": 30, "31-60 days": 60, "61-90 days": 90, "Lapsed up to 30 days": -30}
    for number, days in enumerate((*expiring.values(), -31, 91)):
        with clock.freeze(shipped.STILL + timedelta(days=days)):
            sell(store, partner, insurer_a.THIRD_PARTY, registration_number=f"LSD-10{number}AB")
    sell(store, partner, insurer_c.TRAVEL)
    sell(store, partner, insurer_a.COMPREHENSIVE)
    with store.reading(Scope.staff(is_live=False)) as session:
        buckets = due.list_due(session, date(2027, 11, 20))
        live = due.list_due(session, date(2027, 11, 20), DueFilter(distributor_ids=(uuid4(),)))
    assert [(b.label, b.policies, b.premium_minor) for b in buckets] == [(name, 1, 15_000_00) for name in expiring]
    assert sum(bucket.policies for bucket in live) == 0


@pytest.mark.both_databases
def test_renewed_policy_is_due_again_with_what_its_last_term_cost(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.THIRD_PARTY)
    dearer(store, UUID(sale.policy["product_id"]), 18_000_00)
    with days_from(YEAR, -5):
        renew(store, partner, sale.policy_id)
    with store.reading(partner.scope()) as session:
        now, later = (due.list_due(session, date(year, 11, 15)) for year in (2027, 2028))
    assert sum(bucket.policies for bucket in now) == 0
    assert (later[0].policies, later[0].premium_minor) == (1, 18_000_00)


@every_case(
    ("days", "meta", "opens_on", "closes_on"),
    [
        (365, {}, date(2026, 10, 3), date(2027, 1, 31)),
        (365, {"renewal_window": {"days_before": 10, "days_after": 0}}, date(2026, 12, 22), date(2027, 1, 1)),
        (30, {}, date(2026, 12, 17), date(2027, 1, 31)),
        (7, {}, date(2026, 12, 29), date(2027, 1, 31)),
    ],
)
def test_window_opens_half_way_through_a_short_term_at_the_earliest(
    days: int, meta: dict[str, Any], opens_on: date, closes_on: date
) -> None:
    end_on = date(2027, 1, 1)
    assert compute_window(end_on - timedelta(days=days), end_on, meta) == RenewalWindow(opens_on, closes_on)


@every_case(
    ("cover", "changed"),
    [
        (insurer_a.THIRD_PARTY, {}),
        (insurer_b.OFFICE, {"is_full_year": False}),
        (insurer_f.PERSONAL_ACCIDENT, {}),
        (insurer_g.PERSONAL_ACCIDENT, {"plan": "Monthly"}),
    ],
)
def test_test_policy_is_renewed_on_the_day_of_its_sale_and_again_and_long_after_its_end(
    store: Store, partner: Partner, cover: Any, changed: dict[str, Any]
) -> None:
    sale = sell(store, partner, cover, **changed)
    first, second = (renew(store, partner, sale.policy_id) for _ in range(2))
    ends = [sale.policy["expiration_date"], first.policy["expiration_date"], second.policy["expiration_date"]]
    assert ends == sorted(set(ends))
    with clock.freeze(clock.midnight(date(2032, 3, 1))):
        assert renew(store, partner, sale.policy_id).policy["active"] is True
    renewed = [row for row in rows_of(store, Renewal) if row.policy_id == sale.policy_id]
    assert [row.is_live for row in renewed] == [False, False, False]


def test_test_policy_is_renewed_for_ten_years_ahead_and_no_further(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.THIRD_PARTY)
    for _ in range(10):
        renewed = renew(store, partner, sale.policy_id)
    assert renewed.policy["expiration_date"] == "2037-11-20T00:00:00.000Z"
    detail = refusal(store, partner, sale.policy_id)
    assert detail["reason"] == "This test policy is already renewed for more than 10 years ahead"
    assert detail["expiration_date"] == "2037-11-20T00:00:00.000Z"


def test_what_cannot_be_renewed_at_all_cannot_in_test_mode(store: Store, partner: Partner) -> None:
    cancelled, travel = sell(store, partner, insurer_a.THIRD_PARTY), sell(store, partner, insurer_c.TRAVEL)
    with store.writing(partner.scope()) as session:
        changes.cancel(
            session, cancelled.policy_id, actor="desk", reason="sold the car", by_insurer=False, expected_version=1
        )
    assert refusal(store, partner, cancelled.policy_id)["reason"] == "This policy was cancelled"
    assert refusal(store, partner, travel.policy_id)["reason"] == "This product cannot be renewed"


def test_policy_years_turn_on_the_anniversary() -> None:
    days = (date(2024, 2, 29), date(2025, 2, 27), date(2025, 2, 28), date(2026, 2, 28), date(2024, 2, 28))
    assert [compute_policy_year(date(2024, 2, 29), day) for day in days] == [0, 0, 1, 2, -1]
