"""The frame around every screen: who is here, which mode they look at, and the header of the page.

A page begins like this, and opens its own sessions with the scope of the frame:

    person = frame.require("operations", "finance")
    frame.page_header("Purchases", "Every sale, with its customer, its policy and the split of the money.")
    with reading(frame.scope()) as session:
        rows = purchases.page(session, wanted)

A fragment or a dialog runs without the rest of the page, so it calls `require` again at its top.
"""

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from core.services.people import sign_in, staff, staff_sessions
from core.services.people.staff import Person
from core.settings import ROOT
from core.store.access.engine import reading, writing
from core.store.access.scope import Scope
from core.ui.kit import words

LOGO, MARK, ICON = (str(Path(ROOT, "docs", name)) for name in ("logo.svg", "icon.svg", "icon.png"))
LOOK = Path(__file__).with_name("browser") / "look.css"
_SWITCH = "mode_switch"
_LIVE, _TEST = "Live", "Test"


def current() -> Person | None:
    """The person behind this browser's session; looked up on every run, so that an ended one ends here.

    Tests put a person in place of this function: `monkeypatch.setattr("core.ui.kit.frame.current", lambda: person)`.
    """
    token = session_token()
    if token is None:
        return None
    with reading(Scope.system()) as session:
        person, stale = staff.person_of(session, token), staff_sessions.needs_keeping(session, token)
    if person and stale:
        with writing(Scope.system()) as session:
            staff_sessions.keep_alive(session, token)
    return person


def still_signed_in() -> bool:
    """Whether the session still stands, without keeping it alive: asked by a timer, not by a person."""
    with reading(Scope.system()) as session:
        return staff.person_of(session, session_token()) is not None


def session_token() -> str | None:
    """The token of the session cookie, as the browser sent it when it connected."""
    return st.context.cookies.get(sign_in.COOKIE)


def require(*roles: str) -> Person:
    """The signed-in person if they have one of the roles (an admin has them all); else the page ends here.

    Without roles, anybody who is signed in may pass.
    """
    person = current()
    if person is None:
        st.warning("Your sign-in has ended. Reload the page to sign in again.", icon=":material/lock_clock:")
        st.stop()
    if roles and not person.may(*roles):
        needed = " or ".join(roles)
        st.error(f"Your account does not have this: it needs the role {needed}.", icon=":material/block:")
        st.stop()
    return person


def mode() -> bool:
    """True when the screens show live records, false for test ones; figures never mix the two (contract M1)."""
    return st.session_state.get(_SWITCH) != _TEST


def scope() -> Scope:
    """What a screen may read: every distributor, in the mode of the switch."""
    return Scope.staff(is_live=mode())


def link(path: str, **query: str | Sequence[str]) -> str:
    """The address of a page by its file and a query, keeping the mode: "sales/purchase.py" -> "/purchase?id=..."."""
    said = urlencode({**query, **mode_query()}, doseq=True)
    return f"/{path.rpartition('/')[2].removesuffix('.py')}" + (f"?{said}" if said else "")


def mode_query() -> dict[str, str]:
    """What an address carries for the mode, for `st.page_link(..., query_params=...)`: nothing when live."""
    return {} if mode() else {"mode": "test"}


def page_header(title: str, purpose: str, *, tab: str | None = None) -> None:
    """The title of a screen, and one line on what it is for; test records are announced beside it.

    `tab` is what the browser's tab is called, plain text; a record says its kind too: "ACC/AR/11/26/HQ/5060 · Policy".
    """
    name_tab(tab or title)
    with st.container(gap="xxsmall"):
        st.title(title + ("" if mode() else f" {words.badge(_TEST)}"), anchor=False)
        st.caption(purpose)


def name_tab(title: str) -> None:
    """Call the browser's tab something, beside the name of the desk."""
    st.set_page_config(page_title=f"{title} · Coverdesk")


def mode_switch() -> None:
    """The one switch between live and test; its state stands in the address as `mode=test`."""
    asked = st.query_params.get("mode")
    if asked is not None or _SWITCH not in st.session_state:
        st.session_state[_SWITCH] = _TEST if asked == "test" else _LIVE
    st.segmented_control(
        "Records",
        [_LIVE, _TEST],
        key=_SWITCH,
        required=True,
        on_change=_note_mode,
        width="stretch",
        help="Live and test records are kept apart: a screen shows one or the other, never both.",
    )
    _note_mode()


def _note_mode() -> None:
    """Write the mode into the address, so that a link shows the same records again."""
    if mode():
        st.query_params.pop("mode", None)
    else:
        st.query_params["mode"] = "test"
