"""The tables of the lists of records, each made of the list's declaration; what only a screen can say stands here."""

from collections.abc import Mapping
from typing import Any

from core.services.audit.search import AUDIT as AUDIT_ENTRIES
from core.services.claims.lists import columns as claims
from core.services.claims.workflow.clock import Clock
from core.services.customers import table as customers
from core.services.finance import movements
from core.services.finance.credit_notes import reading as credit_notes
from core.services.policies import policies
from core.services.renewals import due, records
from core.services.renewals.due import DueRow
from core.services.sales import table as sales
from core.services.views.customer import ClaimLine
from core.ui.kit import words
from core.ui.lists import columns, tables
from core.ui.lists.tables import Table

_CUSTOMER = ("sales/customer.py", "Back to the customer")
PURCHASES = tables.of(sales.PURCHASES, opens="sales/purchase.py", narrow=("customer", "product", "sold", "total"))
RENEWALS = tables.of(
    records.RENEWALS,
    opens="policies/policy.py",
    home=("sales/renewals.py", "Back to the renewals"),
    key=lambda row: row["policy_id"],
    narrow=("customer", "policy", "renewed", "total"),
)
POLICIES = tables.of(policies.POLICIES, opens="policies/policy.py", narrow=("number", "customer", "state", "ends"))
CUSTOMERS = tables.of(
    customers.CUSTOMERS,
    opens="sales/customer.py",
    home=("sales/customers.py", "Back to the customers"),
    narrow=("name", "email", "policies", "premium"),
)
MOVEMENTS = tables.of(movements.MOVEMENTS, opens="finance/movement.py", narrow=("policy", "kind", "when", "total"))
CREDIT_NOTES = tables.of(
    credit_notes.CREDIT_NOTES, opens="finance/credit_note.py", narrow=("number", "provider", "state", "back")
)


def _next_premium(row: DueRow) -> str:
    return words.naira(row.next_minor) if row.refusal is None else words.format_dates(row.refusal)


DUE = tables.of(
    due.DUE,
    opens="policies/policy.py",
    act=lambda row: "Renew" if row.refusal is None else "",
    home=("sales/due.py", "Back to what is due"),
    narrow=("customer", "phone", "ends", "next"),
    changed={
        "cover": {"of": lambda row: words.until(row.days_left, is_over=row.is_over)},
        "next": {"of": _next_premium, "is_right": True},
        "note": {"of": lambda row: row.refusal and words.format_dates(row.refusal)},
    },
)


def days_left(clock: Clock) -> str:
    """Return the time left of the 60 days, in a few words."""
    if clock.is_decided:
        return "Decided"
    days = abs(clock.days_left)
    number = f"{days} {'day' if days == 1 else 'days'}"
    if clock.is_overdue:
        over = f"{number} over" if days else "Just over"
        return f"Paused, {over}" if clock.is_waiting else over
    return f"Paused, {days} left" if clock.is_waiting else number


CLAIMS = tables.of(
    claims.CLAIMS,
    opens="claims/claim.py",
    narrow=("claimant", "status", "left", "claimed"),
    changed={
        "left": {
            "of": lambda row: days_left(row.clock),
            "colour": lambda row: "red" if row.clock.is_overdue and not row.clock.is_decided else "",
            "is_right": False,
        },
        "signals": {"of": lambda row: f"{len(row.fraud_flags)} ⚑" if row.fraud_flags else None},
    },
)


def of_audit(changed: Mapping[str, Mapping[str, Any]]) -> Table[Any]:
    """Return the table of the audit log, whose facts are told by its own screen."""
    return tables.of(AUDIT_ENTRIES, name="entries", opens="admin/audit_entry.py", changed=changed)


# The short lists of one customer, without what is the same in every row.
_SAME = ("customer", "email", "distributor")
OWN_POLICIES = tables.of(
    policies.POLICIES, name="customer-policies", without=_SAME, home=_CUSTOMER, opens="policies/policy.py"
)
OWN_PURCHASES = tables.of(
    sales.PURCHASES, name="customer-purchases", without=_SAME, home=_CUSTOMER, opens="sales/purchase.py"
)
OWN_RENEWALS = tables.of(
    records.RENEWALS,
    name="customer-renewals",
    without=_SAME,
    home=_CUSTOMER,
    opens="policies/policy.py",
    key=lambda row: row["policy_id"],
)
OWN_CLAIMS: Table[ClaimLine] = Table(
    name="customer-claims",
    noun=("claim", "claims"),
    opens="claims/claim.py",
    home=_CUSTOMER,
    columns={
        "lodged": columns.moment("Lodged", lambda row: row.created_at),
        "type": columns.text("Type", lambda row: row.claim_type, 110),
        "status": columns.state("Status", lambda row: row.status),
        "policy": columns.text("Policy number", lambda row: row.policy_number, 175),
        "claimed": columns.naira("Claimed", lambda row: row.claimed_minor),
        "offered": columns.naira("Offered", lambda row: row.offered_minor),
    },
)
