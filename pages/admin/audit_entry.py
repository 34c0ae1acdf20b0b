"""One audit log entry: actor, action and record, values before and after, and its hash."""

import streamlit as st

from core.services.audit import search as audit_search
from core.ui.admin import audit_view
from core.ui.frame import frame, record_pages
from core.ui.kit import words
from core.ui.lists import tables


def draw() -> None:
    frame.require("admin")
    tables.back_link("entries", "admin/audit_log.py", "Back to the audit log")
    entry = record_pages.load("entry", audit_search.get_entry)
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
