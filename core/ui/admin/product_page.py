"""Parts shared by the screens of one product: lookup by the URL, and display of pending changes."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import streamlit as st

from core.services.catalogue import changes, product_detail, rate_changes
from core.services.catalogue.product_detail import ProductDetail, RatesVersion
from core.store.access import reading
from core.ui.admin.desk import action
from core.ui.admin.product_words import Difference
from core.ui.frame import frame, page_links
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Action, Text

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


def now(product_id: UUID) -> ProductDetail:
    """Return the current state of the product."""
    with reading(frame.scope()) as session:
        return product_detail.get_product(session, product_id)


def query(product: ProductDetail) -> dict[str, str]:
    """Return the query parameters of the product's page."""
    return {"id": str(product.id), **frame.mode_query()}


def way_back(product: ProductDetail) -> None:
    """Draw the link from the form back to the product; nothing is written."""
    page_links.link(
        "admin/product.py", label="Back without a change", icon=":material/arrow_back:", query_params=query(product)
    )


def say_start(product: ProductDetail, start: RatesVersion) -> None:
    """Show the rates that the form starts from, and any planned change."""
    for version in product.planned_changes:
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


_KEY = "texts"
_PREFIX = f"{_KEY}."
_FIELDS = {
    "description": ("Description", 2000, 110),
    "key_benefits": ("Key benefits (HTML: p, br, ul, ol, li, b, strong, i, em, a)", 5000, 150),
    "how_it_works": ("How it works (optional)", 4000, 110),
    "how_to_claim": ("How to claim (optional)", 4000, 110),
}
CHANGED = (
    "Somebody else changed this product while you had it open. Nothing of yours was written, and all that you typed is"
    " still here: "
)


def _saving(product: ProductDetail, seen: int) -> Action:
    """Return the action that saves the texts over the version that was seen."""
    return action(
        title="Save the texts",
        icon="save",
        fields=[
            Text(name, label, longest=longest, height=height, is_long=True, is_live=True)
            for name, (label, longest, height) in _FIELDS.items()
        ],
        work=lambda session, typed, by: changes.change_texts(session, product.id, typed, seen_version=seen, by=by),
        done=f"The texts of {product.name} are saved.",
        then=lambda _: st.session_state.pop(f"{_KEY}.of"),
        on_stale=lambda: _look_again(product.id),
    )


def _look_again(product_id: UUID) -> None:
    st.session_state[f"{_KEY}.seen"] = now(product_id).version
    actions.refuse(_KEY, f"{CHANGED}save it again to let it stand.")


def draw(product: ProductDetail) -> None:
    """Draw the form on the left and the preview on the right."""
    # Streamlit drops the fields when the person has left the page.
    if st.session_state.get(f"{_KEY}.of") != product.id or f"{_KEY}.description" not in st.session_state:
        _begin(product)
    save = _saving(product, st.session_state[f"{_KEY}.seen"])
    grid = st.grid(2, min_column_width=330, gap="medium")
    with grid.container():
        actions.draw_fields(save, _KEY, _PREFIX)
    with grid.container(border=True):
        st.caption("As customers see it")
        _shown()
    actions.complain(_KEY, *_FIELDS)
    changed = any(st.session_state[_PREFIX + name] != (getattr(product, name) or "") for name in _FIELDS)
    st.button(
        save.title,
        type="primary",
        icon=":material/save:",
        disabled=not changed,
        on_click=save.do,
        args=(_KEY, _PREFIX),
    )


def _begin(product: ProductDetail) -> None:
    for name in _FIELDS:
        st.session_state[f"{_KEY}.{name}"] = getattr(product, name) or ""
    st.session_state[f"{_KEY}.of"], st.session_state[f"{_KEY}.seen"] = product.id, product.version
    actions.forget(_KEY)


def _shown() -> None:
    _as_customers_see({name: st.session_state[f"{_KEY}.{name}"] for name in _FIELDS})


def show(product: ProductDetail) -> None:
    """Show the texts as customers see them, for those who may not change them."""
    with st.container(border=True):
        _as_customers_see({name: getattr(product, name) or "" for name in _FIELDS})


def _as_customers_see(texts: Mapping[str, str]) -> None:
    st.text(texts["description"])
    html = changes.sanitise_html(texts["key_benefits"])
    if html.strip():
        st.html(html)
    for name in ("how_it_works", "how_to_claim"):
        if texts[name]:
            st.markdown(f"**{words.title(name)}**")
            st.text(texts[name])
