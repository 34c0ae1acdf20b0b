"""The audit log, searched by words, person, subject and time; and one entry of it."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from core import seal
from core.desk import audit_names
from core.services.audit import search
from core.services.audit.search import AuditFilter, Entry, SearchChoices, SearchResult
from core.services.compliance import filings
from core.services.compliance.return_figures import ReturnFigure
from core.services.lists.paging import Page
from core.store.access import Scope, read_in, reading
from core.ui.frame import frame, menu, page_links
from core.ui.kit import facts, url_state, words
from core.ui.lists import export_panel, filter_bar, saved_views, tables
from core.ui.lists.tables import Table

# Entries should not contain such a number in clear; if one does, these screens must not reveal it (contract A3).
_PERSONAL = ("bvn", "nin", "passport", "account_number", "verification_number")
_LONGEST, _HASH = 160, "SHA-256"
# The kinds of the log whose records have a screen, which is called as they are, but for people.
_SHOWN = ("policy", "purchase", "claim", "product", "customer", "key", "distributor", "insurer")
_SCREENS: Mapping[str, str] = {**{kind: kind for kind in _SHOWN}, "staff": "person"}


def describe_changes(entry: Entry) -> str:
    """Return the facts of an entry in one line: changed ones first, then added ones."""
    before, after = read_sides(entry)
    # A hash says nothing to who reads a list, and takes the room of what does; the entry itself has it.
    new = [name for name, value in after.items() if before.get(name) != value and name != _HASH]
    parts = [
        f"{name} {before[name]} → {after[name]}" if name in before else f"{name} {after[name]}"
        for name in sorted(new, key=lambda name: name not in before)
    ]
    line = " · ".join(parts)
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def read_sides(entry: Entry) -> tuple[dict[str, str], dict[str, str]]:
    """Return the facts before and after as formatted texts by their names."""
    before, after = (dict(leaves(side or {}, entry)) for side in (entry.before, entry.after))
    return before, after


def leaves(values: Mapping[str, Any], entry: Entry, within: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield facts as formatted texts with their names; nested ones with both names: "Meta, basis".

    The id of a person is shown as their name; the figures of a return have a line each.
    """
    named = entry.people
    for name, value in values.items():
        if entry.kind == "return" and name == filings.KEPT:
            yield from ((f"{each.group}, {each.figure}", each.text) for each in map(ReturnFigure.from_facts, value))
            continue
        if isinstance(value, Mapping) and value:
            yield from leaves(value, entry, (*within, name))
            continue
        parts = [named.get(each, each) if isinstance(each, str) else each for each in _parts(value)]
        first, *others = map(facts.name_fact, (*within, name))
        label = ", ".join([first, *(each.lower() for each in others)])
        yield label, "; ".join(_text(name, each, entry, within) for each in parts) or "–"


def _parts(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else [value]


def _text(name: str, value: object, entry: Entry, within: Sequence[str]) -> str:
    if name in _PERSONAL and value:
        return seal.mask(str(value)) or ""
    # What a correction takes off or adds is money, where the rates of a product have percent.
    if entry.kind == "adjustment" and name.endswith("_commission") and isinstance(value, str):
        return words.naira_of(value)
    if entry.kind == "product" and name == "price" and isinstance(value, str):
        return f"{value} %" if entry.priced_in_percent else words.naira_of(value)
    return words.format_dates(facts.format_value(name, value, within=within))


def screen_of(entry: Entry) -> menu.Screen | None:
    """Return the screen that shows the entry's record by its id, if there is one."""
    if not search.is_id(entry.record_id):
        return None
    return next((screen for screen in menu.SCREENS if screen.address == _SCREENS.get(entry.kind)), None)


def describe_record(entry: Entry) -> str:
    """Return the record of an entry in words: "Policy HO/A/26/B0000135E"."""
    return f"{words.title(entry.kind)} {entry.record}".strip()


ENTRIES: Table[Entry] = tables.of(
    search.AUDIT,
    name="entries",
    opens="admin/audit_log.py#audit_entry",
    changed={
        "at": {"of": lambda row: words.second(row.created_at)},
        "who": {"width": 155},
        "action": {"of": lambda row: words.title(row.action)},
        "kind": {"of": describe_record, "width": 160},
        "facts": {"of": describe_changes, "width": 200},
        "before": {"of": lambda row: " · ".join(f"{name} {text}" for name, text in read_sides(row)[0].items())},
    },
)


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
    known = read_in(frame.scope(), search.load_choices)
    wanted = filter_bar.read(AuditFilter)
    filter_bar.draw_chips(
        wanted, options=choices(wanted, known), beside=lambda: saved_views.draw("admin/audit_log.py", person)
    )
    with st.skeleton(height=300), reading(frame.scope()) as session:
        found = search.search_entries(session, wanted, ENTRIES.paging(url_state.page()), known)
    # Entries are of both modes, and so are the records that they name.
    entries = read_in(Scope.system(), audit_names.name_records, found.entries)
    if not found.total:
        tables.show_no_match(ENTRIES)
        return
    offer = partial(export_panel.offer, "audit", wanted.address(), rows=found.total, line=counted(found), table=ENTRIES)
    tables.draw_page(ENTRIES, Page(entries, found.total), above=offer)


def head(entry: Entry) -> None:
    """Draw the time, the actor and the record."""
    with st.grid(2, min_column_width=320, gap="small"):
        with st.container(border=True, height="stretch"):
            facts.line("When", words.second(entry.created_at))
            facts.line("Who", entry.actor_name)
            facts.line("What", words.title(entry.action))
        with st.container(border=True, height="stretch"):
            facts.line("Record", describe_record(entry))
            facts.line("Its id", entry.record_id)
            facts.line("Place in the log", f"entry {words.count(entry.position)} of chain {entry.chain}")


def ways(entry: Entry) -> None:
    """Draw the links to the record and to all log entries about it."""
    screen, noun = screen_of(entry), "account" if entry.kind == "staff" else words.plain(entry.kind)
    with st.container(horizontal=True, gap="medium"):
        if screen is not None:
            page_links.link_to(screen.path, f"Open the {noun}", screen.icon, id=entry.record_id)
        page_links.link_to(
            "admin/audit_log.py", f"All entries of this {noun}", "history", kind=entry.kind, id=entry.record_id
        )
        page_links.link_to("admin/audit_log.py", "All entries of this actor", "person_search", who=entry.actor)


def sides(entry: Entry) -> None:
    """Draw every fact before and after, with the changed ones marked."""
    before, after = read_sides(entry)
    names = list(dict.fromkeys([*before, *after]))
    if not names:
        st.caption("This entry says nothing more.")
        return
    rows = [_row(name, before.get(name), after.get(name), compared=bool(entry.before)) for name in names]
    st.table(rows, border="horizontal", hide_index=True, alt="Each fact before and after")
    if entry.before and entry.after:
        st.caption(":orange-background[Marked] facts are those that changed.")


def _row(name: str, before: str | None, after: str | None, *, compared: bool) -> dict[str, str]:
    changed = compared and before is not None and after is not None and before != after
    mark = ":orange-background[{}]" if changed else "{}"
    shown = [mark.format(words.plain(value)) if value is not None else "–" for value in (before, after)]
    return {"Fact": words.plain(name), "Before": shown[0], "After": shown[1]}


def draw_audit_entry() -> None:
    frame.require("admin")
    tables.back_link("entries", "admin/audit_log.py", "Back to the audit log")
    entry = page_links.load_record("entry", search.get_entry)
    (entry,) = read_in(Scope.system(), audit_names.name_records, [entry])
    frame.page_header(
        words.plain(words.title(entry.action)),
        f"One entry of the audit log, {words.second(entry.created_at)}.",
        tab=f"{words.title(entry.action)} · Audit log",
    )
    ways(entry)
    head(entry)
    st.subheader("Before and after", anchor=False)
    sides(entry)
    st.subheader("Seal", anchor=False)
    st.code(f"chain {entry.chain}, entry {entry.position}\n{entry.hash}", language=None)
    st.caption("The hash covers this entry and the one before it. System checks every chain from its beginning.")
