"""Policies after birth: activated, declined or cancelled once, on the version that was seen (contract S8, S10)."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from decimal import Decimal
from threading import Barrier
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.covers import credit_life
from core.covers.insurers import insurer_a, insurer_b, insurer_f
from core.covers.refunds import Refund as Preview
from core.errors import InvalidInput, NotFound, StaleVersion, StateForbids
from core.services.audit import log as audit
from core.services.lists.filters import declaration
from core.services.policies import certificates, changes, policies
from core.services.policies.changes import PolicyChange
from core.services.policies.policies import PolicyState
from core.services.renewals import renewals
from core.services.selling.buying import Sale
from core.store.access import Scope, Store
from core.store.schema.tables import Certificate, Policy, Refund, Submission
from tests.conftest import Partner
from tests.covers import shipped
from tests.every_case import every_case
from tests.services.selling import kept, sell

pytestmark = pytest.mark.frozen_at(shipped.STILL)

TODAY = date(2026, 11, 20)
NUMBER = "ACC/CM/11/26/HQ/77"


@pytest.fixture
def pending(store: Store, partner: Partner) -> Sale:
    return sell(store, partner, insurer_b.COMPREHENSIVE)


@pytest.fixture
def in_force(store: Store, partner: Partner) -> Sale:
    return sell(store, partner, insurer_a.THIRD_PARTY)


def change(store: Store, partner: Partner, verb: Any, policy_id: UUID, **options: Any) -> PolicyChange:
    with store.writing(partner.scope()) as session:
        made: PolicyChange = verb(session, policy_id, **{"actor": "desk", "expected_version": 1, **options})
        return made


def activate(store: Store, partner: Partner, sale: Sale, **options: Any) -> PolicyChange:
    return change(store, partner, changes.activate, sale.policy_id, **options)


def cancel(store: Store, partner: Partner, sale: Sale, **options: Any) -> PolicyChange:
    given = {"reason": "sold the car", "by_insurer": False, **options}
    return change(store, partner, changes.cancel, sale.policy_id, **given)


def decline(store: Store, partner: Partner, sale: Sale, **options: Any) -> PolicyChange:
    return change(store, partner, changes.decline, sale.policy_id, **{"reason": "too old", **options})


def preview(store: Store, partner: Partner, sale: Sale, *, by_insurer: bool = False) -> Preview:
    with store.reading(partner.scope()) as session:
        return changes.preview_refund(session, sale.policy_id, by_insurer=by_insurer)


def state(store: Store, partner: Partner, sale: Sale) -> PolicyState:
    with store.reading(partner.scope()) as session:
        return policies.get_state(session, sale.policy_id)


def submission(store: Store, sale: Sale) -> Submission:
    with store.reading(Scope.system()) as session:
        row = session.get_one(Submission, sale.policy_id)
        session.expunge(row)
        return row


def refunds_kept(store: Store) -> list[Refund]:
    with store.reading(Scope.system()) as session:
        rows = list(session.execute(sa.select(Refund)).scalars())
        session.expunge_all()
        return rows


def broken(refused: pytest.ExceptionInfo[InvalidInput]) -> list[str]:
    return [fault.field for fault in refused.value.faults]


@pytest.mark.both_databases
def test_activation_sets_what_is_missing(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_b.COMPREHENSIVE)
    assert sale.policy["start_date"] is None
    change = activate(store, partner, sale, insurer_accepted="E-mail of the underwriter")
    assert change.version == 2
    assert change.policy["active"] is True
    assert change.policy["submitted_to_provider"] is True
    assert change.policy["start_date"] == change.policy["activation_date"] == "2026-11-20T00:00:00.000Z"
    assert change.policy["expiration_date"] == "2027-11-20T00:00:00.000Z"
    assert change.policy["meta"]["policy_number"]
    code = str(change.policy["meta"]["certificate_url"]).rsplit("/", 1)[1].removesuffix(".pdf")
    with store.reading(Scope.system()) as session:
        assert certificates.get_by_code(session, code).policy_number == change.policy["meta"]["policy_number"]
    assert submission(store, sale).state == "accepted"


def test_instalment_is_activated_for_the_period_it_paid(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.COMPREHENSIVE, premium_frequency="weekly")
    with clock.freeze(shipped.STILL + timedelta(days=3)):
        change = activate(store, partner, sale)
    assert change.policy["start_date"] == "2026-11-20T00:00:00.000Z"
    assert change.policy["expiration_date"] == "2026-11-27T00:00:00.000Z"


def test_number_and_dates_of_the_insurer_are_taken(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.COMPREHENSIVE, premium_frequency="annually")
    change = activate(
        store,
        partner,
        sale,
        policy_number=f"  {NUMBER} ",
        start_on=date(2026, 12, 1),
        expiration_on=date(2027, 11, 30),
    )
    assert change.policy["meta"]["policy_number"] == NUMBER
    assert change.policy["start_date"] == change.policy["activation_date"] == "2026-12-01T00:00:00.000Z"
    assert change.policy["expiration_date"] == "2027-11-30T00:00:00.000Z"


@every_case(
    ("given", "field"),
    [
        ({"start_on": TODAY, "expiration_on": TODAY}, "expiration_on"),
        ({"expiration_on": date(2027, 11, 21)}, "expiration_on"),
        ({"start_on": date(2024, 1, 1)}, "start_on"),
        ({"policy_number": "x" * 61}, "policy_number"),
        ({"policy_number": "A\nB"}, "policy_number"),
    ],
)
def test_impossible_dates_and_numbers_are_refused_by_field(
    store: Store, partner: Partner, pending: Sale, given: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        activate(store, partner, pending, **given)
    assert broken(refused) == [field]
    assert not kept(store, partner, pending).activated


def test_number_of_another_policy_is_refused_also_across_distributors(
    store: Store, partner: Partner, stranger: Partner
) -> None:
    first = sell(store, stranger, insurer_a.COMPREHENSIVE)
    activate(store, stranger, first, policy_number=NUMBER)
    second = sell(store, partner, insurer_a.COMPREHENSIVE)
    with pytest.raises(InvalidInput) as refused:
        activate(store, partner, second, policy_number=NUMBER.lower().replace("hq", "HQ "))
    assert broken(refused) == ["policy_number"]
    assert kept(store, partner, second).version == 1


@pytest.mark.both_databases
def test_number_that_we_would_have_printed_next_is_passed_over(store: Store, partner: Partner) -> None:
    pending = sell(store, partner, insurer_a.COMPREHENSIVE)
    printed = sell(store, partner, insurer_a.THIRD_PARTY).policy["meta"]["policy_number"]
    body, _, counted = printed.rpartition("/")
    activate(store, partner, pending, policy_number=f"{body}/{int(counted) + 1}")
    next_sale = sell(store, partner, insurer_a.THIRD_PARTY, registration_number="KJA-777ZZ")
    assert next_sale.policy["meta"]["policy_number"] == f"{body}/{int(counted) + 2}"


def test_only_a_pending_policy_is_activated_or_declined(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.THIRD_PARTY)
    for verb in (activate, decline):
        with pytest.raises(StateForbids, match="A policy that is in force cannot be"):
            verb(store, partner, sale)
    pending = sell(store, partner, insurer_a.COMPREHENSIVE)
    decline(store, partner, pending)
    for verb in (activate, decline, cancel):
        with pytest.raises(StateForbids, match="A policy that is declined cannot be"):
            verb(store, partner, pending, expected_version=2)


def test_declined_policy_gives_the_whole_premium_back(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_b.COMPREHENSIVE)
    change = decline(store, partner, sale, reason=" too   old ")
    assert change.policy["active"] is False
    assert change.refund is not None
    assert (change.refund.method, change.refund.price.total) == ("full", sale.price.total)
    assert (submission(store, sale).state, submission(store, sale).last_error) == ("declined", "too old")
    sell(store, partner, insurer_b.COMPREHENSIVE)


@pytest.mark.parametrize(("by_insurer", "refund"), [(True, "8835.62"), (False, "7952.05")])
def test_cancelled_policy_gives_back_its_unexpired_days(
    store: Store, partner: Partner, *, by_insurer: bool, refund: str
) -> None:
    sale = sell(store, partner, insurer_a.THIRD_PARTY)
    with clock.freeze(shipped.STILL + timedelta(days=150)):
        shown = preview(store, partner, sale, by_insurer=by_insurer)
        change = cancel(store, partner, sale, by_insurer=by_insurer)
        assert change.policy["active"] is False
        assert kept(store, partner, sale).cancelled_at == clock.now()
    assert change.refund == shown
    assert shown.price.total == Decimal(refund)
    (row,) = refunds_kept(store)
    assert (row.total_minor, row.method, row.reason) == (shown.amount_minor, shown.method, "sold the car")
    assert row.explained == shown.price.explain
    assert (row.policy_id, row.purchase_id) == (sale.policy_id, sale.purchase_id)


def test_preview_writes_nothing(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.THIRD_PARTY)
    assert preview(store, partner, sale, by_insurer=True).price.total == Decimal("15000.00")
    assert refunds_kept(store) == []
    actions = ("endorse", "cancel", "renew")
    assert state(store, partner, sale) == PolicyState(stage="In force", version=1, actions=actions)


def test_renewed_policy_gives_back_the_term_that_has_not_begun(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.THIRD_PARTY)
    with clock.freeze(shipped.STILL + timedelta(days=365 - 73)):
        with store.writing(partner.scope()) as session:
            renewals.renew(session, sale.policy_id, partner.seller())
        assert preview(store, partner, sale, by_insurer=True).price.total == Decimal("18000.00")
    with clock.freeze(shipped.STILL + timedelta(days=365 + 366 - 183)):
        assert preview(store, partner, sale, by_insurer=True).price.total == Decimal("7500.00")


@pytest.mark.both_databases
@every_case(
    ("product", "method", "refund"),
    [("80101", "level", "287.50"), ("80102", "level", "3450.00"), ("80103", "decreasing", "1006.25")],
)
def test_credit_life_gives_back_the_months_that_are_left(
    store: Store, partner: Partner, product: str, method: str, refund: str
) -> None:
    sale = sell(store, partner, credit_life.CREDIT_LIFE, product_id=f"01900000-0000-7000-8000-0000000{product}")
    with clock.freeze(clock.midnight(date(2027, 5, 20))):
        given = preview(store, partner, sale)
    assert (given.method, f"{given.price.total:.2f}") == (method, refund)


def test_pending_policy_is_cancelled_with_everything_back(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.COMPREHENSIVE)
    change = cancel(store, partner, sale)
    assert change.refund is not None
    assert change.refund.price.total == sale.price.total
    assert submission(store, sale).state == "withdrawn"


def test_expired_and_cancelled_policies_are_not_cancelled(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_f.PERSONAL_ACCIDENT)
    with clock.freeze(shipped.STILL + timedelta(days=400)), pytest.raises(StateForbids, match="is expired"):
        cancel(store, partner, sale)
    cancel(store, partner, sale)
    with pytest.raises(StateForbids, match="is cancelled"):
        cancel(store, partner, sale, expected_version=2)
    with pytest.raises(StateForbids, match="is cancelled"):
        preview(store, partner, sale)


def test_cancelled_thing_can_be_insured_again(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.THIRD_PARTY)
    cancel(store, partner, sale)
    sell(store, partner, insurer_a.THIRD_PARTY)


def test_change_of_a_version_that_is_gone_is_refused(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.COMPREHENSIVE)
    activate(store, partner, sale)
    with pytest.raises(StaleVersion) as refused:
        cancel(store, partner, sale)
    assert refused.value.detail == {"version": 2}
    assert refunds_kept(store) == []


@pytest.mark.both_databases
def test_two_officers_on_one_policy_have_one_winner(store: Store, partner: Partner) -> None:
    sale, meet = sell(store, partner, insurer_a.COMPREHENSIVE), Barrier(2)

    def attempt(verb: Any) -> Any:
        meet.wait()
        try:
            return verb(store, partner, sale)
        except StaleVersion as refused:
            return refused

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(attempt, (activate, decline)))
    assert sorted(type(answer).__name__ for answer in answers) == ["PolicyChange", "StaleVersion"]
    policy = kept(store, partner, sale)
    assert policy.version == 2
    assert policy.activated != (policy.declined_at is not None)


@every_case("reason", ["", "  ", "x", "y" * 501])
def test_reason_must_be_said(store: Store, partner: Partner, pending: Sale, reason: str) -> None:
    for verb in (cancel, decline):
        with pytest.raises(InvalidInput) as refused:
            verb(store, partner, pending, reason=reason)
        assert broken(refused) == ["reason"]


def test_policies_of_others_are_not_found(store: Store, partner: Partner, stranger: Partner) -> None:
    sale = sell(store, partner, insurer_a.COMPREHENSIVE)
    for verb in (activate, decline, cancel):
        with pytest.raises(NotFound):
            verb(store, stranger, sale)
    with pytest.raises(NotFound):
        preview(store, stranger, sale)
    with pytest.raises(NotFound):
        state(store, stranger, sale)


def test_each_change_is_written_down(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.COMPREHENSIVE)
    activate(store, partner, sale, policy_number=NUMBER)
    cancel(store, partner, sale, expected_version=2, by_insurer=True)
    with store.reading(Scope.system()) as session:
        _, activated, cancelled = audit.list_history(session, f"policy {sale.policy_id}")
        session.expunge_all()
    assert (activated.actor, activated.action) == ("desk", "policy issued by hand")
    assert activated.after["policy_number"] == NUMBER
    assert cancelled.action == "policy cancelled"
    assert cancelled.before == {"version": 2}
    assert cancelled.after["reason"] == "sold the car"
    assert cancelled.after["method"] == "pro_rata"


@every_case(
    ("days", "stage"), [(-1, "Not started"), (0, "In force"), (364, "In force"), (365, "Expired"), (900, "Expired")]
)
def test_stage_follows_the_clock(store: Store, partner: Partner, in_force: Sale, days: int, stage: str) -> None:
    with clock.freeze(clock.midnight(TODAY) + timedelta(days=days)):
        assert state(store, partner, in_force).stage == stage


@pytest.mark.both_databases
def test_what_is_sold_after_midnight_in_lagos_is_in_force_at_once(store: Store, partner: Partner) -> None:
    with clock.freeze(clock.lagos_midnight(TODAY) + timedelta(minutes=30)):
        sale = sell(store, partner, insurer_a.THIRD_PARTY)
        with store.reading(partner.scope()) as session:
            in_sql = session.execute(sa.select(declaration.policy_stage()).where(col(Policy.id) == sale.policy_id))
            assert in_sql.scalar_one() == "In force"
            code = session.execute(sa.select(col(Certificate.code))).scalar_one()
            assert certificates.get_by_code(session, code).status == "In force"
        assert state(store, partner, sale).stage == "In force"
    with clock.freeze(clock.lagos_midnight(TODAY) - timedelta(minutes=1)):
        assert state(store, partner, sale).stage == "Not started"


def test_pending_policy_offers_its_three_actions(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.COMPREHENSIVE)
    assert state(store, partner, sale).actions == ("activate", "decline", "cancel")


@pytest.mark.both_databases
def test_record_after_a_change_is_the_record_as_read(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_b.COMPREHENSIVE)
    change = activate(store, partner, sale)
    with store.reading(partner.scope()) as session:
        read = policies.get_policy(session, sale.policy_id)
        assert session.execute(sa.select(sa.func.count()).select_from(Certificate)).scalar_one() == 1
        assert session.execute(sa.select(col(Policy.version))).scalar_one() == change.version
    assert {name: read[name] for name in change.policy} == change.policy  # type: ignore[literal-required]
