"""A distributor's own commission share: agreed by two admins, and taken by each sale and renewal from its day on."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.covers.insurers import insurer_a, insurer_f
from core.covers.registry import COVERS
from core.errors import InvalidInput, NotAllowed, NotFound, StateForbids
from core.services.catalogue import for_sale, product_list, products, rate_changes, share_changes
from core.services.catalogue.products import ProductFilter
from core.services.lists.paging import Paging
from core.services.policies import changes
from core.services.renewals import renewals
from core.settings import settings
from core.store.access import Scope, Store
from core.store.schema.tables import CommissionShare, ProductBlock, ProductVersion, Purchase, Refund, Renewal
from tests.conftest import Partner, make_partner
from tests.covers import shipped
from tests.every_case import every_case
from tests.services.finance import independent
from tests.services.finance_office import Finance, refuse_statement
from tests.services.selling import sell

pytestmark = pytest.mark.frozen_at(shipped.STILL)

# The rule of the check.
SOLD_BY_SHARE = "Every sale is by the commission share that its distributor had"

CAR, GUARD = insurer_a.COVERS[1], insurer_f.COVERS[0]
CAR_ID = str(shipped.body(CAR)["product_id"])
DAY = timedelta(days=1)
STARTS = str(clock.to_lagos_day(shipped.STILL + DAY))
SHARE = {"commission": "7.25", "starts_on": STARTS}


@pytest.fixture
def second_partner(store: Store) -> Partner:
    return make_partner(store, "Second Lenders")


def agree(finance: Finance, partner: Partner, **typed: Any) -> UUID:
    """A share that one admin has proposed and another confirmed."""
    share: UUID = finance.do(share_changes.propose, partner.id, {**SHARE, **typed}, by="root")
    finance.do(share_changes.confirm, share, by="second")
    return share


@pytest.fixture
def agreed(finance: Finance, partner: Partner) -> None:
    agree(finance, partner)


def rates_of(finance: Finance, entity: Any, row_id: UUID) -> tuple[ProductVersion, Any]:
    with finance.reading() as session:
        row = session.get_one(entity, row_id)
        version = session.get_one(ProductVersion, row.product_version_id)
        session.expunge_all()
        return version, row


def bought(finance: Finance, partner: Partner, cover: Any = CAR, **changed: Any) -> tuple[ProductVersion, Purchase]:
    sale = sell(finance.store, partner, cover, is_live=True, **changed)
    return rates_of(finance, Purchase, sale.purchase_id)


def refusal(finance: Finance, partner: Partner, **typed: Any) -> dict[str, str]:
    with pytest.raises(InvalidInput) as refused:
        finance.do(share_changes.propose, partner.id, {**SHARE, **typed}, by="root")
    return {fault.field: fault.message for fault in refused.value.faults}


def test_a_sale_takes_the_share_from_its_day_on_and_the_insurer_keeps_its_part(
    finance: Finance, partner: Partner, second_partner: Partner
) -> None:
    share = agree(finance, partner)
    before, _ = bought(finance, partner)
    with clock.freeze(clock.lagos_midnight(clock.to_lagos_day(shipped.STILL + DAY)) - timedelta(milliseconds=1)):
        assert bought(finance, partner, registration_number="AAA111AA")[0].id == before.id
    with clock.freeze(shipped.STILL + DAY):
        after, sale = bought(finance, partner, registration_number="AAA222AA")
        again, _ = bought(finance, partner, registration_number="AAA333AA")
        other, _ = bought(finance, second_partner, registration_number="AAA444AA")
    assert (after.base_id, after.share_id, after.distributor_commission_bp) == (before.id, share, 725)
    together = before.mca_commission_bp + before.distributor_commission_bp
    assert after.mca_commission_bp == together - 725
    assert sale.distributor_profit_minor == money.share(sale.total_minor, 725)
    assert sale.mca_profit_minor == money.share(sale.total_minor, together - 725)
    assert (again.id, other.id) == (after.id, before.id), "one version for all of its sales, and for nobody else's"
    assert finance.faults() == []


@pytest.mark.both_databases
def test_what_a_distributor_sells_is_the_same_of_one_cover_and_of_all(finance: Finance, partner: Partner) -> None:
    agree(finance, partner, product_id=CAR_ID)
    withheld = next(each for each in shipped.products() if each != CAR_ID)
    with finance.store.writing(Scope.system()) as session:
        session.insert(ProductBlock(distributor_id=partner.id, product_id=UUID(withheld), created_at=clock.now()))
    with clock.freeze(shipped.STILL + DAY), finance.reading() as session:
        every = for_sale.list_all(session, partner.id)
        found = {(cover.prefix, cover.route): for_sale.list_products(session, cover, partner.id) for cover in COVERS}
    for endpoint, products_ in found.items():
        assert [product for place, product in every if place == endpoint] == products_
    assert len(every) == sum(map(len, found.values()))
    assert UUID(withheld) not in {product.id for _, product in every}
    (own,) = [product for _, product in every if product.share_id]
    assert (str(own.id), own.distributor_commission_bp) == (CAR_ID, 725)


def test_a_renewal_and_a_refund_are_divided_by_the_share_of_their_term(finance: Finance, partner: Partner) -> None:
    share = agree(finance, partner, product_id=CAR_ID)
    sale = sell(finance.store, partner, CAR, is_live=True)
    next_year = clock.lagos_midnight(clock.add_days(clock.add_months(clock.today(), 12), -20))
    with clock.freeze(next_year):
        made = finance.do(renewals.renew, sale.policy_id, partner.seller(is_live=True))
        version, renewal = rates_of(finance, Renewal, made.renewal_id)
        assert version.share_id == share
        assert renewal.distributor_profit_minor == money.share(renewal.total_minor, 725)
        cancellation = {"reason": "The car was sold", "actor": "tests", "by_insurer": False}
        finance.do(changes.cancel, sale.policy_id, expected_version=2, **cancellation)
    with finance.reading() as session:
        rows = session.execute(sa.select(Refund).where(col(Refund.renewal_id) == made.renewal_id)).scalars().all()
        assert [row.distributor_profit_minor for row in rows] == [money.share(row.total_minor, 725) for row in rows]
        assert len(rows) == 1
    assert finance.faults() == []
    with finance.store.engine.connect() as connection:
        assert independent.find_faults(connection) == []


def test_the_share_of_a_product_goes_before_that_of_all_and_one_without_a_percentage_ends_it(
    finance: Finance, partner: Partner
) -> None:
    agree(finance, partner, commission="6.00")
    agree(finance, partner, commission="8.00", product_id=CAR_ID)
    plates = iter(f"BBB{number}BB" for number in range(111, 999))
    with clock.freeze(shipped.STILL + DAY):
        assert bought(finance, partner, registration_number=next(plates))[0].distributor_commission_bp == 800
        assert bought(finance, partner, GUARD)[0].distributor_commission_bp == 600
        ends = {"commission": None, "starts_on": str(clock.to_lagos_day(shipped.STILL + 2 * DAY))}
        agree(finance, partner, **ends, product_id=CAR_ID)
    with clock.freeze(shipped.STILL + 2 * DAY):
        assert bought(finance, partner, registration_number=next(plates))[0].distributor_commission_bp == 600
        agree(finance, partner, commission=None, starts_on=str(clock.to_lagos_day(shipped.STILL + 3 * DAY)))
    with clock.freeze(shipped.STILL + 3 * DAY):
        version, _ = bought(finance, partner, registration_number=next(plates))
        assert (version.share_id, version.distributor_commission_bp) == (None, 500)
    assert [share.is_held for share in finance.read(share_changes.list_shares, partner.id)].count(True) == 0
    assert finance.faults() == []


def test_a_share_takes_two_admins_of_whom_the_second_has_no_password_just_reset(
    finance: Finance, partner: Partner
) -> None:
    share = finance.do(share_changes.propose, partner.id, SHARE, by="root")
    for name in ("funmi", "oye", "chi", "sade"):
        for verb in (share_changes.confirm, share_changes.refuse, share_changes.take_back):
            with pytest.raises(NotAllowed):
                finance.do(verb, share, by=name)
        with pytest.raises(NotAllowed):
            finance.do(share_changes.propose, partner.id, SHARE, by=name)
    for verb in (share_changes.confirm, share_changes.refuse):
        with pytest.raises(NotAllowed, match="You proposed"):
            finance.do(verb, share, by="root")
    with pytest.raises(NotAllowed, match="Only who proposed"):
        finance.do(share_changes.take_back, share, by="second")
    with pytest.raises(StateForbids, match="waits for a second"):
        finance.do(share_changes.propose, partner.id, {**SHARE, "commission": "9"}, by="second")
    resting = finance.rest("second", shipped.STILL + timedelta(hours=3))
    with pytest.raises(NotAllowed, match="gave you your password"):
        finance.do(share_changes.confirm, share, by=resting)
    finance.do(share_changes.take_back, share, by="root")
    with pytest.raises(StateForbids, match="does not wait"):
        finance.do(share_changes.confirm, share, by=finance.person("second"))
    with pytest.raises(NotFound):
        finance.do(share_changes.propose, share, SHARE, by="root")


@pytest.mark.both_databases
def test_a_share_never_begins_today_and_is_judged_again_when_it_is_confirmed(
    finance: Finance, partner: Partner
) -> None:
    for day in (clock.today(), clock.add_days(clock.today(), -1)):
        assert refusal(finance, partner, starts_on=str(day)) == {
            "starts_on": "must be tomorrow in Lagos at the earliest"
        }
    assert set(refusal(finance, partner, starts_on="2036-01-01")) == {"starts_on"}
    share = finance.do(share_changes.propose, partner.id, SHARE, by="root")
    with clock.freeze(shipped.STILL + DAY), pytest.raises(StateForbids, match="tomorrow in Lagos"):
        finance.do(share_changes.confirm, share, by="second")
    finance.do(share_changes.refuse, share, by="second")
    assert finance.read(share_changes.list_shares, partner.id)[0].state == "refused"


def test_no_share_is_above_what_both_commissions_are(finance: Finance, partner: Partner) -> None:
    # 12.50 % and 5.00 %.
    assert "17.50 %" in refusal(finance, partner, commission="17.51", product_id=CAR_ID)["commission"]
    assert "and" in refusal(finance, partner, commission="99")["commission"]
    for wrong in ("-0.01", "100.01", "1.234", "much"):
        assert set(refusal(finance, partner, commission=wrong)) == {"commission"}
    assert set(refusal(finance, partner, product_id=str(partner.id))) == {"product_id"}
    with pytest.raises(StateForbids, match="nothing would change"):
        finance.do(share_changes.propose, partner.id, {"starts_on": STARTS}, by="root")
    agree(finance, partner, commission="17.50", product_id=CAR_ID)
    with clock.freeze(shipped.STILL + DAY):
        version, sale = bought(finance, partner)
        assert (version.mca_commission_bp, sale.mca_profit_minor) == (0, 0)


def test_the_rates_of_a_product_leave_room_for_the_shares_that_were_agreed(finance: Finance, partner: Partner) -> None:
    agree(finance, partner, commission="16.00", product_id=CAR_ID)
    product = finance.read(product_list.get_product, UUID(CAR_ID))

    def lower(mca: str) -> UUID:
        at, given = shipped.STILL + 9 * DAY, {"mca_commission": mca}
        made: UUID = finance.do(
            rate_changes.propose,
            product.id,
            given,
            start=product.latest.id,
            effective_at=at,
            seen=product.version,
            by="root",
        )
        return made

    with pytest.raises(InvalidInput) as refused:
        lower("10.99")
    assert [(fault.field, "16.00 %" in fault.message) for fault in refused.value.faults] == [("mca_commission", True)]
    lower("11.00")


def test_rates_that_were_withdrawn_before_they_held_bound_no_share(finance: Finance, partner: Partner) -> None:
    product = finance.read(product_list.get_product, UUID(CAR_ID))
    at, given = shipped.STILL + 9 * DAY, {"mca_commission": "1"}
    seen = {"start": product.latest.id, "effective_at": at, "seen": product.version}
    proposal = finance.do(rate_changes.propose, product.id, given, **seen, by="root")
    seen_anew = finance.read(product_list.get_product, product.id).version
    planned = finance.do(rate_changes.confirm, product.id, proposal, seen=seen_anew, by="second")
    assert "6.00 %" in refusal(finance, partner, commission="6.01", product_id=CAR_ID)["commission"]
    version = finance.read(product_list.get_product, product.id).version
    finance.do(rate_changes.withdraw, product.id, planned, seen=version, by="root")
    agree(finance, partner, commission="17.50", product_id=CAR_ID)


def test_a_share_leaves_the_insurer_what_it_keeps_at_least(
    finance: Finance, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COVERDESK_INSURER_SHARE_FLOOR", "90")
    settings.cache_clear()
    assert "10.00 %" in refusal(finance, partner, commission="10.01", product_id=CAR_ID)["commission"]
    agree(finance, partner, commission="10", product_id=CAR_ID)


@pytest.mark.both_databases
def test_a_distributor_reads_its_own_commission_with_the_product(
    finance: Finance, partner: Partner, second_partner: Partner
) -> None:
    agree(finance, partner, product_id=CAR_ID)
    with clock.freeze(shipped.STILL + DAY):
        for reader, rates in ((partner, ("10.25", "7.25")), (second_partner, ("12.50", "5.00"))):
            with finance.store.reading(reader.scope(is_live=True)) as session:
                one = products.get_product(session, UUID(CAR_ID), is_live=True)
                listed = products.list_products(
                    session, ProductFilter(product_ids=[UUID(CAR_ID)]), Paging(1, 10), is_live=True
                )
            for record in (one, *listed.items):
                found = (record["mca_commission_percentage"], record["distributor_commission_percentage"])
                assert tuple(f"{float(value):.2f}" for value in found) == rates


@pytest.mark.both_databases
def test_the_check_finds_a_sale_by_another_share_and_rates_that_nobody_agreed(
    finance: Finance, partner: Partner, second_partner: Partner
) -> None:
    agree(finance, partner)
    with clock.freeze(shipped.STILL + DAY):
        version, _ = bought(finance, partner)
        _, other = bought(finance, second_partner, registration_number="CCC111CC")
    with finance.store.writing(Scope.system()) as session:
        session.execute(sa.update(Purchase).where(col(Purchase.id) == other.id).values(product_version_id=version.id))
    assert any("share of another distributor" in fault for fault in finance.faults(SOLD_BY_SHARE))
    with finance.store.writing(Scope.system()) as session:
        session.execute(
            sa.update(Purchase).where(col(Purchase.id) == other.id).values(product_version_id=version.base_id)
        )
        mine = col(Purchase.product_version_id) == version.id
        session.execute(sa.update(Purchase).where(mine).values(product_version_id=version.base_id))
    assert any("was not sold by the commission share" in fault for fault in finance.faults(SOLD_BY_SHARE))
    with finance.store.writing(Scope.system()) as session:
        changed = {"id": UUID(int=7), "mca_commission_bp": 1, "share_id": UUID(int=8)}
        session.insert(ProductVersion(**{**version.model_dump(), **changed}))
    assert any("that are not the product's with the share" in fault for fault in finance.faults(SOLD_BY_SHARE))


@pytest.mark.both_databases
@every_case(
    "statement",
    [
        "UPDATE commission_share SET commission_bp = 1",
        "UPDATE commission_share SET state = 'open', decided_at = NULL, decided_by = NULL",
        "DELETE FROM commission_share",
        "UPDATE product_version SET share_id = NULL",
        "UPDATE product_version SET base_id = NULL",
    ],
)
@pytest.mark.usefixtures("agreed")
def test_the_store_itself_keeps_what_was_agreed(finance: Finance, statement: str) -> None:
    refuse_statement(finance, statement)


@pytest.mark.both_databases
def test_the_store_itself_wants_two_people(finance: Finance, partner: Partner) -> None:
    share = finance.do(share_changes.propose, partner.id, SHARE, by="root")
    mine = {"state": "confirmed", "decided_at": clock.now(), "decided_by": finance.people["root"].id}
    with pytest.raises(sa.exc.IntegrityError), finance.store.writing(Scope.system()) as session:
        session.execute(sa.update(CommissionShare).where(col(CommissionShare.id) == share).values(**mine))
