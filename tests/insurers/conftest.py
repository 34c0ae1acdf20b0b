"""A real sandbox insurer on loopback, and a worker that is impatient so that tests are fast."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from core import clock, settings
from core.covers.cover import Cover
from core.covers.insurers import insurer_b
from core.insurers.client import CallLimits
from core.insurers.sandbox import RequestRecord, SandboxInsurer
from core.services.selling.buying import Sale
from core.store.access import Scope, Store
from core.store.schema.tables import InsurerConnection, Policy, Submission
from core.worker import Worker
from tests.conftest import Partner
from tests.covers import shipped
from tests.services.selling import sell

# For who never answers; the others get their time, however busy the machine is.
IMPATIENT = CallLimits(connect=2, read=0.2, total=0.4, max_bytes=100_000)
PATIENT = CallLimits(connect=10, read=60, total=60, max_bytes=100_000)
SILENT = ("hangs", "drips")
PENDING = insurer_b.COMPREHENSIVE


@pytest.fixture(scope="session")
def sandbox() -> Iterator[SandboxInsurer]:
    """The sandbox insurer of this run; every policy has a key of its own, so tests do not meet in it."""
    with SandboxInsurer() as server:
        yield server


@pytest.fixture(autouse=True)
def _still() -> Iterator[None]:
    """Stops the clock for this folder: a mark in a conftest marks no test."""
    with clock.freeze(shipped.STILL):
        yield


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Sets connection settings: `connect(insurer_b_url=...)`."""

    def set_(**values: str) -> None:
        for name, value in values.items():
            monkeypatch.setenv(f"COVERDESK_{name.upper()}", value)
        settings.settings.cache_clear()

    yield set_
    settings.settings.cache_clear()


@dataclass(frozen=True)
class Line:
    """A store whose insurer-b is the sandbox, and a seller."""

    store: Store
    partner: Partner
    sandbox: SandboxInsurer

    def sell(self, magic: str = "approves", cover: Cover[Any] = PENDING, **changed: Any) -> Sale:
        """A sale to a holder whose e-mail address carries the magic word."""
        return sell(self.store, self.partner, cover, **{"email": f"ada+{magic}@example.com", **changed})

    def worker(self, **given: Any) -> Worker:
        return Worker(self.store, **{"limits": PATIENT, **given})

    def drain(self, limits: CallLimits = PATIENT) -> None:
        self.worker(limits=limits).drain()

    def read_submission(self, sale: Sale) -> Submission:
        return self._one(Submission, sale.policy_id)

    def policy(self, sale: Sale) -> Policy:
        return self._one(Policy, sale.policy_id)

    def connection(self, sale: Sale) -> InsurerConnection:
        return self._one(InsurerConnection, self.read_submission(sale).provider_id)

    def read_record(self, sale: Sale) -> RequestRecord:
        """Return the sandbox's record of a policy."""
        return self.sandbox.ledger.records[str(sale.policy_id)]

    def _one(self, table: Any, key: Any) -> Any:
        with self.store.reading(Scope.system()) as session:
            row = session.get_one(table, key)
            session.expunge(row)
            return row


@pytest.fixture
def line(store: Store, partner: Partner, sandbox: SandboxInsurer, connect: Callable[..., None]) -> Line:
    """Insurer-b is the sandbox."""
    connect(insurer_b_url=sandbox.url, insurer_b_key="sandbox-credential")
    return Line(store, partner, sandbox)
