"""The button that sends a policy's certificate to the policyholder by e-mail."""

from uuid import UUID

import streamlit as st

from core.outbound import mail as smtp
from core.services.policies import certificates
from core.ui.frame import frame
from core.ui.kit.actions import Action

WAITS = " There is no mail server yet: it waits until an administrator names one."


def button(policy_id: UUID, email: str, *, key: str, label: str = "Send by e-mail") -> None:
    """Draw the button; the second click of a double click sends nothing more."""
    send = Action(
        title=label,
        icon="mail",
        roles=certificates.ROLES,
        work=lambda session, _, by: certificates.send_certificate(session, policy_id, by=by),
        done=lambda _: f"The certificate goes to {email}.{'' if smtp.can_send() else WAITS}",
    )
    st.button(
        label,
        key=key,
        icon=":material/mail:",
        disabled=not frame.mode(),
        help=f"To {email}" if frame.mode() else "Test policies send no e-mail: the address may be a stranger's.",
        on_click=send.do,
    )
