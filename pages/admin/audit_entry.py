"""One audit log entry: actor, action and record, values before and after, and its hash."""

import streamlit as st

from core import ids
from core.errors import InvalidInput, NotFound
from core.services.audit import search as audit_search
from core.services.audit.search import Entry
from core.store.access import reading
from core.ui.admin import audit_view
from core.ui.frame import frame
from core.ui.kit import words
from core.ui.lists import tables


def found() -> Entry | None:
    try:
        with reading(frame.scope()) as session:
            return audit_search.get_entry(session, ids.parse(st.query_params.get("id", "")))
    except InvalidInput:
        st.error("The address names no entry: its id has to be a UUID.", icon=":material/link_off:")
    except NotFound as error:
        st.error(f"{error}.", icon=":material/search_off:")
    return None


frame.require("admin")
tables.back_link("entries", "admin/audit_log.py", "Back to the audit log")
entry = found()
if entry is None:
    st.stop()
frame.page_header(
    words.plain(words.title(entry.action)),
    f"One entry of the audit log, {words.moment(entry.created_at)}.",
    tab=f"{words.title(entry.action)} · Audit log",
)
audit_view.ways(entry)
audit_view.head(entry)
st.subheader("Before and after", anchor=False)
audit_view.sides(entry)
st.subheader("Seal", anchor=False)
audit_view.seal_of(entry)
