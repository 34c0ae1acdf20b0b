"""The lines of a worker beside the insurers': events, webhooks and e-mail, each a queue of its own (contract W1)."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import structlog

from core.dispatch import events, mail, webhooks
from core.outbound.webhook_client import SendLimits, WebhookClient
from core.services.webhooks import log as webhook_log
from core.services.webhooks import sending
from core.store.access import Scope, Store

_log = structlog.get_logger("coverdesk.worker")
J = TypeVar("J")
T = TypeVar("T")

# A receiver is told within a second of the commit; the look itself reads a few rows.
LOOK_SECONDS = 0.2
_TOGETHER_SECONDS = 0.01
_MAIL_AT_ONCE = 4
_PURGE_SECONDS = 3_600.0


class DispatchLines:
    """Everything that a worker does beside insurers; `run` ends when asked to stop, or when nothing is due."""

    def __init__(self, store: Store, *, limits: SendLimits = SendLimits()) -> None:
        self._store, self._limits = store, limits

    async def run(self, stopped: asyncio.Event, *, until_idle: bool) -> None:
        """Run all lines until stopped; with `until_idle` until everything that is due was tried once."""
        async with WebhookClient(self._limits) as client:
            if until_idle:
                await self._drain(client)
                return
            async with asyncio.TaskGroup() as lines:
                lines.create_task(self._follow_log(stopped))
                lines.create_task(self._purge(stopped))
                lines.create_task(self._webhooks(client, stopped))
                lines.create_task(self._mail(stopped))

    async def _drain(self, client: WebhookClient) -> None:
        await _guarded(asyncio.to_thread, self._catch_up)
        while jobs := await _leased(webhooks.lease_due, self._store, sending.AT_ONCE):
            await webhooks.deliver(self._store, client, jobs)
        while letters := await _leased(mail.lease_due, self._store, _MAIL_AT_ONCE):
            await asyncio.gather(*(mail.deliver(self._store, each) for each in letters))

    async def _follow_log(self, stopped: asyncio.Event) -> None:
        while not await _wait(stopped, LOOK_SECONDS):
            await _guarded(asyncio.to_thread, self._catch_up)

    def _catch_up(self) -> None:
        events.catch_up(self._store)
        events.sweep(self._store)

    async def _purge(self, stopped: asyncio.Event) -> None:
        while not await _wait(stopped, _PURGE_SECONDS):
            await _guarded(asyncio.to_thread, self._store.transact, Scope.system(), webhook_log.purge)

    async def _webhooks(self, client: WebhookClient, stopped: asyncio.Event) -> None:
        await _work_off(
            stopped,
            sending.AT_ONCE,
            lambda limit: webhooks.lease_due(self._store, limit),
            lambda job: webhooks.send(client, job),
            lambda sent: webhooks.record(self._store, sent),
        )

    async def _mail(self, stopped: asyncio.Event) -> None:
        await _work_off(
            stopped,
            _MAIL_AT_ONCE,
            lambda limit: mail.lease_due(self._store, limit),
            lambda job: mail.deliver(self._store, job),
        )


async def _work_off(
    stopped: asyncio.Event,
    at_once: int,
    lease: Callable[[int], Sequence[J]],
    send: Callable[[J], Awaitable[T]],
    record: Callable[[Sequence[T]], None] = lambda _: None,
) -> None:
    """Keep up to so many jobs in flight until stopped, and finish those that began; results are recorded together."""
    in_flight: set[asyncio.Future[T]] = set()
    while not stopped.is_set():
        jobs = await _leased(lease, at_once - len(in_flight)) if len(in_flight) < at_once else []
        in_flight |= {asyncio.ensure_future(send(job)) for job in jobs}
        if in_flight:
            in_flight = await _record_finished(in_flight, record)
        if not jobs and not in_flight:
            await _wait(stopped, LOOK_SECONDS)
    while in_flight:
        in_flight = await _record_finished(in_flight, record)


async def _record_finished(
    in_flight: "set[asyncio.Future[T]]", record: Callable[[Sequence[T]], None]
) -> "set[asyncio.Future[T]]":
    """Wait for the first to finish, and a moment for those beside it; record them and return those that still run."""
    done, _ = await asyncio.wait(in_flight, timeout=LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    if done:
        await asyncio.sleep(_TOGETHER_SECONDS)
        done = {each for each in in_flight if each.done()}
        await _guarded(asyncio.to_thread, record, [each.result() for each in done])
    return in_flight - done


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


async def _wait(stopped: asyncio.Event, seconds: float) -> bool:
    """Wait so long, or less when asked to stop; returns whether asked to stop."""
    try:
        await asyncio.wait_for(stopped.wait(), seconds)
    except TimeoutError:
        return False
    return True
