"""The columns of the policy table."""

from core.services.policies.policies import PolicyRow
from core.ui.lists import columns
from core.ui.lists.tables import Table

POLICIES: Table[PolicyRow] = Table(
    name="policies",
    noun=("policy", "policies"),
    opens="policies/policy.py",
    orders={
        "newest": "Newest first",
        "oldest": "Oldest first",
        "ends": "Ends soonest first",
        "ends-back": "Ends latest first",
    },
    narrow=("number", "customer", "state", "ends"),
    columns={
        "number": columns.text("Policy number", lambda row: row.policy_number or "No number yet", 165),
        "state": columns.state("State", lambda row: row.stage),
        "customer": columns.text("Customer", lambda row: row.holder, 120),
        "plate": columns.text("Plate", lambda row: row.registration, 85),
        "product": columns.text("Product", lambda row: row.product, 135),
        "ends": columns.day("Ends", lambda row: row.expiration_at, sorts=("ends", "ends-back")),
        "sold": columns.moment("Sold", lambda row: row.created_at, usual=False, sorts=("oldest", "newest")),
        "starts": columns.day("Starts", lambda row: row.start_at, usual=False),
        "provider": columns.text("Insurer", lambda row: row.provider, 130),
        "role": columns.text(
            "Role", lambda row: "Beneficiary" if row.is_for_beneficiary else "Principal", 90, usual=False
        ),
        "distributor": columns.text("Distributor", lambda row: row.distributor, 130, usual=False),
        "email": columns.text("E-mail", lambda row: row.email, 190, usual=False),
    },
)
