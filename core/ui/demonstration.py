"""The notice on every screen of a store that holds invented records."""

import streamlit as st

from core.settings import settings
from core.store.engine import reading
from core.store.scope import Scope


def banner() -> None:
    """Say that nothing here is real, when that is so."""
    if _is_demonstration(settings().database_url):
        st.info(
            "Demonstration: the people, policies and sums on these screens are invented.", icon=":material/science:"
        )


@st.cache_data(ttl="1m", max_entries=4, show_spinner=False)
def _is_demonstration(_of_store: str) -> bool:
    try:
        from core.services import demonstration
    except ImportError:
        return False
    with reading(Scope.system()) as session:
        return demonstration.is_demonstration(session)
