"""The message of the selling screens while there is no distributor to sell for."""

import streamlit as st

from core.services.people.staff import Person


def show(person: Person) -> None:
    """Say that there is no distributor to sell for, and link administrators to where one is added."""
    st.info(
        "There is no distributor to sell for yet. An administrator adds one under Distributors and insurers.",
        icon=":material/storefront:",
    )
    if person.has_role("admin"):
        st.page_link("admin/partners.py", label="Add a distributor", icon=":material/storefront:")
