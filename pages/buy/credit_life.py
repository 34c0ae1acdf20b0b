"""Credit life: the price of a loan's cover with its calculation, and its sale with the same figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final, NoReturn

import pandas as pd
import streamlit as st

from core import money
from core.covers import credit_life
from core.covers.cover import Rates
from core.covers.credit_life import BASES, CREDIT_LIFE, CreditLifePriceRequest, compute_price
from core.covers.request import validate
from core.errors import InvalidInput
from core.services.catalogue import distributors
from core.services.catalogue.distributors import DistributorName
from core.services.catalogue.for_sale import ProductForSale
from core.services.people.staff import Person
from core.store.access import read_in
from core.ui.buying import known_customer, prices, receipts, sale_drafts, selling
from core.ui.buying.selling import Counter
from core.ui.forms import forms
from core.ui.frame import frame
from core.ui.kit import charts, words
from core.ui.kit.charts import Chart
from pages.buy._shared import DETAILS, SELLER, STEP, Checkout, draw_unfinished, run_checkout

BASIS_NAMES: Mapping[str, str] = {
    "single": "Single premium",
    "monthly": "Level monthly",
    "reducing": "Reducing balance",
}
SHORTEST, LONGEST = 3, 120
EXAMPLE_AMOUNT, EXAMPLE_TENURE = Decimal(100_000), 12
_STEPS: Final = 40
_HEIGHT: Final = 320
PRODUCT: Final = "the product"


@dataclass(frozen=True, kw_only=True, slots=True)
class Figures:
    """The inputs of a credit life price, besides the rates: naira, months, benefits."""

    amount: Decimal
    tenure: int
    benefits: tuple[str, ...]

    def premium(self, rates: Rates) -> Decimal:
        """Return the premium of these figures."""
        return compute_price(self.amount, self.tenure, list(self.benefits), rates).total


def basis_of(rates: Rates) -> str:
    """Return the basis on which a product is priced."""
    return str(rates.meta.get("basis", BASES[0]))


def against_tenure(figures: Figures, rates: Rates) -> Chart:
    """Chart the premium by months, one line for each basis."""
    months = range(SHORTEST, LONGEST + 1)
    points = [replace(figures, tenure=month) for month in months]
    place = figures.tenure - SHORTEST if figures.tenure in months else None
    names = [f"{month} months" for month in months]
    whole_years = [month - SHORTEST for month in months if month % 12 == 0]
    return _lines(points, rates, names, list(map(str, months)), whole_years, place, figures.premium(rates), "tenure")


def against_amount(figures: Figures, rates: Rates) -> Chart:
    """Chart the premium by loan amount up to twice the given one, one line for each basis."""
    kobo = Decimal("0.01")
    amounts = [max((figures.amount * 2 * step / _STEPS).quantize(kobo), kobo) for step in range(1, _STEPS + 1)]
    points = [replace(figures, amount=amount) for amount in amounts]
    names = [words.naira_of(amount) for amount in amounts]
    labels = [charts.mark_of(money.to_minor(amount)) for amount in amounts]
    fifths = range(_STEPS // 10 - 1, _STEPS, _STEPS // 10)
    return _lines(points, rates, names, labels, fifths, _STEPS // 2 - 1, figures.premium(rates), "loan amount")


def by_benefit(figures: Figures, rates: Rates) -> Chart:
    """Chart the premium of each benefit on its own, with the chosen ones highlighted."""
    names = sorted(rates.meta["shares"], key=lambda name: name not in figures.benefits)
    prices = [compute_price(figures.amount, figures.tenure, [name], rates).total for name in names]
    series = []
    for legend, colour, is_chosen in (
        ("Chosen", charts.series_colours()[0], True),
        ("Not chosen", charts.faint_colour(), False),
    ):
        shown = [
            (name, price) for name, price in zip(names, prices, strict=True) if (name in figures.benefits) is is_chosen
        ]
        series.append(
            charts.bars(legend, [float(price) for _, price in shown], colour)
            | {"x": [words.title(name) for name, _ in shown], "text": [words.naira_of(price) for _, price in shown]}
            | {"textposition": "outside", "textangle": 0, "constraintext": "none", "cliponaxis": False}
            | {"hoverinfo": "skip", "width": 0.5}
        )
    prices_text = "; ".join(
        f"{words.title(name)} {words.naira_of(price)}" for name, price in zip(names, prices, strict=True)
    )
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
        alt=f"Premium of each benefit on its own: {prices_text}.",
    )


def _lines(
    points: Sequence[Figures],
    rates: Rates,
    names: Sequence[str],
    labels: Sequence[str],
    seen: Sequence[int],
    place: int | None,
    price: Decimal,
    against: str,
) -> Chart:
    """Return one line for each basis, and the current figures as a mark at their `place`."""
    priced = {basis: credit_life.with_basis(rates, basis) for basis in BASES}
    prices = {basis: [each.premium(own) for each in points] for basis, own in priced.items()}
    series = [_line(basis, line, rates) for basis, line in prices.items()]
    if place is not None:
        mark = {"color": charts.text_colour(), "size": 13, "line": {"color": charts.surface(), "width": 2}}
        # Over the lines, and without a line of its own for the pointer.
        series.append(
            {"type": "scatter", "mode": "markers", "x": [names[place]], "y": [float(price)], "marker": mark}
            | {"hoverinfo": "skip", "showlegend": False, "cliponaxis": False}
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
    colour = charts.series_colours()[BASES.index(basis)]
    name = BASIS_NAMES[basis] + (" (this product)" if own else "")
    drawn = charts.line(name, [float(price) for price in prices], colour, dash="solid" if own else "dot")
    drawn["line"] |= {"width": 3.5 if own else 2}
    return drawn


_CURVES = {"Tenure": against_tenure, "Loan amount": against_amount, "Benefits": by_benefit}
_ABOUT: Final = {
    "Tenure": "Premium by tenure in months.",
    "Loan amount": "Premium by loan amount.",
    "Benefits": "Premium of each benefit.",
}


def ask_figures(product: ProductForSale, *, locked: bool) -> Figures | None:
    """Ask for amount, tenure and benefits; return None when a value is invalid.

    Without an amount they are those of the example, so that tenure and benefits change its price too.
    """
    shares = product.rates.meta["shares"]
    amount = st.text_input(
        "Loan amount (₦)",
        key="amount",
        placeholder=f"{EXAMPLE_AMOUNT:,}",
        autocomplete="off",
        on_change=_tidy,
        bind="query-params",
        disabled=locked,
    )
    at_amount = st.container()
    # Without bounds of its own: the browser would keep what is out of them, and the price of the tenure before stand.
    tenure = st.number_input(
        "Tenure in months", value=EXAMPLE_TENURE, step=1, key="tenure", bind="query-params", disabled=locked
    )
    at_tenure = st.container()
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
    loan_amount = words.read_naira(amount) or str(EXAMPLE_AMOUNT)
    typed = {"loan_amount": loan_amount, "loan_tenure": tenure, "benefit_coverage": benefits}
    try:
        request = validate(CreditLifePriceRequest, {**typed, "product_id": str(product.id)})
    except InvalidInput as error:
        for fault in error.faults:
            place = {"loan_amount": at_amount, "loan_tenure": at_tenure}.get(fault.field, st)
            place.markdown(forms.complaint(fault.message))
        return None
    return Figures(amount=request.loan_amount, tenure=request.loan_tenure, benefits=tuple(request.benefit_coverage))


def _tidy() -> None:
    st.session_state.amount = words.as_typed(st.session_state.amount)


def show_price(product: ProductForSale, figures: Figures) -> None:
    """Show the premium and its calculation steps."""
    basis = BASIS_NAMES[basis_of(product.rates)].lower()
    prices.show(compute_price(figures.amount, figures.tenure, list(figures.benefits), product.rates))
    st.caption(f"Insured by {words.plain(product.provider_name)}, {basis}.")


def show_curve(product: ProductForSale, figures: Figures) -> None:
    """Show how the price depends on tenure, amount or benefits, and the price on the other bases."""
    against = str(st.session_state.get("curve") or st.query_params.get("curve", "Tenure"))
    chart = _CURVES.get(against, against_tenure)(figures, product.rates)

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
        name = f"price-by-{against}".lower()
        charts.draw_head("How the price moves", chart, file_name=name, about=_ABOUT[against], choices=choices)
        charts.draw(chart, key=f"curve-{against}")
        grid = st.grid(3, min_column_width=180)
        for basis in BASES:
            total = figures.premium(credit_life.with_basis(product.rates, basis))
            own = basis == basis_of(product.rates)
            grid.metric(BASIS_NAMES[basis] + (" (this)" if own else ""), words.naira_of(total))


def summary(product: ProductForSale, figures: Figures, seller: str) -> str:
    """Return the chosen figures as two lines of Markdown, shown while the rest is filled in."""
    benefits = ", ".join(words.title(benefit).lower() for benefit in figures.benefits)
    return (
        f"**{words.plain(product.name)}** on behalf of **{words.plain(seller)}**  \n"
        f"{words.naira_of(figures.amount)} over {figures.tenure} months for {benefits}: "
        f"**{words.naira_of(figures.premium(product.rates))}**"
    )


KEY = "credit_life"


@dataclass(frozen=True, kw_only=True)
class Loan:
    """The figures to price: distributor, product and loan, and what is still to be chosen before it can be sold.

    Until distributor or product are chosen, the product is the first one that anybody sells.
    """

    distributor: DistributorName | None
    product: ProductForSale
    figures: Figures | None
    missing: Sequence[str]


def explore(sellers: Sequence[DistributorName], person: Person) -> None:
    grid = st.grid(2, min_column_width=340, gap="medium")
    with grid.container(border=True):
        st.subheader("The loan", anchor=False)
        loan = ask_loan(sellers, person, locked=False)
    if loan is None:
        return
    if loan.figures is None:
        grid.info("Correct the loan to see what its cover costs, and why.", icon=":material/calculate:")
        return
    with grid.container():
        if not st.session_state.get("amount"):
            st.markdown(
                f":material/lightbulb: **An example**: {words.naira_of(loan.figures.amount)} over"
                f" {loan.figures.tenure} months, {words.plain(loan.product.name)}. It changes with what you enter."
            )
        elif PRODUCT in loan.missing:
            st.markdown(
                f":material/lightbulb: Priced as **{words.plain(loan.product.name)}** until you choose the product."
            )
        show_price(loan.product, loan.figures)
    show_curve(loan.product, loan.figures)
    show_bar(loan, loan.figures)


def show_bar(loan: Loan, figures: Figures) -> None:
    """Draw the price and the way on at the foot of the screen, where they stay while the loan is typed."""
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.metric("Price", words.naira_of(figures.premium(loan.product.rates)), width="content")
        with st.container(gap="xxsmall", width="stretch"):
            st.caption(
                f"{words.naira_of(figures.amount)} over {figures.tenure} months, {words.plain(loan.product.name)}."
            )
            if loan.missing:
                st.caption(f"Still to choose before it can be bought: {', '.join(loan.missing)}.")
        st.button(
            "Buy with these figures",
            type="primary",
            icon=":material/shopping_cart:",
            disabled=bool(loan.missing),
            on_click=begin,
        )


def find_example(sellers: Sequence[DistributorName], person: Person) -> ProductForSale | None:
    """Return the first credit life product that any distributor sells, for a price before one is chosen."""
    products = (
        product for seller in sellers for product in selling.list_products(counter_of(seller, person), CREDIT_LIFE)
    )
    return next(iter(sorted(products, key=by_basis)), None)


def buy(sellers: Sequence[DistributorName], person: Person) -> Checkout:
    with st.container(border=True):
        line = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute")
        # The figures stay on the page, locked, so that they keep their widget state and their place in the URL.
        with st.expander("The figures", icon=":material/lock:"):
            loan = ask_loan(sellers, person, locked=True)
        if loan is None or loan.distributor is None or loan.figures is None or loan.missing:
            leave()
        line.markdown(summary(loan.product, loan.figures, loan.distributor.name), width=420)
        if line.button("Change the figures"):
            leave()
    given = {
        "loan_amount": loan.figures.amount,
        "loan_tenure": loan.figures.tenure,
        "benefit_coverage": list(loan.figures.benefits),
    }
    counter = counter_of(loan.distributor, person)
    query = {SELLER: loan.distributor.name, "plan": loan.product.name}
    sale = Checkout(
        key=KEY,
        page="buy/credit_life.py",
        query=query,
        cover=CREDIT_LIFE,
        product=loan.product,
        counter=counter,
        given=given,
    )
    if customer := known_customer.take_chosen(counter):
        sale_drafts.begin_another(sale.form)
        known_customer.fill(sale.form, customer)
    run_checkout(sale)
    return sale


def begin() -> None:
    st.query_params[STEP] = DETAILS


def leave() -> NoReturn:
    st.query_params.pop(STEP, None)
    st.rerun()


def counter_of(distributor: DistributorName, person: Person) -> Counter:
    return Counter(distributor_id=distributor.id, is_live=frame.mode(), person=person)


def ask_loan(sellers: Sequence[DistributorName], person: Person, *, locked: bool) -> Loan | None:
    """Return the loan as entered, without its figures when a value is invalid; None where nobody sells such a cover."""
    distributor = selling.choice("On behalf of", sellers, SELLER, lambda seller: seller.name, locked=locked)
    if distributor and not locked:
        known_customer.draw_chosen(counter_of(distributor, person))
    product = ask_product(distributor, person, locked=locked) if distributor else None
    shown = product or find_example([distributor] if distributor else sellers, person)
    if shown is None:
        st.warning(
            f"{'This distributor has no' if distributor else 'No distributor has a'} credit life product. An"
            " administrator can switch one on."
        )
        return None
    figures = ask_figures(shown, locked=locked)
    chosen = {"on whose behalf": distributor, PRODUCT: product, "the loan amount": st.session_state.get("amount")}
    missing = [name for name, value in chosen.items() if not value]
    return Loan(distributor=distributor, product=shown, figures=figures, missing=missing)


def ask_product(distributor: DistributorName, person: Person, *, locked: bool) -> ProductForSale | None:
    offered = sorted(selling.list_products(counter_of(distributor, person), CREDIT_LIFE), key=by_basis)
    return selling.choice("Product", offered, "plan", lambda sold: sold.name, locked=locked) if offered else None


def by_basis(product: ProductForSale) -> int:
    return BASES.index(basis_of(product.rates))


def draw() -> None:
    person = frame.require("operations")
    frame.page_header("Credit life", "See what the cover of a loan costs and why, then sell it with the same figures.")
    receipts.follow()
    sellers = read_in(frame.scope(), distributors.list_active)
    step = st.query_params.get(STEP)
    unfinished, held = st.container(), None
    if not sellers:
        selling.show(person)
    elif step == DETAILS:
        sale = buy(sellers, person)
        held = sale_drafts.get_held(sale.form, sale.counter)
    else:
        explore(sellers, person)
    # Last, so that it has what the form has just stored.
    with unfinished:
        draw_unfinished(person, sellers, {CREDIT_LIFE.key}, but=held, is_open=step != DETAILS)
