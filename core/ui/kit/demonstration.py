"""The notice on every screen of a store that holds invented records."""

import streamlit as st

from core.services.admin import demonstration
from core.settings import settings
from core.store.access.engine import reading
from core.store.access.scope import Scope

_NOTICE = "Demonstration: the people, policies and sums on these screens are invented."


def banner() -> None:
    """Say that nothing here is real, when that is so."""
    if _is_demonstration(settings().database_url):
        st.info(_NOTICE, icon=":material/science:")


@st.cache_data(ttl="1m", max_entries=4, show_spinner=False)
def _is_demonstration(_of_store: str) -> bool:
    with reading(Scope.system()) as session:
        return demonstration.is_demonstration(session)
