"""Buy: every cover except credit life, sold for a distributor with the form that its endpoint declares."""

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.covers.credit_life import CREDIT_LIFE
from core.covers.registry import COVERS
from core.services.catalogue import distributors
from core.services.catalogue.distributors import DistributorName
from core.services.people.staff import Person
from core.store.access import reading
from core.ui.buying import known_customer, receipts, sale_drafts, selling
from core.ui.buying.selling import Counter
from core.ui.frame import frame
from pages.buy import _checkout as checkout
from pages.buy import _unfinished
from pages.buy._checkout import Checkout


def choose(
    sellers: Sequence[DistributorName], choices: DeltaGenerator, person: Person, whom: DeltaGenerator
) -> Checkout | None:
    """Return the sale defined by the three choices; None while one is missing, which is said."""
    with choices:
        distributor = selling.choice("On behalf of", sellers, "on_behalf_of", lambda seller: seller.name)
        if distributor is None:
            return None
        counter = Counter(distributor_id=distributor.id, is_live=frame.mode(), person=person)
        offers = [offer for offer in selling.shelf(counter) if offer[0] is not CREDIT_LIFE]
        if not offers:
            st.warning("This distributor has nothing to sell here. An administrator can switch products on.")
            return None
        named = {selling.title_of(*offer): offer for offer in offers}
        covered = selling.choice("Cover and insurer", list(named), "cover", str)
        if covered is None:
            with whom:
                known_customer.draw_first(counter)
            return None
        cover = named[covered][0]
        ours = [product for other, product in offers if other is cover]
        product = selling.choice("Product", ours, "sold", lambda product: product.name)
    if product is None:
        return None
    query = {"on_behalf_of": distributor.name, "cover": covered, "sold": product.name}
    return Checkout(
        key=f"buy {cover.key}", page="buy/buy.py", query=query, cover=cover, product=product, counter=counter
    )


def draw() -> None:
    person = frame.require("operations")
    frame.page_header("Buy", "Sell any cover: choose it, fill it in, check the price, confirm.")
    receipts.follow()
    with reading(frame.scope()) as session:
        sellers = distributors.list_active(session)
    if not sellers:
        selling.show(person)
        return
    unfinished = st.container()
    choices = st.grid(3, min_column_width=220, gap="small")
    whom = st.container(gap="xsmall")
    sale = choose(sellers, choices, person, whom)
    if sale is None:
        st.caption("Choose the distributor on whose behalf you sell, then the cover and the product.")
    else:
        if customer := known_customer.take_chosen(sale.counter):
            sale_drafts.begin_another(sale.form)
            known_customer.fill(sale.form, customer)
        checkout.run(sale)
    # Last, so that it has what the form has just stored.
    with unfinished:
        held = sale_drafts.get_held(sale.form, sale.counter) if sale else None
        _unfinished.draw(person, sellers, {cover.key for cover in COVERS}, but=held, is_open=sale is None)
