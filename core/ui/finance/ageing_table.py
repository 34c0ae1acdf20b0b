"""The tables of ageing: one row a party with its total, and the total of all."""

from dataclasses import replace

from core.services.finance.ageing import BUCKETS, Aged
from core.ui.lists import columns
from core.ui.lists.columns import Column
from core.ui.lists.tables import Table


def _bucket(place: int) -> Column[Aged]:
    # An age without anything is a dash: the amounts stand out.
    return columns.naira(BUCKETS[place], lambda row: row.minors[place] or None)


PAYABLE: Table[Aged] = Table(
    name="payable",
    noun=("party", "payable by the platform, one row a party and their total"),
    key=lambda row: f"{row.kind} {row.party}",
    narrow=("party", f"age {len(BUCKETS) - 1}", "total"),
    columns={
        "party": columns.text("Party", lambda row: row.party, 230),
        "kind": columns.text("Kind", lambda row: row.kind.title(), 110),
        **{f"age {place}": _bucket(place) for place in range(len(BUCKETS))},
        "total": columns.naira("Total", lambda row: row.total_minor),
    },
)
RECEIVABLE: Table[Aged] = replace(
    PAYABLE, name="receivable", noun=("party", "receivable or carried, one row a party and their total")
)
