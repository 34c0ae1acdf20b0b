"""Parts shared by the screens of one product: lookup by the URL, and display of pending changes."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import streamlit as st

from core import ids
from core.errors import InvalidInput, NotFound
from core.services.products import detail as product_detail
from core.services.products import rate_changes
from core.services.products.detail import ProductDetail, RatesVersion
from core.store.access import reading
from core.ui.admin.product_words import Difference
from core.ui.kit import facts, frame, words

# The product whose change was confirmed: until the form is opened again, its URL redirects to the product. A second
# click may arrive after the first has closed the form, and must be redirected too.
DONE = "product.done"
FORM = "rates"


def say_floor() -> None:
    """Show the minimum share that commissions must leave to the insurer, and who decides on changes."""
    st.caption(
        f"Other rates hold from tomorrow at the earliest, once another admin has confirmed them. Commissions together"
        f" must leave the insurer at least {rate_changes.floor().normalize():f} % of the premium."
    )


def open_form() -> None:
    """Begin a change of rates, as the callback of its button; clears earlier input."""
    st.session_state.pop(DONE, None)
    st.session_state.pop(f"{FORM}.of", None)


def asked() -> ProductDetail | None:
    """Return the product named in the URL; if there is none, show a message and return None."""
    try:
        return now(ids.parse(st.query_params.get("id", "")))
    except InvalidInput:
        st.error("The address names no product: its id has to be a UUID.", icon=":material/link_off:")
    except NotFound as error:
        st.error(f"{error}.", icon=":material/search_off:")
    return None


def now(product_id: UUID) -> ProductDetail:
    """Return the current state of the product."""
    with reading(frame.scope()) as session:
        return product_detail.get_product(session, product_id)


def query(product: ProductDetail) -> dict[str, str]:
    """Return the query parameters of the product's page."""
    return {"id": str(product.id), **frame.mode_query()}


def way_back(product: ProductDetail) -> None:
    """Draw the link from the form back to the product; nothing is written."""
    st.page_link(
        "admin/product.py", label="Back without a change", icon=":material/arrow_back:", query_params=query(product)
    )


def say_start(product: ProductDetail, start: RatesVersion) -> None:
    """Show the rates that the form starts from, and any planned change."""
    for version in product.planned:
        st.warning(
            f"A change is planned from {words.moment(version.effective_at)} on. It takes the place of yours then,"
            " unless it is withdrawn or yours begins later.",
            icon=":material/event_upcoming:",
        )
    if start.state == "Planned":
        st.caption(f"The form starts with the rates that are planned from {words.moment(start.effective_at)} on.")


def say_untouched(meta: Mapping[str, Any]) -> None:
    """Show the product's other parameters, which the form does not change."""
    if meta:
        with st.expander("Kept as it is", icon=":material/lock:"):
            for name, value in meta.items():
                facts.line(words.title(name), value if isinstance(value, str) else ", ".join(map(str, value)))
            st.json(dict(meta), expanded=False)


def say_changes(changes: Sequence[Difference]) -> None:
    """Show the changes, figure by figure."""
    st.subheader("What changes", anchor=False)
    if not changes:
        st.caption("Nothing yet: these are the rates that hold at that time.")
        return
    table(changes, "Until then", "From then on")


def table(changes: Sequence[Difference], before: str, after: str) -> None:
    """Draw a table of the figures that differ."""
    rows = [
        {"Figure": words.plain(one.label), before: words.plain(one.before), after: f"**{words.plain(one.after)}**"}
        for one in changes
    ]
    st.table(rows, border="horizontal", hide_index=True, alt=f"Figures that change: {before}, {after}")
