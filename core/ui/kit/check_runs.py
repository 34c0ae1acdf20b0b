"""Background runs of the store's integrity check: started by a click, with progress and result.

The duration grows with the store. A run has its own thread, one at a time per process, so that a click elsewhere does
not interrupt it.
"""

import threading
from dataclasses import dataclass, field
from datetime import datetime

import structlog

from core import clock
from core.desk import store_check
from core.desk.store_check import Finding
from core.errors import CoverdeskError
from core.store.access import Scope, Store

_log = structlog.get_logger(__name__)
_BROKEN_OFF = "The check was broken off: the log of the server says why"


@dataclass(slots=True)
class CheckRun:
    """One run of the integrity check: its progress and findings."""

    started_at: datetime = field(default_factory=clock.now)
    rules: int = field(default_factory=store_check.count_rules)
    findings: list[Finding] = field(default_factory=list)
    ended_at: datetime | None = None
    fault: str | None = None
    _thread: threading.Thread | None = None

    @property
    def is_running(self) -> bool:
        """Return True until the last rule is checked."""
        return self.ended_at is None

    @property
    def violated(self) -> list[Finding]:
        """Return the rules that are violated."""
        return [finding for finding in self.findings if finding.faults]

    def begin(self, store: Store) -> None:
        """Start checking a store."""
        self._thread = threading.Thread(target=self._work, args=(store,), name="coverdesk check", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait for the end of the run; for tests."""
        if self._thread:
            self._thread.join()

    def _work(self, store: Store) -> None:
        try:
            with store.reading(Scope.system()) as session:
                for finding in store_check.run_rules(session):
                    self.findings.append(finding)
        except CoverdeskError as error:
            self.fault = str(error)
        except Exception as error:
            _log.error("check broken off", error=type(error).__name__, exc_info=True)
            self.fault = _BROKEN_OFF
        finally:
            self.ended_at = clock.now()


_turn = threading.Lock()
_running: dict[str, CheckRun] = {}


def latest(store: Store) -> CheckRun | None:
    """Return the last run for this store in this process, running or ended."""
    return _running.get(str(store.url))


def start(store: Store) -> CheckRun:
    """Start a run for this store, or return the one in progress."""
    with _turn:
        run = _running.get(str(store.url))
        if run is None or not run.is_running:
            run = _running[str(store.url)] = CheckRun()
            run.begin(store)
        return run
