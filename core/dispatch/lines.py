"""The lines of a worker beside the insurers': events, webhooks and e-mail, each a queue of its own (contract W1)."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from typing import Any, Generic, TypeVar
from weakref import WeakSet

import structlog

from core.dispatch import loan_books, mail, webhooks
from core.outbound.webhook_client import SendLimits, WebhookClient
from core.services.events.webhooks import log as webhook_log
from core.services.events.webhooks import sending
from core.services.events.webhooks.sending import DeliveryJob
from core.services.selling.loan_books.books import forget_rows
from core.store.access import Scope, Store

_log = structlog.get_logger("coverdesk.worker")
J = TypeVar("J")
T = TypeVar("T")

# What time alone has made due, as a second try, is found by such a look; dates and abandoned leases by a rarer one.
SLOW_LOOK_SECONDS = 5.0
_RARE_LOOK_SECONDS = 30.0
# Commits that follow each other are looked at together.
_REST_SECONDS = 0.05
_REOPEN_SECONDS = 1.0
_TOGETHER_SECONDS = 0.01
_MAIL_AT_ONCE = 4
_PURGE_SECONDS = 3_600.0
_AUTOMATION_SECONDS = 60.0


class Wakeups:
    """Wakes every line of a worker when something was committed, and when the worker is to stop."""

    def __init__(self) -> None:
        self._events = WeakSet[asyncio.Event]()

    def add(self, event: asyncio.Event) -> asyncio.Event:
        """Set this event too; whoever waits for it clears it."""
        self._events.add(event)
        return event

    def wake(self) -> None:
        """Let every line look now."""
        for event in self._events:
            event.set()

    async def follow(self, store: Store, stopping: threading.Event) -> None:
        """Wake the lines after each commit of any process until the worker is to stop; then once more."""
        while not stopping.is_set():
            await _guarded(self._follow, store, stopping)
            await asyncio.to_thread(stopping.wait, _REOPEN_SECONDS)
        self.wake()

    async def _follow(self, store: Store, stopping: threading.Event) -> None:
        with closing(store.watch_commits()) as watch:
            while not stopping.is_set():
                if await asyncio.to_thread(watch.wait, stopping):
                    self.wake()
                    await asyncio.sleep(_REST_SECONDS)


class DispatchLines:
    """Everything that a worker does beside insurers; `run` ends when asked to stop, or when nothing is due."""

    def __init__(self, store: Store, *, limits: SendLimits = SendLimits(), wakeups: Wakeups | None = None) -> None:
        self._store, self._limits, self._wakeups = store, limits, wakeups or Wakeups()
        self._mail = _Line(
            _MAIL_AT_ONCE, lambda limit: mail.lease_due(store, limit), lambda job: mail.deliver(store, job)
        )

    async def run(self, stopped: asyncio.Event, *, until_idle: bool) -> None:
        """Run all lines until stopped; with `until_idle` until everything that is due was tried once."""
        async with WebhookClient(self._limits) as client:
            if until_idle:
                await self._drain(client)
                return
            deliveries = self._build_webhook_line(client)
            for line in (deliveries, self._mail):
                self._wakeups.add(line.changed)
            async with asyncio.TaskGroup() as lines:
                lines.create_task(self._follow_log(stopped, deliveries))
                lines.create_task(self._purge(stopped))
                lines.create_task(self._automate(stopped))
                lines.create_task(self._work_at_books(stopped))
                lines.create_task(deliveries.run(stopped))
                lines.create_task(self._mail.run(stopped))

    async def _drain(self, client: WebhookClient) -> None:
        await _guarded(asyncio.to_thread, self._catch_up)
        await self._run_automations()
        await _guarded(asyncio.to_thread, loan_books.work, self._store)
        await _guarded(asyncio.to_thread, self._catch_up)
        while jobs := await _leased(webhooks.lease_due, self._store, sending.AT_ONCE):
            await webhooks.deliver(self._store, client, jobs)
        while letters := await _leased(mail.lease_due, self._store, _MAIL_AT_ONCE):
            await asyncio.gather(*(mail.deliver(self._store, each) for each in letters))

    def _build_webhook_line(self, client: WebhookClient) -> "_Line[DeliveryJob, webhooks.Sent]":
        return _Line(
            sending.AT_ONCE,
            lambda limit: webhooks.lease_due(self._store, limit),
            lambda job: webhooks.send(client, job),
            lambda sent: webhooks.record(self._store, sent),
        )

    async def _follow_log(self, stopped: asyncio.Event, deliveries: "_Line[DeliveryJob, webhooks.Sent]") -> None:
        written = self._wakeups.add(asyncio.Event())
        while not stopped.is_set():
            await wait(written, _RARE_LOOK_SECONDS)
            written.clear()
            if await _guarded(asyncio.to_thread, self._catch_up):
                deliveries.wake()

    def _catch_up(self) -> int:
        return webhooks.catch_up(self._store) + webhooks.sweep(self._store)

    async def _automate(self, stopped: asyncio.Event) -> None:
        while not stopped.is_set():
            await self._run_automations()
            await wait(stopped, _AUTOMATION_SECONDS)

    async def _run_automations(self) -> None:
        for job in mail.JOBS:
            await _guarded(asyncio.to_thread, job, self._store)

    async def _work_at_books(self, stopped: asyncio.Event) -> None:
        written = self._wakeups.add(asyncio.Event())
        while not stopped.is_set():
            written.clear()
            await _guarded(asyncio.to_thread, loan_books.work_apart, self._store, stopped.is_set)
            await wait(written, _RARE_LOOK_SECONDS)

    async def _purge(self, stopped: asyncio.Event) -> None:
        while not await wait(stopped, _PURGE_SECONDS):
            for forget in (webhook_log.purge, forget_rows):
                await _guarded(asyncio.to_thread, self._store.transact, Scope.system(), forget)


class _Line(Generic[J, T]):
    """One queue that is worked off: up to `at_once` jobs are leased and not yet recorded, and recorded together."""

    def __init__(
        self,
        at_once: int,
        lease: Callable[[int], Sequence[J]],
        send: Callable[[J], Awaitable[T]],
        record: Callable[[Sequence[T]], None] = lambda _: None,
    ) -> None:
        self._at_once, self._lease, self._send, self._record = at_once, lease, send, record
        self._finished: asyncio.Queue[T] = asyncio.Queue()
        self._outstanding = 0
        self.changed = asyncio.Event()

    def wake(self) -> None:
        """Look for due jobs now."""
        self.changed.set()

    async def run(self, stopped: asyncio.Event) -> None:
        """Work until stopped, and finish what began."""
        async with asyncio.TaskGroup() as tasks:
            recorder = tasks.create_task(self._record_finished())
            while not stopped.is_set() or self._outstanding:
                self.changed.clear()
                free = 0 if stopped.is_set() else self._at_once - self._outstanding
                jobs = await _leased(self._lease, free) if free else []
                self._outstanding += len(jobs)
                for job in jobs:
                    tasks.create_task(self._work(job))
                if not jobs:
                    await wait(self.changed, SLOW_LOOK_SECONDS)
            recorder.cancel()

    async def _work(self, job: J) -> None:
        self._finished.put_nowait(await self._send(job))

    async def _record_finished(self) -> None:
        while True:
            results = [await self._finished.get()]
            await asyncio.sleep(_TOGETHER_SECONDS)
            while not self._finished.empty():
                results.append(self._finished.get_nowait())
            await _guarded(asyncio.to_thread, self._record, results)
            self._outstanding -= len(results)
            self.wake()


async def _leased(lease: Callable[..., Sequence[J]], *given: Any) -> Sequence[J]:
    found: Sequence[J] | None = await _guarded(asyncio.to_thread, lease, *given)
    return found or ()


async def _guarded(call: Callable[..., Awaitable[T]], *given: Any) -> T | None:
    """Await a call; a store that is away for the moment is tried again, and told once a look."""
    try:
        return await call(*given)
    except Exception as error:
        _log.warning("outbox not read", error=type(error).__name__, exc_info=True)
        return None


async def wait(event: asyncio.Event, seconds: float) -> bool:
    """Wait so long, or less when the event is set; returns whether it is."""
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return False
    return True
