"""The table of policies on a screen: its columns."""

from core.services.policies.policy_search import PolicyRow
from core.ui import tables
from core.ui.tables import Table

POLICIES: Table[PolicyRow] = Table(
    name="policies",
    noun=("policy", "policies"),
    opens="policies/policy.py",
    columns={
        "number": tables.text("Policy number", lambda row: row.policy_number, 165),
        "state": tables.text("State", lambda row: row.stage, 80),
        "customer": tables.text("Customer", lambda row: row.holder, 120),
        "plate": tables.text("Plate", lambda row: row.plate, 85),
        "product": tables.text("Product", lambda row: row.product, 135),
        "ends": tables.day("Ends", lambda row: row.expiration_at),
        "starts": tables.day("Starts", lambda row: row.start_at, usual=False),
        "provider": tables.text("Insurer", lambda row: row.provider, 130),
        "role": tables.text("Role", lambda row: "Beneficiary" if row.beneficiary else "Principal", 90, usual=False),
        "distributor": tables.text("Distributor", lambda row: row.distributor, 130, usual=False),
        "email": tables.text("E-mail", lambda row: row.email, 190, usual=False),
    },
)
