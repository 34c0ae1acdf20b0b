"""The 60 days of a claim: they stand still while the claimant has to act, and end with a decision (contract C9)."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import clock
from core.errors import InvalidInput, NotAllowed, StateForbids
from core.services.claims.workflow import clock as claim_clock
from core.services.claims.workflow import questions
from core.services.claims.workflow.clock import (
    STATUTORY_PERIOD,
    Clock,
    Pause,
    StatusReached,
)
from core.states.claims import DECIDED, WAITING, ClaimStatus
from tests.every_case import every_case
from tests.services.claim_desk import NOON
from tests.services.claim_office import DESK, Office

DAY, HOUR = timedelta(days=1), timedelta(hours=1)


def after(days: float) -> datetime:
    return NOON + timedelta(days=days)


def read(*history: tuple[str, float], now: float, paused: tuple[tuple[float, float | None], ...] = ()) -> Clock:
    pauses = [Pause(after(start), None if end is None else after(end)) for start, end in paused]
    return claim_clock.compute_from_history(
        [StatusReached(status, after(days)) for status, days in history], after(now), pauses
    )


@every_case(
    ("now", "age", "left", "overdue"), [(0, 0, 60, False), (0.5, 0, 60, False), (60, 60, 0, False), (61, 61, -1, True)]
)
def test_sixty_days_run_from_lodging(now: float, age: int, left: int, *, overdue: bool) -> None:
    found = read(("Pending", 0), now=now)
    assert (found.age_days, found.days_left, found.is_overdue) == (age, left, overdue)
    assert found.is_running


def test_overdue_begins_with_the_first_instant_after_sixty_days() -> None:
    assert read(("Pending", 0), now=60.001).is_overdue
    assert read(("Pending", 0), now=60.001).days_left == 0


def test_clock_stands_still_while_an_offer_is_out() -> None:
    sent = (("Pending", 0), ("Approved", 5), ("Offer sent", 10))
    waiting = read(*sent, now=30)
    assert (waiting.age_days, waiting.days_left, waiting.is_waiting) == (30, 50, True)
    again = read(*sent, ("Offer rejected", 40), now=45)
    assert (again.age_days, again.days_left, again.is_running) == (45, 45, True)


@every_case("decision", sorted(DECIDED))
def test_decision_ends_age_and_clock(decision: str) -> None:
    found = read(("Pending", 0), (decision, 7), now=400)
    assert (found.age_days, found.days_left) == (7, 53)
    assert found.is_decided
    assert not found.is_waiting


def test_settled_claim_was_decided_when_it_was_paid() -> None:
    assert read(("Pending", 0), ("Paid", 7), ("Settled", 90), now=400).age_days == 7


def test_reopened_claim_goes_on_from_where_its_clock_stood() -> None:
    found = read(("Pending", 0), ("Declined", 20), ("Reviewing", 100), now=110)
    assert (found.age_days, found.days_left, found.is_running) == (110, 30, True)


def test_clock_stands_still_until_the_answer_is_in() -> None:
    assert read(("Pending", 0), now=30, paused=((10, None),)).days_left == 50
    assert read(("Pending", 0), now=30, paused=((10, None),)).is_waiting
    assert read(("Pending", 0), now=30, paused=((10, 15),)).days_left == 35
    assert read(("Pending", 0), now=30, paused=((10, 15),)).is_running


def test_time_of_two_reasons_to_wait_is_taken_off_once() -> None:
    assert read(("Pending", 0), ("Offer sent", 10), ("Reviewing", 20), now=30, paused=((5, 15),)).days_left == 45


def histories() -> st.SearchStrategy[list[StatusReached]]:
    steps = st.lists(st.tuples(st.sampled_from(list(ClaimStatus)), st.integers(0, 2000)), max_size=12)
    return steps.map(
        lambda found: [
            StatusReached("Pending", NOON),
            *(StatusReached(status, NOON + hours * HOUR) for status, hours in sorted(found, key=lambda step: step[1])),
        ]
    )


def pauses() -> st.SearchStrategy[list[Pause]]:
    pair = st.tuples(st.integers(0, 2000), st.none() | st.integers(0, 500))
    return st.lists(
        pair.map(lambda p: Pause(NOON + p[0] * HOUR, None if p[1] is None else NOON + (p[0] + p[1]) * HOUR)), max_size=4
    )


nows = st.integers(0, 2500).map(lambda hours: NOON + hours * HOUR)


@given(histories(), pauses(), nows)
def test_clock_counts_each_hour_that_was_the_desks(
    history: list[StatusReached], paused: list[Pause], now: datetime
) -> None:
    known = [step for step in history if step.at <= now]
    hours = 0
    for number in range(int((now - NOON) / HOUR)):
        instant = NOON + number * HOUR
        status = [step.status for step in known if step.at <= instant][-1]
        waits = status in WAITING or any(p.covers(instant) for p in paused)
        hours += not waits and status not in DECIDED
    found = claim_clock.compute_from_history(known, now, paused)
    assert found.elapsed == hours * HOUR
    assert timedelta(0) <= found.elapsed <= found.age <= now - NOON
    assert found.remaining == STATUTORY_PERIOD - found.elapsed
    assert [found.is_running, found.is_waiting, found.is_decided].count(True) == 1


@given(histories(), pauses(), nows, st.integers(0, 500))
def test_time_only_takes_days_away_and_pauses_only_give_them(
    history: list[StatusReached], paused: list[Pause], now: datetime, hours: int
) -> None:
    known = [step for step in history if step.at <= now]
    first, later = (claim_clock.compute_from_history(known, instant, paused) for instant in (now, now + hours * HOUR))
    assert later.elapsed >= first.elapsed
    assert claim_clock.compute_from_history(known, now).elapsed >= first.elapsed


def test_question_stops_the_clock_until_it_is_answered(office: Office) -> None:
    claim_id, other = office.lodge(), office.lodge()

    def clock_of(days: float) -> Clock:
        with clock.freeze(after(days)), office.store.reading(DESK) as session:
            found = claim_clock.load(session, [claim_id, other])
            assert set(found) == {claim_id, other}
            assert found[other].elapsed == days * DAY
            return found[claim_id]

    with clock.freeze(after(4)):
        question_id = office.do(questions.ask_claimant, claim_id, text="Please send\na clearer copy")
        with pytest.raises(StateForbids, match="has not answered"):
            office.do(questions.ask_claimant, claim_id, text="And another")
    assert (clock_of(10).elapsed, clock_of(10).is_waiting) == (4 * DAY, True)
    with clock.freeze(after(12)):
        office.do(questions.record_answer, claim_id)
        with pytest.raises(StateForbids, match="was not asked"):
            office.do(questions.record_answer, claim_id)
    assert (clock_of(20).elapsed, clock_of(20).is_running) == (12 * DAY, True)
    assert [entry.action for entry in office.log(claim_id)] == ["claim lodged", "claimant asked", "claimant answered"]
    assert office.log(claim_id)[-1].after == {"question_id": str(question_id)}


def test_who_moves_a_claim_on_waits_no_longer(office: Office) -> None:
    claim_id = office.lodge()
    with clock.freeze(after(1)):
        office.do(questions.ask_claimant, claim_id, text="Which bank?")
    with clock.freeze(after(3)):
        office.move(claim_id, "Reviewing")
    with clock.freeze(after(5)), office.store.reading(DESK) as session:
        assert claim_clock.load(session, [claim_id])[claim_id].elapsed == 3 * DAY


def test_questions_are_asked_by_officers_about_open_claims(office: Office) -> None:
    claim_id = office.lodge()
    for verb, options in ((questions.ask_claimant, {"text": "Why?"}), (questions.record_answer, {})):
        with pytest.raises(NotAllowed):
            office.do(verb, claim_id, by="funmi", **options)
    with pytest.raises(InvalidInput, match="text"):
        office.do(questions.ask_claimant, claim_id, text=" ")
    office.move(claim_id, "Declined", reason="other", note="No")
    with pytest.raises(StateForbids, match="no more information"):
        office.do(questions.ask_claimant, claim_id, text="Why?")
