"""From the queue to the insurer and back: each word of the sandbox end to end, races, crashes, rests, late answers."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids, telemetry, worker
from core.covers.cover import Cover
from core.covers.insurers import insurer_a, insurer_b, insurer_d
from core.insurers.answers import InsurerAnswer
from core.services.audit import log as audit
from core.services.insurers import sending
from core.services.insurers.sending import Insurer, Job
from core.services.policies import changes
from core.services.selling.buying import Sale
from core.store.access import Scope, ScopedSession
from core.store.schema.tables import AuditEntry, Policy, Refund, Submission
from tests.insurers.conftest import IMPATIENT, PATIENT, PENDING, SILENT, Line


def after(**time: float) -> Any:
    return clock.freeze(clock.now() + timedelta(**time))


def claim(line: Line, most: int = 10) -> list[Job]:
    with line.store.writing(Scope.system()) as session:
        (insurer,) = sending.list_connected(session)
        return sending.lease_due(session, insurer, limit=most)


def history(line: Line, sale: Sale) -> list[AuditEntry]:
    with line.store.reading(Scope.system()) as session:
        found = audit.list_history(session, f"policy {sale.policy_id}")
        session.expunge_all()
        return found


def refunds(line: Line) -> list[int]:
    with line.store.reading(Scope.system()) as session:
        return list(session.execute(sa.select(col(Refund.total_minor))).scalars())


def change(line: Line, sale: Sale, verb: Any, **given: Any) -> None:
    with line.store.writing(line.partner.scope()) as session:
        verb(session, sale.policy_id, actor="desk", expected_version=1, **given)


def test_accepted_policy_comes_into_force_with_the_insurers_number(line: Line) -> None:
    sale = line.sell(bvn="22345678901")
    assert not line.policy(sale).activated
    line.drain()
    policy, submission, record = line.policy(sale), line.read_submission(sale), line.read_record(sale)
    assert policy.activated
    assert policy.submitted_to_provider
    assert policy.policy_number == record.number == submission.insurer_number
    assert (policy.start_at, policy.expiration_at) == (
        clock.midnight(clock.today()),
        clock.midnight(clock.add_months(clock.today(), 12)),
    )
    assert policy.provider_policy_id == f"sandbox-{record.number}".replace("/", "-")
    assert policy.certificate_code
    assert (submission.state, submission.answer, submission.attempts, submission.leased_until) == (
        "accepted",
        "accepted",
        1,
        None,
    )
    assert (record.request_count, record.mode, record.authorization) == (1, "test", "Bearer sandbox-credential")
    assert history(line, sale)[-1].actor == "insurer insurer-b"


@pytest.mark.parametrize(
    ("magic", "cover", "action", "line_of_log"),
    [
        ("approves", PENDING, "policy activated", "insurer answered"),
        ("approves", insurer_b.COVERS[0], "policy accepted", "insurer answered"),
        ("declines", PENDING, "policy declined", "insurer answered"),
        ("rejects", PENDING, "submission set aside", "insurer did not answer"),
    ],
)
def test_the_log_names_the_host_that_answered_as_the_insurer(
    line: Line, capsys: pytest.CaptureFixture[str], magic: str, cover: Cover[Any], action: str, line_of_log: str
) -> None:
    sale, host = line.sell(magic, cover), line.sandbox.url.removeprefix("http://")
    line.drain()
    entry = history(line, sale)[-1]
    assert (entry.action, (entry.after or {})["host"]) == (action, host)
    (logged,) = [each for each in capsys.readouterr().err.splitlines() if line_of_log in each]
    assert f"host={host} " in logged


@pytest.mark.both_databases
def test_active_policy_is_reported_and_keeps_its_number(line: Line, connect: Callable[..., None]) -> None:
    connect(insurer_d_url=line.sandbox.url)
    sale = line.sell(cover=insurer_d.COVERS[0])
    number = line.policy(sale).policy_number
    line.drain()
    policy, submission = line.policy(sale), line.read_submission(sale)
    assert (policy.policy_number, policy.submitted_to_provider, policy.version) == (number, True, 2)
    assert (submission.state, submission.insurer_number) == ("accepted", line.read_record(sale).number)


@pytest.mark.both_databases
def test_pending_policy_is_asked_about_again_until_it_is_decided(line: Line) -> None:
    sale = line.sell("pends")
    line.drain()
    submission = line.read_submission(sale)
    assert (submission.state, submission.answer, submission.failures) == ("queued", "pending", 0)
    assert "An underwriter looks at it" in str(submission.last_error)
    assert submission.next_try_at is not None
    line.drain()
    assert line.read_record(sale).request_count == 1
    with clock.freeze(submission.next_try_at):
        line.drain()
    assert line.policy(sale).activated
    assert line.read_submission(sale).last_error is None


def test_declined_policy_gives_the_whole_premium_back(line: Line) -> None:
    sale = line.sell("declines")
    line.drain()
    policy = line.policy(sale)
    assert policy.declined_at == clock.now()
    assert refunds(line) == [policy.genius_price_minor]
    assert (line.read_submission(sale).state, line.read_submission(sale).last_error) == (
        "declined",
        "The sandbox does not take this risk",
    )
    assert [entry.action for entry in history(line, sale)] == ["policy sold", "policy declined"]


@pytest.mark.both_databases
def test_insurer_that_declines_what_is_in_force_goes_to_a_person(line: Line) -> None:
    sale = line.sell("declines", cover=insurer_b.COVERS[0])
    line.drain()
    submission = line.read_submission(sale)
    assert (submission.state, submission.answer) == ("dead", "declined")
    assert "it is in force here: The sandbox does not take this risk" in str(submission.last_error)
    assert line.policy(sale).declined_at is None
    assert refunds(line) == []


@pytest.mark.parametrize("magic", ["hangs", "floods", "redirects", "rests"])
def test_no_usable_answer_waits_for_another_try(line: Line, magic: str) -> None:
    sale = line.sell(magic)
    line.drain(IMPATIENT if magic in SILENT else PATIENT)
    submission = line.read_submission(sale)
    assert (submission.state, submission.attempts, submission.failures, submission.leased_until) == (
        "queued",
        1,
        1,
        None,
    )
    assert submission.last_error
    assert submission.next_try_at is not None
    wait = submission.next_try_at - clock.now()
    assert timedelta(seconds=22) <= wait <= timedelta(seconds=38) or (magic, wait.total_seconds()) == ("rests", 120)
    assert not line.policy(sale).activated


@pytest.mark.both_databases
def test_lost_reply_has_one_effect(line: Line) -> None:
    sale = line.sell("forgets")
    line.drain()
    assert line.read_submission(sale).failures == 1
    number = line.read_record(sale).number
    assert number is not None
    with after(minutes=1):
        line.drain()
    assert line.policy(sale).policy_number == number
    assert [entry.action for entry in history(line, sale)] == ["policy sold", "policy activated"]


@pytest.mark.both_databases
def test_request_that_the_insurer_refuses_goes_to_a_person_at_once(line: Line) -> None:
    sale = line.sell("rejects")
    line.drain()
    submission = line.read_submission(sale)
    assert (submission.state, submission.attempts, submission.next_try_at) == ("dead", 1, None)
    assert submission.last_error == "The insurer refused the request (422): The engine number is missing"
    assert line.connection(sale).failures == 0
    assert history(line, sale)[-1].action == "submission set aside"


@pytest.mark.both_databases
def test_after_so_many_failures_nobody_tries_any_more(line: Line) -> None:
    sale = line.sell("breaks")
    for hour in range(sending.MAX_FAILURES):
        with after(hours=2 * hour):
            line.drain()
    submission = line.read_submission(sale)
    assert (submission.state, submission.attempts, submission.next_try_at) == ("dead", sending.MAX_FAILURES, None)
    with after(days=30):
        line.drain()
    assert line.read_record(sale).request_count == sending.MAX_FAILURES


@pytest.mark.both_databases
def test_number_of_another_policy_goes_to_a_person_and_not_to_a_crash(line: Line) -> None:
    first, second = line.sell("clashes"), line.sell("clashes", registration_number="KJA-777ZZ")
    line.drain()
    assert sorted((line.read_submission(sale).state, line.policy(sale).activated) for sale in (first, second)) == [
        ("accepted", True),
        ("dead", False),
    ]
    (dead,) = (sale for sale in (first, second) if line.read_submission(sale).state == "dead")
    assert "is the number of another policy of this insurer" in str(line.read_submission(dead).last_error)
    assert line.read_submission(dead).insurer_number == "SBX/SAME"


@pytest.mark.both_databases
def test_defect_of_ours_goes_to_a_person_and_stops_nothing_else(line: Line) -> None:
    sick, well = line.sell(), line.sell(registration_number="KJA-777ZZ")
    with line.store.writing(Scope.system()) as session:
        session.get_one(Policy, sick.policy_id).payload = {"Email": "x@y.example", "huge": 1 << 80}
    line.drain()
    assert (line.read_submission(sick).state, line.read_submission(sick).last_error) == ("dead", worker.INTERNAL_ERROR)
    assert line.policy(well).activated


def test_cancelled_and_declined_policies_are_never_sent(line: Line) -> None:
    cancelled, declined = line.sell(), line.sell(registration_number="KJA-777ZZ")
    change(line, cancelled, changes.cancel, reason="sold the car", by_insurer=False)
    change(line, declined, changes.decline, reason="too old")
    line.drain()
    assert line.read_submission(cancelled).state == "withdrawn"
    assert line.read_submission(declined).state == "declined"
    assert not {str(sale.policy_id) for sale in (cancelled, declined)} & set(line.sandbox.ledger.records)


@pytest.mark.both_databases
def test_policy_that_ended_while_it_was_queued_is_taken_out_of_the_queue(line: Line) -> None:
    sale = line.sell()
    change(line, sale, changes.cancel, reason="sold the car", by_insurer=False)
    with line.store.writing(Scope.system()) as session:
        submission = session.get_one(Submission, sale.policy_id)
        submission.state, submission.next_try_at = "queued", clock.now()
    assert claim(line) == []
    assert line.read_submission(sale).state == "withdrawn"


@pytest.mark.both_databases
def test_two_workers_send_nothing_twice(line: Line) -> None:
    sales = [line.sell(registration_number=f"KJA-{number}ZZ") for number in range(100, 112)]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda worker: worker.drain(), [line.worker(), line.worker()]))
    assert [line.read_record(sale).request_count for sale in sales] == [1] * len(sales)
    assert all(line.policy(sale).activated for sale in sales)


def test_work_of_a_killed_worker_is_taken_over_when_its_lease_ends(line: Line) -> None:
    sale = line.sell()
    (job,) = claim(line)
    line.drain()
    assert (job.attempt, line.read_submission(sale).attempts) == (1, 1)
    assert str(sale.policy_id) not in line.sandbox.ledger.records
    with clock.freeze(clock.now() + sending.LEASE):
        line.drain()
    assert line.policy(sale).activated
    assert line.read_submission(sale).attempts == 2


@pytest.mark.both_databases
def test_failure_of_a_worker_that_lost_its_lease_changes_nothing(line: Line) -> None:
    sale = line.sell("waits")
    (job,) = claim(line)
    with clock.freeze(clock.now() + sending.LEASE):
        (newer,) = claim(line)
        line.worker()._apply_outcome(job, InsurerAnswer(status="pending"))
        assert line.read_submission(sale).leased_until == clock.now() + sending.LEASE
        line.worker()._apply_outcome(newer, InsurerAnswer(status="pending"))
        assert line.read_submission(sale).leased_until is None


@pytest.mark.parametrize("status", ["accepted", "declined"])
def test_answer_after_the_policy_was_cancelled_is_written_down_only(line: Line, status: Any) -> None:
    sale = line.sell()
    (job,) = claim(line)
    change(line, sale, changes.cancel, reason="sold the car", by_insurer=False)
    for _ in range(2):
        line.worker()._apply_outcome(job, InsurerAnswer(status=status, policy_number="LATE/1"))
    policy, submission = line.policy(sale), line.read_submission(sale)
    assert (policy.version, policy.activated, policy.declined_at) == (2, False, None)
    assert (submission.state, submission.answer, submission.insurer_number) == ("withdrawn", status, "LATE/1")
    assert "answered late" in str(submission.last_error)
    assert [entry.action for entry in history(line, sale)] == [
        "policy sold",
        "policy cancelled",
        "insurer answered late",
    ]
    assert len(refunds(line)) == 1


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("accepted", "logged"), [("By phone, Ada of the insurer", "insurer answered late"), (False, "policy accepted")]
)
def test_answer_after_the_desk_activated_does_not_change_the_number(
    line: Line, accepted: str | bool, logged: str
) -> None:
    sale = line.sell()
    (job,) = claim(line)
    change(line, sale, changes.activate, policy_number="DESK/1", insurer_accepted=accepted)
    line.worker()._apply_outcome(job, InsurerAnswer(status="accepted", policy_number="LATE/2"))
    submission = line.read_submission(sale)
    assert (line.policy(sale).policy_number, submission.state, submission.insurer_number) == (
        "DESK/1",
        "accepted",
        "LATE/2",
    )
    assert history(line, sale)[-1].action == logged


def test_personal_numbers_in_a_reason_show_their_last_four(line: Line) -> None:
    sale = line.sell(bvn="22345678901")
    (job,) = claim(line)
    assert job.payload["BVN"] == "22345678901"
    line.worker()._apply_outcome(job, InsurerAnswer(status="declined", reason="BVN 22345678901 is blocked"))
    assert line.read_submission(sale).last_error == "BVN *******8901 is blocked"
    assert "22345678901" not in str([entry.after for entry in history(line, sale)])


@pytest.mark.both_databases
def test_connection_rests_after_failures_in_a_row_and_one_policy_tries_it_again(line: Line) -> None:
    sales = [line.sell("breaks", registration_number=f"KJA-{number}ZZ") for number in range(100, 110)]
    line.worker(concurrency=1).drain()
    assert sum(line.read_submission(sale).attempts for sale in sales) == sending.FAILURES_TO_TRIP
    resting = line.connection(sales[0])
    assert resting.rests_until == clock.now() + sending.REST_PERIODS[0]
    with clock.freeze(resting.rests_until):
        line.drain()
        assert sum(line.read_submission(sale).attempts for sale in sales) == sending.FAILURES_TO_TRIP + 1
        assert line.connection(sales[0]).rests_until == clock.now() + sending.REST_PERIODS[1]


@pytest.mark.both_databases
def test_connection_that_recovers_brings_everything_forward(line: Line) -> None:
    sales = [line.sell("forgets", registration_number=f"KJA-{number}ZZ") for number in range(100, 105)]
    line.worker(concurrency=1).drain()
    assert line.connection(sales[0]).rests_until is not None
    with after(seconds=5):
        approved = line.sell()
        line.drain()
        assert (line.connection(approved).failures, line.connection(approved).rests_until) == (0, None)
        assert line.connection(approved).last_success_at == clock.now()
        assert all(line.policy(sale).activated for sale in (*sales, approved))


def test_no_more_than_the_agreed_number_is_under_way_at_one_insurer(line: Line) -> None:
    for number in range(100, 110):
        line.sell(registration_number=f"KJA-{number}ZZ")
    assert len(claim(line, most=3)) == 3
    assert len(claim(line)) == sending.DEFAULT_CONCURRENCY - 3
    assert claim(line) == []


def test_wait_doubles_to_an_hour_and_no_two_policies_come_back_together() -> None:
    policy_id = ids.new()
    waits = [sending.compute_failure_wait(policy_id, failures).total_seconds() for failures in range(1, 13)]
    assert all(0.75 * 30 * 2**n <= wait <= 1.25 * 30 * 2**n for n, wait in enumerate(waits[:7]))
    assert all(2_700 <= wait <= 4_500 for wait in waits[7:])
    assert len({sending.compute_failure_wait(ids.new(), 3) for _ in range(20)}) > 10


def test_insurer_without_an_address_keeps_its_queue(line: Line) -> None:
    sale = line.sell(cover=insurer_a.COMPREHENSIVE)
    active = line.sell(cover=insurer_a.THIRD_PARTY)
    line.drain()
    assert (line.read_submission(sale).state, line.read_submission(sale).attempts) == ("queued", 0)
    assert line.read_submission(active).state == "delegated"


def test_test_records_reach_no_real_insurer(line: Line, connect: Callable[..., None]) -> None:
    connect(insurer_b_url="https://insurer.example")
    test = line.sell(cover=insurer_b.COVERS[0])
    assert line.read_submission(test).state == "delegated"
    connect(insurer_b_test_url=line.sandbox.url)
    pending = line.sell()
    line.drain()
    assert line.policy(pending).activated


@pytest.mark.both_databases
def test_running_worker_sends_what_is_sold_and_finishes_what_it_holds(line: Line) -> None:
    sale, worker = line.sell("hangs"), line.worker(limits=IMPATIENT)
    worker.start()
    while str(sale.policy_id) not in line.sandbox.ledger.records:
        Event().wait(0.01)
    worker.stop()
    submission = line.read_submission(sale)
    assert (submission.attempts, submission.failures, submission.leased_until) == (1, 1, None)
    worker.stop()


def test_an_idle_worker_is_woken_by_a_sale_and_looks_for_nothing_meanwhile(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = Counter[str]()
    monkeypatch.setattr("core.worker.SLOW_LOOK_SECONDS", 3_600.0)
    monkeypatch.setattr("core.dispatch.lines.SLOW_LOOK_SECONDS", 3_600.0)
    worker, has_due = line.worker(), sending.has_due

    def counted(session: ScopedSession, insurer: Insurer) -> bool:
        looked[insurer.segment] += 1
        return has_due(session, insurer)

    monkeypatch.setattr(sending, "has_due", counted)
    worker.start()
    try:
        # It looks a few times while it begins, which takes as long as the machine is busy.
        for _ in range(20):
            before = looked.total()
            Event().wait(1)
            if looked.total() == before > 0:
                break
        assert looked.total() == before > 0
        sale = line.sell()
        for _ in range(1_000):
            if line.policy(sale).activated:
                break
            Event().wait(0.01)
        assert line.policy(sale).activated
    finally:
        worker.stop()


def test_the_trace_of_the_sale_goes_on_to_the_insurer(line: Line) -> None:
    trace_id = "4bf92f3577b34da6a3ce929d0e0e4736"
    with telemetry.within_trace(trace_id):
        sale = line.sell()
    line.drain()
    caller = telemetry.parse_caller(str(line.read_record(sale).traceparent))
    assert caller is not None
    assert caller.trace_id == trace_id
