"""Personal data on a screen: masked, and revealed one value at a time for a logged reason (contract A3).

    reveal.value("Account number", "******4321", of=Hidden(kind="claim", record_id=..., path=...), by=person)

draws the line and, after a click on its button, the dialog; a person without the role sees the masked value only.
Documents are not shown in the dialog: with `is_paper` the page draws them, as long as `is_shown` is true.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from uuid import UUID

import streamlit as st

from core import clock
from core.desk import pii_reveal
from core.desk.pii_reveal import HiddenField, HiddenValue, Kind
from core.errors import CoverdeskError, InvalidInput
from core.services.files import links as file_links
from core.services.people.staff import Person
from core.store.access import writing
from core.ui.forms import forms
from core.ui.frame import frame
from core.ui.kit import words

_OPEN, _CLEAR, _PAPER = "reveal.open", "reveal.clear", "reveal.paper"
_PAPER_LASTS = timedelta(minutes=15)
_REASON, _DETAILS = "reveal.reason", "reveal.details"


@dataclass(frozen=True, kw_only=True, slots=True)
class _RevealRequest:
    """The value that somebody asks to see, and the result of the request."""

    of: HiddenField
    label: str
    is_paper: bool = False
    refusal: str = ""
    faults: Mapping[str, str] = field(default_factory=dict)
    done: bool = False


def value(label: str, masked: str, *, of: HiddenField, by: Person, is_paper: bool = False) -> None:
    """Draw the label over the masked value, with the reveal button for people who may use it."""
    with st.container(gap=None):
        st.caption(words.plain(label))
        with st.container(horizontal=True, vertical_alignment="center", width="content", gap="xsmall"):
            st.text(masked, width="content")
            if pii_reveal.can_reveal(by, of.kind):
                st.button(
                    "Show",
                    key=f"reveal.{of.kind}.{of.record_id}.{of.path}",
                    icon=":material/visibility:",
                    type="tertiary",
                    help=f"Show {label}: asks for a reason, which is kept in the audit log",
                    on_click=_begin,
                    args=(label, of, is_paper),
                )
    run(of)


def open_(label: str, of: HiddenField) -> None:
    """Open the dialog that asks for a reason, as the row of a list does; `run` draws it."""
    _begin(label, of, is_paper=False)


def run(*among: HiddenField) -> None:
    """Draw the dialog if it was opened for one of these values."""
    request = _get_request()
    if request is not None and request.of in among:
        title = f"Show {words.plain(request.label)}"
        st.dialog(title, icon=":material/visibility:", on_dismiss=_close)(_draw)()


def values(hidden: Sequence[HiddenValue], *, within: str, kind: Kind, record_id: UUID, by: Person) -> None:
    """Draw every hidden value within one part of a record ("submitted"), in a frame; nothing if there is none."""
    found = [each for each in hidden if each.path.startswith(f"{within}.")]
    if not found:
        return
    with st.container(border=True, gap="xxsmall", width=560):
        st.markdown("**Personal data**")
        for path, masked in found:
            label = words.title(path.partition(".")[2].replace(".", " "))
            value(label, masked, of=HiddenField(kind=kind, record_id=record_id, path=path), by=by)


def _get_request() -> _RevealRequest | None:
    request: _RevealRequest | None = st.session_state.get(_OPEN)
    return request


def is_shown(of: HiddenField) -> bool:
    """Return True while a document is revealed: from the reason given until it is hidden, at most 15 minutes."""
    shown, until = st.session_state.get(_PAPER, (None, None))
    return shown == of and until is not None and clock.now() < until


def put_away() -> None:
    """Hide the revealed document."""
    st.session_state.pop(_PAPER, None)


def _begin(label: str, of: HiddenField, is_paper: bool) -> None:  # noqa: FBT001 - the arguments of a callback
    _close()
    put_away()
    st.session_state[_OPEN] = _RevealRequest(of=of, label=label, is_paper=is_paper)


def _close() -> None:
    for key in (_OPEN, _CLEAR):
        st.session_state.pop(key, None)


def _draw() -> None:
    frame.require()
    request = _get_request()
    if request is None:
        st.rerun()
    # Removed from the session as it is shown: the next run no longer has it.
    clear: str | None = st.session_state.pop(_CLEAR, None)
    if clear is not None:
        _show(clear)
    elif request.done:
        st.caption("It was shown once and is hidden again.")
    else:
        _request(request)
    if request.done:
        st.button("Close", type="primary", key="reveal.close", on_click=_close)


def _show(clear: str) -> None:
    if not clear.startswith(("http://", "https://")):
        st.code(clear, language=None)
    else:
        st.link_button("Open it in a tab", file_links.build_desk_path(clear) or clear, icon=":material/open_in_new:")
        st.caption(words.plain(clear))
    st.caption("The audit log says that you have seen it. It is hidden again when you close this.")


def _request(request: _RevealRequest) -> None:
    st.caption("Who, what and why go into the audit log; the value itself does not.")
    st.selectbox(
        "Reason", pii_reveal.REASONS, index=None, key=_REASON, placeholder="Choose a reason", on_change="ignore"
    )
    _blame(request, "reason")
    st.text_input(
        "What it is needed for",
        key=_DETAILS,
        max_chars=300,
        placeholder="The customer asks which account we pay into",
        autocomplete="off",
        on_change="ignore",
    )
    _blame(request, "details")
    st.button("Show it once", type="primary", width="stretch", key="reveal.confirm", on_click=_reveal)
    if request.refusal:
        st.error(words.plain(request.refusal), icon=":material/error:")


def _reveal() -> None:
    request = _get_request()
    # A second click finds it done: one reveal, one log entry.
    if request is None or request.done:
        return
    person, fresh = frame.require(), replace(request, refusal="", faults={})
    reason, details = st.session_state.get(_REASON) or "", st.session_state.get(_DETAILS) or ""
    try:
        with writing(frame.scope()) as session:
            clear = pii_reveal.reveal(session, request.of, reason=reason, details=details, person=person)
    except InvalidInput as error:
        fresh = replace(fresh, faults={fault.field: fault.message for fault in error.faults})
    except CoverdeskError as error:
        fresh = replace(fresh, refusal=str(error))
    else:
        if request.is_paper:
            st.session_state[_PAPER] = request.of, clock.now() + _PAPER_LASTS
            _close()
            return
        st.session_state[_CLEAR], fresh = clear, replace(fresh, done=True)
    st.session_state[_OPEN] = fresh


def _blame(request: _RevealRequest, name: str) -> None:
    if message := request.faults.get(name):
        st.markdown(forms.complaint(message))
