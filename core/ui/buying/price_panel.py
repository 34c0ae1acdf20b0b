"""The price panel of a credit life cover: inputs, calculation steps, curve, and the three bases side by side."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.covers.credit_life import CreditLifePriceRequest, compute_price
from core.covers.request import validate
from core.errors import InvalidInput
from core.services.catalogue.products import ProductForSale
from core.ui.buying import price_curves, prices
from core.ui.buying.price_curves import BASIS_NAMES, LONGEST, SHORTEST, Figures
from core.ui.forms import forms
from core.ui.kit import charts, words

# In the address, so that Back leads from the details to the figures.
STEP, DETAILS = "step", "details"
# Not the name that Buy has for it: Streamlit drops a parameter that another page has bound to a widget of its own.
SELLER = "seller"
_CURVES = {
    "Tenure": price_curves.against_tenure,
    "Loan amount": price_curves.against_amount,
    "Benefits": price_curves.by_benefit,
}


def ask_figures(product: ProductForSale, *, locked: bool) -> Figures | None:
    """Ask for amount, tenure and benefits; return None without an amount or when a value is invalid."""
    shares = product.rates.meta["shares"]
    amount = st.text_input(
        "Loan amount (₦)",
        key="amount",
        placeholder="100,000",
        autocomplete="off",
        on_change=_tidy,
        bind="query-params",
        disabled=locked,
    )
    at_amount = st.container()
    tenure = st.number_input(
        "Tenure in months", SHORTEST, LONGEST, 12, key="tenure", bind="query-params", disabled=locked
    )
    benefits = st.pills(
        "Benefits",
        list(shares),
        selection_mode="multi",
        default=list(shares),
        format_func=words.title,
        key="benefits",
        bind="query-params",
        disabled=locked,
    )
    typed = {"loan_amount": words.read_naira(amount), "loan_tenure": tenure, "benefit_coverage": benefits}
    if not typed["loan_amount"]:
        return None
    try:
        request = validate(CreditLifePriceRequest, {**typed, "product_id": str(product.id)})
    except InvalidInput as error:
        for fault in error.faults:
            place = at_amount if fault.field == "loan_amount" else st
            place.markdown(forms.complaint(fault.message))
        return None
    return Figures(amount=request.loan_amount, tenure=request.loan_tenure, benefits=tuple(request.benefit_coverage))


def build_query(seller: str, plan: str, given: Mapping[str, Any]) -> dict[str, str | list[str]]:
    """Return the figures of a sale that was begun before as the address has them, with the step of its details."""
    return {
        STEP: DETAILS,
        SELLER: seller,
        "plan": plan,
        "amount": words.as_typed(str(given["loan_amount"]).removesuffix(".00")),
        "tenure": str(given["loan_tenure"]),
        "benefits": [words.title(benefit) for benefit in given["benefit_coverage"]],
    }


def _tidy() -> None:
    st.session_state.amount = words.as_typed(st.session_state.amount)


def show_price(product: ProductForSale, figures: Figures) -> None:
    """Show the premium and its calculation steps."""
    basis = BASIS_NAMES[price_curves.basis_of(product.rates)].lower()
    prices.show(compute_price(figures.amount, figures.tenure, list(figures.benefits), product.rates))
    st.caption(f"Insured by {words.plain(product.provider_name)}, {basis}.")


def show_curve(product: ProductForSale, figures: Figures) -> None:
    """Show how the price depends on tenure, amount or benefits, and the price on the other bases."""
    against = str(st.session_state.get("curve") or st.query_params.get("curve", "Tenure"))
    chart = _CURVES.get(against, price_curves.against_tenure)(figures, product.rates)

    def choices() -> None:
        st.segmented_control(
            "Price against",
            list(_CURVES),
            default="Tenure",
            required=True,
            key="curve",
            label_visibility="collapsed",
            bind="query-params",
        )

    with st.container(border=True):
        charts.draw_head("How the price moves", chart, file_name=f"price-by-{against}".lower(), choices=choices)
        charts.draw(chart, key=f"curve-{against}")
        grid = st.grid(3, min_column_width=180)
        for basis, total in price_curves.on_each_basis(figures, product.rates).items():
            own = basis == price_curves.basis_of(product.rates)
            grid.metric(BASIS_NAMES[basis] + (" (this)" if own else ""), words.naira_of(total))


def summary(product: ProductForSale, figures: Figures, seller: str) -> str:
    """Return the chosen figures as two lines of Markdown, shown while the rest is filled in."""
    benefits = ", ".join(words.title(benefit).lower() for benefit in figures.benefits)
    return (
        f"**{words.plain(product.name)}** on behalf of **{words.plain(seller)}**  \n"
        f"{words.naira_of(figures.amount)} over {figures.tenure} months for {benefits}: "
        f"**{words.naira_of(figures.premium(product.rates))}**"
    )
