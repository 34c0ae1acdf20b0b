"""The button that sends a policy's certificate to the policyholder by e-mail."""

from uuid import UUID

import streamlit as st

from core.errors import CoverdeskError
from core.outbound import mail as smtp
from core.services.people.staff import Person
from core.services.policies import letters
from core.store.access import transact
from core.ui.frame import frame
from core.ui.kit import words

_SAID = "certificate_mail.said"
WAITS = " There is no mail server yet: it waits until an administrator names one."


def button(policy_id: UUID, email: str, *, key: str, label: str = "Send by e-mail") -> None:
    """Draw the button and, after a click, what became of it; the second click of a double click sends nothing more."""
    st.button(
        label,
        key=key,
        icon=":material/mail:",
        disabled=not frame.mode(),
        help=f"To {email}" if frame.mode() else "Test policies send no e-mail: the address may be a stranger's.",
        on_click=_send,
        args=(policy_id, email),
    )


def outcome() -> None:
    """Show what became of the last click, once."""
    said, refused = st.session_state.pop(_SAID, ("", ""))
    if said:
        st.success(words.plain(said), icon=":material/mail:")
    if refused:
        st.error(words.plain(f"{refused}."), icon=":material/block:")


def _send(policy_id: UUID, email: str) -> None:
    person: Person = frame.require(*letters.ROLES)
    try:
        transact(frame.scope(), lambda session: letters.send_certificate(session, policy_id, by=person))
    except CoverdeskError as error:
        st.session_state[_SAID] = ("", str(error))
    else:
        waits = "" if smtp.can_send() else WAITS
        st.session_state[_SAID] = (f"The certificate goes to {email}.{waits}", "")
