"""A refund belongs to one paid term and divides like it; claims hold it back; every sum adds up (contract S19)."""

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from core import clock, ids, money
from core.covers.insurers import insurer_a
from core.desk import store_check
from core.errors import StateForbids
from core.money import Split
from core.services.lists import exports
from core.services.lists.exports import Tally
from core.services.lists.windows import Window
from core.services.policies import changes
from core.services.policies.changes import PolicyChange
from core.services.renewals import records, renewals
from core.services.renewals.records import RENEWALS, RenewalFilter
from core.services.sales import figures, purchases, totals
from core.services.sales.figures import METRICS_BY_KEY, REFUNDS
from core.services.sales.filter import SalesFilter
from core.services.sales.purchases import PURCHASES
from core.services.selling.buying import Sale
from core.store.access import Scope, Store
from core.store.schema.tables import Claim, Policy, ProductVersion, Purchase, Refund, Renewal
from tests.conftest import Partner
from tests.covers import shipped
from tests.every_case import every_case
from tests.planting import assert_named, planted
from tests.services.claim_office import PAID, Office
from tests.services.selling import sell

pytestmark = pytest.mark.frozen_at(shipped.STILL)

YEAR, DESK = timedelta(days=365), Scope.staff(is_live=False)
AMOUNTS = ("total_minor", "mca_profit_minor", "distributor_profit_minor")


def cancel(store: Store, partner: Partner, policy: Any, *, version: int = 1, by_insurer: bool = True) -> PolicyChange:
    with store.writing(partner.scope()) as session:
        return changes.cancel(
            session, policy, actor="desk", reason="asked for", by_insurer=by_insurer, expected_version=version
        )


def decline(store: Store, partner: Partner, sale: Sale) -> None:
    with store.writing(partner.scope()) as session:
        changes.decline(session, sale.policy_id, actor="desk", reason="too old", expected_version=1)


def renew(store: Store, partner: Partner, sale: Sale) -> None:
    with store.writing(partner.scope()) as session:
        renewals.renew(session, sale.policy_id, partner.seller())


def rows(store: Store, entity: Any) -> list[Any]:
    with store.reading(Scope.system()) as session:
        found = list(session.execute(sa.select(entity).order_by(col(entity.created_at), col(entity.id))).scalars())
        session.expunge_all()
        return found


def parts(row: Any) -> Split:
    return Split(*(getattr(row, name) for name in AMOUNTS))


def faults(store: Store) -> list[str]:
    with store.reading(Scope.system()) as session:
        return store_check.list_faults(session)


@pytest.fixture
def one_sale(store: Store, partner: Partner) -> None:
    sell(store, partner, insurer_a.THIRD_PARTY)


@pytest.fixture
def renewed_and_cancelled(store: Store, partner: Partner) -> None:
    """A policy was cancelled in its second term, and nothing is wrong."""
    sale = sell(store, partner, insurer_a.THIRD_PARTY)
    with clock.freeze(shipped.STILL + YEAR + timedelta(days=1)):
        renew(store, partner, sale)
        cancel(store, partner, sale.policy_id, version=2)
    assert faults(store) == []


@pytest.fixture
def over_two_terms(store: Store, partner: Partner) -> Sale:
    """A year of cover that is renewed and then ended by the insurer, 73 days before its first term is over."""
    sale = sell(store, partner, insurer_a.THIRD_PARTY)
    with clock.freeze(shipped.STILL + YEAR - timedelta(days=73)):
        renew(store, partner, sale)
        cancel(store, partner, sale.policy_id, version=2)
    return sale


def test_a_cancellation_over_two_terms_writes_two_refunds_each_divided_like_its_term(
    store: Store, over_two_terms: Sale
) -> None:
    (purchase,), (renewal,) = rows(store, Purchase), rows(store, Renewal)
    with store.reading(Scope.system()) as session:
        version = session.get_one(ProductVersion, purchase.product_version_id)
        bp = {"mca_bp": version.mca_commission_bp, "distributor_bp": version.distributor_commission_bp}
    first, second = sorted(rows(store, Refund), key=lambda refund: refund.renewal_id is not None)
    assert (first.renewal_id, second.renewal_id) == (None, renewal.id)
    assert parts(first) == money.split(300_000, **bp)
    assert parts(second) == parts(renewal)
    assert [refund.explained[-1]["amount"] for refund in (first, second)] == ["3000.00", "15000.00"]
    for refund, term in ((first, purchase), (second, renewal)):
        assert refund.product_version_id == term.product_version_id
        for name in ("distributor_id", "is_live", "customer_id", "product_id", "product_category_id", "provider_id"):
            assert getattr(refund, name) == getattr(term, name)
    assert faults(store) == []


def test_a_decline_reverses_every_part_exactly(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.COMPREHENSIVE)
    decline(store, partner, sale)
    (purchase,), (refund,) = rows(store, Purchase), rows(store, Refund)
    assert parts(refund) == parts(purchase)
    with store.reading(DESK) as session:
        written = totals.compute_total(session, SalesFilter())
    assert written.net == Split(0, 0, 0)
    assert written.gross == parts(purchase)
    assert faults(store) == []


@pytest.mark.both_databases
def test_every_movement_is_the_sum_of_its_three_shares_and_all_of_them_are_the_figures(
    store: Store, partner: Partner, over_two_terms: Sale
) -> None:
    decline(store, partner, sell(store, partner, insurer_a.COMPREHENSIVE, registration_number="KJA-777ZZ"))

    def movement(entity: Any, sign: int) -> Any:
        total, platform, seller = (sign * col(getattr(entity, name)) for name in AMOUNTS)
        shared = (entity.id, entity.created_at, entity.distributor_id, entity.provider_id, entity.product_id)
        return sa.select(
            *(col(column) for column in (*shared, entity.customer_id, entity.product_version_id)),
            total.label("premium"),
            (total - platform - seller).label("insurer"),
            platform.label("platform"),
            seller.label("seller"),
        )

    union = sa.union_all(movement(Purchase, 1), movement(Renewal, 1), movement(Refund, -1))
    with store.reading(Scope.system()) as session:
        found = session.execute(union).all()
    assert len(found) == 2 + 1 + 3
    assert all(row.premium == row.insurer + row.platform + row.seller for row in found)
    with store.reading(DESK) as session:
        net = totals.compute_total(session, SalesFilter()).net
    sums = [sum(getattr(row, name) for row in found) for name in ("premium", "platform", "seller", "insurer")]
    assert sums == [net.total_minor, net.mca_profit_minor, net.distributor_profit_minor, net.provider_share_minor]


def exported(store: Store, kind: Any, what: str = "") -> Split:
    """The sum of the money columns of an export of everything, after each row was added up."""
    with store.reading(DESK) as session:
        text = b"".join(exports.stream_lines(session, kind, kind.read({}), Tally())).decode()
    found = [
        [int(row[f"{what}{name}"].replace(".", "")) for name in ("total", "mca_profit", "distributor_profit")]
        + [int(row[f"{what}provider_share"].replace(".", ""))]
        for row in (
            {**each, "refunded_total": each["refunded"]} for each in csv.DictReader(io.StringIO(text, newline=""))
        )
    ]
    assert all(total == mca + seller + insurer for total, mca, seller, insurer in found)
    return Split(*(sum(column) for column in list(zip(*found, strict=True))[:3]))


@pytest.mark.both_databases
def test_tiles_footers_and_exports_tell_the_same_gross_refunds_and_net(
    store: Store, partner: Partner, over_two_terms: Sale
) -> None:
    decline(store, partner, sell(store, partner, insurer_a.COMPREHENSIVE, registration_number="KJA-777ZZ"))
    sell(store, partner, insurer_a.THIRD_PARTY, registration_number="KJA-778ZZ")
    everything, renewals, today = SalesFilter(), RenewalFilter(), clock.today()
    window = Window(today, clock.add_days(today, 366))
    with store.reading(DESK) as session:
        summary = figures.build_summary(session, window)
        sold, renewed = (
            purchases.sum_purchases(session, everything),
            records.compute_total(session, renewals),
        )
        back = [purchases.sum_refunds(session, everything), records.sum_refunds(session, renewals)]
    of_purchases, of_renewals = back
    gross, given_back = sold.purchases + renewed.all_rows.money, of_purchases + of_renewals
    assert exported(store, PURCHASES) == sold.purchases
    assert exported(store, RENEWALS) == renewed.all_rows.money
    assert exported(store, PURCHASES, "refunded_") == of_purchases
    assert exported(store, RENEWALS, "refunded_") == of_renewals
    tiles = summary.current.totals
    assert (tiles.gross, tiles.refunds_split, tiles.net) == (gross, given_back, gross - given_back)
    assert summary.value(REFUNDS) == given_back.total_minor > 0
    assert summary.value(METRICS_BY_KEY["premium"]) == gross.total_minor
    assert summary.value(METRICS_BY_KEY["platform_commission"]) == gross.mca_profit_minor - given_back.mca_profit_minor
    assert (
        summary.value(METRICS_BY_KEY["distributor_commission"])
        == gross.distributor_profit_minor - given_back.distributor_profit_minor
    )
    assert faults(store) == []


def refund_of(purchase: Purchase, policy: Policy, **changed: Any) -> Refund:
    same = ("distributor_id", "is_live", "customer_id", "product_id", "product_version_id", "product_category_id")
    values = {name: getattr(purchase, name) for name in (*same, "provider_id", *AMOUNTS)}
    about = {"id": ids.new(), "policy_id": policy.id, "purchase_id": purchase.id, "created_at": clock.now()}
    return Refund(**{**values, **about, "method": "full", "reason": "by hand", **changed})


@pytest.mark.both_databases
@every_case("name", AMOUNTS)
@pytest.mark.usefixtures("one_sale")
def test_the_store_itself_refuses_more_than_was_paid_for_the_term(store: Store, name: str) -> None:
    (purchase,), (policy,) = rows(store, Purchase), rows(store, Policy)
    with pytest.raises(IntegrityError), store.writing(Scope.system()) as session:
        session.insert(refund_of(purchase, policy, **{name: getattr(purchase, name) + 1}))
    assert rows(store, Refund) == []


@pytest.mark.both_databases
@every_case("statement", ["UPDATE refund SET total_minor = 0", "DELETE FROM refund"])
def test_the_store_itself_keeps_refunds_as_they_were_written(store: Store, partner: Partner, statement: str) -> None:
    cancel(store, partner, sell(store, partner, insurer_a.THIRD_PARTY).policy_id)
    with store.writers.connect() as connection, pytest.raises(sa.exc.DBAPIError, match="keeps what it holds"):
        connection.exec_driver_sql(statement)


@pytest.mark.both_databases
def test_the_store_itself_refuses_a_term_of_another_sale_and_a_second_refund(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.THIRD_PARTY)
    with clock.freeze(shipped.STILL + YEAR - timedelta(days=73)):
        renew(store, partner, sale)
    sell(store, partner, insurer_a.THIRD_PARTY, registration_number="KJA-777ZZ")
    (renewal,), bought = rows(store, Renewal), rows(store, Purchase)
    first, second = sorted(bought, key=lambda purchase: purchase.id != renewal.purchase_id)
    policies = {policy.purchase_id: policy for policy in rows(store, Policy)}
    with pytest.raises(IntegrityError), store.writing(Scope.system()) as session:
        session.insert(refund_of(second, policies[second.id], renewal_id=renewal.id))
    cancel(store, partner, policies[second.id].id)
    less = dict.fromkeys(AMOUNTS, 0)
    with pytest.raises(IntegrityError), store.writing(Scope.system()) as session:
        session.insert(refund_of(second, policies[second.id], **less))
    with store.writing(Scope.system()) as session:
        session.insert(refund_of(first, policies[first.id], renewal_id=renewal.id))
    with pytest.raises(IntegrityError), store.writing(Scope.system()) as session:
        session.insert(refund_of(first, policies[first.id], renewal_id=renewal.id, **less))


def test_an_open_claim_holds_the_refund_back_and_a_decided_one_lets_it_go(store: Store, partner: Partner) -> None:
    office = Office(store, partner)
    claim_id, policy_id = office.lodge(), office.desk.sale.policy_id
    reference = f"C-{claim_id.hex[-8:].upper()}"
    for verb in (cancel, refund_shown):
        with pytest.raises(StateForbids, match=rf"Claim {reference} \(Pending\) is still open") as refused:
            verb(store, partner, policy_id)
        open_claim = {"claim_id": str(claim_id), "reference": reference, "status": "Pending"}
        assert refused.value.detail == {"claims": [open_claim]}
    assert rows(store, Refund) == []
    office.walk(claim_id, "Declined")
    assert cancel(store, partner, policy_id).refund.price.total > 0  # type: ignore[union-attr]


def refund_shown(store: Store, partner: Partner, policy_id: Any) -> None:
    with store.reading(partner.scope()) as session:
        changes.preview_refund(session, policy_id, by_insurer=True)


def test_nothing_goes_back_of_a_term_out_of_which_a_claim_was_paid(store: Store, partner: Partner) -> None:
    office = Office(store, partner)
    claim_id = office.lodge()
    office.walk(claim_id, *PAID)
    change = cancel(store, partner, office.desk.sale.policy_id)
    (refund,) = rows(store, Refund)
    assert (refund.method, parts(refund)) == ("claim_paid", Split(0, 0, 0))
    assert f"C-{claim_id.hex[-8:].upper()}" in refund.explained[0]["working"]
    assert change.refund is not None
    assert change.refund.price.total == 0
    assert faults(store) == []


def test_a_claim_that_was_paid_and_reopened_and_declined_was_still_paid(store: Store, partner: Partner) -> None:
    office = Office(store, partner)
    claim_id = office.lodge()
    office.walk(claim_id, *PAID, "Settled", "Reviewing", "Declined")
    cancel(store, partner, office.desk.sale.policy_id)
    assert [refund.total_minor for refund in rows(store, Refund)] == [0]


def test_a_claim_paid_in_the_first_term_leaves_the_renewed_one_its_refund(store: Store, partner: Partner) -> None:
    office = Office(store, partner)
    claim_id = office.lodge()
    office.walk(claim_id, *PAID)
    sale = sell(store, partner, insurer_a.THIRD_PARTY)
    with store.writing(Scope.system()) as session:
        session.execute(
            sa.update(Claim)
            .where(col(Claim.id) == claim_id)
            .values(policy_id=sale.policy_id, incident_date=str(clock.today()))
            .execution_options(synchronize_session=False)
        )
    with clock.freeze(shipped.STILL + YEAR - timedelta(days=73)):
        renew(store, partner, sale)
        cancel(store, partner, sale.policy_id, version=2)
    back = {refund.renewal_id is None: refund.total_minor for refund in rows(store, Refund)}
    assert back == {True: 0, False: 1_500_000}


@pytest.mark.parametrize(
    ("statuses", "words"), [((), "is still open"), (PAID, "was paid: the premium cannot go back whole")]
)
def test_a_pending_policy_with_a_claim_is_not_declined(
    store: Store, partner: Partner, statuses: tuple[str, ...], words: str
) -> None:
    office = Office(store, partner)
    claim_id = office.lodge()
    office.walk(claim_id, *statuses)
    sale = sell(store, partner, insurer_a.COMPREHENSIVE)
    with store.writing(Scope.system()) as session:
        session.execute(
            sa.update(Claim)
            .where(col(Claim.id) == claim_id)
            .values(policy_id=sale.policy_id)
            .execution_options(synchronize_session=False)
        )
    with pytest.raises(StateForbids, match=words):
        decline(store, partner, sale)
    assert rows(store, Refund) == []


@pytest.mark.both_databases
@every_case(
    ("sabotage", "words"),
    [
        ("mca_profit_minor = mca_profit_minor - 1", "refunds whose parts are not those of their total"),
        ("total_minor = total_minor + 1", "refunds above what was paid for their term"),
        (
            "product_version_id = (SELECT id FROM product_version WHERE product_id <> refund.product_id LIMIT 1)",
            "refunds that differ from the term they belong to",
        ),
    ],
)
@pytest.mark.usefixtures("renewed_and_cancelled")
def test_check_finds_a_refund_that_does_not_fit_its_term(store: Store, sabotage: str, words: str) -> None:
    with planted(store, f"UPDATE refund SET {sabotage}", without={"refund_update": "refund"}) as session:
        assert_named(session, words)


def test_check_finds_a_declined_sale_that_kept_something(store: Store, partner: Partner) -> None:
    sell(store, partner, insurer_a.COMPREHENSIVE)
    with store.writers.begin() as connection:
        connection.execute(sa.update(Policy).values(declined_at=clock.now()))
        connection.exec_driver_sql("UPDATE submission SET state = 'declined'")
    assert any("declined policies whose premium and commissions" in fault for fault in faults(store))


def test_check_finds_a_daybook_that_forgot_a_commission(store: Store, over_two_terms: Sale) -> None:
    with store.writers.begin() as connection:
        connection.exec_driver_sql("UPDATE daybook_line SET refunded_mca_minor = 0")
    assert any("daybook" in fault for fault in faults(store))
