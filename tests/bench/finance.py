"""`python -m tests.bench.finance [ROWS]`: seconds and memory of a month of 100,000 movements, on a temporary store.

A statement is prepared, frozen and written as CSV, XLSX and PDF, and a file of as many rows is reconciled.
"""

import os
import resource
import secrets
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from core import clock, money
from core.services.catalogue import keys, shipped
from core.services.finance import parties
from core.services.finance.parties import Party
from core.services.finance.reconciling import matching, reconciliations
from core.services.finance.statements import files as statement_files
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements import statements
from core.services.lists.windows import Window
from core.services.people import staff
from core.store.access import Scope, Store
from core.store.schema import migrating
from core.store.schema.tables import Movement, Staff, Statement
from tests.portfolio import Portfolio

MONTH: Final = date(2026, 10, 1)
ENDS: Final = datetime(2026, 10, 31, 22, tzinfo=UTC)
LATER: Final = datetime(2026, 11, 20, 9, tzinfo=UTC)
LIVE, SYSTEM = Scope.staff(is_live=True), Scope.system()
_AT_ONCE: Final = 20_000


@contextmanager
def measured(what: str) -> Iterator[None]:
    """Print the seconds of a block, those of the processor, and by how much it raised the greatest memory."""
    before, started, used = _memory(), time.perf_counter(), time.process_time()
    yield
    seconds, cpu, grown = time.perf_counter() - started, time.process_time() - used, _memory() - before
    sys.stdout.write(f"{seconds:7.1f} s  {cpu:7.1f} s of CPU  {grown:+6.0f} MB  {what}\n")
    sys.stdout.flush()


def _memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def build(store: Store, rows: int) -> tuple[Party, Any]:
    """Make a store whose one distributor has about as many movements in a month; it and somebody of finance."""
    migrating.migrate(store)
    with store.writing(SYSTEM) as session:
        shipped.load_catalogue(session)
        seller = keys.get_or_create_distributor(session, "Swift Lenders")
        session.add(Staff(email="finance@bench.example", name="Finance", roles=["finance"]))
    for number in range(0, rows, _AT_ONCE):
        size = min(_AT_ONCE, rows - number)
        Portfolio(seed=1_000 + number, size=size, sellers=(seller,), days=29, now=ENDS).write(store)
    with store.reading(SYSTEM) as session:
        return Party("distributor", seller), staff.get_by_email(session, "finance@bench.example")


def run(store: Store, rows: int) -> None:
    """Build the store and measure each step."""
    with measured(f"the store with {rows:,} sales is built"):
        party, by = build(store, rows)
    with store.reading(SYSTEM) as session:
        number = session.execute(sa.select(sa.func.count()).select_from(Movement)).scalar_one()
    sys.stdout.write(f"{number:,} movements\n")
    started, used = time.perf_counter(), time.process_time()
    with measured("the statement is prepared and frozen"), store.writing(LIVE) as session:
        made = statements.prepare(session, party, MONTH, by=by)
    with tempfile.TemporaryDirectory() as folder, store.reading(LIVE) as session:
        row = session.get_one(Statement, made)
        paper = statement_reading.get_statement(session, made).paper
        _write(folder, "csv", lambda path: path.write_bytes(b"".join(statement_reading.csv_of(session, row))))
        _write(
            folder,
            "xlsx",
            lambda path: statement_files.write_workbook(path, paper, statement_reading.csv_of(session, row)),
        )
        _write(
            folder,
            "pdf",
            lambda path: path.write_bytes(statement_files.render(paper, statement_reading.batches_of(session, made))),
        )
    seconds, cpu = time.perf_counter() - started, time.process_time() - used
    sys.stdout.write(f"{seconds:7.1f} s  {cpu:7.1f} s of CPU  in all, for {paper.lines:,} lines\n")
    _reconcile(store, by, rows)


def _write(folder: str, kind: str, work: Callable[[Path], object]) -> None:
    path = Path(folder, f"statement.{kind}")
    path.touch()
    with measured(f"its {kind.upper()}"):
        work(path)


def _reconcile(store: Store, by: Any, rows: int) -> None:
    """A file of the insurer with the most movements, filled up with numbers that nobody knows."""
    window = Window(MONTH, clock.add_months(MONTH, 1))
    with store.reading(LIVE) as session:
        insurers = [party for party, _ in parties.list_parties(session) if party.account == "provider"]
        given = {"amount_is": "net", "by_transaction": False}
        listed = {each.id: matching.list_movements(session, each.id, window, **given) for each in insurers}
    provider_id, ours = max(listed.items(), key=lambda each: len(each[1]))
    lines = [f"{entry.label},{money.to_wire(entry.amount_minor)},{entry.on}" for entry in ours if entry.label]
    lines += [f"UNKNOWN/{number},{number}.00,{MONTH}" for number in range(max(0, rows - len(lines)))]
    content = "\r\n".join(["Policy No,Net,Date", *lines]).encode()
    typed = {
        "kind": "insurer",
        "month": str(MONTH),
        "file_name": "bench.csv",
        "columns": {"policy_number": "Policy No", "amount": "Net", "date": "Date"},
    }
    with measured(f"a file of {len(lines):,} rows is reconciled"), store.writing(LIVE) as session:
        reconciliations.run(session, typed, content, by=by, provider_id=provider_id)


def main(rows: int) -> None:
    """Measure on a store in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="coverdesk-bench-") as folder:
        os.environ["COVERDESK_SECRET_KEY"] = secrets.token_hex(32)
        os.environ["COVERDESK_FILES_URL"] = str(Path(folder, "files"))
        os.environ["COVERDESK_DATABASE_URL"] = f"sqlite:///{folder}/store.db"
        store = Store(os.environ["COVERDESK_DATABASE_URL"])
        with clock.freeze(LATER):
            run(store, rows)
        store.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
