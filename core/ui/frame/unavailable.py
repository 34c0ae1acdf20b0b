"""Messages shown instead of a traceback when the store does not answer or a record cannot be shown."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import streamlit as st

from core import clock
from core.errors import CoverdeskError, StoreUnavailable

_RETRY_INTERVAL = timedelta(seconds=4)


@contextmanager
def explain_refusals() -> Iterator[None]:
    """Run a screen; show an unhandled refusal as a message."""
    try:
        yield
    except CoverdeskError as error:
        explain(error)


def explain(error: Exception) -> bool:
    """Show the error and, when the store is unavailable, retry automatically; return False for a programming error."""
    if isinstance(error, StoreUnavailable):
        st.error(
            "The store does not answer just now. Nothing was lost: this page comes back by itself.",
            title="One moment, please",
            icon=":material/cloud_off:",
        )
        st.button("Try again", icon=":material/refresh:")
        _schedule_rerun(clock.now())
    elif isinstance(error, CoverdeskError):
        st.error(str(error), icon=":material/error:")
    return isinstance(error, CoverdeskError)


@st.fragment(run_every=_RETRY_INTERVAL)
def _schedule_rerun(failed_at: datetime) -> None:
    # The first call belongs to the failed run itself; only later timer calls may start a new run.
    if clock.now() - failed_at >= _RETRY_INTERVAL / 2:
        st.rerun()
