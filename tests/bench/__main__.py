"""`make bench`: how far each hot read is from what hand-written SQL does on the same SQLite file."""

import csv
import io
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import orjson
from rich.console import Console
from rich.table import Table

FOLDER = Path(tempfile.mkdtemp(prefix="coverdesk-bench-"))
os.environ["COVERDESK_DATABASE_URL"] = f"sqlite:///{FOLDER / 'bench.db'}"
os.environ["COVERDESK_SECRET_KEY"] = "bench-0123456789-abcdefghijklmnopqrstuvwxyz"

from core import clock  # noqa: E402
from core.services.exports import exports  # noqa: E402
from core.services.exports.export_shelf import kind_named  # noqa: E402
from core.services.exports.exports import Tally  # noqa: E402
from core.services.products import catalogue  # noqa: E402
from core.services.sales import figures, purchases  # noqa: E402
from core.services.sales.selection import Selection  # noqa: E402
from core.services.windows import Window  # noqa: E402
from core.store import demo, schema, statistics  # noqa: E402
from core.store.engine import reading, store, writing  # noqa: E402
from core.store.scope import Scope  # noqa: E402

PURCHASES = int(os.environ.get("COVERDESK_BENCH_PURCHASES", "20000"))
ROUNDS = 15
RAW_LIST = """
SELECT p.*, c.* FROM purchase p JOIN customer c ON c.id = p.customer_id JOIN policy y ON y.purchase_id = p.id
WHERE p.is_live = 1 AND p.deleted_at IS NULL ORDER BY p.created_at DESC, p.id DESC LIMIT 10
"""
RAW_ROLL_UP = """
SELECT date(created_at, '+1 hour'), provider_id, count(*), sum(total_minor), sum(mca_profit_minor),
sum(distributor_profit_minor) FROM purchase WHERE is_live = 1 AND created_at >= ? AND created_at < ? GROUP BY 1, 2
"""
RAW_CSV = "SELECT p.*, c.first_name, c.last_name, c.email FROM purchase p JOIN customer c ON c.id = p.customer_id"


def build() -> None:
    """A portfolio in a store of its own."""
    schema.migrate(store())
    with writing(Scope.system()) as session:
        catalogue.load(session)
    demo.write(store(), purchases=PURCHASES, seed=1)
    statistics.refresh(store())


def timed(work: Callable[[], object]) -> float:
    """Milliseconds of one run."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def main() -> None:
    """Build, measure each pair in turn, print the medians and their ratio."""
    build()
    raw = sqlite3.connect(FOLDER / "bench.db")
    raw.row_factory = sqlite3.Row
    staff, window = Scope.staff(is_live=True), Window.of_days(clock.add_months(clock.today(), -12), clock.today())
    span = (window.span.start, window.span.end)
    bounds = [moment.replace(tzinfo=None).isoformat(" ") for moment in span if moment]

    def ours_list() -> None:
        with reading(staff) as session:
            orjson.dumps(purchases.page(session).rows)

    def raw_list() -> None:
        raw.execute("SELECT count(*) FROM purchase WHERE is_live = 1 AND deleted_at IS NULL").fetchone()
        orjson.dumps([dict(row) for row in raw.execute(RAW_LIST)])

    def ours_figures() -> None:
        with reading(staff) as session:
            figures.summary(session, window)

    def raw_figures() -> None:
        raw.execute(RAW_ROLL_UP, bounds).fetchall()

    def ours_csv() -> None:
        with reading(staff) as session:
            for _ in exports.lines(session, kind_named("purchases"), Selection(), Tally()):
                pass

    def raw_csv() -> None:
        csv.writer(io.StringIO()).writerows(raw.execute(RAW_CSV))

    pairs = {
        "a page of purchases with its total": (ours_list, raw_list),
        "the dashboard's figures, 12 months": (ours_figures, raw_figures),
        "CSV of all purchases": (ours_csv, raw_csv),
    }
    table = Table("work", "ours, ms", "hand-written SQL, ms", "ratio", title=f"{PURCHASES:,} purchases, SQLite")
    for name, (ours, theirs) in pairs.items():
        runs = [(timed(ours), timed(theirs)) for _ in range(ROUNDS)]
        mine, limit = median(run[0] for run in runs), median(run[1] for run in runs)
        table.add_row(name, f"{mine:.1f}", f"{limit:.1f}", f"{mine / limit:.1f}x")
    Console().print(table)


main()
