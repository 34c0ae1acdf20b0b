"""Exact money: Decimal naira in calculations, integer kobo in storage (contract P8)."""

import re
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal

KOBO = Decimal("0.01")
MAX_AMOUNT = Decimal(10) ** 13
ZERO = Decimal("0.00")
# An amount in the working of a step; a factor stands behind "x", and a rate before "%".
_UNSIGNED = re.compile(r"(?<![\w₦.,])(?<!x )(?=\d{1,3}(?:,\d{3})*\.\d{2}(?!\d| ?%))")


def round_half_up(amount: Decimal) -> Decimal:
    """Round naira to the kobo, half away from zero: once, at the end of a formula."""
    return amount.quantize(KOBO, ROUND_HALF_UP)


def round_up(amount: Decimal) -> Decimal:
    """Round naira up to the next kobo: for instalments, so that a year of them is never less than the annual
    premium.
    """
    return amount.quantize(KOBO, ROUND_CEILING)


def to_minor(naira: Decimal) -> int:
    """Convert naira to integer kobo; ValueError if there is a fraction of a kobo."""
    minor = naira.scaleb(2)
    if minor != minor.to_integral_value():
        raise ValueError("more than two decimals")
    return int(minor)


def to_naira(minor: int) -> Decimal:
    """Convert integer kobo to naira with two decimals."""
    return Decimal(minor).scaleb(-2).quantize(KOBO)


def to_wire(minor: int) -> str:
    """Format integer kobo as the API's decimal string: 57500 -> "575.00"."""
    sign, absolute = ("-", -minor) if minor < 0 else ("", minor)
    return f"{sign}{absolute // 100}.{absolute % 100:02d}"


def format_naira(minor: int) -> str:
    """Format integer kobo for people: 123456700 -> "₦1,234,567.00"."""
    sign, absolute = ("-", -minor) if minor < 0 else ("", minor)
    return f"{sign}₦{absolute // 100:,}.{absolute % 100:02d}"


def sign_amounts(working: str) -> str:
    """Put the sign before each amount in the working of a step: "500.00 x 215 / 365 days" is "₦500.00 x ..."."""
    return _UNSIGNED.sub("₦", working)


def share(minor: int, basis_points: int) -> int:
    """Return a share of an amount in kobo, rounded half up; 10,000 basis points are the whole."""
    return (minor * basis_points + 5_000) // 10_000


@dataclass(frozen=True, slots=True)
class Split:
    """A total divided into three parts, in kobo; the parts always add up to the total."""

    total_minor: int
    mca_profit_minor: int
    distributor_profit_minor: int

    @property
    def provider_share_minor(self) -> int:
        """The insurer's part: the remainder."""
        return self.total_minor - self.mca_profit_minor - self.distributor_profit_minor

    def __add__(self, other: "Split") -> "Split":
        return self._with(other, 1)

    def __sub__(self, other: "Split") -> "Split":
        return self._with(other, -1)

    def _with(self, other: "Split", sign: int) -> "Split":
        return Split(
            self.total_minor + sign * other.total_minor,
            self.mca_profit_minor + sign * other.mca_profit_minor,
            self.distributor_profit_minor + sign * other.distributor_profit_minor,
        )


def split(total_minor: int, *, mca_bp: int, distributor_bp: int) -> Split:
    """Divide a total into the platform's, the distributor's and the insurer's part (contract S7).

    Both commissions round half up; the distributor's is capped at what is left.
    """
    mca = share(total_minor, mca_bp)
    return Split(total_minor, mca, min(share(total_minor, distributor_bp), total_minor - mca))


def refund_split(total_minor: int, paid: Split, *, mca_bp: int, distributor_bp: int) -> Split:
    """Divide what is given back of a term like the term itself: all of it reverses every part exactly.

    A commission never gives back more than it took; the insurer's part takes the rounding.
    """
    if total_minor == paid.total_minor:
        return paid
    parts = split(total_minor, mca_bp=mca_bp, distributor_bp=distributor_bp)
    return Split(
        total_minor,
        min(parts.mca_profit_minor, paid.mca_profit_minor),
        min(parts.distributor_profit_minor, paid.distributor_profit_minor),
    )
