"""The table of purchases on a screen: its columns and its orders."""

from core.services.sales_table import SaleRow
from core.ui import sales_filters, tables
from core.ui.tables import Table

PURCHASES: Table[SaleRow] = Table(
    name="purchases",
    noun=("purchase", "purchases"),
    opens="sales/purchase.py",
    orders={
        "newest": "Newest first",
        "oldest": "Oldest first",
        "largest": "Largest premium first",
        "smallest": "Smallest premium first",
    },
    columns={
        "sold": tables.moment("Sold", lambda row: row.created_at),
        "policy": tables.text("Policy number", lambda row: row.policy_number, 175),
        "customer": tables.text("Customer", lambda row: row.customer, 125),
        "email": tables.text("E-mail", lambda row: row.email, 190, usual=False),
        "product": tables.text("Product", lambda row: row.product, 160),
        "total": tables.naira("Premium", lambda row: row.total_minor),
        "provider": tables.text("Insurer", lambda row: row.provider, 150),
        "category": tables.text("Category", lambda row: row.category, 110, usual=False),
        "distributor": tables.text("Distributor", lambda row: row.distributor, 130),
        "share": tables.naira(
            "Insurer's share", lambda row: row.provider_share_minor, says="What remains for the insurer.", usual=False
        ),
        "platform": tables.naira("Platform", lambda row: row.mca_profit_minor, says="The platform's commission."),
        "seller": tables.naira(
            "Distributor's", lambda row: row.distributor_profit_minor, says="The distributor's commission."
        ),
        "frequency": tables.text("Paid", lambda row: row.premium_frequency.capitalize(), 80, usual=False),
        "source": tables.text(
            "Source",
            lambda row: sales_filters.SOURCES.get(row.request_source or "", row.request_source or "–"),
            80,
            usual=False,
        ),
    },
)
