"""`make bench`: every workload beside what hand-written code does on the same file, in turns, at every size.

COVERDESK_BENCH_ONLY names some of them, such as `reads,csv`; `tests.bench.portfolios` tells the other settings.
"""

import os
import platform
from collections.abc import Callable, Mapping, Sequence

from rich.console import Console

from tests.bench import desk, portfolios, reads, sales
from tests.bench.measured import Row, table_of
from tests.bench.portfolios import Portfolio


def _sales(portfolio: Portfolio) -> list[Row]:
    """W4, on a copy: ours for each number of clients, beside each of the hand-written ones."""
    with portfolio.copy() as url:
        figures = sales.measure(url)
    return [
        Row(
            work=f"W4 sale, {ours.clients} clients, beside {other.server}",
            size=portfolio.size,
            ours=1000 / ours.per_second,
            limit=1000 / other.per_second,
            p99=ours.slowest(0.99),
            limit_p99=other.slowest(0.99),
        )
        for ours in figures
        if ours.server == sales.OURS
        for other in figures
        if other.server != sales.OURS and other.clients == ours.clients
    ]


WORK: Mapping[str, Callable[[Portfolio], Sequence[Row]]] = {
    "reads": reads.measure,
    "sales": _sales,
    "dashboard": lambda portfolio: [desk.figures_of_a_year(portfolio)],
    "csv": lambda portfolio: [desk.csv_of_everything(portfolio)],
    "reruns": desk.reruns,
    "searches": desk.searches,
}


def main() -> None:
    """Build what is missing, measure, print."""
    chosen = os.environ.get("COVERDESK_BENCH_ONLY", ",".join(WORK)).split(",")
    with portfolios.portfolios() as made:
        rows = [row for name in chosen for portfolio in made for row in WORK[name](portfolio)]
    machine = f"{portfolios.KIND}, {os.cpu_count()} cores, Python {platform.python_version()}"
    Console(width=150).print(table_of(rows, machine))


if __name__ == "__main__":
    main()
