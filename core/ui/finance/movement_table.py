"""The table of movements: signed premium and its three shares."""

from core.services.finance.movements import MovementRow
from core.ui.lists import columns
from core.ui.lists.tables import Table

MOVEMENTS: Table[MovementRow] = Table(
    name="movements",
    noun=("movement", "movements"),
    opens="finance/movement.py",
    orders={"newest": "Newest first", "oldest": "Oldest first"},
    narrow=("policy", "kind", "when", "total"),
    columns={
        "policy": columns.text("Policy number", lambda row: row.policy_number or "No number yet", 150),
        "kind": columns.text("Kind", lambda row: row.kind_name, 90),
        "when": columns.moment("When", lambda row: row.created_at, sorts=("oldest", "newest")),
        "customer": columns.text("Customer", lambda row: row.customer, 130, usual=False),
        "email": columns.text("E-mail", lambda row: row.email, 190, usual=False),
        "distributor": columns.text("Distributor", lambda row: row.distributor, 110),
        "provider": columns.text("Insurer", lambda row: row.provider, 110, usual=False),
        "product": columns.text("Product", lambda row: row.product, 145, usual=False),
        "category": columns.text("Category", lambda row: row.category, 110, usual=False),
        "total": columns.naira("Premium", lambda row: row.total_minor),
        "share": columns.naira("Insurer's share", lambda row: row.provider_share_minor),
        "platform": columns.naira("Platform", lambda row: row.mca_profit_minor, says="The platform's commission."),
        "seller": columns.naira(
            "Distributor's", lambda row: row.distributor_profit_minor, says="The distributor's commission."
        ),
    },
)
