"""Charts of the credit life price: by tenure or amount on the three bases, and by benefit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import pandas as pd

from core import money
from core.covers import credit_life
from core.covers.cover import Rates
from core.ui.kit import charts, colours, words
from core.ui.kit.charts import Chart

BASIS_NAMES: Mapping[str, str] = {
    "single": "Single premium",
    "monthly": "Level monthly",
    "reducing": "Reducing balance",
}
SHORTEST, LONGEST = 3, 120
_STEPS: Final = 40
_HEIGHT: Final = 320


@dataclass(frozen=True, kw_only=True, slots=True)
class Figures:
    """The inputs of a credit life price, besides the rates: naira, months, benefits."""

    amount: Decimal
    tenure: int
    benefits: tuple[str, ...]

    def premium(self, rates: Rates, *, amount: Decimal | None = None, tenure: int | None = None) -> Decimal:
        """Return the premium of these figures, optionally with another amount or tenure."""
        return credit_life.compute_price(amount or self.amount, tenure or self.tenure, list(self.benefits), rates).total


def basis_of(rates: Rates) -> str:
    """Return the basis on which a product is priced."""
    return str(rates.meta.get("basis", credit_life.BASES[0]))


def on_each_basis(figures: Figures, rates: Rates) -> dict[str, Decimal]:
    """Return the premium of the same figures on each of the three bases."""
    return {basis: figures.premium(credit_life.with_basis(rates, basis)) for basis in credit_life.BASES}


def against_tenure(figures: Figures, rates: Rates) -> Chart:
    """Chart the premium by months, one line for each basis."""
    months = range(SHORTEST, LONGEST + 1)
    prices = {
        basis: [figures.premium(credit_life.with_basis(rates, basis), tenure=month) for month in months]
        for basis in credit_life.BASES
    }
    place = figures.tenure - SHORTEST if figures.tenure in months else None
    names = [f"{month} months" for month in months]
    whole_years = [month - SHORTEST for month in months if month % 12 == 0]
    return _lines(prices, rates, names, list(map(str, months)), whole_years, place, figures.premium(rates), "tenure")


def against_amount(figures: Figures, rates: Rates) -> Chart:
    """Chart the premium by loan amount up to twice the given one, one line for each basis."""
    kobo = Decimal("0.01")
    amounts = [max((figures.amount * 2 * step / _STEPS).quantize(kobo), kobo) for step in range(1, _STEPS + 1)]
    prices = {
        basis: [figures.premium(credit_life.with_basis(rates, basis), amount=amount) for amount in amounts]
        for basis in credit_life.BASES
    }
    names = [words.naira_of(amount) for amount in amounts]
    labels = [charts.mark_of(money.to_minor(amount)) for amount in amounts]
    fifths = range(_STEPS // 10 - 1, _STEPS, _STEPS // 10)
    return _lines(prices, rates, names, labels, fifths, _STEPS // 2 - 1, figures.premium(rates), "loan amount")


def by_benefit(figures: Figures, rates: Rates) -> Chart:
    """Chart the premium of each benefit on its own, with the chosen ones highlighted."""
    names = sorted(rates.meta["shares"], key=lambda name: name not in figures.benefits)
    prices = [credit_life.compute_price(figures.amount, figures.tenure, [name], rates).total for name in names]
    series = []
    for legend, colour, is_chosen in (("Chosen", colours.series()[0], True), ("Not chosen", colours.faint(), False)):
        shown = [
            (name, price) for name, price in zip(names, prices, strict=True) if (name in figures.benefits) is is_chosen
        ]
        series.append(
            charts.bars(legend, [float(price) for _, price in shown], colour)
            | {"x": [words.title(name) for name, _ in shown], "text": [words.naira_of(price) for _, price in shown]}
            | {"textposition": "outside", "textangle": 0, "constraintext": "none", "cliponaxis": False}
            | {"hoverinfo": "skip", "width": 0.5}
        )
    told = "; ".join(f"{words.title(name)} {words.naira_of(price)}" for name, price in zip(names, prices, strict=True))
    return Chart(
        figure=charts.build_figure(
            series,
            height=_HEIGHT,
            across=charts.category_axis([words.title(name) for name in names]),
            up=charts.hidden_axis(float(max(prices, default=0)) * 1.15),
            legend=True,
            barmode="overlay",
        ),
        table=_tabulate({"Premium": prices}, [words.title(name) for name in names], "Benefit"),
        alt=f"Premium of each benefit on its own: {told}.",
    )


def _lines(
    prices: Mapping[str, Sequence[Decimal]],
    rates: Rates,
    names: Sequence[str],
    labels: Sequence[str],
    seen: Sequence[int],
    place: int | None,
    price: Decimal,
    against: str,
) -> Chart:
    """Return one line for each basis, and the current figures as a mark at their `place`."""
    series = [_line(basis, line, rates) for basis, line in prices.items()]
    if place is not None:
        mark = {"color": colours.text(), "size": 13, "line": {"color": colours.surface(), "width": 2}}
        # Over the lines, and without a line of its own for the pointer.
        series.append(
            {"type": "scatter", "mode": "markers", "x": [names[place]], "y": [float(price)], "marker": mark}
            | {"hoverinfo": "skip", "showlegend": False}
        )
    highest = max(price for line in prices.values() for price in line)
    return Chart(
        figure=charts.build_figure(
            series,
            height=_HEIGHT,
            across=charts.category_axis(names, labels=labels, seen=seen),
            up=charts.amount_axis(money.to_minor(highest)),
            left=charts.AMOUNT_ROOM,
            legend=True,
            hovermode="x unified",
        ),
        table=_tabulate({BASIS_NAMES[basis]: line for basis, line in prices.items()}, names, against.capitalize()),
        alt=f"Premium by {against} on each basis; {words.naira_of(price)} for these figures.",
    )


def _tabulate(prices: Mapping[str, Sequence[Decimal]], names: Sequence[str], place: str) -> pd.DataFrame:
    amounts = {name: list(map(money.to_minor, line)) for name, line in prices.items()}
    return pd.DataFrame(amounts, index=pd.Index(names, name=place), dtype="int64")


def _line(basis: str, prices: Sequence[Decimal], rates: Rates) -> dict[str, Any]:
    own = basis == basis_of(rates)
    colour = colours.series()[credit_life.BASES.index(basis)]
    name = BASIS_NAMES[basis] + (" (this product)" if own else "")
    drawn = charts.line(name, [float(price) for price in prices], colour, dash="solid" if own else "dot")
    drawn["line"] |= {"width": 3.5 if own else 2}
    return drawn
