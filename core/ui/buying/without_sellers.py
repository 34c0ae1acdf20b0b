"""For whom the desk can sell: what the screens that sell say while there is nobody yet."""

import streamlit as st

from core.services.people.staff import Person


def show(person: Person) -> None:
    """Say that there is no distributor to sell for, and show an administrator where one is added."""
    st.info(
        "There is no distributor to sell for yet. An administrator adds one under Distributors and insurers.",
        icon=":material/storefront:",
    )
    if person.may("admin"):
        st.page_link("admin/partners.py", label="Add a distributor", icon=":material/storefront:")
