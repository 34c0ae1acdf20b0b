"""An adjustment is bounded by what it corrects (contract K10)."""

from typing import Any

import pytest

from core import clock, ids, money, reference
from core.covers.insurers import insurer_a
from core.errors import InvalidInput, NotAllowed, StateForbids
from core.services.audit import log as audit
from core.services.finance import adjustments
from core.services.finance.movements import MovementRow
from core.services.policies import changes
from core.store.access import Scope, Store
from core.store.schema.tables import Adjustment, AdjustmentProposal, Policy
from tests.conftest import Partner
from tests.portfolio import NOW, Portfolio, Sales
from tests.services.finance_office import Finance
from tests.services.selling import sell

pytestmark = pytest.mark.frozen_at(NOW)

# The rule of the check.
WITHIN = "Adjustments stay within what they correct"

WHY = "The insurer charged another rate than agreed"


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="finance", of_partner=(Portfolio(seed=5, size=40),))


@pytest.fixture
def finance(store: Store, partner: Partner) -> Finance:
    return Finance(store)


@pytest.fixture
def one(finance: Finance) -> MovementRow:
    return max((row for row in finance.rows() if row.kind == "purchase"), key=lambda row: row.total_minor)


def typed(premium: int = 0, platform: int = 0, distributor: int = 0) -> dict[str, str]:
    """Amounts in kobo as somebody types them."""
    amounts = {"premium": premium, "platform_commission": platform, "distributor_commission": distributor}
    return {name: money.to_wire(minor) for name, minor in amounts.items()} | {"reason": WHY}


def refused(finance: Finance, one: MovementRow, **amounts: int) -> list[str]:
    with pytest.raises(InvalidInput) as error:
        finance.do(adjustments.propose, one.id, typed(**amounts), by="funmi")
    return [f"{fault.field} {fault.message}" for fault in error.value.faults]


def test_fifty_million_are_not_taken_from_a_sale_of_fifteen_thousand(finance: Finance, one: MovementRow) -> None:
    (reason,) = refused(finance, one, premium=-5_000_000_000)
    assert reason.startswith("premium must not change the premium of")
    (reason,) = refused(finance, one, premium=one.total_minor + 1)
    assert reason.startswith("premium must not change the premium of")
    assert finance.read(adjustments.list_open) == []
    with finance.store.reading(Scope.system()) as session:
        (entry, _) = audit.list_history(session, f"movement {one.id}")
    assert (entry.actor, entry.action) == ("staff funmi@f.example", "adjustment proposal refused")
    assert "by more than itself" in entry.after["refused"]


def test_several_corrections_together_stay_within_it_also_when_each_was_proposed_before(
    finance: Finance, one: MovementRow
) -> None:
    whole = typed(-one.total_minor, -one.mca_profit_minor, -one.distributor_profit_minor)
    first, second = (finance.do(adjustments.propose, one.id, whole, by="funmi") for _ in range(2))
    finance.do(adjustments.confirm, first, by="root")
    with pytest.raises(InvalidInput, match=r"by more than itself: ₦0\.00 is left"):
        finance.do(adjustments.confirm, second, by="root")
    assert len(finance.rows(kind="adjustment")) == 1


def test_commission_stays_between_nothing_and_the_premium(finance: Finance, one: MovementRow) -> None:
    (reason,) = refused(finance, one, platform=one.total_minor + 1)
    assert reason.startswith("platform_commission must leave a commission between nothing and the premium that is left")
    (reason,) = refused(finance, one, distributor=-one.distributor_profit_minor - 1)
    assert reason.startswith("distributor_commission must leave a commission")
    above = one.total_minor - one.mca_profit_minor - one.distributor_profit_minor + 1
    (reason,) = refused(finance, one, platform=above)
    assert reason.startswith("platform_commission must leave both commissions together within")


def test_an_adjustment_of_an_adjustment_is_refused(finance: Finance, one: MovementRow) -> None:
    made = finance.do(adjustments.propose, one.id, typed(-100), by="funmi")
    adjustment = finance.do(adjustments.confirm, made, by="femi")
    with pytest.raises(StateForbids, match="correct the movement that it corrects"):
        finance.do(adjustments.propose, adjustment, typed(50), by="funmi")


def test_above_the_limit_of_finance_an_admin_confirms(
    finance: Finance, one: MovementRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = {"finance": {"adjustment": 1_000}, "admin": {"adjustment": 1_000_000}}
    monkeypatch.setattr(reference, "_load_finance_limits", lambda: limits)
    made = finance.do(adjustments.propose, one.id, typed(-1_001), by="funmi")
    with pytest.raises(NotAllowed, match=r"above ₦10.00: an admin confirms it"):
        finance.do(adjustments.confirm, made, by="femi")
    finance.do(adjustments.confirm, made, by="root")


def test_above_the_limit_of_an_admin_nobody_confirms(
    finance: Finance, one: MovementRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert reference.get_finance_limit("adjustment", ["finance", "admin"]) == 5_000_000_000
    limits = {"finance": {"adjustment": 1_000}, "admin": {"adjustment": 2_000}}
    monkeypatch.setattr(reference, "_load_finance_limits", lambda: limits)
    made = finance.do(adjustments.propose, one.id, typed(-2_001), by="funmi")
    why = "It is above ₦20.00: nobody confirms that much: refuse it, and cancel the policy instead"
    with pytest.raises(NotAllowed, match=why):
        finance.do(adjustments.confirm, made, by="root")
    with finance.store.reading(Scope.system()) as session:
        entry = audit.list_history(session, f"movement {one.id}")[-1]
    assert (entry.actor, entry.action) == ("staff root@f.example", "adjustment confirmation refused")
    assert (entry.after or {})["refused"] == why
    within = finance.do(adjustments.propose, one.id, typed(-2_000), by="funmi")
    finance.do(adjustments.confirm, within, by="root")


@pytest.mark.parametrize(
    ("planted", "fault"),
    [
        ({"total_minor": -5_000_000_000}, "change its premium"),
        ({"mca_profit_minor": -5_000_000_000}, "leave commissions beyond its premium"),
        ({"distributor_profit_minor": -5_000_000_000}, "leave commissions beyond its premium"),
        ({"distributor_profit_minor": 5_000_000_000}, "leave commissions beyond its premium"),
    ],
    ids=["premium", "platform below nothing", "distributor below nothing", "more than the premium"],
)
def test_the_check_names_what_was_written_past_the_services_with_its_sum(
    finance: Finance, one: MovementRow, planted: dict[str, int], fault: str
) -> None:
    proposal = finance.do(adjustments.propose, one.id, typed(-100), by="funmi")
    made = finance.do(adjustments.confirm, proposal, by="femi")
    assert finance.money_faults() == []
    with finance.store.writing(Scope.system()) as session:
        row = session.get_one(Adjustment, made).model_dump()
        proposed = session.get_one(AdjustmentProposal, proposal).model_dump() | {"id": ids.new()}
        session.insert(AdjustmentProposal(**proposed))
        session.insert(Adjustment(**{**row, "id": ids.new(), "proposal_id": proposed["id"], **planted}))
    (found,) = [text for text in finance.faults(WITHIN) if fault in text]
    assert f"purchase {one.id}" in found
    if "total_minor" in planted:
        assert "₦50,000,001.00" in found


def whole_term(finance: Finance, partner: Partner) -> MovementRow:
    """A sale of today, which can be cancelled with all that was paid for it."""
    with clock.freeze(NOW):
        sale = sell(finance.store, partner, insurer_a.THIRD_PARTY, is_live=True)
    return next(row for row in finance.rows() if row.policy_id == sale.policy_id)


def cancel(finance: Finance, policy_id: Any) -> None:
    with finance.store.reading(finance.scope) as session:
        version = session.get_one(Policy, policy_id).version
    given = {"reason": "Sold the car", "by_insurer": True, "actor": "tests", "expected_version": version}
    finance.do(changes.cancel, policy_id, **given)


@pytest.mark.parametrize("raised", ["platform", "distributor", "premium"])
def test_a_sale_that_was_corrected_is_not_refunded_beyond_what_is_left(
    finance: Finance, partner: Partner, raised: str
) -> None:
    sale = whole_term(finance, partner)
    rest = sale.total_minor - sale.mca_profit_minor - sale.distributor_profit_minor
    amounts = {"premium": -rest} if raised == "premium" else {raised: rest}
    made = finance.do(adjustments.propose, sale.id, typed(**amounts), by="funmi")
    finance.do(adjustments.confirm, made, by="root")
    with pytest.raises(StateForbids, match=r"Its sale was corrected: .* Finance takes the correction back first"):
        cancel(finance, sale.policy_id)
    back = finance.do(
        adjustments.propose, sale.id, typed(**{name: -minor for name, minor in amounts.items()}), by="funmi"
    )
    finance.do(adjustments.confirm, back, by="root")
    cancel(finance, sale.policy_id)
    with pytest.raises(InvalidInput, match="must leave both commissions within the premium that its term is left with"):
        finance.do(adjustments.propose, sale.id, typed(distributor=rest), by="funmi")
    assert finance.money_faults() == []
