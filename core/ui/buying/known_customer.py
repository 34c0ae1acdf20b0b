"""Choice of the customer of a sale: one that the distributor has, whose details fill the form, or a new one."""

from collections.abc import Callable
from datetime import date
from uuid import UUID

import streamlit as st

from core.services.customers import customers
from core.services.customers.customers import KnownCustomer
from core.store.access import read_in
from core.ui.buying import sale_drafts
from core.ui.buying.selling import Counter
from core.ui.forms.forms import Form
from core.ui.forms.questions import Kind
from core.ui.kit import words

# The customer chosen before the cover, whose details fill the next form that opens.
_CHOSEN = "buy.same_customer"
_FIRST = "buy customer"


def draw(form: Form, counter: Counter) -> None:
    """Draw the search; the buttons of what it finds fill the form's empty and filled fields alike."""
    text_key = f"{form.key} customer"
    _search(counter, text_key, lambda customer: _take(form, customer, text_key))


def _take(form: Form, customer: KnownCustomer, text_key: str) -> None:
    typed = st.session_state.get(f"{form.key}.email")
    if typed and typed.casefold() != customer.email.casefold():
        # Another customer: what was begun for the first one stays as their draft.
        sale_drafts.let_go(form)
    fill(form, customer)
    st.session_state[text_key] = ""


def draw_first(counter: Counter) -> None:
    """Draw the search before a cover is chosen; what is chosen fills the form once that opens."""
    if not draw_chosen(counter):
        _search(counter, _FIRST, lambda found: choose(str(found.id)))


def draw_chosen(counter: Counter) -> bool:
    """Draw who was chosen before the form opens, with the way to choose somebody else; False where nobody is."""
    customer = _get_chosen(counter)
    if customer is None:
        return False
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.markdown(f":material/person: For **{words.plain(customer.name)}** · {words.plain(customer.email)}")
        st.button("Another customer", type="tertiary", on_click=choose, args=(None,))
    return True


def choose(customer_id: str | None) -> None:
    """Choose the customer of the next form; None for a new one."""
    st.session_state[_CHOSEN] = customer_id
    st.session_state.pop(_FIRST, None)


def begin(customer_id: UUID) -> None:
    """Choose the customer of a new sale, whatever the last one was of."""
    choose(str(customer_id))
    # What the last form had chosen; the address names neither.
    for chosen in ("cover", "sold"):
        st.session_state.pop(chosen, None)


def take_chosen(counter: Counter) -> KnownCustomer | None:
    """Return the customer chosen for the next form, once; None for another distributor's or mode's."""
    customer = _get_chosen(counter)
    st.session_state.pop(_CHOSEN, None)
    return customer


def _get_chosen(counter: Counter) -> KnownCustomer | None:
    customer_id = st.session_state.get(_CHOSEN)
    if customer_id is None:
        return None
    return read_in(counter.scope, customers.get_known, UUID(customer_id))


def _search(counter: Counter, key: str, take: Callable[[KnownCustomer], None]) -> None:
    text = st.text_input(
        "Existing customer",
        key=key,
        type="search",
        placeholder="Name, phone or e-mail; leave empty for a new customer",
        autocomplete="off",
        max_chars=100,
    )
    if not text.strip():
        return
    found = read_in(counter.scope, customers.find_known, text)
    if not found:
        st.caption("This distributor has no such customer: leave this empty, and fill in a new one.")
        return
    with st.container(horizontal=True, gap="xsmall"):
        for customer in found:
            st.button(
                f"{words.plain(customer.name)} · {words.plain(customer.email)}",
                key=f"{key} known {customer.id}",
                icon=":material/person:",
                on_click=take,
                args=(customer,),
            )


def fill(form: Form, customer: KnownCustomer) -> None:
    """Put a customer's details into the fields that ask for them; a value that a list lacks is left out."""
    is_untouched = sale_drafts.is_untouched(form)
    for question in form.questions:
        value = customer.values.get(question.name)
        if value is None:
            continue
        key = form.key_of(question)
        if question.kind in {Kind.DAY, Kind.BIRTH_DAY}:
            st.session_state[key] = date.fromisoformat(value[:10])
        elif question.kind is Kind.PICK:
            options = dict(question.options({})) if question.options else {}
            chosen = next((option for option, label in options.items() if value in (option, label)), None)
            if chosen is not None:
                st.session_state[key] = chosen
        else:
            st.session_state[key] = value
    if is_untouched:
        sale_drafts.note_filled_in(form)
