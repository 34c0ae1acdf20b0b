"""Loss ratios: what losses cost, of the premium earned in the same days, adding up to the kobo (contract C11)."""

import csv
import io
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
import sqlalchemy as sa

from core import clock, money
from core.services.claims.reports import loss_ratios
from core.services.claims.reports.loss_ratios import LOSS_DIMENSIONS, LOSS_RATIOS, LossFigures, LossTable
from core.services.lists import exports
from core.services.lists.dimensions import load_choices
from core.services.lists.exports import Tally
from core.services.lists.windows import Window
from core.services.policies import refunds
from core.store.access import Scope, Store
from core.store.schema.tables import Policy, Product, Refund
from tests.conftest import Partner
from tests.prefilled import demonstration_copy
from tests.services.claim_desk import NOON
from tests.services.claim_office import DESK, PAID, Office

pytestmark = pytest.mark.both_databases

LIVE = Scope.staff(is_live=True)
UNTIL = datetime(2026, 11, 20, 12, tzinfo=UTC)


def table(store: Store, window: Window, scope: Scope = LIVE) -> LossTable:
    with store.reading(scope) as session:
        return loss_ratios.build_table(session, window)


def earned(total: int, start: date, end: date, day: date, *, is_reducing: bool) -> int:
    """Return the premium that a term has earned before a day, computed independently."""
    length, left = (end - start).days, (end - day).days
    if left <= 0 or day <= start:
        return total if left <= 0 else 0
    gone = total * left * (left + 1) // (length * (length + 1))
    return total - gone if is_reducing else total * (day - start).days // length


def end_of(term: refunds.PaidTerm) -> date:
    day = term.expiration_at.date()
    return day if term.expiration_at == clock.midnight(day) else day + timedelta(days=1)


def earned_by_terms(store: Store, window: Window) -> int:
    """The premium earned in a window by every paid term, one by one."""
    with store.reading(LIVE) as session:
        policies = [
            policy
            for policy in session.execute(sa.select(Policy)).scalars()
            if policy.activated and policy.declined_at is None and policy.deleted_at is None
        ]
        credit_life = {
            row.id for row in session.execute(sa.select(Product)).scalars() if row.route_name == "buy-credit-life"
        }
        back = {
            (row.policy_id, row.renewal_id): row.total_minor for row in session.execute(sa.select(Refund)).scalars()
        }
        found = 0
        for policy_id, terms in refunds.list_by_policy(session, policies).items():
            policy = next(each for each in policies if each.id == policy_id)
            for term in terms:
                kept = term.total_minor - back.get((policy_id, term.renewal_id), 0)
                before, after = (
                    earned(
                        term.total_minor,
                        term.start_at.date(),
                        end_of(term),
                        day,
                        is_reducing=policy.product_id in credit_life,
                    )
                    for day in (window.start, window.end)
                )
                found += min(after, kept) - min(before, kept)
        return found


def test_earned_premium_is_that_of_every_term_and_every_split_has_the_same_sum(store: Store) -> None:
    demonstration_copy(store, purchases=250, seed=3, until=UNTIL)
    window = Window(date(2026, 5, 10), date(2026, 11, 21))
    found = table(store, window)
    assert found.total.earned_minor == earned_by_terms(store, window) > 0
    assert found.total.incurred_minor > 0
    with store.reading(LIVE) as session:
        choices = load_choices(session)
    for dimension in LOSS_DIMENSIONS:
        lines = found.list_lines(dimension, choices)
        assert sum((figures for _, figures in lines), LossFigures()) == found.total, dimension
    halves = [Window(window.start, date(2026, 8, 3)), Window(date(2026, 8, 3), window.end)]
    assert sum((table(store, half).total for half in halves), LossFigures()) == found.total
    assert [name for name, _ in found.list_lines("month", choices)] == [
        *("May 2026", "Jun 2026", "Jul 2026", "Aug 2026", "Sep 2026", "Oct 2026", "Nov 2026")
    ]


def test_export_has_the_sums_of_the_screen(store: Store) -> None:
    demonstration_copy(store, purchases=250, seed=3, until=UNTIL)
    window, tally = Window(date(2026, 5, 10), date(2026, 11, 21)), Tally()
    selection = LOSS_RATIOS.read({"from": ["2026-05-10"], "to": ["2026-11-20"]})
    with store.reading(LIVE) as session:
        text = b"".join(exports.stream_lines(session, LOSS_RATIOS, selection, tally)).decode()
        assert LOSS_RATIOS.count(session, selection) == tally.rows
    lines, total = list(csv.DictReader(io.StringIO(text))), table(store, window).total

    def add_up(name: str) -> int:
        return sum(money.to_minor(Decimal(line[name])) for line in lines)

    assert (add_up("incurred_amount"), add_up("earned_premium")) == (total.incurred_minor, total.earned_minor)
    assert (add_up("paid_amount"), tally.sum_minor) == (total.paid_minor, total.incurred_minor)
    assert sum(int(line["claims"]) for line in lines) == total.claims
    first = next(line for line in lines if Decimal(line["earned_premium"]))
    ratio = Decimal(first["incurred_amount"]) / Decimal(first["earned_premium"]) * 100
    assert first["loss_ratio_percent"] == f"{ratio:.2f}"


def test_losses_count_in_the_month_of_their_incident_with_what_they_cost_by_now(store: Store, partner: Partner) -> None:
    with clock.freeze(NOON):
        office = Office(store, partner)
        paid, reserved = office.lodge(incident_date="2026-10-05"), office.lodge(incident_date="2026-11-18")
        office.walk(paid, *PAID)
        office.move(reserved, "Reviewing")
        office.lodge()
        september, october, november = (Window(date(2026, m, 1), date(2026, m + 1, 1)) for m in (9, 10, 11))
        figures = [table(store, window, DESK).total for window in (september, october, november)]
    assert [each.claims for each in figures] == [0, 1, 2]
    assert [(each.paid_minor, each.outstanding_minor) for each in figures] == [(0, 0), (7_000_000, 0), (0, 7_500_000)]
    assert all(each.earned_minor > 0 for each in figures)
    assert figures[1].ratio == Decimal(7_000_000) / figures[1].earned_minor
    assert LossFigures(claims=1, paid_minor=5).ratio is None
