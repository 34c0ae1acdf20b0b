"""The health of each insurer as cards: its connection, its queue, and resending the whole queue."""

from collections.abc import Sequence
from datetime import datetime

import streamlit as st

from core import clock
from core.services.insurers.awaiting import InsurerHealth
from core.ui.frame import frame
from core.ui.kit import url_state, words
from core.ui.policies import resends

_CONFIRM = "awaiting.confirm"


def draw(insurers: Sequence[InsurerHealth]) -> None:
    """Draw a card for each insurer that is connected or has policies waiting; the others in one line."""
    shown = [insurer for insurer in insurers if insurer.is_connected or insurer.queued or insurer.dead]
    if shown:
        with st.grid(4, min_column_width=230, gap="small"):
            for insurer in shown:
                _card(insurer)
    quiet = [words.plain(insurer.name) for insurer in insurers if insurer not in shown]
    if quiet:
        st.caption(f"Without a connection, and nothing waiting: {', '.join(quiet)}.")


def _card(insurer: InsurerHealth) -> None:
    with st.container(border=True, height="stretch", gap="xsmall"):
        st.markdown(f"**{words.plain(insurer.name)}** {words.badge(insurer.health)}")
        st.caption(_means(insurer))
        st.markdown(
            f"**{words.count(insurer.queued)}** queued · **{words.count(insurer.dead)}** set aside"
            + (f"  \noldest waits {age(insurer.oldest_at)}" if insurer.oldest_at else "")
        )
        with st.container(horizontal=True, gap="xsmall"):
            if insurer.queued or insurer.dead:
                st.button(
                    "Show",
                    icon=":material/filter_alt:",
                    type="tertiary",
                    key=f"awaiting.show.{insurer.segment}",
                    on_click=url_state.change,
                    args=({"provider": [str(insurer.id)], "state": []},),
                )
            if insurer.dead and insurer.is_connected:
                st.button(
                    f"Retry {words.count(insurer.dead)} set aside",
                    icon=":material/replay:",
                    type="tertiary",
                    key=f"awaiting.all.{insurer.segment}",
                    on_click=_ask,
                    args=(insurer,),
                )


def _means(insurer: InsurerHealth) -> str:
    trouble = words.plain(insurer.last_error)
    heard = f"Last success {words.moment(insurer.last_success_at)}." if insurer.last_success_at else "No success yet."
    return {
        "Delegated": "No connection here: it is told by hand, or by bordereau.",
        "Not used yet": "Connected; nothing was sent yet.",
        "Working": heard,
        "Failing": f"{trouble}. {heard}",
        "Paused": f"{trouble}. Tried again at {clock.format_lagos(insurer.rests_until, '%H:%M:%S')}. {heard}",
        "Checking": f"{trouble}. One policy is sent to see whether it answers again. {heard}",
    }[insurer.health]


def _ask(insurer: InsurerHealth) -> None:
    st.session_state[_CONFIRM] = insurer


def _close() -> None:
    st.session_state.pop(_CONFIRM, None)


def confirmation() -> None:
    """Draw the open dialog, if any."""
    insurer: InsurerHealth | None = st.session_state.get(_CONFIRM)
    if insurer is not None:
        st.dialog("Retry all that was set aside", icon=":material/replay:", on_dismiss=_close)(_draw_dialog)(insurer)


def _draw_dialog(insurer: InsurerHealth) -> None:
    frame.require("operations")
    noun = "policy that was" if insurer.dead == 1 else "policies that were"
    st.markdown(
        f"**{words.count(insurer.dead)}** {noun} set aside for **{words.plain(insurer.name)}** will be sent again."
        " Whatever the insurer has taken already, it does not take twice."
    )
    if insurer.last_error:
        st.caption(f"Its connection said last: {words.plain(insurer.last_error)}.")
    st.button(
        "Retry them all",
        type="primary",
        width="stretch",
        key="awaiting.retry_all",
        on_click=_retry_all,
        args=(insurer,),
    )


def _retry_all(insurer: InsurerHealth) -> None:
    _close()
    resends.resending_all(insurer.id, insurer.name).do()


def age(since: datetime) -> str:
    """Return the time since an instant in its largest useful unit: "5 min", "3 h", "12 days"."""
    minutes = int((clock.now() - since).total_seconds() // 60)
    if minutes < 60:
        return f"{max(minutes, 0)} min"
    hours = minutes // 60
    return f"{hours} h" if hours < 48 else f"{words.count(hours // 24)} days"
