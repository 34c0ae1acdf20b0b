"""The notice shown on every screen when the store holds generated demo records."""

import streamlit as st

from core.services.admin import demonstration
from core.settings import settings
from core.store.access import Scope, reading

_NOTICE = "Demonstration: the people, policies and sums on these screens are invented."


def banner() -> None:
    """Show the notice if the store holds demo records."""
    if _is_demonstration(settings().database_url):
        with st.container(key="demonstration"):
            st.caption(f":material/science: {_NOTICE}")


@st.cache_data(ttl="1m", max_entries=4, show_spinner=False)
def _is_demonstration(_of_store: str) -> bool:
    with reading(Scope.system()) as session:
        return demonstration.is_demonstration(session)
