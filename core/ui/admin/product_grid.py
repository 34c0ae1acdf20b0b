"""The table of products on a screen: its columns."""

from core.services.products.product_list import ProductRow
from core.ui import tables
from core.ui.admin import product_words
from core.ui.tables import Table


def _withheld(row: ProductRow) -> str:
    return "–" if not row.withheld else f"{row.withheld} distributor{'s' if row.withheld > 1 else ''}"


PRODUCTS: Table[ProductRow] = Table(
    name="products",
    noun=("product", "products"),
    opens="admin/product.py",
    columns={
        "name": tables.text("Product", lambda row: row.name, 205),
        "insurer": tables.text("Insurer", lambda row: row.insurer, 150),
        "on": tables.text("Sold", lambda row: "On sale" if row.active else "Off", 70),
        "price": tables.text("Price or rate", lambda row: product_words.price(row.tariff), 130),
        "commissions": tables.text("Commissions", lambda row: product_words.commissions(row.tariff), 130),
        "changes": tables.moment("Changes on", lambda row: row.changes_at),
        "withheld": tables.text("Switched off for", _withheld, 110, usual=False),
        "category": tables.text("Category", lambda row: row.category, 120, usual=False),
        "endpoint": tables.text("Endpoint", lambda row: row.endpoint, 210, usual=False),
    },
)
