"""Amounts that may be negative, as people type them."""

from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

from pydantic import BeforeValidator

from core import money
from core.covers.fields import fault


def _parse_signed(value: Any) -> Decimal:
    text = str(value).replace(",", "").replace("₦", "").replace("−", "-").strip()
    try:
        amount = Decimal(text)
    except InvalidOperation:
        raise fault("must be an amount in naira, such as -1,250.50") from None
    if not amount.is_finite() or abs(amount) > money.MAX_AMOUNT:
        raise fault("must be an amount in naira below ten trillion")
    exponent = amount.as_tuple().exponent
    if isinstance(exponent, int) and exponent < -2:
        raise fault("must have at most two decimals")
    return amount


SignedNaira = Annotated[Decimal, BeforeValidator(_parse_signed)]
