"""Month close: how far a month is, what its next stage waits for, its check list, its steps, and its journal."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Final

import streamlit as st

from core import clock
from core.desk import closing
from core.desk.closing import Check, Stage
from core.services.finance import journal
from core.services.finance.statements import reading as statement_reading
from core.services.lists.windows import Window
from core.services.people.staff import Person
from core.states.finance import MonthState
from core.store.access import ScopedSession, reading, store
from core.ui.frame import frame, page_links
from core.ui.kit import actions, check_runs, facts, url_state, words
from core.ui.kit.actions import Action, Fields, Text, Values
from core.ui.kit.check_runs import CheckRun
from pages.finance._shared import ROLE, choose_month, lead_to_first, newest_over

SHOWN, FEW = 10, 10
LABELS: Final = {
    MonthState.CLOSING: "Start closing",
    MonthState.CLOSED: "Close the month",
    MonthState.OPEN: "Stop closing",
    MonthState.REOPENING: "Ask to reopen it",
    MonthState.REOPENED: "Reopen it",
}
_SAYS: Final = {
    MonthState.CLOSING: "Somebody else of finance closes it, once nothing stands against it.",
    MonthState.CLOSED: "Its statements are not reversed any more, and the hash of its journal is kept.",
    MonthState.OPEN: "The month is open as before.",
    MonthState.REOPENING: "Somebody else of finance decides.",
    MonthState.REOPENED: "Its papers can be changed, and it is closed anew by two people.",
}
_DONE: Final = {
    MonthState.CLOSING: "is being closed: somebody else of finance closes it",
    MonthState.CLOSED: "is closed",
    MonthState.OPEN: "is open, as before",
    MonthState.REOPENING: "stays closed until somebody else of finance has decided on its reopening",
    MonthState.REOPENED: "is reopened",
}
_NOTES: Final = {MonthState.CLOSED: "What you checked", MonthState.REOPENING: "Reason for reopening it"}
# The screens with the rows of a stage or of a line of the check list; the first that the person may open is linked.
_ROWS: Final[Mapping[str, tuple[str, ...]]] = {
    "sales": ("finance/movements.py",),
    "totals": ("finance/movements.py",),
    "large": ("finance/movements.py",),
    "adjustments": ("finance/movements.py",),
    "insurers": ("policies/awaiting.py",),
    "statements": ("finance/statements.py",),
    "bordereaux": ("finance/bordereaux.py",),
    "payments": ("finance/payments.py",),
    "balances": ("finance/payments.py",),
    "refunds": ("finance/credit_notes.py",),
    "reconciled": ("finance/reconcile.py",),
    "differences": ("finance/reconcile.py",),
    "replaced": ("finance/reconcile.py",),
    "rates": ("admin/products.py",),
    "accounts": ("admin/staff.py",),
    "store": ("admin/system.py",),
}
_NOUNS: Final = {
    "insurers": "insurers' answers",
    "statements": "statements",
    "bordereaux": "bordereaux",
    "payments": "payouts",
    "reconciled": "reconciliation",
}
# The lines whose rows are links of their own.
_LINKED: Final = frozenset({"reconciled", "insurers"})
# A check of the whole store is made again when the last one is older.
_FRESH: Final = timedelta(minutes=10)
_EVERY: Final = "1s"


def stepping(month: date, state: MonthState, to: MonthState) -> Action:
    """Return the dialog that brings a month to another state."""
    is_given_up = to == MonthState.OPEN or (state, to) == (MonthState.REOPENING, MonthState.CLOSED)
    label = label_of(state, to)

    def work(session: ScopedSession, typed: Values, by: Person) -> None:
        if is_given_up:
            closing.give_up(session, month, by=by)
        elif to == MonthState.CLOSING:
            closing.begin(session, month, by=by)
        elif to == MonthState.CLOSED:
            closing.close(session, month, by=by, note=typed["note"])
        elif to == MonthState.REOPENING:
            closing.ask_reopening(session, month, by=by, note=typed["note"])
        else:
            closing.reopen(session, month, by=by)

    return Action(
        title=f"{label}: {month:%B %Y}",
        icon="lock_clock",
        says="It stays closed as it was." if is_given_up and to == MonthState.CLOSED else _SAYS[to],
        fields=_list_fields(month, to) if to in _NOTES and not is_given_up else [],
        confirm=label,
        roles=(ROLE,),
        work=work,
        done=f"{month:%B %Y} {_DONE[to]}.",
        waits="The whole store is checked once more." if to == MonthState.CLOSED and not is_given_up else "",
        # Without it the month that comes first now would be shown under the sentence.
        then=lambda _: url_state.change({"month": [f"{month:%Y-%m}"]}),
    )


def _list_fields(month: date, to: MonthState) -> Fields:
    note = Text("note", _NOTES[to], longest=500, is_long=True)
    return [lambda _: show_what_is_left(month), note] if to == MonthState.CLOSED else [note]


def show_what_is_left(month: date) -> None:
    """Say before a month is closed what stands against it, and what has rows to look at."""
    with st.skeleton(height=60), reading(frame.scope()) as session:
        found = closing.run(session, month)
    if against := [words.plain(each.name) for each in found if each.stands_against]:
        st.warning(f"It cannot be closed yet: {'; '.join(against)}.", icon=":material/block:")
    if seen := [words.plain(each.name) for each in found if each.rows and not each.stands_against]:
        st.markdown(f"Look at these, and write what you found: {'; '.join(seen)}.")


def label_of(state: MonthState, to: MonthState) -> str:
    """Return the label of a step: closing again after a reopening was asked for is giving that up."""
    return "Leave it closed" if (state, to) == (MonthState.REOPENING, MonthState.CLOSED) else LABELS[to]


def rows_of(key: str, month: date) -> tuple[str, dict[str, Any]] | None:
    """Return the screen with the rows of a subject and its query; None if the person may open none."""
    path = next((each for each in _ROWS.get(key, ()) if page_links.can_open(each)), None)
    if path is None:
        return None
    if path == "finance/movements.py":
        query = {"from": f"{month}", "to": f"{Window.of_month(month).last}"}
        return path, query | ({"kind": "adjustment"} if key == "adjustments" else {})
    return path, {"month": f"{month:%Y-%m}"} if path.startswith("finance/") else {}


def track(stages: Sequence[Stage], month: date) -> None:
    """Draw the stages side by side, each with what it waits for and a link to its rows."""
    with st.grid(len(stages), min_column_width=122, gap="xsmall"):
        for stage in stages:
            with st.container(border=True, height="stretch", gap="xxsmall"):
                icon = ":green[:material/check_circle:]" if stage.is_done else ":orange[:material/pending:]"
                st.markdown(f"{icon} **{stage.name}**")
                st.markdown(stage.figure)
                for line in stage.waits:
                    st.caption(line)
                if found := rows_of(stage.key, month):
                    page_links.link(found[0], label="Show", query_params=found[1])


def next_stage(stages: Sequence[Stage], month: date) -> bool:
    """Draw the one button that leads to the first stage that waits; True where one does."""
    for stage in stages:
        if not stage.is_done and stage.key in _NOUNS and (found := rows_of(stage.key, month)):
            label = f"Next: {_NOUNS[stage.key]}, {stage.waits[0]}"
            if st.button(label, type="primary", icon=":material/arrow_forward:", key="next"):
                page_links.go(found[0], **found[1])
            return True
    return False


def buttons(month: date, steps: list[journal.Step], earlier: date | None, person: Person, *, has_next: bool) -> None:
    """Draw the steps that the person may take, and the journal; with `has_next` a stage comes before closing."""
    state = steps[-1].state if steps else MonthState.OPEN
    for to in closing.list_allowed(steps, person):
        stepping(month, state, to).button(
            label_of(state, to),
            key=f"step.{to}",
            type="primary" if to == MonthState.CLOSED and not has_next else "secondary",
            disabled=to == MonthState.CLOSING and earlier is not None,
        )
    with st.popover("Journal", icon=":material/download:"):
        for format_, (name, _) in journal.FORMATS.items():
            url = f"/closes/{month:%Y-%m}/journal{f'-{format_}' if format_ else ''}.csv"
            st.link_button(name, url, icon=":material/download:", width="stretch")
        st.caption(
            "QuickBooks: import journal entries, with account numbers off and dates as DD/MM/YYYY. Sage 50: import"
            " audit trail transactions. The codes are those of the chart of accounts."
        )


def draw_check(found: Check, month: date) -> None:
    number = len(found.rows)
    if not number and found.unproved:
        st.markdown(f":material/remove: {words.plain(found.name)}: {words.plain(found.unproved)}")
        return
    if not number:
        # A line that is only looked at is named by what it would list.
        none = "" if found.is_blocking else ": none"
        st.markdown(f":green[:material/check_circle:] {words.plain(found.name)}{none}")
        return
    icon = ":material/block:" if found.is_blocking else ":material/visibility:"
    kind = "still open" if found.is_blocking else "to look at"
    with st.expander(f"{found.name}: {words.count(number)} {kind}", icon=icon, expanded=number <= FEW):
        link = rows_of(found.key, month)
        # The only row is the link itself, as those are that have one of their own.
        if number == 1 and link and found.key not in _LINKED:
            _draw_link(found.rows[0], link)
            return
        for row in found.rows[:SHOWN]:
            draw_row(found.key, row, month)
        if number > SHOWN:
            st.caption(f"and {words.count(number - SHOWN)} more")
        if link and found.key != "reconciled":
            _draw_link("Open the rows", link)


def _draw_link(label: str, link: tuple[str, dict[str, Any]]) -> None:
    label = words.plain(words.format_dates(label))
    page_links.link(link[0], label=label, icon=":material/arrow_forward:", query_params=link[1])


def draw_row(key: str, row: str, month: date) -> None:
    """Draw one row of a line; a party without a reconciliation leads to the form for its file, a sale to its money."""
    row = words.format_dates(row)
    if key == "insurers":
        sold, _, policy_id = row.rpartition(": ")
        query = {"find": policy_id}
        page_links.link_to("finance/movements.py", words.plain(sold), "swap_vert", **query)
    elif key == "reconciled":
        query = {"month": f"{month:%Y-%m}", "party": row.partition(": ")[0]}
        page_links.link("finance/reconcile.py", label=words.plain(row), icon=":material/balance:", query_params=query)
    else:
        st.markdown(words.plain(row))


def check_list(month: date) -> None:
    """Draw the check list; the check of the whole store is made beside it, as it takes long."""
    run = check_runs.latest(store())
    if run is None or (run.ended_at and clock.now() - run.ended_at > _FRESH):
        run = check_runs.start(store())
    st.fragment(_check_store, run_every=_EVERY if run.is_running else None)(run, month)
    with st.skeleton(height=200), reading(frame.scope()) as session:
        found = closing.run(session, month)
    # What is left to do before what is done.
    for each in sorted(found, key=lambda each: (not each.stands_against, not each.unproved)):
        if each.rows or each.unproved:
            draw_check(each, month)
    with st.container(gap="xxsmall"):
        for each in found:
            if not each.rows and not each.unproved:
                draw_check(each, month)


def _check_store(run: CheckRun, month: date) -> None:
    frame.require(ROLE)
    if run.is_running:
        done = len(run.findings)
        st.progress(done / run.rules, f"The whole store is being checked: {done} of {run.rules} rules")
    elif run.fault:
        draw_check(closing.of_store([], unproved=run.fault), month)
    else:
        draw_check(closing.of_store(fault for finding in run.violated for fault in finding.faults), month)


def history(steps: list[journal.Step]) -> None:
    if not steps:
        return
    st.subheader("Steps", anchor=False)
    for step in steps:
        note = f": {step.note}" if step.note else ""
        facts.line(step.state, f"{step.person}, {words.moment(step.at)}{note}")
        if step.sha256:
            st.code(f"SHA-256 of the journal {step.sha256}", language=None, wrap_lines=True)


def draw() -> None:
    person = frame.require(ROLE)
    beside = frame.header_with_views(
        "Month close", "The stages of a month, and what is left before two people of finance close it."
    )
    if not frame.mode():
        st.info("The books are of live records: switch to Live in the menu.", icon=":material/science:")
        return
    with reading(frame.scope()) as session:
        choices = statement_reading.list_months(session)
        following = closing.find_next(session, newest_over(choices))
    with beside:
        month = choose_month(choices, following, is_labelled=False)
        with reading(frame.scope()) as session:
            steps = list(journal.list_steps(session, month))
            earlier = closing.get_earlier(session, month)
        state = steps[-1].state if steps else MonthState.OPEN
        st.markdown(words.badge(state))
    if earlier and state != MonthState.CLOSED:
        lead_to_first("finance/close.py", [earlier], month, says=": months are closed one after the other")
    with st.skeleton(height=160), reading(frame.scope()) as session:
        stages = closing.list_stages(session, month)
    track(stages, month)
    actions.run()
    if not Window.of_month(month).is_over:
        st.info("The month is not over yet: it can be closed afterwards.", icon=":material/event_upcoming:")
        return
    with st.container(horizontal=True, gap="xsmall"):
        is_open = state not in (MonthState.CLOSED, MonthState.REOPENING)
        has_next = is_open and next_stage(stages, month)
        buttons(month, steps, earlier, person, has_next=has_next)
    history(steps)
    if state != MonthState.CLOSED:
        st.subheader("Checklist", anchor=False)
        check_list(month)
