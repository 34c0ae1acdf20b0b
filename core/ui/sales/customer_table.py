"""The table of customers, and the short lists on the page of one customer."""

from dataclasses import replace

from core.services.customers.table import CustomerRow
from core.services.policies.policies import PolicyRow
from core.services.renewals.due import DueRow
from core.services.renewals.records import RenewalRow
from core.services.sales.table import SaleRow
from core.services.views.customer import ClaimLine
from core.ui.kit import words
from core.ui.lists import columns, tables
from core.ui.lists.tables import Table
from core.ui.policies.table import POLICIES
from core.ui.renewals.renewal_table import DUE, RENEWALS
from core.ui.sales.sales_table import PURCHASES

_HOME = ("sales/customer.py", "Back to the customer")
CUSTOMERS: Table[CustomerRow] = Table(
    name="customers",
    noun=("customer", "customers"),
    opens="sales/customer.py",
    home=("sales/customers.py", "Back to the customers"),
    orders={
        "newest": "Newest first",
        "oldest": "Oldest first",
        "name": "Names from A to Z",
        "name-back": "Names from Z to A",
    },
    narrow=("name", "email", "policies", "premium"),
    columns={
        "name": columns.text("Name", lambda row: row.name, 175, sorts=("name", "name-back")),
        "email": columns.text("E-mail", lambda row: row.email, 180),
        "phone": columns.text("Phone", lambda row: words.phone(row.phone), 120),
        "distributor": columns.text("Distributor", lambda row: row.distributor, 130),
        "policies": columns.number("Policies", lambda row: row.bought.policies),
        "force": columns.number("In force", lambda row: row.bought.in_force),
        "premium": columns.naira(
            "Premium", lambda row: row.bought.premium_minor, says="All purchases, and the renewals that took effect."
        ),
        "last": columns.moment("Last purchase", lambda row: row.bought.last_at, usual=False),
        "met": columns.day("Customer since", lambda row: row.created_at, usual=False, sorts=("oldest", "newest")),
    },
)


def _without(table: Table[tables.Row], name: str, *columns: str) -> Table[tables.Row]:
    """Return the short list of one customer, without the columns that are the same in every row."""
    kept = {key: column for key, column in table.columns.items() if key not in columns}
    return replace(table, name=name, home=_HOME, columns=kept)


OWN_POLICIES: Table[PolicyRow] = _without(POLICIES, "customer-policies", "customer", "email", "distributor")
OWN_DUE: Table[DueRow] = _without(DUE, "customer-due", "customer", "phone", "email", "distributor")
OWN_PURCHASES: Table[SaleRow] = _without(PURCHASES, "customer-purchases", "customer", "email", "distributor")
OWN_RENEWALS: Table[RenewalRow] = _without(RENEWALS, "customer-renewals", "customer", "email", "distributor")
OWN_CLAIMS: Table[ClaimLine] = Table(
    name="customer-claims",
    noun=("claim", "claims"),
    opens="claims/claim.py",
    home=_HOME,
    columns={
        "lodged": columns.moment("Lodged", lambda row: row.created_at),
        "type": columns.text("Type", lambda row: row.claim_type, 110),
        "status": columns.state("Status", lambda row: row.status),
        "policy": columns.text("Policy number", lambda row: row.policy_number, 175),
        "claimed": columns.naira("Claimed", lambda row: row.claimed_minor),
        "offered": columns.naira("Offered", lambda row: row.offered_minor),
    },
)
