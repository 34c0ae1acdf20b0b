"""Registry of export kinds by name."""

from typing import Any

from core.errors import NotFound
from core.services.exports.exports import ExportKind
from core.services.exports.kinds.audit import AUDIT
from core.services.exports.kinds.claim_payments import CLAIM_PAYMENTS
from core.services.exports.kinds.claims import CLAIMS
from core.services.exports.kinds.credit_notes import CREDIT_NOTES
from core.services.exports.kinds.customers import CUSTOMERS
from core.services.exports.kinds.due import DUE
from core.services.exports.kinds.loss_ratios import LOSS_RATIOS
from core.services.exports.kinds.movements import MOVEMENTS
from core.services.exports.kinds.policies import POLICIES
from core.services.exports.kinds.purchases import PURCHASES
from core.services.exports.kinds.renewals import RENEWALS

KINDS: tuple[ExportKind[Any], ...] = (
    *(PURCHASES, RENEWALS, DUE, MOVEMENTS, POLICIES),
    *(CUSTOMERS, CLAIMS, CLAIM_PAYMENTS, LOSS_RATIOS, CREDIT_NOTES, AUDIT),
)
_BY_NAME = {kind.name: kind for kind in KINDS}


def get_kind(name: str) -> ExportKind[Any]:
    """Return the export kind of this name; NotFound for any other."""
    found = _BY_NAME.get(name)
    if found is None:
        raise NotFound(f"There is no export of that name: the exports are {', '.join(_BY_NAME)}")
    return found
