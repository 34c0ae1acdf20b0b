"""The frame of every screen: the signed-in person, the live/test mode and the page header.

A page begins like this, and opens its own sessions with the scope of the frame:

    person = frame.require("operations", "finance")
    frame.page_header("Purchases", "Every sale, with its customer, its policy and the split of the money.")
    with reading(frame.scope()) as session:
        rows = purchases.page(session, wanted)

A fragment or a dialog runs without the rest of the page, so it calls `require` again at its top.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from streamlit import net_util
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from core.services.people import credentials, sign_in, staff
from core.services.people.staff import Person
from core.settings import ROOT
from core.store.access import Scope, reading, writing
from core.ui.kit import words

LOGO, MARK, ICON = (str(Path(ROOT, "docs", name)) for name in ("logo.svg", "icon.svg", "icon.png"))
LOOK = Path(__file__).parents[1] / "browser" / "look.css"
_SWITCH, _WAITING, _HOME, _PAGE = "mode_switch", "waiting_claims", "home_screen", "open_page"
_REFUSED = "access-refused"
_LIVE, _TEST = "Live", "Test"


def keep_upload_addresses() -> None:
    """Let a browser that asks where to send a file have its answer though a run begins at that instant.

    Streamlit 1.67 throws away what waits to be sent to the browser when a run begins, that answer too, and the file
    would never be uploaded.
    """
    empty = ForwardMsgQueue.clear
    if empty.__module__ == __name__:
        return

    def clear(queue: ForwardMsgQueue, *arguments: Any, **named: Any) -> None:
        answers = [each for each in queue._queue if each.WhichOneof("type") == "file_urls_response"]  # noqa: SLF001
        empty(queue, *arguments, **named)
        queue._queue[:0] = [each for each in answers if each not in queue._queue]  # noqa: SLF001

    ForwardMsgQueue.clear = clear  # type: ignore[assignment, method-assign]


def skip_external_ip_lookup() -> None:
    """Keep Streamlit from asking the internet for the address of this machine.

    It asks for each socket of another origin, before anybody signed in, and no request is answered meanwhile: seconds
    where a firewall drops what leaves.
    """
    net_util.get_external_ip = lambda: None


def current() -> Person | None:
    """Return the signed-in person; read from the store on every run, so that an ended session takes effect at once.

    Tests replace this function: `monkeypatch.setattr("core.ui.frame.frame.current", lambda: person)`.
    """
    token = session_token()
    if token is None:
        return None
    with reading(Scope.system()) as session:
        person, stale = staff.get_by_token(session, token), credentials.needs_keep_alive(session, token)
    if person and stale:
        with writing(Scope.system()) as session:
            credentials.keep_alive(session, token)
    return person


def still_signed_in() -> bool:
    """Return True if the session is still valid, without extending it: called by a timer, not by a person's action."""
    with reading(Scope.system()) as session:
        return staff.get_by_token(session, session_token()) is not None


def session_token() -> str | None:
    """Return the session cookie's token, as the browser sent it when it connected."""
    return st.context.cookies.get(sign_in.COOKIE)


def require(*roles: str) -> Person:
    """Return the signed-in person if they have one of the roles (an admin has all); otherwise stop the page.

    Without roles, any signed-in person may pass.
    """
    person = current()
    if person is None:
        # What was typed goes with the session, as another person may be here by now.
        with st.container(key=_REFUSED):
            st.warning(
                "Your sign-in has ended. Copy what you have typed and want to keep, then reload the page to sign in"
                " again.",
                icon=":material/lock_clock:",
            )
        st.stop()
    if roles and not person.has_role(*roles):
        needed = " or ".join(roles)
        with st.container(key=_REFUSED):
            st.error(f"You may not do this: it needs the role {needed}.", icon=":material/block:")
        st.stop()
    return person


def mode() -> bool:
    """Return True if the screens show live records, False for test ones; figures never mix the two (contract M1)."""
    return st.session_state.get(_SWITCH) != _TEST


def scope() -> Scope:
    """Return the scope of a screen: every distributor, in the selected mode."""
    return Scope.staff(is_live=mode())


def link(path: str, **query: str | Sequence[str]) -> str:
    """Return the URL of a screen with a query and the mode: "sales/purchases.py#purchase" -> "/purchase?id=..."."""
    query_string = urlencode({**query, **mode_query()}, doseq=True)
    return link_path(path) + (f"?{query_string}" if query_string else "")


def settle_home(path: str | None) -> None:
    """Note the page file of the person's first screen, which stands at the root."""
    st.session_state[_HOME] = path


def settle_page(address: str) -> None:
    """Note the path of the page that this run draws."""
    st.session_state[_PAGE] = address


def page() -> str:
    """Return the path of the page that is drawn, "" for the home of a person."""
    return str(st.session_state.get(_PAGE, ""))


def has_home() -> bool:
    """Return True if the menu of a person was drawn in this session."""
    return _HOME in st.session_state


def link_path(path: str) -> str:
    """Return the URL path of a screen: "sales/purchases.py" -> "/purchases"; "/" for the person's first screen."""
    return "/" if path == st.session_state.get(_HOME) else f"/{address_of(path)}"


def address_of(path: str) -> str:
    """Return the name of a screen in its URL: "sales/purchases.py" -> "purchases", "...py#purchase" -> "purchase"."""
    file, _, name = path.rpartition("/")[2].partition("#")
    return name or file.removesuffix(".py")


def mode_query() -> dict[str, str]:
    """Return the query parameters of the mode; empty when live."""
    return {} if mode() else {"mode": "test"}


def page_header(title: str, purpose: str, *, tab: str | None = None) -> None:
    """Draw the title of a screen and one line on its purpose, if it has one; in test mode with a badge.

    `tab` is the title of the browser tab, in plain text; for a record it includes the kind: "ACC/AR/11/26/HQ/5060 ·
    Policy".
    """
    name_tab(tab or title)
    with st.container(gap="xxsmall"):
        st.title(title + ("" if mode() else f" {words.badge(_TEST)}"), anchor=False)
        if purpose:
            st.caption(purpose)


def header_with_views(title: str, purpose: str) -> DeltaGenerator:
    """Draw the header of a list as `page_header` does; return the room beside its title, for its views or its month."""
    with st.container(gap=None):
        with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="header_with_views"):
            with st.container(width="content"):
                page_header(title, "")
            beside = st.container(horizontal=True, vertical_alignment="center", gap="small")
        st.caption(purpose)
    return beside


@contextmanager
def header_with_buttons(title: str, purpose: str, *, tab: str | None = None) -> Iterator[None]:
    """Draw the header of a screen as `page_header` does; the buttons that the block draws stand to its right.

    It stays in sight while the rest is scrolled.
    """
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", key="header_with_buttons"
    ):
        with st.container(width="content"):
            page_header(title, purpose, tab=tab)
        with st.container(horizontal=True, gap="xsmall", width="content", vertical_alignment="center"):
            yield


def name_tab(title: str) -> None:
    """Set the title of the browser tab, followed by the application's name; new claims are counted before it."""
    waiting = st.session_state.get(_WAITING)
    st.set_page_config(page_title=f"{f'({waiting}) ' if waiting else ''}{title} · Coverdesk")


def count_in_tab(waiting: int) -> None:
    """Count claims that wait for an officer in the title of the browser tab, of this page and the next ones."""
    st.session_state[_WAITING] = waiting


def settle_mode() -> None:
    """Take the mode from the URL, for what is drawn before its switch."""
    wanted = st.query_params.get("mode")
    if wanted is not None or _SWITCH not in st.session_state:
        st.session_state[_SWITCH] = _TEST if wanted == "test" else _LIVE


def mode_switch() -> None:
    """Draw the switch between live and test; its state is kept in the URL as `mode=test`."""
    settle_mode()
    st.segmented_control(
        "Records",
        [_LIVE, _TEST],
        key=_SWITCH,
        required=True,
        on_change=_store_mode,
        width="stretch",
        help="Live and test records are kept apart: a screen shows one or the other, never both.",
    )
    _store_mode()


def _store_mode() -> None:
    """Write the mode into the URL, so that a link shows the same records."""
    if mode():
        st.query_params.pop("mode", None)
    else:
        st.query_params["mode"] = "test"
