"""The tables whose rows are exported, by the kind of their export: labels for the columns and orders of a file."""

from collections.abc import Mapping
from typing import Any, Final

from core.services.exports import arrangement
from core.services.exports.exports import ExportKind
from core.ui.admin.audit_view import ENTRIES
from core.ui.claims.queue_table import CLAIMS
from core.ui.finance.credit_notes.table import CREDIT_NOTES
from core.ui.finance.movement_table import MOVEMENTS
from core.ui.lists.tables import Table
from core.ui.policies.table import POLICIES
from core.ui.renewals.renewal_table import DUE, RENEWALS
from core.ui.sales.customer_table import CUSTOMERS
from core.ui.sales.sales_table import PURCHASES

TABLES: Final[Mapping[str, Table[Any]]] = {
    "purchases": PURCHASES,
    "renewals": RENEWALS,
    "due": DUE,
    "movements": MOVEMENTS,
    "policies": POLICIES,
    "customers": CUSTOMERS,
    "claims": CLAIMS,
    "credit-notes": CREDIT_NOTES,
    "audit": ENTRIES,
}


def describe_arrangement(kind: ExportKind[Any], address: Mapping[str, list[str]]) -> dict[str, str]:
    """Return the columns and the order of a file in words, those that its address names."""
    columns, order = address.get(arrangement.COLUMNS), next(iter(address.get(arrangement.ORDER, ())), None)
    labels = TABLES[kind.name].orders if kind.name in TABLES else {}
    return ({"Columns": ", ".join(columns)} if columns else {}) | ({"Order": labels.get(order, order)} if order else {})
