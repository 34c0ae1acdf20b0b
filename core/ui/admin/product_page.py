"""What the screens of one product share: finding it by the address, and saying what is about to change."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import streamlit as st

from core import ids
from core.errors import InvalidInput, NotFound
from core.services.products import detail as product_detail
from core.services.products import rate_changes
from core.services.products.detail import ProductDetail, RatesFrom
from core.store.access.engine import reading
from core.ui.admin.product_words import Difference
from core.ui.kit import facts, frame, words

# The product whose change was confirmed: until the form is opened anew, its address leads back to the product.
# A second click may arrive when the first has closed the form already, and must find the same way.
DONE = "product.done"
FORM = "rates"


def say_floor() -> None:
    """What commissions must leave to the insurer, and who decides."""
    st.caption(
        f"Other rates hold from tomorrow at the earliest, once another admin has confirmed them. Commissions together"
        f" must leave the insurer at least {rate_changes.floor().normalize():f} % of the premium."
    )


def open_form() -> None:
    """Begin a change of rates, as the callback of its button: what an earlier one left is gone."""
    st.session_state.pop(DONE, None)
    st.session_state.pop(f"{FORM}.of", None)


def asked() -> ProductDetail | None:
    """The product of the address; when there is none, say so."""
    try:
        return now(ids.parse(st.query_params.get("id", "")))
    except InvalidInput:
        st.error("The address names no product: its id has to be a UUID.", icon=":material/link_off:")
    except NotFound as error:
        st.error(f"{error}.", icon=":material/search_off:")
    return None


def now(product_id: UUID) -> ProductDetail:
    """The product as it is now."""
    with reading(frame.scope()) as session:
        return product_detail.one(session, product_id)


def query(product: ProductDetail) -> dict[str, str]:
    """What an address carries to lead to the product."""
    return {"id": str(product.id), **frame.mode_query()}


def way_back(product: ProductDetail) -> None:
    """From the form back to the product; nothing is written."""
    st.page_link(
        "admin/product.py", label="Back without a change", icon=":material/arrow_back:", query_params=query(product)
    )


def say_start(product: ProductDetail, start: RatesFrom) -> None:
    """Which rates the form starts from, and what is planned already."""
    for version in product.planned:
        st.warning(
            f"A change is planned from {words.moment(version.effective_at)} on. It takes the place of yours then,"
            " unless it is withdrawn or yours begins later.",
            icon=":material/event_upcoming:",
        )
    if start.state == "Planned":
        st.caption(f"The form starts with the rates that are planned from {words.moment(start.effective_at)} on.")


def say_untouched(meta: Mapping[str, Any]) -> None:
    """What the product says beside its figures."""
    if meta:
        with st.expander("Kept as it is", icon=":material/lock:"):
            for name, value in meta.items():
                facts.line(words.title(name), value if isinstance(value, str) else ", ".join(map(str, value)))
            st.json(dict(meta), expanded=False)


def say_changes(changes: Sequence[Difference]) -> None:
    """What changes, figure by figure."""
    st.subheader("What changes", anchor=False)
    if not changes:
        st.caption("Nothing yet: these are the rates that hold at that time.")
        return
    table(changes, "Until then", "From then on")


def table(changes: Sequence[Difference], before: str, after: str) -> None:
    """Figures that differ, side by side."""
    rows = [
        {"Figure": words.plain(one.label), before: words.plain(one.before), after: f"**{words.plain(one.after)}**"}
        for one in changes
    ]
    st.table(rows, border="horizontal", hide_index=True, alt=f"Figures that change: {before}, {after}")
