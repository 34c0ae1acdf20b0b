"""The figures of the law and of the house, and those of a year as a file."""

import streamlit as st

from core import clock
from core.services.compliance import figures, return_figures
from core.services.compliance.figures import Figure
from core.ui.frame import frame
from core.ui.kit import actions
from core.ui.kit.actions import Action, Choice, Day, Text
from core.ui.lists import columns, tables
from core.ui.lists.columns import TableColumn
from core.ui.lists.tables import Table
from pages.compliance._shared import ROLE, action, read

FIGURES: Table[Figure] = Table(
    name="figures",
    noun=("figure", "figures"),
    key=lambda row: f"{row.name} {row.effective_on}",
    narrow=("label", "amount"),
    columns={
        "label": columns.text("Figure", lambda row: row.label, 390),
        "amount": columns.number("Amount", lambda row: row.amount),
        "from": columns.day("From", lambda row: row.effective_on),
        "source": TableColumn("Source", lambda row: row.source, 560, wraps=True),
    },
)


YEAR: Table[tuple[str, str, int]] = Table(
    name="figures_of_year",
    noun=("figure", "figures of a year"),
    key=lambda row: f"{row[0]} {row[1]}",
    narrow=("figure", "group", "number"),
    columns={
        "group": columns.text("Group", lambda row: row[0], 260),
        "figure": columns.text("Figure", lambda row: row[1], 420),
        "number": columns.number("Number", lambda row: row[2]),
    },
)


def setting_figure() -> Action:
    """Return the dialog that sets a figure from a day on."""
    return action(
        title="Set a figure",
        icon="tune",
        says="It holds from its day on; what held before stays on record.",
        confirm="Set it",
        fields=[
            Choice("name", "Figure", options=figures.LABELS),
            Text("amount", "Amount", longest=4),
            Day("effective_on", "From (tomorrow or later)"),
            Text("source", "Source", longest=300),
        ],
        work=lambda session, typed, by: figures.set_figure(session, typed, by=by),
        done="The figure is set.",
    )


_YEARS = 5


def draw() -> None:
    frame.require(ROLE)
    with frame.header_with_buttons(
        "Figures", "The days, hours and months of each rule, with the date from which they apply and their source."
    ):
        setting_figure().button("Set a figure", icon="tune")
    actions.run()
    tables.draw_short(FIGURES, read(figures.list_figures))
    st.subheader("Figures of a year", anchor=False)
    this_year = clock.today().year
    year = st.selectbox("Year", range(this_year, max(this_year - _YEARS, 2022), -1), width=160)
    counted = read(lambda session: return_figures.count_year(session, year))
    st.link_button("Download as CSV", f"/privacy-figures/{year}.csv", icon=":material/download:")
    tables.draw_short(YEAR, counted)
