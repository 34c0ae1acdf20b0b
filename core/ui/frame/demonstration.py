"""The notice shown on every screen when the store holds generated demo records."""

from datetime import timedelta
from typing import Final

import streamlit as st

from core.demo import background
from core.services.audit import demonstration
from core.settings import settings
from core.store.access import Scope, read_in

_NOTICE: Final = "Demonstration: the people, policies and sums on these screens are invented."
_NOT_YET: Final = (
    "The statements, payouts, bordereaux and cases of its months are being written: they come within a minute or two."
)
_LOOKS_EVERY: Final = timedelta(seconds=3)


def banner() -> None:
    """Show the notice if the store holds demo records, and say for how long some of them are still being written."""
    if _is_demonstration(settings().database_url):
        with st.container(key="demonstration"):
            if background.is_writing():
                _follow()
            else:
                st.caption(f":material/science: {_NOTICE}")


@st.fragment(run_every=_LOOKS_EVERY)
def _follow() -> None:
    if not background.is_writing():
        # What stands below is of a moment at which some of it was not there yet.
        st.rerun()
    st.caption(f":material/science: {_NOTICE} {_NOT_YET}")


@st.cache_data(ttl="1m", max_entries=4, show_spinner=False)
def _is_demonstration(of_store: str) -> bool:
    return read_in(Scope.system(), demonstration.is_demonstration)
