"""`python -m tests.bench.claims [postgres] [--claims N]`: server time of the queue and of a review, as claims grow.

The demonstration has about 1,000 claims at first; inside the database they are copied with their customers, policies,
terms, payments and history, each with ids, numbers, phones, accounts and documents of its own, until there are N
(100,000). Medians of what the screens read are printed with their growth; 60 ms and 1.2 are wanted.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from rich.console import Console
from rich.table import Table
from sqlmodel import SQLModel

from tests.bench.sales import SECRET, build, database

PURCHASES: Final = 55_000
ROUNDS: Final = 25
WANTED_MS, WANTED_GROWTH = 60, 1.2
COPIED: Final = (
    *("customer", "purchase", "policy", "renewal", "claim", "claim_event", "payment_payee", "transfer"),
    *("claim_payment",),
    *("claim_reserve", "claim_referral", "claim_override", "claim_question", "claim_comment", "claim_task"),
)
# Ids that no foreign key names.
_LOOSE: Final = frozenset({"payee_id", "reverses"})
# A UUIDv7 has a 7 and one of 8, 9, a, b at these places; a copy has two other digits there.
DIGITS, VARIANTS = "01234568", "0123456789cdef"
_REPLACED: Final = frozenset({"account_key", "risk_hash"})
# They refer to what is not copied.
_EMPTY: Final = frozenset({"possible_duplicate_of", "certificate_code"})
_APPENDED: Final = frozenset(
    {
        *("email", "email_key", "phone_number", "policy_number", "number_key", "plate_key", "reference"),
        *("reference_key", "claim_owner_email", "claim_owner_phone_number"),
    }
)
_SELECTED: Final = {
    "customer": "id IN (SELECT customer_id FROM policy WHERE id IN (SELECT policy_id FROM claim))",
    "purchase": "id IN (SELECT purchase_id FROM policy WHERE id IN (SELECT policy_id FROM claim))",
    "policy": "id IN (SELECT policy_id FROM claim)",
    "payment_payee": "claim_id IS NOT NULL",
    "transfer": "id IN (SELECT transfer_id FROM claim_payment)",
    "renewal": "policy_id IN (SELECT policy_id FROM claim)",
}


def multiply(engine: sa.Engine, wanted: int) -> int:
    """Copy the claims until there are about as many as wanted; return their number."""
    is_sqlite = engine.dialect.name == "sqlite"
    with engine.begin() as connection:
        if not is_sqlite:
            connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
        held = connection.exec_driver_sql("SELECT count(*) FROM claim").scalar_one()
        pairs = [(digit, variant) for digit in DIGITS for variant in VARIANTS]
        copies = pairs[: max(0, round(wanted / held) - 1)]
        # Every table as it was before: a copy is made of originals alone.
        for table in reversed(COPIED):
            chosen = _SELECTED.get(table, "true" if not is_sqlite else "1")
            connection.exec_driver_sql(f"CREATE TEMPORARY TABLE old_{table} AS SELECT * FROM {table} WHERE {chosen}")
        for table in COPIED:
            connection.exec_driver_sql(_copy(SQLModel.metadata.tables[table], copies, is_sqlite=is_sqlite))
        connection.exec_driver_sql(_documents(is_sqlite=is_sqlite))
        return int(connection.exec_driver_sql("SELECT count(*) FROM claim").scalar_one())


def _copy(table: sa.Table, copies: list[tuple[str, str]], *, is_sqlite: bool) -> str:
    rows = ", ".join(f"('{digit}', '{variant}')" for digit, variant in copies)
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    values = ", ".join(_value(column, is_sqlite=is_sqlite) for column in table.columns)
    return (
        f"WITH copies (digit, variant) AS (VALUES {rows}) INSERT INTO {table.name} ({names})"
        f" SELECT {values} FROM old_{table.name} original CROSS JOIN copies"
    )


def _value(column: "sa.Column[Any]", *, is_sqlite: bool) -> str:
    if column.name in _EMPTY:
        return "NULL"
    name = 'original."customer_id"' if column.name == "buyer_id" else f'original."{column.name}"'
    referred = {key.column.table.name for key in column.foreign_keys}
    if column.name == "id" or column.name in _LOOSE or referred & set(COPIED):
        if is_sqlite:
            return f"substr({name}, 1, 12) || digit || substr({name}, 14, 3) || variant || substr({name}, 18)"
        return f"overlay(overlay({name}::text placing digit from 15 for 1) placing variant from 20 for 1)::uuid"
    if column.name in _REPLACED:
        return f"'zz' || digit || variant || substr({name}, 5)"
    return f"{name} || '-' || digit || variant" if column.name in _APPENDED else name


def _documents(*, is_sqlite: bool) -> str:
    """One document of its own for each claim: those of the demonstration are specimens that many share."""
    code = "substr(id, 7, 26)" if is_sqlite else "substr(replace(id::text, '-', ''), 7, 26)"
    content = "hex(randomblob(32))" if is_sqlite else "md5(id::text) || md5(id::text || 'x')"
    return (
        "INSERT INTO uploaded_file (code, file_name, content_type, size, sha256, sent_sha256, claim_id, field,"
        " created_at, distributor_id, is_live)"
        f" SELECT {code}, 'letter.pdf', 'application/pdf', 1, {content}, {content}, id, 'loan_offer_letter',"
        " created_at, distributor_id, is_live FROM claim"
    )


def works(store: Any, person: Any) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield what the screens read: every view of the queue, sorted by another column, found by text, and reviews."""
    from core.services.claims.lists import queue as claim_queue
    from core.services.claims.lists import totals as claim_totals
    from core.services.claims.lists.filter import NOBODY, VIEWS, ClaimFilter
    from core.services.claims.review import review as claim_review
    from core.services.lists.paging import Paging
    from core.store.access import Scope

    desk = Scope.staff(is_live=True)

    def show(order: str = "urgent", **given: Any) -> None:
        criteria = ClaimFilter(**given)
        with store.reading(desk) as session:
            claim_totals.count_views(session, person)
            claim_totals.get_totals(session, criteria)
            claim_queue.list_rows(session, criteria, order=order, paging=Paging(limit=50))

    assigned = {"mine": person.id, "unassigned": NOBODY}
    yield from ((f"queue, {view}", lambda view=view: show(view=view, assigned=assigned.get(view))) for view in VIEWS)
    yield "queue, all by amount", lambda: show(view="all", order="largest")
    yield "queue, a reference found", lambda: show(view="all", search="TRF-0")
    yield "queue, a part of a name", lambda: show(view="all", search="okaf")
    chosen = iter(_choose(store, desk) * ROUNDS)

    def review() -> None:
        with store.reading(desk) as session:
            claim_review.get_review(session, next(chosen), person=person)

    yield "review", review


def _choose(store: Any, desk: Any) -> list[UUID]:
    """Ids of live claims in every status, the same at each size."""
    from sqlmodel import col

    from core.store.schema.tables import Claim

    query = sa.select(col(Claim.id)).order_by(col(Claim.created_at), col(Claim.id)).limit(40)
    with store.reading(desk) as session:
        return list(session.execute(query).scalars())


def measure(store: Any) -> dict[str, float]:
    """Median milliseconds of each work: of processor time on SQLite, of the clock on PostgreSQL."""
    from core.services.people import staff
    from core.store.access import Scope

    with store.reading(Scope.system()) as session:
        email = session.execute(
            sa.text("SELECT email FROM staff WHERE CAST(roles AS TEXT) LIKE '%supervisor%' LIMIT 1")
        ).scalar_one()
        person = staff.get_by_email(session, email)
    # SQLite's work is ours: processor time, which other work on the machine changes less than the time on the clock.
    now = time.process_time if store.is_sqlite else time.perf_counter
    return {name: _median(work, now) for name, work in works(store, person)}


def _median(work: Callable[[], object], now: Callable[[], float]) -> float:
    work()
    times = []
    for _ in range(ROUNDS):
        began = now()
        work()
        times.append((now() - began) * 1000)
    return statistics.median(times)


def show(sizes: dict[int, dict[str, float]]) -> None:
    """Print the medians of each size, and the growth from the first to the last."""
    first, last = sizes.values()
    table = Table("work", *(f"{size:,} claims" for size in sizes), "growth", f"{WANTED_MS} ms, {WANTED_GROWTH}")
    for name in first:
        growth = last[name] / first[name]
        verdict = "yes" if last[name] <= WANTED_MS and growth <= WANTED_GROWTH else "no"
        table.add_row(name, f"{first[name]:.1f} ms", f"{last[name]:.1f} ms", f"{growth:.2f}", verdict)
    Console().print(table)


def main() -> None:
    """Build the store, measure it, multiply its claims and measure again."""
    read = argparse.ArgumentParser()
    read.add_argument("kind", nargs="?", choices=("sqlite", "postgres"), default="sqlite")
    read.add_argument("--claims", type=int, default=100_000)
    options = read.parse_args()
    os.environ["COVERDESK_SECRET_KEY"] = SECRET
    with tempfile.TemporaryDirectory(prefix="coverdesk-bench-") as folder:
        os.environ["COVERDESK_FILES_URL"] = str(Path(folder, "files"))
        with database(options.kind, Path(folder)) as url:
            _run(url, options.claims)


def _run(url: str, wanted: int) -> None:
    from core.store.access import Store
    from core.store.operations import statistics as planner
    from core.store.rollups import claim_totals

    os.environ["COVERDESK_DATABASE_URL"] = url
    build(url, PURCHASES)
    sizes = {}
    store = Store(url)
    with store.reading(_system()) as session:
        held = session.execute(sa.text("SELECT count(*) FROM claim")).scalar_one()
    sizes[held] = measure(store)
    began = time.perf_counter()
    made = multiply(store.writers, wanted)
    with store.writers.begin() as connection:
        claim_totals.rebuild(connection)
    planner.refresh(store)
    sys.stdout.write(f"{made:,} claims after {time.perf_counter() - began:.0f} s\n")
    sizes[made] = measure(store)
    store.close()
    show(sizes)


def _system() -> Any:
    from core.store.access import Scope

    return Scope.system()


if __name__ == "__main__":
    main()
