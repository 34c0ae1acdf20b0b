"""E-mail texts: what the desk writes to policyholders and distributors, changed by an admin."""

import streamlit as st

from core.desk import mail_texts
from core.desk.mail_texts import TextInUse
from core.services.mail.mail import MailTemplate
from core.store.access import Scope, read_in
from core.ui.frame import frame
from core.ui.kit import actions, words
from core.ui.kit.actions import Action, Text
from pages.admin._shared import action

_FIELDS = {"subject": "Subject", "body": "Text"}


def draw_text(text: TextInUse) -> None:
    """Draw one text: how it is sent now, and the form that changes it."""
    key = f"mail_text {text.name} {text.version}"
    changed = f" {words.badge('Changed')}" if text.version else ""
    is_refused = bool(actions.get_refusal(key).faults)
    with st.expander(f"**{text.title}** · {words.plain(text.text.subject)}{changed}", expanded=is_refused):
        for field, written in (("subject", text.text.subject), ("body", text.text.body)):
            st.session_state.setdefault(f"{key} {field}", written)
        save = _saving(text)
        actions.draw_fields(save, key, f"{key} ")
        st.caption("Values: " + ", ".join(f"`${name}`" for name in text.values))
        actions.complain(key, *_FIELDS)
        with st.container(horizontal=True, gap="xsmall"):
            st.button(
                "Save",
                key=f"{key} save",
                type="primary",
                icon=":material/save:",
                on_click=save.do,
                args=(key, f"{key} "),
            )
            if text.version:
                reset = _resetting(text)
                st.button(reset.title, key=f"{key} reset", icon=":material/undo:", on_click=reset.do)
        # Below the buttons: it grows with what is typed, and would move them away from under a press.
        _preview(text, key)


def _saving(text: TextInUse) -> Action:
    return action(
        title="Save",
        fields=[
            Text("subject", _FIELDS["subject"], longest=150, value=text.text.subject, is_live=True),
            Text("body", _FIELDS["body"], longest=4_000, value=text.text.body, is_long=True, height=230, is_live=True),
        ],
        work=lambda session, typed, by: mail_texts.change_text(session, text.name, typed, version=text.version, by=by),
        done=f"{text.title}: the next e-mail has this text.",
    )


def _resetting(text: TextInUse) -> Action:
    return action(
        title="Back to the original",
        work=lambda session, _, by: mail_texts.reset_text(session, text.name, version=text.version, by=by),
        done=f"{text.title}: the text is the original again.",
    )


def _preview(text: TextInUse, key: str) -> None:
    typed = MailTemplate(st.session_state[f"{key} subject"], st.session_state[f"{key} body"])
    try:
        subject, body = mail_texts.preview(text.name, typed)
    except (KeyError, ValueError):
        return  # a value that there is not: Save says which
    with st.container(border=True, gap="xsmall"):
        st.markdown(f"**{words.plain(subject)}**")
        st.text(body)


def draw() -> None:
    frame.require("admin")
    frame.page_header(
        "E-mail texts", "What the desk writes to policyholders and distributors; each $name is replaced by its value."
    )
    actions.run()
    texts = read_in(Scope.system(), mail_texts.list_texts)
    for text in texts:
        draw_text(text)
