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

_LABELS: Final[Mapping[LossDimension, str]] = {
    "product": "Product",
    "provider": "Insurer",
    "distributor": "Distributor",
    "month": "Month of incident",
}
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
        lines = table.list_lines(dimension, choices)
        st.table(
            [_line(_LABELS[dimension], name, figures) for name, figures in [*lines, ("Total", table.total)]],
            border="horizontal",
        )
        pairs = {key[:2] for key in table.cells}
        address = {"from": [window.start.isoformat()], "to": [window.last.isoformat()]}
        export_panel.offer("loss-ratios", address, rows=len(pairs), sum_minor=table.total.incurred_minor)


def _line(label: str, name: str, figures: LossFigures) -> dict[str, str]:
    return {
        label: words.plain(name),
        "Losses": words.count(figures.claims),
        ClaimStatus.PAID: words.naira(figures.paid_minor),
        "Outstanding": words.naira(figures.outstanding_minor),
        "Incurred": words.naira(figures.incurred_minor),
        "Earned premium": words.naira(figures.earned_minor),
        "Loss ratio": words.percent(figures.ratio),
    }
