"""The form of one e-mail text, with its preview."""

from functools import partial

import streamlit as st

from core.errors import CoverdeskError, InvalidInput
from core.services.admin import mail_texts
from core.services.admin.mail_texts import TextInUse
from core.services.mail.templates import MailTemplate
from core.ui.admin import admin_writes
from core.ui.forms import forms
from core.ui.kit import words

_FIELDS = {"subject": "Subject", "body": "Text"}


def draw(text: TextInUse) -> None:
    """Draw one text: how it is sent now, and the form that changes it."""
    key = f"mail_text {text.name} {text.version}"
    changed = f" {words.badge('Changed')}" if text.version else ""
    faults: dict[str, str] = st.session_state.get(f"{key} faults", {})
    with st.expander(f"**{text.title}** · {words.plain(text.text.subject)}{changed}", expanded=bool(faults)):
        for field, written in (("subject", text.text.subject), ("body", text.text.body)):
            st.session_state.setdefault(f"{key} {field}", written)
        st.text_input(_FIELDS["subject"], key=f"{key} subject", max_chars=150)
        _blame(faults, "subject")
        st.text_area(_FIELDS["body"], key=f"{key} body", height=230, max_chars=4_000)
        _blame(faults, "body")
        st.caption("Values: " + ", ".join(f"`${name}`" for name in text.values))
        _preview(text, key)
        with st.container(horizontal=True, gap="xsmall"):
            save, reset = partial(_save, text, key), partial(_reset, text, key)
            st.button("Save", key=f"{key} save", type="primary", icon=":material/save:", on_click=save)
            if text.version:
                st.button("Back to the original", key=f"{key} reset", icon=":material/undo:", on_click=reset)


def _blame(faults: dict[str, str], field: str) -> None:
    if field in faults:
        st.markdown(forms.complaint(faults[field]))


def _preview(text: TextInUse, key: str) -> None:
    typed = MailTemplate(st.session_state[f"{key} subject"], st.session_state[f"{key} body"])
    try:
        subject, body = mail_texts.preview(text.name, typed)
    except (KeyError, ValueError):
        return  # a value that there is not: Save says which
    with st.container(border=True, gap="xsmall"):
        st.markdown(f"**{words.plain(subject)}**")
        st.text(body)


def _save(text: TextInUse, key: str) -> None:
    inputs = {field: st.session_state[f"{key} {field}"] for field in _FIELDS}
    st.session_state.pop(f"{key} faults", None)
    try:
        admin_writes.write(
            lambda session, by: mail_texts.change_text(session, text.name, inputs, version=text.version, by=by)
        )
    except InvalidInput as error:
        st.session_state[f"{key} faults"] = {fault.field: fault.message for fault in error.faults}
    except CoverdeskError as error:
        admin_writes.refuse(error)
    else:
        admin_writes.keep_message(f"{text.title}: the next e-mail has this text.")


def _reset(text: TextInUse, key: str) -> None:
    try:
        admin_writes.write(lambda session, by: mail_texts.reset_text(session, text.name, version=text.version, by=by))
    except CoverdeskError as error:
        admin_writes.refuse(error)
    else:
        admin_writes.keep_message(f"{text.title}: the text is the original again.")
