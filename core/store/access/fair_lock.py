"""A first-come, first-served lock for the threads that write to a SQLite file."""

import threading
import time
from collections import deque

from core.errors import StoreUnavailable

WAIT_SECONDS = 10.0


class FairLock:
    """A lock that is granted in the order of arrival."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()
        self._holder: int | None = None
        self._taken = False

    def refuse_nested(self) -> None:
        """Raise RuntimeError in the thread that holds the lock: a nested write would wait for itself."""
        if self._holder == threading.get_ident():
            raise RuntimeError("a write inside a write would wait for itself")

    def acquire(self, until: float) -> None:
        """Wait for the lock; StoreUnavailable after `until` (monotonic seconds)."""
        with self._lock:
            ours = threading.Lock() if self._taken else None
            self._taken = True
            if ours:
                ours.acquire()
                self._waiting.append(ours)
        if ours and not ours.acquire(timeout=max(until - time.monotonic(), 0)):
            self._give_up(ours)
        self._holder = threading.get_ident()

    def _give_up(self, ours: threading.Lock) -> None:
        with self._lock:
            # Otherwise the turn was given to us in this very moment, and is ours after all.
            if ours in self._waiting:
                self._waiting.remove(ours)
                raise StoreUnavailable

    def release(self) -> None:
        """Pass the lock to the next thread in line."""
        with self._lock:
            self._holder = None
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False
