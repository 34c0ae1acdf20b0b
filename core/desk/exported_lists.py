"""The lists that can be exported, by their names; one and all that it needs is imported when it is asked for first."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

from core.errors import NotFound
from core.services.lists.listing import Listing

# Each with its title, and where it is declared.
_LISTS: Final[Mapping[str, tuple[str, str, str]]] = {
    "purchases": ("Purchases", "sales.purchases", "PURCHASES"),
    "renewals": ("Renewals", "renewals.records", "RENEWALS"),
    "due": ("Due for renewal", "renewals.due", "DUE"),
    "movements": ("Movements", "finance.movements", "MOVEMENTS"),
    "policies": ("Policies", "policies.policies", "POLICIES"),
    "awaiting": ("Awaiting insurer", "insurers.awaiting", "WAITING"),
    "customers": ("Customers", "customers.table", "CUSTOMERS"),
    "claims": ("Claims", "claims.lists.queue", "CLAIMS"),
    "claim-payments": ("Payments of claims", "claims.lists.queue", "CLAIM_PAYMENTS"),
    "loss-ratios": ("Loss ratios", "claims.reports.loss_ratios", "LOSS_RATIOS"),
    "payments": ("Payments of parties", "finance.payments.reading", "PAYMENTS"),
    "credit-notes": ("Credit notes", "finance.credit_notes.reading", "CREDIT_NOTES"),
    "statements": ("Statements", "finance.statements.reading", "STATEMENTS"),
    "reconciliations": ("Reconciliations", "finance.reconciling.reconciliations", "RECONCILIATIONS"),
    "audit": ("Audit entries", "audit.search", "AUDIT"),
}
TITLES: Final[Mapping[str, str]] = {name: title for name, (title, _, _) in _LISTS.items()}


def get_kind(name: str) -> Listing[Any]:
    """Return the list of this name; NotFound for any other."""
    if name not in _LISTS:
        raise NotFound(f"There is no export of that name: the exports are {', '.join(_LISTS)}")
    _, module, attribute = _LISTS[name]
    found: Listing[Any] = getattr(import_module(f"core.services.{module}"), attribute)
    return found
