"""Credit life: the price of a loan's cover with its calculation, and its sale with the same figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NoReturn

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.covers.credit_life import BASES, CREDIT_LIFE
from core.services.catalogue import distributors
from core.services.catalogue.distributors import DistributorName
from core.services.catalogue.products import ProductForSale
from core.services.people.staff import Person
from core.store.access import reading
from core.ui.buying import checkout, draft_list, receipts, sale_drafts, selling
from core.ui.buying.checkout import Checkout
from core.ui.buying.price_curves import Figures, basis_of
from core.ui.buying.price_panel import DETAILS, SELLER, STEP, ask_figures, show_curve, show_price, summary
from core.ui.buying.selling import Counter
from core.ui.frame import frame
from core.ui.kit import words

KEY = "credit_life"
EXAMPLE_AMOUNT, EXAMPLE_TENURE = Decimal(100_000), 12


@dataclass(frozen=True, kw_only=True)
class Loan:
    """The figures to price: distributor, product and loan."""

    distributor: DistributorName
    product: ProductForSale
    figures: Figures


def explore(sellers: Sequence[DistributorName], person: Person) -> None:
    grid = st.grid(2, min_column_width=340, gap="medium")
    with grid.container(border=True):
        st.subheader("The loan", anchor=False)
        loan = ask_loan(sellers, person, locked=False)
    if loan is None:
        if st.session_state.get("amount"):
            grid.info("Correct the loan to see what its cover costs, and why.", icon=":material/calculate:")
        else:
            draw_example(sellers, grid.container(), person)
        return
    with grid.container():
        show_price(loan.product, loan.figures)
        st.button("Buy with these figures", type="primary", icon=":material/shopping_cart:", on_click=begin)
    show_curve(loan.product, loan.figures)


def draw_example(sellers: Sequence[DistributorName], place: DeltaGenerator, person: Person) -> None:
    """Draw the price of a usual loan while none is entered, so that the screen shows what it is for."""
    chosen = st.session_state.get("plan")
    shelf = (
        product for seller in sellers for product in selling.list_products(counter_of(seller, person), CREDIT_LIFE)
    )
    product = chosen if isinstance(chosen, ProductForSale) else next(iter(sorted(shelf, key=by_basis)), None)
    if product is None:
        return
    figures = Figures(amount=EXAMPLE_AMOUNT, tenure=EXAMPLE_TENURE, benefits=tuple(product.rates.meta["shares"]))
    with place:
        st.markdown(
            f":material/lightbulb: **An example**: {words.naira_of(figures.amount)} over {figures.tenure} months,"
            f" {words.plain(product.name)}. Choose the distributor and the product and enter the loan to see its price."
        )
        show_price(product, figures)
    show_curve(product, figures)


def buy(sellers: Sequence[DistributorName], person: Person) -> Checkout:
    with st.container(border=True):
        line = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute")
        # The figures stay on the page, locked, so that they keep their widget state and their place in the URL.
        with st.expander("The figures", icon=":material/lock:"):
            loan = ask_loan(sellers, person, locked=True)
        if loan is None:
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
    checkout.run(sale)
    return sale


def begin() -> None:
    st.query_params[STEP] = DETAILS


def leave() -> NoReturn:
    st.query_params.pop(STEP, None)
    st.rerun()


def counter_of(distributor: DistributorName, person: Person) -> Counter:
    return Counter(distributor_id=distributor.id, is_live=frame.mode(), person=person)


def ask_loan(sellers: Sequence[DistributorName], person: Person, *, locked: bool) -> Loan | None:
    """Return the loan as entered; None without an amount or when a value is invalid."""
    distributor = selling.choice("On behalf of", sellers, SELLER, lambda seller: seller.name, locked=locked)
    if distributor is None:
        return None
    offered = sorted(selling.list_products(counter_of(distributor, person), CREDIT_LIFE), key=by_basis)
    if not offered:
        st.warning("This distributor has no credit life product. An administrator can switch one on.")
        return None
    product = selling.choice("Product", offered, "plan", lambda sold: sold.name, locked=locked)
    if product is None:
        return None
    figures = ask_figures(product, locked=locked)
    return Loan(distributor=distributor, product=product, figures=figures) if figures else None


def by_basis(product: ProductForSale) -> int:
    return BASES.index(basis_of(product.rates))


def draw() -> None:
    person = frame.require("operations")
    frame.page_header("Credit life", "See what the cover of a loan costs and why, then sell it with the same figures.")
    receipts.follow()
    with reading(frame.scope()) as session:
        sellers = distributors.list_active(session)
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
        draft_list.draw(person, sellers, {CREDIT_LIFE.key}, but=held, is_open=step != DETAILS)
