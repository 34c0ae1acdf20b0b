"""The card "What moved": insurers, products and distributors by change in premium."""

from decimal import Decimal
from typing import Final

import streamlit as st

from core.services.comparisons import Comparison
from core.services.dimensions import Dimension
from core.services.sales import breakdowns
from core.services.sales.breakdowns import Breakdown, Mover
from core.ui.kit import url_state, words
from core.ui.lists import columns, periods, tables
from core.ui.lists.columns import Column
from core.ui.sales.sales_filters import LABELS, PLURALS

_DIMENSIONS: Final[tuple[Dimension, ...]] = ("provider", "product", "distributor")
_EACH_WAY = 3
# From this share on, percents are told without decimals.
_WHOLE: Final = Decimal("0.1")


def draw(now: Breakdown, before: Breakdown, compared: Comparison) -> None:
    """Draw the greatest rises and falls of each dimension; a row filters the page."""
    with st.container(border=True):
        with st.container(gap=None):
            st.markdown("**What moved**")
            st.caption(
                f"Premium against {periods.describe_comparison(compared)}, the greatest changes up and down."
                " A row narrows the page."
            )
        with st.grid(3, min_column_width=260, gap="small"):
            for dimension in _DIMENSIONS:
                _list(dimension, breakdowns.list_movers(now, before, dimension))


def _list(dimension: Dimension, movers: list[Mover]) -> None:
    risen = [mover for mover in movers if mover.change_minor > 0][:_EACH_WAY]
    fallen = [mover for mover in movers if mover.change_minor < 0][-_EACH_WAY:]
    with st.container(gap="xsmall"):
        if risen or fallen:
            tables.draw_short(_table(dimension), [*risen, *fallen])
        else:
            st.caption(f"No change among {PLURALS[dimension]}.")


def _table(dimension: Dimension) -> tables.Table[Mover]:
    kept = {name: given for name, given in url_state.all_parameters().items() if name not in (dimension, "mode")}
    return tables.Table(
        name=f"moved_{dimension}",
        noun=(LABELS[dimension], f"{PLURALS[dimension]} by change in premium"),
        columns={
            "name": columns.text(LABELS[dimension], lambda mover: mover.name, 130),
            "change": Column("Change", _change, is_right=True, colour=_colour),
        },
        opens=tables.HOME,
        query=lambda key: {**kept, dimension: str(key)},
    )


def _change(mover: Mover) -> str:
    """Return the change as value and percent: "▲ ₦5.6m · 45 %"; "new" for what had no premium before."""
    sign = "▲ " if mover.change_minor > 0 else "▼ "
    value = sign + words.short_naira(abs(mover.change_minor))
    share = Decimal(abs(mover.change_minor)) / mover.before_minor if mover.before_minor else None
    return f"{value} · {'new' if share is None else words.percent(share, 0 if share >= _WHOLE else 1)}"


def _colour(mover: Mover) -> str:
    return "green" if mover.change_minor > 0 else "red"
