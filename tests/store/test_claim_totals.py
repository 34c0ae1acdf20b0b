"""The totals of claims follow every way of writing a claim and its money, and a wrong line is found."""

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from sqlmodel import col

from core import clock
from core.desk import store_check
from core.services.claims.lists import totals as claim_totals
from core.services.claims.lists.filter import VIEWS, ClaimFilter
from core.services.claims.lists.totals import QueueTotal
from core.store.access import Scope, Store
from core.store.rollups import daily_rollup
from core.store.schema import migrating
from core.store.schema.rollups import NOBODY, NOT_RUNNING
from core.store.schema.tables import Claim, ClaimPayment, ClaimReserve, ClaimTotal
from tests.conftest import Partner, make_partner
from tests.portfolio import build_payment
from tests.prefilled import prefilled
from tests.services.claim_desk import NOON
from tests.services.claim_office import DESK, PAID, Office

pytestmark = pytest.mark.both_databases


def faults(store: Store) -> list[str]:
    with store.engine.connect() as connection:
        return daily_rollup.list_faults(connection)


def lines(store: Store) -> set[tuple[Any, ...]]:
    names = (ClaimTotal.claim_status, ClaimTotal.assigned_to, ClaimTotal.clock_day, ClaimTotal.claims)
    with store.reading(Scope.system()) as session:
        return {tuple(row) for row in session.execute(sa.select(*names))}


def add_up(session: Any, criteria: ClaimFilter) -> QueueTotal:
    """The totals by the rows alone: a filter that no line tells apart keeps every claim."""
    everything = ClaimFilter(**{**criteria.__dict__, "claim_types": ("Credit Life", "credit life")})
    return claim_totals.get_totals(session, everything)


@pytest.fixture
def office(store: Store, partner: Partner) -> Office:
    with clock.freeze(NOON):
        return Office(store, partner)


def work(office: Office) -> list[Any]:
    """Claims over two months in several statuses: one paid and returned, one deleted, one taken and given back."""
    found = []
    for days, statuses in ((70, ()), (61, ("Viewed",)), (54, PAID), (53, ("Reviewing",)), (5, ("Declined",)), (1, ())):
        with clock.freeze(NOON - timedelta(days=days)):
            found.append(office.lodge(at=clock.now()))
        for hour, status in enumerate(statuses, 1):
            with clock.freeze(NOON - timedelta(days=days) + timedelta(hours=hour)):
                office.walk(found[-1], status)
    with clock.freeze(NOON):
        office.move(found[2], "Offer accepted", by="root", note="Came back", payment_reference="BACK-1")
        office.put(found[3], assigned_to=office.people["ada"].id)
        office.put(found[1], assigned_to=office.people["ada"].id)
        office.put(found[1], assigned_to=None)
        office.put(found[0], deleted_at=NOON)
    return found


def fill(store: Store) -> tuple[Office, list[Any]]:
    with clock.freeze(NOON):
        office = Office(store, make_partner(store, "Swift Lenders"))
    return office, work(office)


@pytest.fixture
def worked(store: Store) -> tuple[Office, list[Any]]:
    """An office and the claims that it worked on."""
    office, found = prefilled(store, "claims over two months", fill)
    return office.copied(store), list(found)


def test_lines_follow_a_claim_from_first_notice_to_its_payment(office: Office) -> None:
    with clock.freeze(NOON):
        claim_id = office.lodge(at=NOON)
        assert lines(office.store) == {("Pending", NOBODY, NOON.date(), 1)}
        office.walk(claim_id, *PAID)
        officer = office.claim(claim_id).assigned_to or NOBODY
        # A line that nothing stands on is gone.
        assert lines(office.store) == {("Paid", officer, NOT_RUNNING, 1)}
        with office.store.reading(DESK) as session:
            total = claim_totals.get_totals(session, ClaimFilter())
        assert (total.count, total.paid_minor, total.payments) == (1, 7_000_000, 1)
        assert faults(office.store) == []


def test_every_view_is_what_its_claims_add_up_to(worked: tuple[Office, list[Any]]) -> None:
    office, _ = worked
    with clock.freeze(NOON), office.store.reading(DESK) as session:
        counts = claim_totals.count_views(session, office.people["ada"])
        for view in VIEWS:
            criteria = ClaimFilter(view=view, assigned=office.people["ada"].id if view == "mine" else None)
            by_lines, by_rows = claim_totals.get_totals(session, criteria), add_up(session, criteria)
            assert (by_lines, counts.views[view]) == (by_rows, by_rows.count), view
        overdue = ClaimFilter(stage="overdue")
        assert counts.overdue == add_up(session, overdue).count == claim_totals.get_totals(session, overdue).count == 1
        assert counts.views["near"] == 2
        for narrowed in (ClaimFilter(statuses=("Viewed", "Declined")), ClaimFilter(assigned="nobody", view="open")):
            assert claim_totals.get_totals(session, narrowed) == add_up(session, narrowed)
        assert claim_totals.get_totals(session, ClaimFilter()).payments == 2
    assert faults(office.store) == []
    with office.store.reading(Scope.system()) as session:
        assert store_check.list_faults(session) == []


def test_another_distributor_never_reads_the_lines(worked: tuple[Office, list[Any]], store: Store) -> None:
    office, _ = worked
    with clock.freeze(NOON), store.reading(Scope.of(NOBODY, is_live=False)) as session:
        assert claim_totals.get_totals(session, ClaimFilter()) == QueueTotal()
        assert not any(claim_totals.count_views(session, office.people["ada"]).views.values())
    with clock.freeze(NOON), store.reading(office.partner.scope(is_live=False)) as session:
        assert claim_totals.get_totals(session, ClaimFilter()).count == 5


def test_a_wrong_line_is_found_and_rebuilt(worked: tuple[Office, list[Any]]) -> None:
    office, found = worked
    with office.store.writing(Scope.system()) as session:
        planted = sa.update(ClaimTotal).where(col(ClaimTotal.claim_status) == "Declined")
        session.execute(planted.values(claimed_minor=col(ClaimTotal.claimed_minor) + 1))
    assert faults(office.store) == ["the totals of claims that are Declined differ from their rows"]
    with office.store.writers.begin() as connection:
        daily_rollup.rebuild(connection)
    assert faults(office.store) == []
    # What is rebuilt stands in one part, and is taken from another.
    with clock.freeze(NOON + timedelta(hours=1)):
        office.walk(office.lodge(at=clock.now()), "Viewed")
        office.walk(found[3], "Declined")
    assert faults(office.store) == []


def test_money_written_beside_a_change_of_its_claim_is_counted_once(office: Office) -> None:
    with clock.freeze(NOON):
        claim_id = office.lodge(at=NOON)
        office.walk(claim_id, *PAID)
    with office.store.writing(DESK) as session:
        claim = session.get_one(Claim, claim_id)
        payment, reserve = (
            session.execute(sa.select(entity).limit(1)).scalar_one() for entity in (ClaimPayment, ClaimReserve)
        )
        claim.claim_status = "Settled"
        transfer, _ = build_payment(claim, NOON, "MORE-1")
        session.insert(transfer)
        more = {"id": NOBODY, "transfer_id": transfer.id, "amount_minor": 500}
        assert session.insert_if_absent(ClaimPayment(**{**payment.model_dump(), **more}))
        session.add(ClaimReserve(**{**reserve.model_dump(), "id": NOBODY, "change_minor": 300}))
    assert faults(office.store) == []
    with office.store.reading(DESK) as session:
        total = claim_totals.get_totals(session, ClaimFilter(statuses=("Settled",)))
    assert (total.paid_minor, total.payments, total.outstanding_minor) == (7_000_500, 2, 300)


def test_an_upgrade_gives_claims_of_before_the_amount_that_they_name(office: Office) -> None:
    """Up to version 0090 the amount claimed of every claim was nothing until its review."""
    motor, goods, judged, loan = (office.lodge() for _ in range(4))
    office.put(motor, vehicle_claim_meta={"cost_of_repair": "150000.10"}, credit_life_claim_meta=None)
    office.put(goods, claim_meta={"amount_claimed": "20000"}, credit_life_claim_meta=None)
    office.put(
        judged, claim_meta={"amount_claimed": "30000"}, credit_life_claim_meta=None, claim_amount_minor=2_500_000
    )
    with office.store.writers.begin() as connection:
        command.downgrade(migrating._config(connection), "0090")
    migrating.migrate(office.store)
    found = [office.claim(claim_id).claim_amount_minor for claim_id in (motor, goods, judged, loan)]
    assert found == [15_000_010, 2_000_000, 2_500_000, 0]
    assert faults(office.store) == []
