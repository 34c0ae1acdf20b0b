"""The product texts that customers read: a form with a live preview."""

from collections.abc import Mapping

import streamlit as st

from core.errors import CoverdeskError, FieldFault, InvalidInput, StaleVersion
from core.services.products import changes as product_changes
from core.services.products.detail import ProductDetail
from core.ui.admin import product_actions, product_page
from core.ui.forms import forms
from core.ui.kit import dialogs, frame, words

_KEY = "texts"
_FIELDS = {
    "description": ("Description", 2000, 110),
    "key_benefits": ("Key benefits (HTML: p, br, ul, ol, li, b, strong, i, em, a)", 5000, 150),
    "how_it_works": ("How it works (optional)", 4000, 110),
    "how_to_claim": ("How to claim (optional)", 4000, 110),
}


def draw(product: ProductDetail) -> None:
    """Draw the form on the left and the preview on the right."""
    # Streamlit drops the fields when the person has left the page.
    if st.session_state.get(f"{_KEY}.of") != product.id or f"{_KEY}.description" not in st.session_state:
        _begin(product)
    faults: tuple[FieldFault, ...] = st.session_state.get(f"{_KEY}.faults", ())
    grid = st.grid(2, min_column_width=330, gap="medium")
    with grid.container():
        for name, (label, longest, height) in _FIELDS.items():
            st.text_area(label, key=f"{_KEY}.{name}", max_chars=longest, height=height)
            for fault in faults:
                if fault.field == name:
                    st.markdown(forms.complaint(fault.message))
    with grid.container(border=True):
        st.caption("As customers see it")
        _shown()
    if refusal := st.session_state.get(f"{_KEY}.refusal"):
        st.error(words.plain(refusal), icon=":material/error:")
    changed = any(st.session_state[f"{_KEY}.{name}"] != (getattr(product, name) or "") for name in _FIELDS)
    st.button(
        "Save the texts",
        type="primary",
        icon=":material/save:",
        disabled=not changed,
        on_click=_save,
        args=(product.id,),
    )


def show(product: ProductDetail) -> None:
    """Show the texts as customers see them, for those who may not change them."""
    with st.container(border=True):
        _as_customers_see({name: getattr(product, name) or "" for name in _FIELDS})


def _begin(product: ProductDetail) -> None:
    for name in _FIELDS:
        st.session_state[f"{_KEY}.{name}"] = getattr(product, name) or ""
    st.session_state[f"{_KEY}.of"], st.session_state[f"{_KEY}.seen"] = product.id, product.version
    st.session_state[f"{_KEY}.faults"], st.session_state[f"{_KEY}.refusal"] = (), None


def _shown() -> None:
    _as_customers_see({name: st.session_state[f"{_KEY}.{name}"] for name in _FIELDS})


def _as_customers_see(texts: Mapping[str, str]) -> None:
    st.text(texts["description"])
    html = product_changes.sanitise_html(texts["key_benefits"])
    if html.strip():
        st.html(html)
    for name in ("how_it_works", "how_to_claim"):
        if texts[name]:
            st.markdown(f"**{words.title(name)}**")
            st.text(texts[name])


def _save(product_id: object) -> None:
    """Save the typed texts; after a refusal the form keeps them."""
    by = frame.require("admin")
    said = {name: st.session_state[f"{_KEY}.{name}"] for name in _FIELDS}
    product = product_page.now(st.session_state[f"{_KEY}.of"])
    st.session_state[f"{_KEY}.faults"], st.session_state[f"{_KEY}.refusal"] = (), None
    try:
        product_actions.describe(product.id, said, seen=st.session_state[f"{_KEY}.seen"], by=by)
    except InvalidInput as error:
        st.session_state[f"{_KEY}.faults"] = error.faults
    except StaleVersion:
        st.session_state[f"{_KEY}.seen"] = product.version
        st.session_state[f"{_KEY}.refusal"] = (
            "Somebody else changed this product while you had it open. Nothing of yours was written, and all that you"
            " typed is still here: save it again to let it stand."
        )
    except CoverdeskError as error:
        st.session_state[f"{_KEY}.refusal"] = str(error)
    else:
        dialogs.say(f"The texts of {product.name} are saved.")
        del st.session_state[f"{_KEY}.of"]
