"""The worker: works off every queue of the outbox, and applies the insurers' answers (contract N3, N5, W1).

Database transactions are short; none is open during a call to an insurer.
"""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

import structlog

from core import telemetry
from core.desk import status
from core.dispatch.lines import SLOW_LOOK_SECONDS, DispatchLines, Wakeups
from core.errors import CoverdeskError, InvalidInput, StateForbids, StoreUnavailable
from core.insurers.answers import InsurerAnswer, InsurerFault
from core.insurers.client import CallLimits, InsurerClient
from core.services.insurers import sending
from core.services.insurers.sending import Insurer, Job
from core.store.access import Scope, ScopedSession, Store

log = structlog.get_logger("coverdesk.worker")
T = TypeVar("T")
# None: an error on our side, not the insurer's.
Outcome = InsurerAnswer | InsurerFault | None
_RETRY_SECONDS = 1.0
INTERNAL_ERROR = "Something broke here while the insurer was asked: the log says where"


class Worker:
    """Processes the queue of every connected insurer concurrently. Any number of workers may run at once."""

    def __init__(
        self, store: Store, *, limits: CallLimits = CallLimits(), concurrency: int = sending.DEFAULT_CONCURRENCY
    ) -> None:
        self._store = store
        self._limits = limits
        self._concurrency = concurrency
        self._wakeups = Wakeups()
        self._dispatch = DispatchLines(store, wakeups=self._wakeups)
        self._stopping = threading.Event()
        self._wake: Callable[[], object] = lambda: None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Run in a thread."""
        self._thread = threading.Thread(target=self.run, name="worker", daemon=True)
        self._thread.start()

    def run(self) -> None:
        """Run until asked to stop."""
        asyncio.run(self._work(until_idle=False))

    def drain(self) -> None:
        """Send everything that is due now, then return."""
        asyncio.run(self._work(until_idle=True))

    def request_stop(self) -> None:
        """Accept no new work; calls in progress are finished. Safe in a signal handler."""
        self._stopping.set()
        # The event loop may have ended meanwhile.
        with contextlib.suppress(RuntimeError):
            self._wake()

    def stop(self) -> None:
        """Ask to stop, and wait for the calls in progress."""
        self.request_stop()
        if self._thread is not None:
            self._thread.join()

    async def _work(self, *, until_idle: bool) -> None:
        stopped, loop = asyncio.Event(), asyncio.get_running_loop()
        self._wake = lambda: loop.call_soon_threadsafe(stopped.set)
        if self._stopping.is_set():
            return
        async with InsurerClient(self._limits) as client, asyncio.TaskGroup() as lines:
            if not until_idle:
                lines.create_task(self._beat(stopped))
                lines.create_task(self._wakeups.follow(self._store, self._stopping))
            lines.create_task(self._dispatch.run(stopped, until_idle=until_idle))
            for insurer in await self._wait_for_insurers(stopped):
                lines.create_task(self._process_insurer(client, insurer, stopped, until_idle=until_idle))

    async def _wait_for_insurers(self, stopped: asyncio.Event) -> Sequence[Insurer]:
        """Return every connected insurer, retrying until the database is available."""
        while not stopped.is_set():
            try:
                return await asyncio.to_thread(self._list_connected)
            except StoreUnavailable:
                log.warning("store not available")
                await asyncio.wait({stop := asyncio.create_task(stopped.wait())}, timeout=_RETRY_SECONDS)
                stop.cancel()
        return []

    def _list_connected(self) -> Sequence[Insurer]:
        with self._store.reading(Scope.system()) as session:
            return sending.list_connected(session)

    async def _process_insurer(
        self, client: InsurerClient, insurer: Insurer, stopped: asyncio.Event, *, until_idle: bool
    ) -> None:
        """Process one insurer: keep up to its limit of policies in flight, until idle or stopped."""
        in_flight: set[asyncio.Task[None]] = set()
        written = self._wakeups.add(asyncio.Event())
        woken = asyncio.create_task(written.wait())
        while not stopped.is_set():
            # Lease in batches: one transaction for several policies instead of one each.
            capacity = self._concurrency - len(in_flight)
            jobs = await self._lease(insurer, capacity if capacity * 2 >= self._concurrency else 0)
            in_flight |= {asyncio.create_task(self._send_policy(client, job)) for job in jobs}
            if until_idle and not in_flight:
                break
            done, _ = await asyncio.wait(
                {woken, *in_flight}, timeout=SLOW_LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            in_flight -= done
            if woken in done:
                written.clear()
                woken = asyncio.create_task(written.wait())
        woken.cancel()
        if in_flight:
            await asyncio.wait(in_flight)

    async def _lease(self, insurer: Insurer, limit: int) -> list[Job]:
        """Lease up to `limit` policies; empty if the database is not available."""
        if limit <= 0:
            return []
        try:
            return await asyncio.to_thread(self._lease_due, insurer, limit)
        except Exception as error:
            log.error("queue not read", insurer=insurer.segment, error=type(error).__name__, exc_info=True)
            return []

    def _lease_due(self, insurer: Insurer, limit: int) -> list[Job]:
        with self._store.reading(Scope.system()) as session:
            if not sending.has_due(session, insurer):
                return []
        return self._transact(
            lambda session: sending.lease_due(session, insurer, limit=limit, concurrency=self._concurrency)
        )

    async def _send_policy(self, client: InsurerClient, job: Job) -> None:
        """Call the insurer and apply the outcome; if applying fails, the lease expires and the policy is sent again."""
        # A task has a context of its own, and so has each thread that it asks.
        bound = {"trace_id": job.trace_id} if job.trace_id else {}
        with telemetry.within_trace(job.trace_id), structlog.contextvars.bound_contextvars(**bound):
            await self._call(client, job)

    async def _call(self, client: InsurerClient, job: Job) -> None:
        try:
            outcome: Outcome = await client.submit(job.segment, job.policy_id, job.payload, is_live=job.is_live)
        except InsurerFault as fault:
            outcome = fault
        except Exception as error:
            log.error("policy not sent", insurer=job.segment, host=job.host, error=type(error).__name__, exc_info=True)
            outcome = None
        try:
            await asyncio.to_thread(self._apply_outcome, job, outcome)
        except Exception as error:
            log.error("answer not kept", insurer=job.segment, error=type(error).__name__, exc_info=True)

    def _apply_outcome(self, job: Job, outcome: Outcome) -> None:
        telemetry.count("deliveries", job.segment, _describe_outcome(outcome))
        if outcome is None:
            self._set_aside(job, None, INTERNAL_ERROR)
            return
        if isinstance(outcome, InsurerFault):
            fault = outcome
            log.warning(
                "insurer did not answer", insurer=job.segment, host=job.host, attempts=job.attempt, error=fault.kind
            )
            self._transact(lambda session: sending.record_failure(session, job, fault))
            return
        answer = outcome
        log.info("insurer answered", insurer=job.segment, host=job.host, attempts=job.attempt)
        try:
            self._transact(lambda session: sending.apply_answer(session, job, answer))
        except (InvalidInput, StateForbids) as refusal:
            self._set_aside(job, answer, f"The insurer's answer cannot be followed: {refusal}")
        except CoverdeskError:
            raise
        except Exception:
            log.error("answer not taken over", insurer=job.segment, attempts=job.attempt, exc_info=True)
            self._set_aside(job, answer, INTERNAL_ERROR)

    def _set_aside(self, job: Job, answer: InsurerAnswer | None, reason: str) -> None:
        self._transact(lambda session: sending.set_aside(session, job, answer, reason))

    async def _beat(self, stopped: asyncio.Event) -> None:
        """Say every half minute that this worker is at work, until it is stopped."""
        name, stop = status.worker_name(), asyncio.create_task(stopped.wait())
        while not stopped.is_set():
            await self._keep_beat(lambda session: status.record(session, name))
            await asyncio.wait({stop}, timeout=status.INTERVAL.total_seconds())
        await self._keep_beat(lambda session: status.forget(session, name))

    async def _keep_beat(self, work: Callable[[ScopedSession], None]) -> None:
        try:
            await asyncio.to_thread(self._transact, work)
        except Exception as error:
            log.warning("heartbeat not kept", error=type(error).__name__, exc_info=True)

    def _transact(self, work: Callable[[ScopedSession], T]) -> T:
        return self._store.transact(Scope.system(), work)


def _describe_outcome(outcome: Outcome) -> str:
    if outcome is None:
        return "internal_error"
    return outcome.kind if isinstance(outcome, InsurerFault) else outcome.status
