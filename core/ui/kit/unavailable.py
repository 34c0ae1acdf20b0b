"""What a screen says when the store does not answer or a record cannot be shown, instead of a trace."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import streamlit as st

from core import clock
from core.errors import CoverdeskError, StoreUnavailable

_TRIED_AGAIN_AFTER = timedelta(seconds=4)


@contextmanager
def explained() -> Iterator[None]:
    """Run a screen; a refusal that it did not handle becomes a message."""
    try:
        yield
    except CoverdeskError as error:
        explain(error)


def explain(error: Exception) -> bool:
    """Say what is wrong and, when the store is gone, try again by itself; false for a defect."""
    if isinstance(error, StoreUnavailable):
        st.error(
            "The store does not answer just now. Nothing was lost: this page comes back by itself.",
            title="One moment, please",
            icon=":material/cloud_off:",
        )
        st.button("Try again", icon=":material/refresh:")
        _try_again_later(clock.now())
    elif isinstance(error, CoverdeskError):
        st.error(str(error), icon=":material/error:")
    return isinstance(error, CoverdeskError)


@st.fragment(run_every=_TRIED_AGAIN_AFTER)
def _try_again_later(failed_at: datetime) -> None:
    # The first call is part of the failed run itself: only the timer's later ones may start a new run.
    if clock.now() - failed_at >= _TRIED_AGAIN_AFTER / 2:
        st.rerun()
