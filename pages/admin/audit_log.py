"""Audit log: search over all entries by actor, action, record and time."""

import streamlit as st

from core.services.audit import search as audit_search
from core.services.audit.filter import AuditFilter
from core.services.audit.search import SearchChoices, SearchResult
from core.store.access import reading
from core.ui.admin.audit_view import ENTRIES
from core.ui.frame import frame
from core.ui.kit import url_state, words
from core.ui.lists import export_panel, filter_bar, filter_chips, saved_views, tables


def choices(wanted: AuditFilter, known: SearchChoices) -> dict[str, dict[str, str]]:
    return {
        "who": dict(known.actors),
        "action": {action: words.title(action) for action in (*known.actions, *wanted.action)},
        "kind": {kind: words.title(kind) for kind in (*known.kinds, wanted.kind) if kind},
    }


def counted(found: SearchResult) -> str:
    if found.has_more:
        return (
            f"**More than {words.count(found.total)}** entries: the newest are shown, narrow the selection for others"
        )
    deepest = found.deepest and f" · looked for in the newest {words.count(found.deepest)} entries of this selection"
    return ENTRIES.count_text(found.total) + (deepest or "")


def draw() -> None:
    person = frame.require("admin")
    frame.page_header("Audit log", "Who changed or exported what, and when; entries are added and never changed.")
    with reading(frame.scope()) as session:
        known = audit_search.load_choices(session)
    wanted = filter_bar.read(AuditFilter)
    filter_chips.draw(
        wanted, options=choices(wanted, known), beside=lambda: saved_views.draw("admin/audit_log.py", person)
    )
    with st.skeleton(height=300), reading(frame.scope()) as session:
        found = audit_search.search_entries(session, wanted, ENTRIES.paging(url_state.page()), known)
    if not found.total:
        st.info("No entry matches this selection.", icon=":material/filter_alt_off:")
        st.button("Show all entries", type="primary", on_click=url_state.reset)
        return
    number = tables.page_of(ENTRIES, found.total)
    if number is None:
        return
    export_panel.offer("audit", wanted.address(), rows=found.total, line=counted(found), table=ENTRIES)
    tables.draw(ENTRIES, found.entries, number=number, total=found.total)
