"""Ageing: what is payable and receivable with each party, and to customers, by how long it waits."""

from dataclasses import replace
from typing import Final
from uuid import UUID

import streamlit as st

from core import clock
from core.services.finance import ageing
from core.services.finance.ageing import BUCKETS, Aged
from core.store.access import reading
from core.ui.frame import frame, page_links
from core.ui.kit import words
from core.ui.lists import columns, tables
from core.ui.lists.columns import TableColumn
from core.ui.lists.tables import Table
from pages.finance._shared import ROLE, downloads

# What has waited for more than two months is to be asked about, and beyond three is late whatever the terms are.
_COLOURS: Final = ("", "", "orange", "red")


def bucket(place: int) -> TableColumn[Aged]:
    # An age without anything is a dash: the amounts stand out.
    column = columns.naira(BUCKETS[place], lambda row: row.minors[place] or None)
    return replace(column, colour=lambda row: _COLOURS[place] if row.minors[place] else "")


def describe_ages(row: Aged) -> str:
    """Describe the amounts by their ages, for a screen without room for four columns."""
    return ", ".join(f"{age} {words.naira(minor)}" for age, minor in zip(BUCKETS, row.minors, strict=True) if minor)


def colour_oldest(row: Aged) -> str:
    return next((_COLOURS[place] for place in reversed(range(len(BUCKETS))) if row.minors[place]), "")


PAYABLE: Table[Aged] = Table(
    name="payable",
    noun=("party", "payable by the platform, their total and one row a party"),
    opens="finance/statements.py#statement",
    home=("finance/ageing.py", "Back to the ageing"),
    key=lambda row: row.statement_id or f"{row.kind} {row.party}",
    # The total and the refunds to customers stand on no statement.
    query=lambda key: {"id": str(key)} if isinstance(key, UUID) else None,
    narrow=("party", "ages", "total"),
    only_narrow=("ages",),
    columns={
        "party": columns.text("Party", lambda row: row.party, 230),
        "kind": columns.text("Kind", lambda row: row.kind.title(), 110),
        "ages": columns.text("Ages", describe_ages, 200, colour=colour_oldest),
        **{f"age {place}": bucket(place) for place in range(len(BUCKETS))},
        "total": columns.naira("Total", lambda row: row.total_minor),
    },
)
RECEIVABLE: Table[Aged] = replace(
    PAYABLE, name="receivable", noun=("party", "receivable or carried, their total and one row a party")
)


def draw_aged(title: str, table: Table[Aged], rows: list[Aged]) -> None:
    st.subheader(title, anchor=False)
    if rows:
        # The total first: a long list is scrolled, and its end would be out of sight.
        tables.draw_short(table, [Aged(party="Total", kind="all", minors=ageing.total(rows)), *rows])
    else:
        st.caption("Nothing is due.")


def draw() -> None:
    frame.require(ROLE)
    today = words.day(clock.today())
    frame.page_header(
        "Ageing", f"What the platform owes and is owed on {today}, by the age of the month or refund in days."
    )
    if not frame.mode():
        st.info("The books are of live records: switch to Live in the menu.", icon=":material/science:")
        return
    with st.skeleton(height=300), reading(frame.scope()) as session:
        found = ageing.list_aged(session)
    draw_aged("Payable by the platform", PAYABLE, [row for row in found if row.total_minor > 0])
    draw_aged("Receivable, or carried forward", RECEIVABLE, [row for row in found if row.total_minor <= 0])
    if not found:
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        downloads("/ageing", "xlsx", "csv", title="Ageing")
        page_links.link_to("finance/payments.py", "What is due with each party", "payments")
        page_links.link_to("finance/credit_notes.py", "Credit notes", "undo")
    st.caption("Amounts on statements that were not sent yet are not due. Negative amounts reduce what is owed.")
