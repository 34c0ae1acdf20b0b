"""Bordereaux: every movement reported once, claims as they stood, and nothing rewritten (contract F5)."""

import csv
import hashlib
import io
from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

import pytest
import sqlalchemy as sa

from core import clock, money
from core.desk import sale
from core.errors import InvalidInput, NotAllowed, NotFound, StateForbids
from core.services.finance import parties
from core.services.finance.bordereaux import bordereaux
from core.services.finance.parties import Party
from core.states.claims import DECIDED
from core.store.access import Scope, Store
from core.store.schema.tables import Bordereau, BordereauLine, Claim, ClaimEvent, ClaimPayment, Movement
from tests.conftest import Partner
from tests.every_case import every_case
from tests.planting import assert_named, planted
from tests.portfolio import NOW, Portfolio, Sales, sales_at
from tests.services.finance_office import OUTSIDERS, Finance

pytestmark = pytest.mark.frozen_at(NOW)

AUGUST, SEPTEMBER, OCTOBER = (date(2026, month, 1) for month in (8, 9, 10))


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="finance", of_partner=(Portfolio(seed=21, size=90),))


@pytest.fixture
def finance(store: Store, partner: Partner) -> Finance:
    return Finance(store)


@pytest.fixture
def insurer(finance: Finance) -> UUID:
    """The insurer with the most movements of August."""
    names = [party.id for party, _ in finance.read(parties.list_parties) if party.account == "provider"]
    return max(names, key=lambda each: len(rows_of(finance, each, AUGUST)))


def rows_of(finance: Finance, insurer: UUID, month: date) -> list[object]:
    last = clock.add_days(clock.add_months(month, 1), -1)
    return finance.rows(provider=str(insurer), from_=month, to=last)


def issued(finance: Finance, insurer: UUID, kind: str, *months: date) -> list[UUID]:
    return [finance.do(bordereaux.issue, insurer, kind, month, by="funmi") for month in months]


@pytest.fixture
def premiums_of_august(finance: Finance, insurer: UUID) -> None:
    """A bordereau was issued."""
    issued(finance, insurer, "premium", AUGUST)


def csv_of(finance: Finance, bordereau_id: UUID) -> tuple[bytes, list[dict[str, str]]]:
    with finance.reading() as session:
        row = bordereaux.get_bordereau(session, bordereau_id)
        content = b"".join(bordereaux.csv_of(session, row))
    return content, list(csv.DictReader(io.StringIO(content.decode())))


def test_a_premium_bordereau_has_every_movement_of_its_month_once_and_adds_up(finance: Finance, insurer: UUID) -> None:
    terms = {"number": "CH/7", "starts_on": "2026-01-01", "class_of_business": "Motor"}
    finance.agree(Party("provider", insurer), terms)
    made = issued(finance, insurer, "premium", AUGUST, SEPTEMBER)
    for bordereau_id, month in zip(made, (AUGUST, SEPTEMBER), strict=True):
        written = rows_of(finance, insurer, month)
        content, lines = csv_of(finance, bordereau_id)
        row = finance.read(bordereaux.get_bordereau, bordereau_id)
        *lines, control = lines
        assert {line["movement_id"] for line in lines} == {str(each.id) for each in written}
        assert row.rows == len(lines) == len(written) > 0
        assert control["coverholder"] == f"Control: {len(lines)} rows"
        assert control["gross_premium"] == money.to_wire(sum(each.total_minor for each in written))
        assert control["final_net"] == money.to_wire(sum(each.provider_share_minor for each in written))
        assert row.totals["commission"] == sum(each.mca_profit_minor for each in written)
        assert row.totals["brokerage"] == sum(each.distributor_profit_minor for each in written)
        assert row.totals["net"] == row.totals["final_net"] + row.totals["brokerage"]
        assert hashlib.sha256(content).hexdigest() == row.sha256
        assert {(line["agreement_number"], line["class"], line["period_start"]) for line in lines} == {
            ("CH/7", "Motor", str(month))
        }
    numbers = [finance.read(bordereaux.get_bordereau, each).number for each in made]
    assert numbers == ["BP-0001", "BP-0002"]
    assert finance.money_faults() == []


def test_what_comes_late_goes_into_the_next_with_its_own_date(
    finance: Finance, store: Store, partner: Partner, insurer: UUID
) -> None:
    (august,) = issued(finance, insurer, "premium", AUGUST)
    before = csv_of(finance, august)[0]
    late = datetime(2026, 8, 30, 12, tzinfo=UTC)
    with store.writing(Scope.system()) as session:
        sales_at(session, partner.id, *[late] * 12)
    fresh = {each.id for each in rows_of(finance, insurer, AUGUST)} - {UUID(line) for line in ids_in(before)}
    assert fresh, "one of the sales is this insurer's"
    assert csv_of(finance, august)[0] == before
    (september,) = issued(finance, insurer, "premium", SEPTEMBER)
    found = [line for line in csv_of(finance, september)[1] if line["movement_id"] in set(map(str, fresh))]
    assert len(found) == len(fresh)
    assert {line["transaction_on"] for line in found} == {"2026-08-30"}
    assert finance.money_faults() == []


def ids_in(content: bytes) -> set[str]:
    return {line["movement_id"] for line in csv.DictReader(io.StringIO(content.decode())) if line["movement_id"]}


@pytest.mark.both_databases
def test_a_claims_bordereau_has_open_claims_and_those_closed_in_the_month_with_their_money(
    finance: Finance, store: Store, insurer: UUID
) -> None:
    november = finance.read(bordereaux.find_due_month, insurer, "claims")
    with clock.freeze(datetime(2026, 12, 5, tzinfo=UTC)):
        (made,) = issued(finance, insurer, "claims", november)
    row = finance.read(bordereaux.get_bordereau, made)
    start, end = (clock.lagos_midnight(clock.add_months(november, months)) for months in (0, 1))
    *lines, control = csv_of(finance, made)[1]
    with store.reading(Scope.system()) as session:
        claims = session.execute(sa.select(Claim).where(Claim.provider_id == insurer)).scalars().all()
        paid = session.execute(sa.select(ClaimPayment).where(ClaimPayment.provider_id == insurer)).scalars().all()
        events = session.execute(sa.select(ClaimEvent).order_by(ClaimEvent.created_at, ClaimEvent.id)).scalars().all()
    last = {event.claim_id: event for event in events if event.created_at < end}
    expected = [each for each in claims if last[each.id].status not in DECIDED or last[each.id].created_at >= start]
    assert {line["claim_id"] for line in lines} == {str(claim.id) for claim in expected}
    assert 0 < len(expected) < len(claims)
    for line in lines:
        mine = [each for each in paid if str(each.claim_id) == line["claim_id"]]
        during = sum(each.amount_minor for each in mine if start <= each.created_at < end)
        earlier = sum(each.amount_minor for each in mine if each.created_at < start)
        assert line["paid_this_month_indemnity"] == money.to_wire(during)
        assert line["previously_paid"] == money.to_wire(earlier)
        assert line["total_incurred"] == money.to_wire(during + earlier + money.to_minor(Decimal(line["reserve"])))
    assert control["total_incurred"] == money.to_wire(row.totals["total_incurred"])
    assert finance.money_faults() == []


def test_months_follow_each_other_and_only_finance_issues_what_is_over(finance: Finance, insurer: UUID) -> None:
    with pytest.raises(StateForbids, match="August 2026 comes first"):
        issued(finance, insurer, "premium", SEPTEMBER)
    issued(finance, insurer, "premium", AUGUST)
    for month, reason in ((AUGUST, "reported already"), (date(2026, 11, 1), "not over"), (date(2026, 9, 2), "whole")):
        with pytest.raises(StateForbids, match=reason):
            issued(finance, insurer, "premium", month)
    with pytest.raises(NotFound):
        issued(finance, insurer, "other", SEPTEMBER)
    for name in OUTSIDERS:
        with pytest.raises(NotAllowed):
            finance.do(bordereaux.issue, insurer, "premium", SEPTEMBER, by=name)
    test_mode = Finance.__new__(Finance)
    test_mode.store, test_mode.scope, test_mode.people = finance.store, Scope.staff(is_live=False), finance.people
    with pytest.raises(StateForbids, match="live records"):
        test_mode.do(bordereaux.issue, insurer, "premium", SEPTEMBER, by="funmi")


def test_it_is_sent_and_answered_and_a_query_says_what_about(finance: Finance, insurer: UUID) -> None:
    (made,) = issued(finance, insurer, "premium", AUGUST)
    with pytest.raises(StateForbids, match="cannot become Acknowledged"):
        finance.do(bordereaux.move, made, "Acknowledged", by="funmi")
    for name in OUTSIDERS:
        with pytest.raises(NotAllowed):
            finance.do(bordereaux.move, made, "Sent", by=name)
    finance.do(bordereaux.move, made, "Sent", by="femi")
    with pytest.raises(InvalidInput, match="say what"):
        finance.do(bordereaux.move, made, "Queried", by="femi")
    finance.do(bordereaux.move, made, "Queried", by="femi", note="Two policies are unknown")
    finance.do(bordereaux.move, made, "Acknowledged", by="funmi", note="They were found")
    row = finance.read(bordereaux.get_bordereau, made)
    assert (row.state, row.issuer, row.sender, row.answerer) == ("Acknowledged", "Funmi", "Femi", "Funmi")
    assert row.note == "They were found"


def test_what_is_not_with_the_insurer_by_its_day_is_overdue(finance: Finance, insurer: UUID) -> None:
    def overdue() -> list[bordereaux.Overdue]:
        name = finance.read(parties.get_name, Party("provider", insurer))
        return [each for each in finance.read(bordereaux.list_overdue) if (each.party, each.kind) == (name, "premium")]

    assert [(each.month, each.due_on) for each in overdue()] == [(AUGUST, date(2026, 9, 10))]
    made = issued(finance, insurer, "premium", AUGUST, SEPTEMBER)
    assert [each.month for each in overdue()] == [AUGUST], "issued is not sent"
    for each in (*made, *issued(finance, insurer, "premium", OCTOBER)):
        finance.do(bordereaux.move, each, "Sent", by="femi")
    assert overdue() == []
    terms = {"number": "CH/7", "starts_on": "2026-01-01", "bordereau_due_day": 25}
    finance.agree(Party("provider", insurer), terms)
    rows = finance.read(bordereaux.list_month, OCTOBER)
    mine = next(row for row in rows if row.provider_id == insurer and row.kind == "premium")
    assert (mine.due_on, mine.is_overdue) == (date(2026, 11, 25), False)


@pytest.mark.both_databases
def test_a_policy_names_the_bordereaux_that_reported_it(finance: Finance, insurer: UUID) -> None:
    sold = rows_of(finance, insurer, AUGUST)[-1]
    found = finance.read(sale.list_of_policy, sold.policy_id)
    assert found.bordereaux == []
    assert found.unreported > 0
    issued(finance, insurer, "premium", AUGUST, SEPTEMBER, OCTOBER)
    found = finance.read(sale.list_of_policy, sold.policy_id)
    assert found.bordereaux[0].number == "BP-0001"
    with finance.reading() as session:
        mine = session.execute(sa.select(Movement.created_at).where(Movement.policy_id == sold.policy_id)).scalars()
        late = sum(clock.to_lagos_day(at) >= date(2026, 11, 1) for at in mine)
    assert found.unreported == late


@pytest.mark.both_databases
@every_case(
    ("trigger", "table", "error", "fault"),
    [
        ("bordereau_figures", "bordereau", "UPDATE bordereau SET sha256 = 'x'", "not what its hash says"),
        ("bordereau_figures", "bordereau", "UPDATE bordereau SET number = number + 4", "have a gap"),
        (
            *("bordereau_line_update", "bordereau_line"),
            "UPDATE bordereau_line SET amount_minor = amount_minor + 1 WHERE position = 1",
            "number and sum of its rows",
        ),
    ],
)
@pytest.mark.usefixtures("premiums_of_august")
def test_check_finds_a_planted_error_that_the_store_itself_refuses(
    finance: Finance, trigger: str, table: str, error: str, fault: str
) -> None:
    for attempt in (sa.text(error), sa.delete(BordereauLine), sa.delete(Bordereau)):
        with pytest.raises(sa.exc.DBAPIError), finance.store.writing(Scope.system()) as session:
            session.execute(attempt)
    with planted(finance.store, error, without={trigger: table}) as session:
        assert_named(session, fault)
