"""The figures on claims against a plain recount of a small portfolio of claims and their histories."""

from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from core import clock
from core.services.claims.reports import figures as claim_figures
from core.services.claims.reports.figures import CLAIM_METRICS, ClaimFacts
from core.services.claims.workflow import clock as claim_clock
from core.services.claims.workflow.clock import Pause, StatusReached
from core.services.lists.windows import Window
from core.services.sales import figures
from core.states.claims import DECIDED, WAITING
from core.store.access import Store
from core.store.schema.tables import Claim, ClaimEvent
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import build_payment, lagos
from tests.services.claim_desk import NOON
from tests.services.claim_office import DESK, PAID, Office

pytestmark = pytest.mark.frozen_at(NOON)

TODAY = lagos(NOON)
WINDOW = Window(clock.add_days(TODAY, -29), clock.add_days(TODAY, 1))
# The statuses of a claim and the days between them; the last ones wait, are decided, or were taken up again.
WAYS: tuple[tuple[tuple[str, float], ...], ...] = (
    (("Viewed", 0.4), ("Approved", 3), ("Offer sent", 1), ("Offer accepted", 5), ("Paid", 2)),
    (("Viewed", 0.1), ("Approved", 2), ("Offer sent", 1), ("Offer accepted", 9), ("Paid", 1), ("Settled", 3)),
    (("Approved", 1), ("Offer sent", 1), ("Offer rejected", 4), ("Offer sent", 1), ("Offer accepted", 1), ("Paid", 70)),
    (("Viewed", 2), ("Declined", 4)),
    (("Viewed", 1), ("Declined", 2), ("Reviewing", 3)),
    (("Viewed", 1), ("Reviewing", 2)),
    (),
)


@pytest.fixture
def office(store: Store, partner: Partner) -> Office:
    """Some thirty claims on one policy, written with their histories as the services would have."""
    office, dice = Office(store, partner), Random(5)
    seeded = office.claim(office.lodge(at=NOON - timedelta(days=100)))
    plain = {column.key: getattr(seeded, column.key) for column in sa.inspect(Claim).columns}
    with store.writing(DESK) as session:
        for number in range(35):
            lodged_at = NOON - timedelta(milliseconds=dice.randrange((20 if number < 14 else 75) * 86_400_000))
            _write(session, plain, dice, WAYS[number % len(WAYS)], lodged_at, office)
    return office


def _write(session: Any, plain: dict[str, Any], dice: Random, way: Any, lodged_at: datetime, office: Office) -> None:
    history = [StatusReached("Pending", lodged_at)]
    for status, days in way:
        at = history[-1].at + timedelta(days=days * dice.uniform(0.5, 1.5))
        at = at.replace(microsecond=at.microsecond // 1000 * 1000)
        if at <= NOON:
            history.append(StatusReached(status, at))
    began_at, stopped_at = lodged_at, None
    for before, step in pairwise(history):
        began_at, stopped_at = claim_clock.update_stored(
            began_at,
            stopped_at,
            at=step.at,
            is_running=step.status not in WAITING | DECIDED,
            is_decision=step.status in DECIDED and before.status not in DECIDED,
        )
    statuses = {step.status for step in history}
    claim = Claim(
        **{name: value for name, value in plain.items() if name not in ("id", "clock_from", "clock_stopped_at")}
        | {
            "created_at": lodged_at,
            "updated_at": history[-1].at,
            "claim_status": history[-1].status,
            "claim_type": dice.choice(("Credit life", "Gadget")),
            "decline_reason": dice.choice(("exclusion", "other")) if history[-1].status == "Declined" else "None",
            "offer_amount_minor": dice.randrange(1, 10**7) if "Offer sent" in statuses else 0,
            "approved_by": office.people["sade"].id if "Approved" in statuses else None,
            "assigned_to": office.people[dice.choice(("ada", "bola"))].id if len(history) > 1 else None,
            "clock_from": began_at,
            "clock_stopped_at": stopped_at,
        }
    )
    session.insert(claim)
    owned = {"distributor_id": claim.distributor_id, "is_live": claim.is_live, "claim_id": claim.id}
    for step in history:
        session.insert(ClaimEvent(id=_id(dice), status=step.status, created_at=step.at, **owned))
        if step.status == "Paid":
            for row in build_payment(claim, step.at):
                session.insert(row)


def _id(dice: Random) -> UUID:
    return UUID(int=dice.getrandbits(128))


def list_histories(office: Office) -> list[tuple[Claim, list[StatusReached]]]:
    """Every claim with its history, read the plain way."""
    with office.store.reading(DESK) as session:
        claims = list(session.execute(sa.select(Claim)).scalars())
        events = list(session.execute(sa.select(ClaimEvent).order_by(ClaimEvent.created_at, ClaimEvent.id)).scalars())
        session.expunge_all()
    return [(each, [StatusReached(e.status, e.created_at) for e in events if e.claim_id == each.id]) for each in claims]


def middle(values: list[timedelta], share: float) -> int | None:
    """The first of the sorted values that has this share of them at or below it, in milliseconds."""
    for value in sorted(values):
        if sum(other <= value for other in values) >= share * len(values):
            return round(value / timedelta(milliseconds=1))
    return None


def list_first(claim: Claim, history: list[StatusReached], statuses: str, inside: Any) -> list[timedelta]:
    """The time until the first of some statuses, if it was within the days."""
    first = next((step.at for step in history if step.status in statuses.split()), None)
    return [first - claim.created_at] if first and inside(first) else []


def recounted(claims: list[tuple[Claim, list[StatusReached]]], window: Window) -> ClaimFacts:
    def inside(at: datetime) -> bool:
        return window.start <= lagos(at) < window.end

    paid, declined, in_time, viewed, judged, answers = [], 0, 0, [], [], Counter[str]()
    for claim, history in claims:
        clock_now = claim_clock.compute_from_history(history, NOON, [Pause(NOON, NOON)])
        decided_at = claim.created_at + clock_now.age
        if clock_now.is_decided and inside(decided_at):
            in_time += clock_now.elapsed <= timedelta(days=60)
            declined += claim.claim_status == "Declined"
            if claim.claim_status != "Declined":
                paid.append((claim, clock_now))
        viewed += list_first(claim, history, "Viewed", inside)
        judged += list_first(claim, history, "Approved Declined", inside)
        answers.update(step.status for step in history if inside(step.at))
    ages, counted = [each.age for _, each in paid], [each.elapsed for _, each in paid]
    return ClaimFacts(
        lodged=sum(inside(claim.created_at) for claim, _ in claims),
        paid=len(paid),
        declined=declined,
        in_time=in_time,
        paid_minor=sum(
            claim.offer_amount_minor
            for claim, history in claims
            for step in history
            if step.status == "Paid" and inside(step.at)
        ),
        median_ms=middle(ages, 0.5),
        p90_ms=middle(ages, 0.9),
        median_net_ms=middle(counted, 0.5),
        p90_net_ms=middle(counted, 0.9),
        median_viewed_ms=middle(viewed, 0.5),
        median_decided_ms=middle(judged, 0.5),
        accepted=answers["Offer accepted"],
        rejected=answers["Offer rejected"],
    )


@pytest.mark.both_databases
def test_every_figure_is_the_plain_recount(office: Office) -> None:
    claims = list_histories(office)
    with office.store.reading(DESK) as session:
        found = claim_figures.build_summary(session, WINDOW)
        aged = claim_figures.count_by_age(session)
        paid = figures.sum_claims_paid_by_day(session, WINDOW.span, figures.UNFILTERED)
    assert found.current == recounted(claims, WINDOW)
    assert found.previous == recounted(claims, WINDOW.previous)
    assert found.current.paid >= 3
    assert found.current.declined >= 2
    assert sum(paid.values()) == found.current.paid_minor
    for grain in ("day", "week", "month"):
        _, lodged, decided = found.count_by_bucket(grain)
        assert (sum(lodged), sum(decided)) == (found.current.lodged, found.current.decided)
    ages = [(TODAY - lagos(claim.created_at)).days for claim, _ in claims if claim.claim_status not in DECIDED]
    edges = ((0, 7), (8, 14), (15, 30), (31, 60), (61, 10**6))
    assert [each.number for each in aged] == [sum(first <= age <= last for age in ages) for first, last in edges]
    assert [each.days.label for each in aged] == ["0–7", "8–14", "15–30", "31–60", "over 60"]


@pytest.mark.both_databases
def test_what_stands_behind_the_figures_adds_up_to_them(office: Office) -> None:
    claims = list_histories(office)
    with office.store.reading(DESK) as session:
        found = claim_figures.build_summary(session, WINDOW)
        reasons = claim_figures.count_decline_reasons(session, WINDOW)
        types = claim_figures.count_by_type(session, WINDOW)
        officers = claim_figures.list_workloads(session, found.decisions)
    took = claim_figures.count_by_turnaround(found.decisions)
    assert sum(each.calendar for each in took) == sum(each.net for each in took) == found.current.paid
    assert sum(number for _, number in reasons) == sum(row.declined for row in types) == found.current.declined
    assert [number for _, number in reasons] == sorted((number for _, number in reasons), reverse=True)
    approved = [
        claim.id
        for claim, history in claims
        if claim.approved_by
        and any(s.status == "Approved" and WINDOW.start <= lagos(s.at) < WINDOW.end for s in history)
    ]
    assert sum(row.approved for row in types) == len(approved) > 0
    still_open = [claim for claim, _ in claims if claim.claim_status not in DECIDED]
    assert sum(work.open for work in officers) == len(still_open)
    assert sum(work.decided for work in officers) == found.current.decided
    over = [
        each for each in still_open if each.clock_stopped_at is None and each.clock_from < NOON - timedelta(days=60)
    ]
    assert sum(work.overdue for work in officers) == len(over) > 0
    assert {work.name for work in officers} <= {"ada", "bola", "Nobody"}
    assert [work.open for work in officers] == sorted((work.open for work in officers), reverse=True)


@pytest.mark.both_databases
@pytest.mark.parametrize("database", ["sqlite"])
def test_nothing_has_figures_too(store: Store) -> None:
    with store.reading(DESK) as session:
        found = claim_figures.build_summary(session, WINDOW)
        assert claim_figures.list_workloads(session, found.decisions) == []
        assert sum(each.number for each in claim_figures.count_by_age(session)) == 0
    assert found.current == found.previous == ClaimFacts()
    assert {metric.compute(found.current) for metric in CLAIM_METRICS} <= {0, None}


@pytest.mark.both_databases
@every_case(
    ("values", "percent", "expected"),
    [([], 50, None), ([7], 50, 7), ([7], 90, 7), ([1, 2], 50, 1), ([1, 2, 3], 50, 2), (list(range(1, 11)), 90, 9)],
)
def test_so_many_percent_lie_at_or_below(values: list[int], percent: int, expected: int | None) -> None:
    assert claim_figures.percentile(values, percent) == expected


def test_the_recorded_way_is_paid_within_its_time(store: Store, partner: Partner) -> None:
    office = Office(store, partner)
    claim_id = office.lodge(at=NOON - timedelta(days=12))
    for days, status in zip((10, 8, 3, 1), PAID, strict=True):
        with clock.freeze(NOON - timedelta(days=days)):
            office.walk(claim_id, status)
    with store.reading(DESK) as session:
        facts = claim_figures.build_summary(session, WINDOW).current
    assert (facts.paid, facts.in_time, facts.accepted, facts.paid_minor) == (1, 1, 1, 7_000_000)
    assert (facts.median_ms, facts.median_net_ms) == (11 * 86_400_000, 6 * 86_400_000)
