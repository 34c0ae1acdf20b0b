"""The lists that can be exported, by name."""

from typing import Any

from core.errors import NotFound
from core.services.audit.search import AUDIT
from core.services.claims.lists.columns import CLAIM_PAYMENTS, CLAIMS
from core.services.customers.table import CUSTOMERS
from core.services.exports.loss_ratios import LOSS_RATIOS
from core.services.finance.credit_notes.reading import CREDIT_NOTES
from core.services.finance.movements import MOVEMENTS
from core.services.lists.listing import Listing
from core.services.policies.policies import POLICIES
from core.services.renewals.due import DUE
from core.services.renewals.records import RENEWALS
from core.services.sales.table import PURCHASES

KINDS: tuple[Listing[Any], ...] = (
    *(PURCHASES, RENEWALS, DUE, MOVEMENTS, POLICIES),
    *(CUSTOMERS, CLAIMS, CLAIM_PAYMENTS, LOSS_RATIOS, CREDIT_NOTES, AUDIT),
)
_BY_NAME = {kind.name: kind for kind in KINDS}


def get_kind(name: str) -> Listing[Any]:
    """Return the list of this name; NotFound for any other."""
    found = _BY_NAME.get(name)
    if found is None:
        raise NotFound(f"There is no export of that name: the exports are {', '.join(_BY_NAME)}")
    return found
