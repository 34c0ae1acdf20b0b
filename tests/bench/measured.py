"""Results of a workload for each size, as rows of one table."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table


@dataclass(frozen=True, kw_only=True)
class Row:
    """One workload at one size: what a piece of work costs in milliseconds, ours and by hand.

    `p99` is given where many asked at once: the milliseconds within which 99 of 100 were answered, by ours and by hand.
    """

    work: str
    size: int
    ours: float
    limit: float | None = None
    p99: float | None = None
    limit_p99: float | None = None
    note: str = ""


def table_of(rows: Sequence[Row], title: str) -> Table:
    """All rows, each workload's sizes together; growth is the cost at the largest over that at the smallest."""
    table = Table(
        "work", "purchases", "ours", "limit", "share of the limit", "p99 ms", "its p99", "growth", "", title=title
    )
    for work in dict.fromkeys(row.work for row in rows):
        mine = sorted((row for row in rows if row.work == work), key=lambda row: row.size)
        for row in mine:
            grown = f"{row.ours / mine[0].ours:.2f}x" if row is mine[-1] and len(mine) > 1 else ""
            share = f"{row.limit / row.ours:.2f}" if row.limit else ""
            p99 = [f"{one:.1f}" if one else "" for one in (row.p99, row.limit_p99)]
            costs = (_format(row.ours, row), _format(row.limit, row))
            table.add_row(work, f"{row.size:,}", *costs, share, *p99, grown, row.note)
    return table


def _format(milliseconds: float | None, row: Row) -> str:
    if milliseconds is None:
        return ""
    return f"{1000 / milliseconds:,.0f}/s" if row.p99 else f"{milliseconds:,.1f} ms"
