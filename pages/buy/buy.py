"""Buy: every cover except credit life, sold for a distributor with the form that its endpoint declares."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.covers.cover import Cover
from core.covers.credit_life import CREDIT_LIFE
from core.services.distributors import distributors
from core.services.distributors.distributors import DistributorName
from core.services.products.products import ProductForSale
from core.store.access import reading
from core.ui.buying import checkout, selling
from core.ui.buying.checkout import Checkout
from core.ui.buying.selling import Counter
from core.ui.kit import frame

Offer = tuple[Cover[Any], ProductForSale]


def choose(sellers: Sequence[DistributorName]) -> Checkout | None:
    """Return the sale defined by the three choices; None if the distributor has nothing to sell here."""
    with st.grid(3, min_column_width=220, gap="small"):
        distributor = st.selectbox(
            "On behalf of", sellers, format_func=lambda seller: seller.name, key="on_behalf_of", bind="query-params"
        )
        counter = Counter(distributor_id=distributor.id, is_live=frame.mode(), person=person)
        offers = [offer for offer in selling.shelf(counter) if offer[0] is not CREDIT_LIFE]
        if not offers:
            return None
        named = {title(offer): offer for offer in offers}
        cover = named[st.selectbox("Cover and insurer", list(named), key="cover", bind="query-params")][0]
        ours = [product for other, product in offers if other is cover]
        product = st.selectbox(
            "Product", ours, format_func=lambda product: product.name, key="sold", bind="query-params"
        )
    return Checkout(key=f"buy {cover.key}", cover=cover, product=product, counter=counter)


def title(offer: Offer) -> str:
    cover, product = offer
    return f"{cover.title}, {product.provider_name}"


person = frame.require("operations")
frame.page_header("Buy", "Sell any other cover: choose it, fill in its form, look at the price, confirm once.")
with reading(frame.scope()) as session:
    sellers = distributors.list_active(session)
if not sellers:
    selling.show(person)
    st.stop()
sale = choose(sellers)
if sale is None:
    st.warning("This distributor has nothing to sell here. An administrator can switch products on.")
elif receipt := checkout.receipt_of(sale.key):
    checkout.show_receipt(sale.key, receipt)
else:
    checkout.run(sale)
