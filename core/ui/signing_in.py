"""The sign-in screen: a password is judged here, the session is opened by the route it hands over to."""

import json
from urllib.parse import urlencode, urlsplit

import streamlit as st

from core.errors import TooManyRequests, Unauthorized
from core.services import sign_in, staff
from core.store.engine import reading, writing
from core.store.scope import Scope

_AGAIN = "sign_in"


def screen(logo: str) -> None:
    """The whole page that somebody sees who is not signed in, whatever address they asked for."""
    with st.container(horizontal_alignment="center"), st.container(width=400, gap="medium"):
        st.space("large")
        with st.container(gap="xsmall"):
            st.image(logo, width=190, alt="Coverdesk")
            st.caption("Sales, policies and claims of your insurance business.")
        with st.form("sign_in"):
            st.subheader("Sign in", anchor=False)
            email = st.text_input("E-mail", max_chars=254, autocomplete="username")
            password = st.text_input("Password", type="password", max_chars=1000, autocomplete="current-password")
            sent = st.form_submit_button("Sign in", type="primary", width="stretch")
            notice = st.empty()
        if sent:
            _submit(email or "", password or "", notice)
        elif st.query_params.get(_AGAIN) == "again":
            notice.warning("That took too long. Please sign in again.")
        st.caption("Your sign-in ends after 30 minutes without use. An administrator can give you an account.")


def _submit(email: str, password: str, notice: "st.delta_generator.DeltaGenerator") -> None:
    try:
        address = hand_over(email, password, _wanted())
    except TooManyRequests as error:
        notice.error(f"Too many attempts. Try again in {_wait(error.retry_after)}.")
    except Unauthorized as error:
        notice.error(f"{error}.")
    else:
        notice.info("Signing in …")
        st.html(f"<script>window.location.replace({json.dumps(address)})</script>", unsafe_allow_javascript=True)


def hand_over(email: str, password: str, wanted: str) -> str:
    """Where a browser with this e-mail and password goes next, on its way to the page that it wanted.

    Unauthorized when they do not fit, TooManyRequests while there are too many failures.
    """
    with writing(Scope.system()) as session:
        sign_in.admit(session, email)
    with reading(Scope.system()) as session:
        staff_id = staff.check_password(session, email, password)
    return sign_in.hand_over(staff_id, wanted)


def _wanted() -> str:
    """The address that was asked for before the sign-in, with its query."""
    path = urlsplit(st.context.url or "/").path or "/"
    query = {name: st.query_params.get_all(name) for name in st.query_params if name != _AGAIN}
    return path + (f"?{urlencode(query, doseq=True)}" if query else "")


def _wait(seconds: int) -> str:
    return f"{seconds} seconds" if seconds < 90 else f"{round(seconds / 60)} minutes"
