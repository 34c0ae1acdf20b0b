"""Amounts and counts of request bodies: exact, bounded, from numbers or plain decimal text (contract P8)."""

import re
from decimal import Decimal, InvalidOperation

from core import money
from core.covers.faults import fault

_LARGEST = float(money.MAX_AMOUNT)
_AS_TEXT = 'In naira, with at most two decimals; as a text too: "1000.50".'
# Clients of the document write numbers: one kind of value that holds every amount to the kobo. Texts are for forms.
AMOUNT = {"type": "number", "format": "double", "minimum": 0, "maximum": _LARGEST, "description": _AS_TEXT}
ABOVE_ZERO = {"type": "number", "format": "double", "exclusiveMinimum": 0, "maximum": _LARGEST, "description": _AS_TEXT}
AMOUNT_PATTERN = r"^[0-9]{1,13}(\.[0-9]{1,2})?$"
ABOVE_ZERO_PATTERN = r"^(?!0+(\.0+)?$)[0-9]{1,13}(\.[0-9]{1,2})?$"


def naira(value: object) -> Decimal:
    """An amount in naira from 0 with at most two decimals, from a number or a plain decimal text."""
    amount = _finite(value)
    if amount is None:
        raise fault("must be a number")
    if amount < 0:
        raise fault("must not be negative")
    if amount > money.MAX_AMOUNT:
        raise fault("must be at most 10,000,000,000,000")
    kept = amount.quantize(money.KOBO) + 0
    if kept != amount:
        raise fault("must have at most two decimals")
    return kept


def _finite(value: object) -> Decimal | None:
    """The exact value of a number or of a plain decimal text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    if isinstance(value, str) and not re.fullmatch(
        r"[+-]?[0-9]{1,40}(\.[0-9]{0,40})?|[+-]?\.[0-9]{1,40}", value.strip()
    ):
        return None
    try:
        number = Decimal(str(value).strip())
    except (InvalidOperation, ValueError):
        return None
    return number if number.is_finite() else None


def above_zero(value: Decimal) -> Decimal:
    """The amount itself; a fault for 0."""
    if value <= 0:
        raise fault("must be more than 0")
    return value


def count(value: object) -> int:
    """A whole number up to a million either way."""
    number = _finite(value)
    # Compared before it is divided: arithmetic on 1e999999999 overflows, a comparison does not.
    if number is None or not -(10**6) <= number <= 10**6 or number % 1:
        raise fault("must be a whole number")
    return int(number)
