"""Choice of the customer of a sale: one that the distributor has, whose details fill the form, or a new one."""

from datetime import date

import streamlit as st

from core.services.customers import known
from core.services.customers.known import KnownCustomer
from core.store.access import reading
from core.ui.buying.selling import Counter
from core.ui.forms.forms import Form
from core.ui.forms.questions import Kind
from core.ui.kit import words


def draw(form: Form, counter: Counter) -> None:
    """Draw the search; the buttons of what it finds fill the form's empty and filled fields alike."""
    text_key = f"{form.key} customer"
    text = st.text_input(
        "Existing customer",
        key=text_key,
        type="search",
        placeholder="Name, phone or e-mail; leave empty for a new customer",
        autocomplete="off",
        max_chars=100,
    )
    if not text.strip():
        return
    with reading(counter.scope) as session:
        found = known.find_known(session, text)
    if not found:
        st.caption("This distributor has no such customer: fill in a new one below.")
        return
    with st.container(horizontal=True, gap="xsmall"):
        for customer in found:
            st.button(
                f"{words.plain(customer.name)} · {words.plain(customer.email)}",
                key=f"{form.key} known {customer.id}",
                icon=":material/person:",
                on_click=fill,
                args=(form, customer, text_key),
            )


def fill(form: Form, customer: KnownCustomer, text_key: str | None = None) -> None:
    """Put a customer's details into the fields that ask for them; a value that a list lacks is left out."""
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
    if text_key:
        st.session_state[text_key] = ""
