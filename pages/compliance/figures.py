"""The figures of the law and of the house, and those of a year as a file."""

import streamlit as st

from core import clock
from core.services.compliance import figures, yearly
from core.ui.compliance import register_actions
from core.ui.compliance.desk import ROLE, read
from core.ui.compliance.tables import FIGURES
from core.ui.frame import frame
from core.ui.kit import actions, words
from core.ui.lists import tables

_YEARS = 5


def draw() -> None:
    frame.require(ROLE)
    with frame.header_with_buttons(
        "Figures", "Days, hours and months that hold, each from a day on and with its source."
    ):
        register_actions.setting_figure().button("Set a figure", icon="tune")
    actions.run()
    tables.draw_short(FIGURES, read(figures.list_figures))
    st.subheader("Figures of a year", anchor=False)
    this_year = clock.today().year
    year = st.selectbox("Year", range(this_year, max(this_year - _YEARS, 2022), -1), width=160)
    told = read(lambda session: yearly.count_year(session, year))
    st.link_button("Download as CSV", f"/privacy-figures/{year}.csv", icon=":material/download:")
    st.table(
        [{"Group": group, "Figure": label, "Number": words.count(number)} for group, label, number in told],
        border="horizontal",
    )
