"""Buy: every cover except credit life, sold for a distributor with the form that its endpoint declares."""

from collections.abc import Sequence
from dataclasses import dataclass

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
from pages.buy import _unfinished, _window
from pages.buy._checkout import Checkout


@dataclass(frozen=True, slots=True)
class Choice:
    """The choices made so far of a sale that is not defined yet."""

    counter: Counter | None = None
    seller: DistributorName | None = None
    is_covered: bool = False
    is_empty: bool = False


def choose(sellers: Sequence[DistributorName], person: Person) -> Checkout | Choice:
    """Return the sale defined by the three choices, or what of them is made while one is missing, which is said."""
    distributor = selling.choice("On behalf of", sellers, "on_behalf_of", lambda seller: seller.name)
    if distributor is None:
        # Of the shop window or a link: it stays in the address until the distributor is chosen.
        titles = {selling.title_of(*offer): None for offer in _window.list_offers(None) if offer[0] is not CREDIT_LIFE}
        wanted = st.query_params.get("cover")
        covered = selling.choice("Cover and insurer", list(titles), "cover", str) if wanted else None
        return Choice(is_covered=covered is not None)
    counter = Counter(distributor_id=distributor.id, is_live=frame.mode(), person=person)
    offers = [offer for offer in selling.shelf(counter) if offer[0] is not CREDIT_LIFE]
    if not offers:
        st.warning("This distributor has nothing to sell here. An administrator can switch products on.")
        return Choice(counter, distributor, is_empty=True)
    named = {selling.title_of(*offer): offer for offer in offers}
    covered = selling.choice("Cover and insurer", list(named), "cover", str)
    if covered is None:
        return Choice(counter, distributor)
    cover = named[covered][0]
    ours = [product for other, product in offers if other is cover]
    product = selling.choice("Product", ours, "sold", lambda product: product.name)
    if product is None:
        return Choice(counter, distributor, is_covered=True)
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
    with st.grid(3, min_column_width=220, gap="small"):
        sale = choose(sellers, person)
    if isinstance(sale, Checkout):
        if customer := known_customer.take_chosen(sale.counter):
            sale_drafts.begin_another(sale.form)
            known_customer.fill(sale.form, customer)
        checkout.run(sale)
    else:
        unfinished = draw_missing(sale) or unfinished
    # Last, so that it has what the form has just stored.
    with unfinished:
        held = sale_drafts.get_held(sale.form, sale.counter) if isinstance(sale, Checkout) else None
        covers = {cover.key for cover in COVERS}
        _unfinished.draw(person, sellers, covers, but=held, is_open=not isinstance(sale, Checkout))


def draw_missing(made: Choice) -> DeltaGenerator | None:
    """Draw the shop window while no cover is chosen, and return the place beside it; otherwise say what is missing."""
    if made.is_covered:
        st.caption("Choose the product." if made.seller else "Choose the distributor on whose behalf you sell it.")
        return None
    if made.is_empty:
        return None
    if made.counter is not None:
        known_customer.draw_first(made.counter)
    st.caption("Choose a cover, and the distributor on whose behalf you sell it.")
    return _window.draw(made.counter, made.seller)
