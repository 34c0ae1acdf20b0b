"""The table of policies on a screen: its columns, one page of rows, and the click that opens one."""

from collections.abc import Sequence
from uuid import UUID

import pandas as pd
import streamlit as st
from streamlit.column_config import ButtonColumn, DateColumn, TextColumn

from core import clock
from core.services.policy_search import PolicyRow

PAGE_SIZE = 50
# Many rows scroll inside the table, so that the pager stays near.
_FEW, _TALLEST = 15, 560
_SHOWN, _OPEN = "policies_shown", "policies_open"


def opened() -> UUID | None:
    """The policy whose button was just clicked; the rows are those that were on the screen then."""
    click = st.session_state.get(_OPEN)
    shown: list[UUID] = st.session_state.get(_SHOWN, [])
    return shown[click["row"]] if click and click["row"] < len(shown) else None


def draw(rows: Sequence[PolicyRow], *, key: str) -> None:
    """One page of rows."""
    st.session_state[_SHOWN] = [row.id for row in rows]
    st.dataframe(
        pd.DataFrame([_cells(row) for row in rows]),
        key=f"policies {key}",
        hide_index=True,
        height="content" if len(rows) <= _FEW else _TALLEST,
        placeholder="–",
        column_config={
            "Open": ButtonColumn("", key=_OPEN, type="tertiary", width=60, pinned=True),
            "Number": TextColumn("Policy number", width=165),
            "State": TextColumn("State", width=85),
            "Customer": TextColumn("Customer", width=130),
            "Plate": TextColumn("Plate", width=85),
            "Product": TextColumn("Product", width=165),
            "Ends": DateColumn("Ends", format="D MMM YYYY", width=95),
            "Starts": DateColumn("Starts", format="D MMM YYYY", width=95),
            "Insurer": TextColumn("Insurer", width=150),
            "Role": TextColumn("Role", width=90),
            "Distributor": TextColumn("Distributor", width=130),
            "E-mail": TextColumn("E-mail", width=190),
        },
        alt="Policies of this page: number, state, customer, plate, product, insurer, dates, role, distributor, e-mail",
    )


def _cells(row: PolicyRow) -> dict[str, object]:
    return {
        "Open": "Open",
        "Number": row.policy_number,
        "State": row.stage,
        "Customer": row.holder,
        "Plate": row.plate,
        "Product": row.product,
        "Ends": clock.lagos_day(row.expiration_at) if row.expiration_at else None,
        "Starts": clock.lagos_day(row.start_at) if row.start_at else None,
        "Insurer": row.provider,
        "Role": "Beneficiary" if row.beneficiary else "Principal",
        "Distributor": row.distributor,
        "E-mail": row.email,
    }
