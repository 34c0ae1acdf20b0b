"""The table of purchases on a screen: its columns, one page of rows, and the click that opens one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pandas as pd
import streamlit as st

from core import money
from core.services.sales_table import Order, SaleRow
from core.ui import sales_filters

ORDERS: Mapping[Order, str] = {
    "newest": "Newest first",
    "oldest": "Oldest first",
    "largest": "Largest premium first",
    "smallest": "Smallest premium first",
}
PAGE_SIZE = 50
# Many rows scroll inside the table, so that the pager and the total stay near.
_FEW, _TALLEST = 15, 560
_SHOWN, _OPEN = "purchases_shown", "purchases_open"


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its heading, what stands in it, and how wide it is; `usual` ones show unless left out."""

    label: str
    of: Callable[[SaleRow], Any]
    config: Any
    usual: bool = True


def _text(label: str, name: str, width: Any = None, *, usual: bool = True) -> Column:
    return Column(label, lambda row: getattr(row, name), st.column_config.TextColumn(label, width=width), usual)


def _naira(label: str, name: str, help_: str | None = None, *, usual: bool = True) -> Column:
    config = st.column_config.NumberColumn(label, format="₦%,.2f", help=help_, width=125)
    return Column(label, lambda row: float(money.to_naira(getattr(row, name))), config, usual)


def columns() -> dict[str, Column]:
    """Every column that there is, in the order of the table."""
    at = st.column_config.DatetimeColumn("Sold", format="D MMM YYYY, HH:mm", timezone="Africa/Lagos", width=130)
    return {
        "sold": Column("Sold", lambda row: row.created_at, at),
        "policy": _text("Policy number", "policy_number", 175),
        "customer": _text("Customer", "customer", 125),
        "email": _text("E-mail", "email", 190, usual=False),
        "product": _text("Product", "product", 160),
        "total": _naira("Premium", "total_minor"),
        "provider": _text("Insurer", "provider", 150),
        "category": _text("Category", "category", 110, usual=False),
        "distributor": _text("Distributor", "distributor", 130),
        "share": _naira("Insurer's share", "provider_share_minor", "What remains for the insurer.", usual=False),
        "platform": _naira("Platform", "mca_profit_minor", "The platform's commission."),
        "seller": _naira("Distributor's", "distributor_profit_minor", "The distributor's commission."),
        "frequency": Column(
            "Paid",
            lambda row: row.premium_frequency.capitalize(),
            st.column_config.TextColumn("Paid", width=80),
            usual=False,
        ),
        "source": Column(
            "Source",
            lambda row: sales_filters.SOURCES.get(row.request_source or "", row.request_source or "–"),
            st.column_config.TextColumn("Source", width=80),
            usual=False,
        ),
    }


def read_columns() -> list[str]:
    """The columns that the address asks for; the usual ones when it names none that exist."""
    known = columns()
    asked = [name for name in st.query_params.get_all("show") if name in known]
    return asked or [name for name, column in known.items() if column.usual]


def read_order() -> Order:
    """The order that the address asks for; newest first otherwise."""
    asked = st.query_params.get("order")
    return next((order for order in ORDERS if order == asked), "newest")


def draw_choices(chosen: Sequence[str], order: Order) -> None:
    """The order of the rows, and which columns to see."""
    st.session_state["order"] = order
    st.selectbox(
        "Order",
        list(ORDERS),
        key="order",
        format_func=lambda name: ORDERS[name],
        label_visibility="collapsed",
        width=210,
        on_change=lambda: sales_filters.change({"order": [st.session_state["order"]]}),
    )
    st.session_state["show"] = list(chosen)
    with st.popover("Columns", icon=":material/view_column:"):
        known = columns()
        st.pills(
            "Columns to show",
            list(known),
            key="show",
            selection_mode="multi",
            format_func=lambda name: known[name].label,
            on_change=lambda: sales_filters.change(
                {"show": [name for name in known if name in st.session_state["show"]]}, keep_page=True
            ),
        )


def opened() -> UUID | None:
    """The purchase whose button was just clicked; the rows are those that were on the screen then."""
    click = st.session_state.get(_OPEN)
    shown: list[UUID] = st.session_state.get(_SHOWN, [])
    return shown[click["row"]] if click and click["row"] < len(shown) else None


def draw(rows: Sequence[SaleRow], chosen: Sequence[str], *, key: str) -> None:
    """One page of rows; columns that are not chosen are not sent."""
    known = columns()
    st.session_state[_SHOWN] = [row.id for row in rows]
    frame = pd.DataFrame(
        {
            "Open": ["Open"] * len(rows),
            **{known[name].label: [known[name].of(row) for row in rows] for name in chosen},
        }
    )
    st.dataframe(
        frame,
        key=f"purchases {key}",
        hide_index=True,
        height="content" if len(rows) <= _FEW else _TALLEST,
        placeholder="–",
        column_config={
            "Open": st.column_config.ButtonColumn("", key=_OPEN, type="tertiary", width=70, pinned=True),
            **{known[name].label: known[name].config for name in chosen},
        },
        alt=f"Purchases of this page: {', '.join(known[name].label for name in chosen)}",
    )
