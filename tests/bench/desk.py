"""W5 to W8: what the desk asks of the store, beside what the database does by itself with the same file."""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median

import sqlalchemy as sa

from core import clock
from core.desk.exported_lists import get_kind
from core.services.lists import exports
from core.services.lists.dimensions import load_choices
from core.services.lists.exports import Tally
from core.services.lists.paging import Paging
from core.services.lists.windows import Window
from core.services.policies import policies
from core.services.policies.policies import PolicyFilter
from core.services.sales import breakdowns, figures
from core.services.sales.filter import SalesFilter
from core.services.sales.purchases import PurchaseFilter
from core.settings import ROOT
from core.store.access import Scope
from tests.bench.measured import Row
from tests.bench.portfolios import Portfolio

ROUNDS = 5
STAFF = Scope.staff(is_live=True)
_DAY = {True: "date(created_at, '+1 hour')", False: "CAST(timezone('Africa/Lagos', created_at) AS DATE)"}
_ROLL_UP = """
SELECT {day}, provider_id, count(*), sum(total_minor), sum(mca_profit_minor), sum(distributor_profit_minor)
FROM purchase WHERE is_live AND created_at >= :start AND created_at < :end GROUP BY 1, 2
"""
# As many columns as ours, each as it is kept.
_COLUMNS = """
SELECT p.id, p.created_at, p.updated_at, y.policy_number, p.total_minor, p.mca_profit_minor, p.distributor_profit_minor,
p.distributor_id, p.provider_id, p.product_id, p.product_category_id, y.first_name, y.last_name, y.email, y.phone,
p.is_live, p.request_source, p.payment_option, p.payment_channel, p.premium_frequency
FROM purchase p JOIN policy y ON y.purchase_id = p.id
WHERE p.is_live = true AND p.deleted_at IS NULL ORDER BY p.created_at DESC, p.id DESC
"""


def figures_of_a_year(portfolio: Portfolio) -> Row:
    """W5: everything that the dashboard shows of twelve months, beside one roll-up of the purchases themselves."""
    window = Window.from_days(clock.add_months(clock.today(), -12), clock.today())
    raw = sa.text(_ROLL_UP.format(day=_DAY[portfolio.store.is_sqlite]))
    bounds = {"start": _kept(portfolio, window.span.start), "end": _kept(portfolio, window.span.end)}

    def ours() -> None:
        with portfolio.store.reading(STAFF) as session:
            names = load_choices(session)
            figures.build_summary(session, window)
            breakdowns.compute_breakdown(session, window, SalesFilter(), names)
            breakdowns.compute_over_time(session, window, SalesFilter(), names, grain="month", split="provider")

    def by_hand() -> None:
        with portfolio.store.engine.connect() as connection:
            connection.execute(raw, bounds).all()

    mine, limit = _in_turns(ours, by_hand, ROUNDS)
    return Row(work="W5 dashboard, 12 months", size=portfolio.size, ours=mine, limit=limit)


def _kept(portfolio: Portfolio, instant: object) -> object:
    return f"{instant:%Y-%m-%d %H:%M:%S}.000000" if portfolio.store.is_sqlite else instant


def _in_turns(ours: Callable[[], None], by_hand: Callable[[], None], rounds: int) -> tuple[float, float]:
    runs = [(_timed(ours), _timed(by_hand)) for _ in range(rounds)]
    return median(run[0] for run in runs), median(run[1] for run in runs)


def _timed(work: Callable[[], None]) -> float:
    """Milliseconds of one run."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def csv_of_everything(portfolio: Portfolio) -> Row:
    """W6: every purchase as CSV, beside the database's own export; both written to nowhere."""
    grown: list[int] = []

    def ours() -> None:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with portfolio.store.reading(STAFF) as session:
            for _ in exports.stream_lines(session, get_kind("purchases"), PurchaseFilter(), Tally()):
                pass
        grown.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)

    mine, limit = _in_turns(ours, lambda: _own_export(portfolio), 3)
    note = f"memory +{max(grown) / 1024:.0f} MB"
    return Row(work="W6 CSV of all purchases", size=portfolio.size, ours=mine, limit=limit, note=note)


def _own_export(portfolio: Portfolio) -> None:
    query = " ".join(_COLUMNS.split())
    if portfolio.store.is_sqlite:
        command = ["sqlite3", "-csv", "-header", str(portfolio.store.url.database), query]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        return
    raw = portfolio.store.engine.raw_connection()
    raw.cursor().execute("SET statement_timeout = 0")
    with raw.cursor() as cursor, cursor.copy(f"COPY ({query}) TO STDOUT WITH (FORMAT csv, HEADER)") as copy:
        for _ in copy:
            pass
    raw.close()


# Along its index the text of each policy is looked at once, and nothing else.
_PART = "SELECT count(*) FROM policy WHERE {column} > '' AND {column} LIKE :part"
PARTS = {"number": ("4967", "number_key"), "phone": ("8034967", "phone"), "plate": ("QX4", "plate_key")}


def searches(portfolio: Portfolio) -> list[Row]:
    """W8: policies found by a part of a number, phone or plate, beside the texts of one column looked at by hand."""
    return [_search(portfolio, kind, *given) for kind, given in PARTS.items()]


def _search(portfolio: Portfolio, kind: str, text: str, column: str) -> Row:
    raw = sa.text(_PART.format(column=column))
    with portfolio.store.reading(STAFF) as session:
        names = load_choices(session)

    def ours() -> None:
        with portfolio.store.reading(STAFF) as session:
            policies.search_policies(session, PolicyFilter(find=text), names, paging=Paging(1, 50))

    def by_hand() -> None:
        with portfolio.store.engine.connect() as connection:
            connection.execute(raw, {"part": f"%{text}%"}).all()

    mine, limit = _in_turns(ours, by_hand, ROUNDS)
    return Row(work=f"W8 policies by a part of a {kind}", size=portfolio.size, ours=mine, limit=limit)


def reruns(portfolio: Portfolio) -> list[Row]:
    """W7: processor time of one rerun of two screens, in a process of their own."""
    command = [sys.executable, "-m", "tests.bench.screens", "purchases", "dashboard"]
    output = subprocess.run(command, cwd=ROOT, env=portfolio.environment, capture_output=True, check=True).stdout
    found = json.loads(output)
    return [
        Row(
            work=f"W7 rerun of {name}", size=portfolio.size, ours=cpu, note=f"wall {wall:.0f} ms, slowest {slowest:.0f}"
        )
        for name, (wall, slowest, cpu) in found.items()
    ]
