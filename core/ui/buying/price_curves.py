"""Charts of the credit life price: by tenure or amount on the three bases, and by benefit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import plotly.graph_objects as go

from core.covers import credit_life
from core.covers.cover import Rates
from core.ui.kit import colours, words

BASIS_NAMES: Mapping[str, str] = {
    "single": "Single premium",
    "monthly": "Level monthly",
    "reducing": "Reducing balance",
}
SHORTEST, LONGEST = 3, 120
_STEPS = 40


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


def against_tenure(figures: Figures, rates: Rates) -> go.Figure:
    """Chart the premium by months, one line for each basis."""
    months = range(SHORTEST, LONGEST + 1)
    chart = _chart("Tenure in months")
    for basis in credit_life.BASES:
        on = credit_life.with_basis(rates, basis)
        _line(chart, rates, basis, list(months), [figures.premium(on, tenure=month) for month in months])
    return _marked(chart, figures.tenure, figures.premium(rates))


def against_amount(figures: Figures, rates: Rates) -> go.Figure:
    """Chart the premium by loan amount up to twice the given one, one line for each basis."""
    kobo = Decimal("0.01")
    amounts = [max((figures.amount * 2 * step / _STEPS).quantize(kobo), kobo) for step in range(1, _STEPS + 1)]
    chart = _chart("Loan amount in naira")
    for basis in credit_life.BASES:
        on = credit_life.with_basis(rates, basis)
        _line(chart, rates, basis, amounts, [figures.premium(on, amount=amount) for amount in amounts])
    return _marked(chart, figures.amount, figures.premium(rates))


def by_benefit(figures: Figures, rates: Rates) -> go.Figure:
    """Chart the premium of each benefit on its own, with the chosen ones highlighted."""
    chart = _chart(None)
    for chosen, colour in ((True, colours.SERIES[0]), (False, colours.FAINT)):
        names = [name for name in rates.meta["shares"] if (name in figures.benefits) is chosen]
        prices = [credit_life.compute_price(figures.amount, figures.tenure, [name], rates).total for name in names]
        chart.add_bar(
            x=[words.title(name) for name in names],
            y=prices,
            name="Chosen" if chosen else "Not chosen",
            text=[words.naira_of(price) for price in prices],
            textposition="outside",
            cliponaxis=False,
            marker={"color": colour, "opacity": 1 if chosen else 0.4},
            width=0.5,
            hoverinfo="skip",
        )
    return chart.update_layout(barmode="overlay", hovermode=False)


def _chart(across: str | None) -> go.Figure:
    axis = {"tickformat": ",.0f", "tickfont": {"color": colours.TEXT}, "title": {"font": {"color": colours.TEXT}}}
    chart = go.Figure()
    chart.update_layout(
        height=320,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        legend={"orientation": "h", "y": 1.12, "x": 0, "font": {"color": colours.TEXT}},
        hovermode="x unified",
        xaxis=axis,
        yaxis={**axis, "tickprefix": "₦", "rangemode": "tozero"},
    )
    return chart.update_xaxes(title_text=across)


def _line(chart: go.Figure, rates: Rates, basis: str, across: Sequence[object], prices: Sequence[Decimal]) -> None:
    own = basis == basis_of(rates)
    colour = colours.SERIES[credit_life.BASES.index(basis)]
    chart.add_scatter(
        x=across,
        y=prices,
        mode="lines",
        name=BASIS_NAMES[basis] + (" (this product)" if own else ""),
        line={"width": 3.5 if own else 2, "dash": "solid" if own else "dot", "color": colour},
        hovertemplate="₦%{y:,.2f}",
    )


def _marked(chart: go.Figure, across: object, price: Decimal) -> go.Figure:
    """Mark the current figures on their line."""
    marker = {"size": 12, "color": colours.TEXT, "line": {"width": 2, "color": colours.SURFACE}}
    point = {"x": [across], "y": [price], "mode": "markers", "marker": marker, "cliponaxis": False}
    return chart.add_scatter(**point, showlegend=False, hoverinfo="skip")
