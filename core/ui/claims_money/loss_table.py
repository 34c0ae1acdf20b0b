"""Loss ratios on claims performance: a table by product, insurer, distributor or month of the incident."""

from collections.abc import Mapping
from typing import Final

import streamlit as st

from core.services.claims.reports.loss_ratios import LOSS_DIMENSIONS, LossDimension, LossFigures, LossTable
from core.services.dimensions import Choices
from core.services.windows import Window
from core.states.claims import ClaimStatus
from core.ui.exports import panel as export_panel
from core.ui.kit import words
from core.ui.lists import columns, tables
from core.ui.lists.tables import Table

_LABELS: Final[Mapping[LossDimension, str]] = {
    "product": "Product",
    "provider": "Insurer",
    "distributor": "Distributor",
    "month": "Month of incident",
}
Line = tuple[str, LossFigures]
_CHOSEN: Final = "loss_dimension"


def draw(table: LossTable, choices: Choices, window: Window) -> None:
    """Draw the table with its total, the choice of its lines, and its export."""
    with st.container(border=True):
        with st.container(gap=None):
            st.markdown(f"**Loss ratio** · **{words.percent(table.total.ratio)}**")
            st.caption(
                "Incurred (paid and outstanding, as of now) of losses whose incident lies in the period, of the premium"
                " earned in it: evenly over each term, credit life by the sum of the digits, less refunds."
            )
        dimension: LossDimension = (
            st.segmented_control(
                "By", LOSS_DIMENSIONS, key=_CHOSEN, default="product", required=True, format_func=_LABELS.__getitem__
            )
            or "product"
        )
        if not table.cells:
            st.info("No premium was earned and no loss happened in this period.", icon=":material/hourglass_empty:")
            return
        # The total first: a long list is scrolled, and its end would be out of sight.
        lines = [("Total", table.total), *table.list_lines(dimension, choices)]
        tables.draw_short(_build_table(dimension), lines)
        pairs = {key[:2] for key in table.cells}
        address = {"from": [window.start.isoformat()], "to": [window.last.isoformat()]}
        export_panel.offer("loss-ratios", address, rows=len(pairs), sum_minor=table.total.incurred_minor)


def _build_table(dimension: LossDimension) -> Table[Line]:
    label = _LABELS[dimension]
    return Table(
        name=f"losses_{dimension}",
        noun=("line", f"loss ratios by {label.lower()}, their total and one row each"),
        key=lambda line: line[0],
        narrow=("name", "incurred", "ratio"),
        columns={
            "name": columns.text(label, lambda line: line[0], 230),
            "losses": columns.number("Losses", lambda line: line[1].claims),
            "paid": columns.naira(ClaimStatus.PAID, lambda line: line[1].paid_minor),
            "outstanding": columns.naira("Outstanding", lambda line: line[1].outstanding_minor),
            "incurred": columns.naira("Incurred", lambda line: line[1].incurred_minor),
            "earned": columns.naira("Earned premium", lambda line: line[1].earned_minor),
            "ratio": columns.text("Loss ratio", lambda line: words.percent(line[1].ratio), 100, right=True),
        },
    )
