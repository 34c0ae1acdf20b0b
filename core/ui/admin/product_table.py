"""The columns of the product table."""

from core.services.catalogue.product_list import ProductRow
from core.ui.admin import product_words
from core.ui.lists import columns
from core.ui.lists.tables import Table


def _withheld(row: ProductRow) -> str:
    return "–" if not row.withheld else f"{row.withheld} distributor{'s' if row.withheld > 1 else ''}"


PRODUCTS: Table[ProductRow] = Table(
    name="products",
    noun=("product", "products"),
    opens="admin/product.py",
    orders={
        "name": "Products from A to Z",
        "name-back": "Products from Z to A",
        "insurer": "Insurers from A to Z",
        "insurer-back": "Insurers from Z to A",
        "category": "Categories from A to Z",
        "category-back": "Categories from Z to A",
    },
    narrow=("name", "insurer", "on", "price"),
    columns={
        "name": columns.text("Product", lambda row: row.name, 260, sorts=("name", "name-back")),
        "insurer": columns.text("Insurer", lambda row: row.insurer, 190, sorts=("insurer", "insurer-back")),
        "on": columns.state("Sold", lambda row: "On sale" if row.active else "Off"),
        "price": columns.text("Price or rate", lambda row: product_words.price(row.tariff), 130),
        "commissions": columns.text("Commissions", lambda row: product_words.commissions(row.tariff), 130),
        "changes": columns.moment("Changes on", lambda row: row.changes_at),
        "withheld": columns.text("Switched off for", _withheld, 110, usual=False),
        "category": columns.text(
            "Category", lambda row: row.category, 160, usual=False, sorts=("category", "category-back")
        ),
        "endpoint": columns.text("Endpoint", lambda row: row.endpoint, 210, usual=False),
    },
)
