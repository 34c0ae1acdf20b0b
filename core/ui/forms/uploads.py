"""File fields: a file is chosen on the form, stored for the distributor, and submitted as a link (contract L4)."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import streamlit as st
from streamlit.typing import UploadedFile

from core.errors import FieldFault, InvalidInput, WrongMediaType
from core.services.files import files
from core.services.files.files import ReceivedFile
from core.store.access import Owner, writing
from core.ui.buying.selling import Counter

_PLACE: Final = "https://files.example/chosen"
MOST_MIB: Final = files.MAX_BYTES // (1 << 20)
ACCEPTED = ["jpg", "jpeg", "png", "webp", "pdf"]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Kept:
    """A chosen file that is already stored, so that a second review does not store it again."""

    owner: Owner
    file_id: str
    name: str
    link: str


def draw_upload(label: str, *, key: str, help: str | None) -> UploadedFile | str | None:  # noqa: A002 - the framework's word
    """Draw the file field; a newly chosen file takes precedence over a link, and a link over a file stored earlier."""
    version = st.session_state.get(f"{key}.version")
    chooser = f"{key}.{version}.chosen" if version else f"{key}.chosen"
    sent = st.file_uploader(label, type=ACCEPTED, key=chooser, help=help, max_upload_size=MOST_MIB)
    link = st.text_input(
        f"{label}, as a link",
        icon=":material/link:",
        placeholder="or paste a link: https://",
        label_visibility="collapsed",
        autocomplete="off",
        key=key,
        on_change="ignore",
        persist_state="page",
    )
    kept: _Kept | None = st.session_state.get(f"{key}.kept")
    if kept and not sent and not link:
        st.caption(f":material/attach_file: {kept.name} is attached.")
    return sent or link or (kept.link if kept else None)


def list_emptied(key: str) -> dict[str, Any]:
    """Return the keys of the field with the values that empty it: a chosen file goes with its chooser."""
    return {key: "", f"{key}.version": st.session_state.get(f"{key}.version", 0) + 1}


def name_of(link: str, *, key: str) -> str:
    """Return the name of a file stored here, or the link itself."""
    kept: _Kept | None = st.session_state.get(f"{key}.kept")
    return kept.name if kept and kept.link == link else link


def is_chosen(value: object) -> bool:
    """Return True for a file that was chosen in the browser, False for a link or nothing."""
    return isinstance(value, UploadedFile)


def identify(value: object) -> str:
    """Return a text that is the same for the same widget value in every run of the page."""
    return value.file_id if isinstance(value, UploadedFile) else repr(value)


def standing_in(typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values with a placeholder link for each chosen file, to validate the rest."""
    return {name: _PLACE if isinstance(value, UploadedFile) else value for name, value in typed.items()}


def list_faults(typed: Mapping[str, Any]) -> list[FieldFault]:
    """Return the errors of the chosen files; stores none."""
    files_ = ((name, value) for name, value in typed.items() if isinstance(value, UploadedFile))
    return [fault for name, file in files_ for fault in _judge(file.file_id, name, file)]


@st.cache_data(max_entries=200, show_spinner=False)
def _judge(file_id: str, name: str, _file: UploadedFile) -> list[FieldFault]:
    """Return the errors of one chosen file; each is read once, not with every run of the page."""
    found: list[FieldFault] = []
    with _noting(found):
        files.inspect(_file.getvalue(), name)
    return found


def store_uploads(typed: Mapping[str, Any], counter: Counter, *, form_key: str) -> dict[str, Any]:
    """Store the chosen files and return the values with their links; InvalidInput names the files refused."""
    links = dict(typed)
    refused: list[FieldFault] = []
    for name, value in typed.items():
        if isinstance(value, UploadedFile):
            with _noting(refused):
                links[name] = _link(value, name, counter, key=f"{form_key}.{name}.kept")
    if refused:
        raise InvalidInput(refused)
    return links


@contextmanager
def _noting(refused: list[FieldFault]) -> Iterator[None]:
    """Collect the errors of a file, so that the next one is checked too."""
    try:
        yield
    except InvalidInput as error:
        refused.extend(error.faults)
    except WrongMediaType as error:
        refused.extend(FieldFault(**fault) for fault in error.detail)


def _link(sent: UploadedFile, name: str, counter: Counter, *, key: str) -> str:
    owner = Owner.of(counter)
    kept: _Kept | None = st.session_state.get(key)
    if kept is None or (kept.owner, kept.file_id) != (owner, sent.file_id):
        content = sent.getvalue()
        arriving = [ReceivedFile(field=name, file_name=sent.name, content=content)]
        with files.store_files(arriving) as on_disk, writing(counter.scope) as session:
            record = files.record(session, on_disk[0], owner, actor=counter.person.actor)
        kept = _Kept(owner=owner, file_id=sent.file_id, name=record["file_name"], link=record["file_url"])
        st.session_state[key] = kept
    return kept.link
