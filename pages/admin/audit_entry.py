"""One audit log entry: actor, action and record, values before and after, and its hash."""

import streamlit as st

from core.services.audit import search
from core.services.audit.search import Entry
from core.ui.frame import frame, page_links, record_pages
from core.ui.kit import facts, words
from core.ui.lists import tables
from pages.admin.audit_log import leaves, screen_of


def head(entry: Entry) -> None:
    """Draw the time, the actor and the record."""
    with st.grid(2, min_column_width=320, gap="small"):
        with st.container(border=True, height="stretch"):
            facts.line("When", words.moment(entry.created_at))
            facts.line("Who", entry.actor_name)
            facts.line("What", words.title(entry.action))
        with st.container(border=True, height="stretch"):
            facts.line("Record", words.title(entry.kind))
            facts.line("Its id", entry.record_id)
            facts.line("Place in the log", f"entry {words.count(entry.position)} of chain {entry.chain}")


def ways(entry: Entry) -> None:
    """Draw the links to the record and to all log entries about it."""
    screen, noun = screen_of(entry), "account" if entry.kind == "staff" else words.plain(entry.kind)
    with st.container(horizontal=True, gap="medium"):
        if screen is not None:
            page_links.link(
                screen.path,
                label=f"Open the {noun}",
                icon=f":material/{screen.icon}:",
                query_params={"id": entry.record_id, **frame.mode_query()},
            )
        page_links.link(
            "admin/audit_log.py",
            label=f"All entries of this {noun}",
            icon=":material/history:",
            query_params={"kind": entry.kind, "id": entry.record_id, **frame.mode_query()},
        )
        page_links.link(
            "admin/audit_log.py",
            label="All entries of this actor",
            icon=":material/person_search:",
            query_params={"who": entry.actor, **frame.mode_query()},
        )


def sides(entry: Entry) -> None:
    """Draw every fact before and after, with the changed ones marked."""
    before, after = dict(leaves(entry.before or {})), dict(leaves(entry.after or {}))
    names = list(dict.fromkeys([*before, *after]))
    if not names:
        st.caption("This entry says nothing more.")
        return
    rows = [_row(name, before.get(name), after.get(name), compared=bool(entry.before)) for name in names]
    st.table(rows, border="horizontal", hide_index=True, alt="Each fact before and after")
    if entry.before and entry.after:
        st.caption(":orange-background[Marked] facts are those that changed.")


def seal_of(entry: Entry) -> None:
    """Draw the hash that links the entry to the previous one."""
    st.code(f"chain {entry.chain}, entry {entry.position}\n{entry.hash}", language=None)
    st.caption("The hash covers this entry and the one before it. System checks every chain from its beginning.")


def _row(name: str, before: str | None, after: str | None, *, compared: bool) -> dict[str, str]:
    changed = compared and before is not None and after is not None and before != after
    mark = ":orange-background[{}]" if changed else "{}"
    shown = [mark.format(words.plain(value)) if value is not None else "–" for value in (before, after)]
    return {"Fact": words.plain(name), "Before": shown[0], "After": shown[1]}


def draw() -> None:
    frame.require("admin")
    tables.back_link("entries", "admin/audit_log.py", "Back to the audit log")
    entry = record_pages.load("entry", search.get_entry)
    frame.page_header(
        words.plain(words.title(entry.action)),
        f"One entry of the audit log, {words.moment(entry.created_at)}.",
        tab=f"{words.title(entry.action)} · Audit log",
    )
    ways(entry)
    head(entry)
    st.subheader("Before and after", anchor=False)
    sides(entry)
    st.subheader("Seal", anchor=False)
    seal_of(entry)
