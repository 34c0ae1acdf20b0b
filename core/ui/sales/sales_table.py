"""The table of purchases, and the columns shared by all tables of sales."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from core.services.sales.filter import SOURCES
from core.services.sales.table import SaleRow
from core.ui.lists import columns
from core.ui.lists.columns import Column
from core.ui.lists.tables import Table

BY_TIME_OR_AMOUNT: Mapping[str, str] = {
    "newest": "Newest first",
    "oldest": "Oldest first",
    "largest": "Largest premium first",
    "smallest": "Smallest premium first",
}
# The sort orders of a column, ascending first.
BY_TIME, BY_AMOUNT = ("oldest", "newest"), ("smallest", "largest")
# The default columns fit beside the menu at 1280 pixels; the others are selected under Columns and kept in the URL.
WHOSE: Mapping[str, Column[Any]] = {
    "customer": columns.text("Customer", lambda row: row.customer, 120),
    "policy": columns.text("Policy number", lambda row: row.policy_number, 140),
    "email": columns.text("E-mail", lambda row: row.email, 190, usual=False),
    "product": columns.text("Product", lambda row: row.product, 120),
    "total": columns.naira("Premium", lambda row: row.total_minor, sorts=BY_AMOUNT),
}
THROUGH_WHOM: Mapping[str, Column[Any]] = {
    "provider": columns.text("Insurer", lambda row: row.provider, 130),
    "category": columns.text("Category", lambda row: row.category, 110, usual=False),
    "distributor": columns.text("Distributor", lambda row: row.distributor, 130, usual=False),
    "share": columns.naira(
        "Insurer's share", lambda row: row.provider_share_minor, says="What remains for the insurer.", usual=False
    ),
    "platform": columns.naira(
        "Platform", lambda row: row.mca_profit_minor, says="The platform's commission.", usual=False
    ),
    "seller": columns.naira(
        "Distributor's", lambda row: row.distributor_profit_minor, says="The distributor's commission.", usual=False
    ),
    "source": columns.text(
        "Source",
        lambda row: SOURCES.get(row.request_source or "", row.request_source or "–"),
        80,
        usual=False,
    ),
}
PURCHASES: Table[SaleRow] = Table(
    name="purchases",
    noun=("purchase", "purchases"),
    opens="sales/purchase.py",
    orders=BY_TIME_OR_AMOUNT,
    narrow=("customer", "product", "sold", "total"),
    columns={
        **WHOSE,
        "state": columns.state("Policy state", lambda row: row.stage),
        "sold": columns.moment("Sold", lambda row: row.created_at, sorts=BY_TIME),
        **THROUGH_WHOM,
        "provider": replace(THROUGH_WHOM["provider"], usual=False),
        "distributor": replace(THROUGH_WHOM["distributor"], usual=True),
        "payment": columns.state("Payment", lambda row: row.payment_state, usual=False),
        "frequency": columns.text("Paid", lambda row: row.premium_frequency.capitalize(), 80, usual=False),
    },
)
