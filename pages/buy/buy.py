"""Buy: every cover except credit life, sold for a distributor with the form that its endpoint declares."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.covers.cover import Cover
from core.covers.credit_life import CREDIT_LIFE
from core.covers.registry import COVERS
from core.services.distributors import distributors
from core.services.distributors.distributors import DistributorName
from core.services.products.products import ProductForSale
from core.services.selling.drafts import Draft
from core.store.access import reading
from core.ui.buying import checkout, known_customer, receipts, sale_drafts, selling
from core.ui.buying.checkout import Checkout
from core.ui.buying.selling import Counter
from core.ui.frame import frame
from core.ui.kit import words

Offer = tuple[Cover[Any], ProductForSale]


def choose(sellers: Sequence[DistributorName]) -> Checkout | None:
    """Return the sale defined by the three choices; None while one is missing, which is said."""
    with choices:
        distributor = selling.choice("On behalf of", sellers, "on_behalf_of", lambda seller: seller.name)
        if distributor is None:
            draw_drafts(sellers)
            return None
        counter = Counter(distributor_id=distributor.id, is_live=frame.mode(), person=person)
        offers = [offer for offer in selling.shelf(counter) if offer[0] is not CREDIT_LIFE]
        if not offers:
            st.warning("This distributor has nothing to sell here. An administrator can switch products on.")
            return None
        named = {title(offer): offer for offer in offers}
        covered = selling.choice("Cover and insurer", list(named), "cover", str)
        if covered is None:
            draw_drafts(sellers)
            with whom:
                known_customer.draw_first(counter)
            return None
        cover = named[covered][0]
        ours = [product for other, product in offers if other is cover]
        product = selling.choice("Product", ours, "sold", lambda product: product.name)
    if product is None:
        return None
    return Checkout(key=f"buy {cover.key}", cover=cover, product=product, counter=counter)


def draw_drafts(sellers: Sequence[DistributorName]) -> None:
    """Draw the person's unfinished sales, each to be continued or discarded."""
    covers = {cover.key: cover for cover in COVERS if cover is not CREDIT_LIFE}
    for draft in sale_drafts.list_mine(frame.mode(), person):
        seller = next((seller for seller in sellers if seller.id == draft.distributor_id), None)
        if draft.cover not in covers or seller is None:
            continue
        with place.container(border=True, horizontal=True, vertical_alignment="center"):
            name = " ".join(str(draft.values.get(part, "")) for part in ("first_name", "last_name")).strip()
            whom = words.plain(", ".join(filter(None, (seller.name, name))))
            st.markdown(
                f":material/bookmark: **{words.plain(covers[draft.cover].title)}** for {whom},"
                f" kept {words.moment(draft.updated_at)}",
                width="stretch",
            )
            st.button("Continue", key=f"continue {draft.cover}", on_click=resume, args=(draft, seller))
            st.button(
                "Discard",
                key=f"discard {draft.cover}",
                type="tertiary",
                on_click=sale_drafts.discard,
                args=(None, draft.cover, frame.mode(), person),
            )


def resume(draft: Draft, seller: DistributorName) -> None:
    """Choose what the draft was for; its form is filled when it opens."""
    counter = Counter(distributor_id=seller.id, is_live=frame.mode(), person=person)
    for cover, product in selling.shelf(counter):
        if cover.key == draft.cover and product.id == draft.product_id:
            st.session_state["on_behalf_of"] = seller
            st.session_state["cover"] = title((cover, product))
            st.session_state["sold"] = product


def title(offer: Offer) -> str:
    cover, product = offer
    return f"{cover.title}, {product.provider_name}"


person = frame.require("operations")
frame.page_header("Buy", "Sell any cover but credit life: for whom, what, to whom; look at the price and confirm once.")
with reading(frame.scope()) as session:
    sellers = distributors.list_active(session)
if not sellers:
    selling.show(person)
    st.stop()
place = st.container(gap="xsmall")
choices = st.grid(3, min_column_width=220, gap="small")
whom = st.container(gap="xsmall")
sale = choose(sellers)
if sale is None:
    st.caption("Choose for whom you sell, then the cover and the product.")
elif receipt := checkout.receipt_of(sale.key):
    receipts.show(sale.key, receipt, sale.counter)
else:
    if customer := known_customer.take_chosen(sale.counter):
        known_customer.fill(sale.form, customer)
    checkout.run(sale)
