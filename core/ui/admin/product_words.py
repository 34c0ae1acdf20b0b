"""Text forms of a product's prices, rates and changes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from core import clock
from core.covers.figures import Figure, Kind
from core.covers.tariff import EditableTariff, Tariff
from core.ui.kit import words

_COMMISSIONS = "Commissions: "
_IN_A_HEADLINE = 3
_LONGEST_IN_A_HEADLINE = 50
_UNITS = {Kind.NAIRA: " (₦)", Kind.PERCENT: " (%)"}


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure that differs between two tariffs, with both values formatted."""

    label: str
    before: str
    after: str


def price(tariff: Tariff) -> str:
    """Return the price in short form: "₦15,000.00", "5.00 %", "from ₦350.00", "0.575 % of the loan"."""
    meta = tariff.meta
    if "shares" in meta:
        total = sum((Decimal(str(share)) for share in meta["shares"].values()), Decimal(0))
        return f"{total.normalize():f} % of the loan"
    for lists in (meta.get("plan_prices"), meta.get("category_prices")):
        if lists:
            return _from([Decimal(str(amount)) for amount in lists.values()])
    if "rates" in meta:
        return _from([Decimal(str(rate)) for row in meta["rates"].values() for rate in row])
    return f"{tariff.price:f} %" if tariff.dynamic else words.naira_of(tariff.price)


def _from(amounts: Sequence[Decimal]) -> str:
    return ("from " if len(set(amounts)) > 1 else "") + words.naira_of(min(amounts))


def commissions(tariff: Tariff) -> str:
    """Return both commissions: "12.50 % and 5.00 %"."""
    return f"{tariff.mca_commission:f} % and {tariff.distributor_commission:f} %"


def label(figure: Figure) -> str:
    """Return a figure's label with its unit, for a form."""
    return figure.label + _UNITS.get(figure.kind, "") + (" (optional)" if figure.optional else "")


def format_typed(figure: Figure) -> str:
    """Return a number's current value as it would be typed."""
    value = figure.value
    if value is None:
        return ""
    return words.as_typed(str(value)) if figure.kind is Kind.NAIRA else str(value)


def format_figure(figure: Figure) -> str:
    """Return a figure's value, formatted for display."""
    value = figure.value
    if value is None:
        return "–"
    if figure.kind is Kind.TABLE:
        return "; ".join(", ".join(map(str, row.values())) for row in value)
    if figure.kind is Kind.NAIRA:
        return words.naira_of(str(value))
    if figure.kind in {Kind.SEVERAL, Kind.PHRASES}:
        return ", ".join(value) or "none"
    return f"{value} %" if figure.kind is Kind.PERCENT else words.title(str(value))


def differences(before: EditableTariff, after: EditableTariff) -> list[Difference]:
    """Return the differences between two tariffs, in the order of the form."""
    was: dict[str, Figure] = {figure.field: figure for figure in before.figures}
    found: list[Difference] = []
    for figure in after.figures:
        old = was.get(figure.field)
        if figure.kind is Kind.TABLE:
            found.extend(_cells(old, figure))
        elif old is None or old.value != figure.value:
            found.append(Difference(_named(figure), format_figure(old) if old else "–", format_figure(figure)))
    return found


def headline(before: EditableTariff, after: EditableTariff, at: datetime) -> str:
    """Return a change in one line: "Platform commission 20 % → 25 %, Price ₦15,000.00 → ₦16,000.00 from 1 Dec 2026"."""
    changes = sorted(differences(before, after), key=lambda one: not one.label.startswith(_COMMISSIONS))
    parts = [_in_short(one) for one in changes[:_IN_A_HEADLINE]]
    more = len(changes) - len(parts)
    told = ", ".join(parts) + (f" and {more} more" if more else "")
    return f"{told or 'No change'} from {since(at)}"


def _in_short(change: Difference) -> str:
    """Return a change in one line; of long texts, which the table shows, only that they changed."""
    if len(change.before) + len(change.after) > _LONGEST_IN_A_HEADLINE:
        return f"{change.label.partition(':')[0]} changed"
    return f"{_short(change.label)} {_bare(change.before)} → {_bare(change.after)}"


def since(at: datetime) -> str:
    """Return the instant from which rates apply; the date alone if they start with the day."""
    return words.day(at).lstrip("0") if at == clock.lagos_midnight(clock.to_lagos_day(at)) else words.moment(at)


def _short(label: str) -> str:
    return f"{label.removeprefix(_COMMISSIONS)} commission" if label.startswith(_COMMISSIONS) else label


def _bare(value: str) -> str:
    return value.replace(".00 %", " %")


def _cells(old: Figure | None, new: Figure) -> Iterator[Difference]:
    """Yield the table cells that differ, named by their band and column."""
    band, *columns = new.columns
    was, now = ({row[band.field]: row for row in (figure.value if figure else ())} for figure in (old, new))
    for key in sorted({*was, *now}):
        for column in columns:
            before, after = (side.get(key, {}).get(column.field) for side in (was, now))
            if before != after:
                cells = (format_figure(replace(column, value=value)) for value in (before, after))
                yield Difference(f"{new.group}: {band.label.lower()} {key}, {column.label}", *cells)


def _named(figure: Figure) -> str:
    return figure.label if figure.group == "Price" else f"{figure.group}: {figure.label}"
