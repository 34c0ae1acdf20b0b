"""A movement is corrected by two people, and the correction is a movement like any other."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from core import clock, ids
from core.errors import InvalidInput, NotAllowed, NotFound, StateForbids
from core.services.finance import adjustments, movements
from core.services.finance.movements import MovementRow
from core.store.access import Scope, Store
from core.store.schema.tables import Adjustment, AdjustmentProposal, Movement
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import NOW, Portfolio, Sales
from tests.services.finance_office import OUTSIDERS, Finance, select

pytestmark = pytest.mark.frozen_at(NOW)

TYPED = {
    "premium": "-1,250.50",
    "platform_commission": "-100",
    "distributor_commission": "25.25",
    "reason": "The insurer charged another rate than agreed",
}


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="finance", of_partner=(Portfolio(seed=5, size=40),))


@pytest.fixture
def finance(store: Store, partner: Partner) -> Finance:
    return Finance(store)


@pytest.fixture
def one(finance: Finance) -> MovementRow:
    return max((row for row in finance.rows() if row.kind == "purchase"), key=lambda row: row.total_minor)


def test_a_confirmed_adjustment_is_a_movement_of_the_day_and_part_of_every_total(
    finance: Finance, one: MovementRow
) -> None:
    before = finance.read(movements.compute_totals, select())
    proposal = finance.do(adjustments.propose, one.id, TYPED, by="funmi")
    assert finance.read(movements.compute_totals, select()) == before, "a proposal moves nothing"
    made = finance.do(adjustments.confirm, proposal, by="femi")
    (row,) = finance.rows(kind="adjustment")
    assert (row.id, row.policy_id, row.created_at) == (made, one.policy_id, clock.now())
    assert (row.total_minor, row.mca_profit_minor, row.distributor_profit_minor) == (-125_050, -10_000, 2_525)
    assert row.provider_share_minor == -125_050 + 10_000 - 2_525
    after = finance.read(movements.compute_totals, select())
    assert after.net - before.net == row.parts
    assert after.premium_minor == before.premium_minor, "gross written premium is what was written"
    assert finance.money_faults() == []


def test_whoever_proposed_it_does_not_decide_it_and_others_of_finance_do(finance: Finance, one: MovementRow) -> None:
    proposal = finance.do(adjustments.propose, one.id, TYPED, by="funmi")
    for verb, more in ((adjustments.confirm, {}), (adjustments.refuse, {"reason": "not so"})):
        with pytest.raises(NotAllowed, match="You proposed"):
            finance.do(verb, proposal, by="funmi", **more)
    with pytest.raises(NotAllowed, match="Only who proposed"):
        finance.do(adjustments.take_back, proposal, by="femi")
    finance.do(adjustments.refuse, proposal, by="femi", reason="The rate was agreed")
    with pytest.raises(StateForbids, match="does not wait"):
        finance.do(adjustments.confirm, proposal, by="wale")
    assert finance.rows(kind="adjustment") == []


@every_case("name", OUTSIDERS)
def test_no_other_role_proposes_or_decides(finance: Finance, one: MovementRow, name: str) -> None:
    with pytest.raises(NotAllowed):
        finance.do(adjustments.propose, one.id, TYPED, by=name)
    proposal = finance.do(adjustments.propose, one.id, TYPED, by="funmi")
    for verb, more in (
        (adjustments.confirm, {}),
        (adjustments.refuse, {"reason": "not so"}),
        (adjustments.take_back, {}),
    ):
        with pytest.raises(NotAllowed):
            finance.do(verb, proposal, by=name, **more)


def test_whoever_had_a_password_reset_confirms_nothing_for_a_day(finance: Finance, one: MovementRow) -> None:
    proposal = finance.do(adjustments.propose, one.id, TYPED, by="funmi")
    resting = finance.rest("femi", clock.now() + timedelta(hours=5))
    with pytest.raises(NotAllowed, match="gave you your password"):
        finance.do(adjustments.confirm, proposal, by=resting)


@pytest.mark.both_databases
def test_an_own_proposal_is_taken_back(finance: Finance, one: MovementRow) -> None:
    proposal = finance.do(adjustments.propose, one.id, TYPED, by="funmi")
    finance.do(adjustments.take_back, proposal, by="funmi")
    (kept,) = finance.read(adjustments.list_of_movement, one.id)
    assert (kept.state, kept.proposer, kept.decider) == ("withdrawn", "Funmi", "Funmi")
    assert finance.read(adjustments.list_open) == []


@every_case(
    ("changed", "field"),
    [
        ({"premium": "0", "platform_commission": "0", "distributor_commission": "0"}, "premium"),
        ({"premium": "1.234"}, "premium"),
        ({"premium": "much"}, "premium"),
        ({"premium": "NaN"}, "premium"),
        ({"premium": "1e40"}, "premium"),
        ({"platform_commission": ""}, "platform_commission"),
        ({"reason": "short"}, "reason"),
    ],
)
def test_amounts_that_cannot_be_meant_are_refused_by_name(
    finance: Finance, one: MovementRow, changed: dict[str, str], field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        finance.do(adjustments.propose, one.id, {**TYPED, **changed}, by="funmi")
    assert [fault.field for fault in refused.value.faults] == [field]
    assert finance.read(adjustments.list_open) == []


@pytest.mark.both_databases
def test_a_movement_of_the_other_mode_is_not_found(finance: Finance, store: Store, partner: Partner) -> None:
    with pytest.raises(NotFound):
        finance.do(adjustments.propose, ids.new(), TYPED, by="funmi")
    Portfolio(seed=6, size=3, sellers=(partner.id,), is_live=False).write(store)
    with store.reading(Scope.staff(is_live=False)) as session:
        other = session.execute(sa.select(Movement)).scalars().first()
    with pytest.raises(NotFound):
        finance.do(adjustments.propose, other.id, TYPED, by="funmi")


@pytest.mark.both_databases
def test_the_store_itself_refuses_one_person_in_both_roles_and_any_change(finance: Finance, one: MovementRow) -> None:
    proposal = finance.do(adjustments.propose, one.id, TYPED, by="funmi")
    maker = finance.people["funmi"].id
    for attempt in (
        sa.update(AdjustmentProposal).values(state="confirmed", decided_by=maker, decided_at=clock.now()),
        sa.update(AdjustmentProposal).values(total_minor=1),
        sa.delete(AdjustmentProposal),
    ):
        with pytest.raises(sa.exc.DBAPIError), finance.store.writing(Scope.system()) as session:
            session.execute(attempt)
    finance.do(adjustments.confirm, proposal, by="femi")
    for attempt in (
        sa.update(AdjustmentProposal).values(state="open", decided_by=None, decided_at=None),
        sa.update(Adjustment).values(total_minor=0),
        sa.update(Adjustment).values(approved_by=maker),
        sa.delete(Adjustment),
    ):
        with pytest.raises(sa.exc.DBAPIError), finance.store.writing(Scope.system()) as session:
            session.execute(attempt)
