"""The tables of renewals on a screen: those that were written, and the policies that are due."""

from core.services.renewals.due_table import DueRow
from core.services.renewals.renewals_table import RenewalRow
from core.ui import tables
from core.ui.sales.sales_grid import BY_TIME_OR_AMOUNT, THROUGH_WHOM, WHOSE
from core.ui.tables import Table

RENEWALS: Table[RenewalRow] = Table(
    name="renewals",
    noun=("renewal", "renewals"),
    opens="policies/policy.py",
    home=("sales/renewals.py", "Back to the renewals"),
    key=lambda row: row.policy_id,
    orders=BY_TIME_OR_AMOUNT,
    columns={
        "renewed": tables.moment("Renewed", lambda row: row.created_at),
        **WHOSE,
        "status": tables.text("Status", lambda row: "Took effect" if row.status else "Failed or reversed", 110),
        "starts": tables.day("Term from", lambda row: row.start_at),
        "ends": tables.day("Term to", lambda row: row.expiration_at),
        "before": tables.day("Ended before", lambda row: row.previous_expiration_at, usual=False),
        "expires": tables.day("Policy ends now", lambda row: row.policy_expires_at, usual=False),
        **THROUGH_WHOM,
    },
)
DUE: Table[DueRow] = Table(
    name="due",
    noun=("policy", "policies"),
    opens="policies/policy.py",
    act="Renew",
    home=("sales/due.py", "Back to what is due"),
    orders={"soonest": "Ends soonest first", "latest": "Ends latest first"},
    columns={
        "customer": tables.text("Customer", lambda row: row.customer, 130),
        "phone": tables.text("Phone", lambda row: row.phone, 125),
        "ends": tables.day("Ends", lambda row: row.expiration_at),
        "left": tables.number("Days left", lambda row: row.days_left, 75),
        "next": tables.naira("Next premium", lambda row: row.next_minor, says="What one more term costs today."),
        "product": tables.text("Product", lambda row: row.product, 170),
        "email": tables.text("E-mail", lambda row: row.email, 190),
        "policy": tables.text("Policy number", lambda row: row.policy_number, 165),
        "note": tables.text("Not today, because", lambda row: row.refusal, 250),
        "provider": tables.text("Insurer", lambda row: row.provider, 150),
        "distributor": tables.text("Distributor", lambda row: row.distributor, 130),
        "last": tables.naira(
            "Last premium", lambda row: row.last_minor, says="What the term that ends has cost.", usual=False
        ),
    },
)
