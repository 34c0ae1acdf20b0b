"""Buy: every cover except credit life, offered by insurer and price, and sold with the form of its endpoint."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core import clock
from core.covers.cover import Cover
from core.covers.credit_life import CREDIT_LIFE
from core.covers.registry import COVERS
from core.services.catalogue import distributors
from core.services.catalogue.distributors import DistributorName
from core.services.catalogue.for_sale import ProductForSale
from core.services.lists.dimensions import load_choices
from core.services.lists.paging import Paging
from core.services.lists.windows import open_days
from core.services.people.staff import Person
from core.services.sales import purchases
from core.services.sales.purchases import PurchaseFilter
from core.store.access import read_in, reading
from core.ui.buying import known_customer, prices, receipts, sale_drafts, selling
from core.ui.buying.selling import Counter
from core.ui.frame import frame, page_links
from core.ui.kit import url_state, words
from pages.buy._shared import Checkout, draw_unfinished, run_checkout

BUY, CREDIT, PURCHASE = "buy/buy.py", "buy/credit_life.py", "sales/purchases.py#purchase"
FIND: Final = "find"
_RECENT, _RECENT_DAYS = 5, 30
_COLOURS: Final = ("green", "blue", "violet", "orange", "red", "gray", "yellow")
Offer = tuple[Cover[Any], ProductForSale]


def draw_window(offers: Sequence[Offer], seller: DistributorName | None) -> DeltaGenerator:
    """Draw a card for each insurer with the covers on offer, as far as the search goes; return the place beside them.

    A cover leads to its form, or to the question on whose behalf it is sold.
    """
    text = st.query_params.get(FIND, "")
    url_state.search_box(FIND, "Find a cover", text=text, placeholder="Cover or insurer, such as motor or travel")
    shown = _group(offers, text)
    if not shown:
        st.info(f"No cover on sale is called “{words.plain(text[:60])}”.", icon=":material/search_off:")
        st.button("Show all covers", on_click=url_state.change, args=({FIND: []},))
    # Cards of their own heights in columns, as look.css has them.
    with st.container(key="shop_window"):
        for place, (insurer, covers) in enumerate(shown.items()):
            with st.container(border=True, gap="xsmall"):
                initials = "".join(word[:1] for word in insurer.split()[:2]).upper()
                colour = _COLOURS[place % len(_COLOURS)]
                st.markdown(f":{colour}-badge[{words.plain(initials)}] **{words.plain(insurer)}**")
                for cover, sold in covers:
                    _draw_cover(cover, sold, seller)
        with st.container(gap="small"):
            beside = st.container()
            _draw_recent()
    return beside


def _group(offers: Sequence[Offer], text: str) -> Mapping[str, Sequence[tuple[Cover[Any], Sequence[ProductForSale]]]]:
    """Return by insurer the covers that match every word of a text, each with its products."""
    covers: dict[str, dict[str, tuple[Cover[Any], list[ProductForSale]]]] = {}
    sought = text.casefold().split()
    for cover, product in offers:
        named = f"{cover.title} {product.name} {product.provider_name} {cover.route}".casefold()
        if all(word in named for word in sought):
            of_insurer = covers.setdefault(product.provider_name, {})
            of_insurer.setdefault(cover.key, (cover, []))[1].append(product)
    return {
        insurer: sorted(covers[insurer].values(), key=lambda each: each[0].title.casefold())
        for insurer in sorted(covers, key=str.casefold)
    }


def _draw_cover(cover: Cover[Any], sold: Sequence[ProductForSale], seller: DistributorName | None) -> None:
    query: dict[str, str] = {} if seller is None else {"on_behalf_of": seller.name}
    page = CREDIT if cover is CREDIT_LIFE else BUY
    if cover is CREDIT_LIFE:
        query = {} if seller is None else {"seller": seller.name}
        if seller is not None and len(sold) == 1:
            query["plan"] = sold[0].name
    else:
        query["cover"] = selling.title_of(cover, sold[0])
        if len(sold) == 1:
            query["sold"] = sold[0].name
    with st.container(gap=None):
        # A link to the page on which it stands would not change the address, so that Back would leave the window.
        if st.button(
            f"**{words.plain(cover.title)}**",
            key=f"window {cover.prefix} {cover.route} {sold[0].id}",
            icon=":material/shopping_cart:",
            type="tertiary",
        ):
            page_links.go(page, replaces=False, **query)
        number = "number at once" if cover.initial_state.active else "number when accepted"
        st.caption(f"{describe_price(cover, sold)} · {number}")


def describe_price(cover: Cover[Any], sold: Sequence[ProductForSale]) -> str:
    """Return from which price a cover is sold: the lowest of its prices and of its rates, as Products has them."""
    if cover is CREDIT_LIFE:
        return "priced by loan, tenure and benefits"
    amounts = [amount for product in sold for amount in prices.list_amounts(product.rates)]
    shares = [product.rates.price for product in sold if product.rates.dynamic]
    share = f"{min(shares).normalize():f} % of the value" if shares else ""
    if not amounts:
        return f"from {share}"
    return " or ".join(filter(None, (prices.from_lowest(amounts), share)))


def _draw_recent() -> None:
    """Draw what was sold at this desk last, each leading to its purchase."""
    since = open_days(clock.add_days(clock.today(), -_RECENT_DAYS), None)
    wanted = PurchaseFilter(created=since, request_sources=("desk",))
    with reading(frame.scope()) as session:
        names, shown = load_choices(session), ("product", "customer", "sold")
        rows = purchases.PURCHASES.read_page(session, wanted, names, shown=shown, paging=Paging(1, _RECENT))
    with st.container(border=True, gap="xsmall"):
        st.markdown("**Recently sold here**")
        for row in rows:
            with st.container(gap=None):
                page_links.link(PURCHASE, label=words.plain(row["customer"]), query_params={"id": str(row.id)})
                st.caption(f"{words.plain(row['product'])} · {words.moment(row['sold'])}")
        if not rows:
            st.caption(f"Nothing in the last {_RECENT_DAYS} days.")


@dataclass(frozen=True, slots=True)
class Choice:
    """The choices made so far of a sale that is not defined yet; `offers` are the products that they leave."""

    counter: Counter | None = None
    seller: DistributorName | None = None
    is_covered: bool = False
    is_empty: bool = False
    offers: Sequence[Offer] = ()


def choose(sellers: Sequence[DistributorName], person: Person) -> Checkout | Choice:
    """Return the sale defined by the three choices, or what of them is made while one is missing, which is said."""
    distributor = selling.choice("On behalf of", sellers, "on_behalf_of", lambda seller: seller.name)
    if distributor is None:
        # Of the shop window or a link: it stays in the address until the distributor is chosen.
        every = selling.list_offers(None)
        titles = {selling.title_of(*offer): None for offer in every if offer[0] is not CREDIT_LIFE}
        wanted = st.query_params.get("cover")
        covered = selling.choice("Cover and insurer", list(titles), "cover", str) if wanted else None
        return Choice(is_covered=covered is not None, offers=every)
    counter = Counter(distributor_id=distributor.id, is_live=frame.mode(), person=person)
    every = selling.list_offers(counter)
    offers = [offer for offer in every if offer[0] is not CREDIT_LIFE]
    if not offers:
        st.warning("This distributor has nothing to sell here. An administrator can switch products on.")
        return Choice(counter, distributor, is_empty=True)
    named = {selling.title_of(*offer): offer for offer in offers}
    covered = selling.choice("Cover and insurer", list(named), "cover", str)
    if covered is None:
        return Choice(counter, distributor, offers=every)
    cover = named[covered][0]
    ours = [offer for offer in offers if offer[0] is cover]
    product = selling.choice("Product", [product for _, product in ours], "sold", lambda product: product.name)
    if product is None:
        return Choice(counter, distributor, is_covered=True, offers=ours)
    query = {"on_behalf_of": distributor.name, "cover": covered, "sold": product.name}
    return Checkout(
        key=f"buy {cover.key}", page="buy/buy.py", query=query, cover=cover, product=product, counter=counter
    )


def draw() -> None:
    person = frame.require("operations")
    frame.page_header("Buy", "Sell any cover: choose it, fill it in, check the price, confirm.")
    receipts.follow()
    sellers = read_in(frame.scope(), distributors.list_active)
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
        run_checkout(sale)
    else:
        unfinished = draw_missing(sale) or unfinished
    # Last, so that it has what the form has just stored.
    with unfinished:
        held = sale_drafts.get_held(sale.form, sale.counter) if isinstance(sale, Checkout) else None
        covers = {cover.key for cover in COVERS}
        draw_unfinished(person, sellers, covers, but=held, is_open=not isinstance(sale, Checkout))


def draw_missing(made: Choice) -> DeltaGenerator | None:
    """Draw the shop window while no cover is chosen, and return the place beside it; otherwise what is missing."""
    if made.is_empty:
        return None
    if made.is_covered:
        if made.counter is None:
            st.caption("Choose the distributor on whose behalf you sell it.")
        else:
            known_customer.draw_chosen(made.counter)
            _draw_products(made.offers)
        return None
    if made.counter is not None:
        known_customer.draw_first(made.counter)
    st.caption(
        "Choose a cover." if made.counter else "Choose a cover, and the distributor on whose behalf you sell it."
    )
    return draw_window(made.offers, made.seller)


def _draw_products(offers: Sequence[Offer]) -> None:
    """Draw the products of a cover, each with its price, as the choice above has their names alone."""
    st.caption("Choose the product.")
    grid = st.grid(3, min_column_width=235, gap="small")
    for cover, product in offers:
        with grid.container(border=True, height="stretch", gap=None):
            st.button(
                f"**{words.plain(product.name)}**",
                key=f"offer {product.id}",
                icon=":material/shopping_cart:",
                type="tertiary",
                on_click=st.session_state.update,
                args=({"sold": product},),
            )
            st.caption(describe_price(cover, [product]))
