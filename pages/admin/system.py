"""System: health, running release, settings, and the integrity check of the store."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import streamlit as st

from core import clock
from core.desk import status, system
from core.desk.queues import QueueHealth
from core.desk.store_check import Finding
from core.desk.system import FilesFacts, QueueLine, Setting, StoreFacts, SystemFacts
from core.outbound.mail import folder as mail_folder
from core.services.finance import agreements
from core.services.mail.mail import MailLine
from core.services.renewals import automations, due
from core.services.renewals.automations import AutomationState
from core.settings import settings
from core.states.policies import OPEN, SubmissionState
from core.store.access import Scope, read_in, reading, store
from core.ui.frame import frame, page_links
from core.ui.kit import actions, check_runs, facts, words
from core.ui.kit.actions import Action
from core.ui.kit.check_runs import CheckRun
from pages.admin._shared import action
from pages.finance._shared import overdue_bordereaux

_LAST = "system.check"
_EVERY = timedelta(seconds=1)
_OLD = timedelta(hours=1)
_MOST = 20
_UNITS = ("bytes", "kB", "MB", "GB", "TB")
_STATES: dict[str, str] = {
    SubmissionState.DELEGATED: "Issued here, to be reported by bordereau",
    SubmissionState.QUEUED: "Waiting to be sent",
    SubmissionState.ACCEPTED: "Accepted by the insurer",
    SubmissionState.DECLINED: "Declined by the insurer",
    SubmissionState.DEAD: "Given up: needs a person",
    SubmissionState.WITHDRAWN: "Ended before it was sent",
}


def glance(found: SystemFacts, fault: str | None) -> None:
    """Draw one badge per part: green is healthy, red needs action."""
    late = [line for line in found.queue if line.state == SubmissionState.QUEUED and _is_old(line)]
    dead = sum(line.count for line in found.queue if line.state == SubmissionState.DEAD)
    health = {
        "Ready": (fault is None, "Not ready"),
        "Store fits this release": (found.store.is_current, "Store has another version"),
        "Journal safe": (found.store.journal_is_safe, "Journal at risk"),
        "Files writable": (found.files.writable, "Files cannot be written"),
        **({"Replica in use": (found.store.replica == "in use", "Replica not in use")} if found.store.replica else {}),
        "Submissions go out": (not late and not dead, "Submissions to insurers wait"),
    }
    with st.container(horizontal=True, gap="xsmall"):
        for good, (holds, bad) in health.items():
            if holds:
                st.badge(good, icon=":material/check_circle:", color="green")
            else:
                st.badge(bad, icon=":material/error:", color="red")
    if fault:
        st.error(f"{words.plain(fault[:1].upper() + fault[1:])}.", icon=":material/error:")
    if found.unconfirmed:
        lines = "".join(f"\n- {words.plain(line)}" for line in found.unconfirmed[-_MOST:])
        text = f"Changes of accounts and terms that no second admin confirmed, in the last 30 days:{lines}"
        st.error(text, icon=":material/how_to_reg:")
    for line in found.restores[-_MOST:]:
        st.error(f"The store was {words.plain(line)}.", icon=":material/settings_backup_restore:")
    if found.store.kind == "SQLite" and not found.store.is_current:
        st.caption("Run `coverdesk init` with the release that serves this page.")


def _is_old(line: QueueLine) -> bool:
    return line.oldest_at is not None and clock.now() - line.oldest_at > _OLD


def database(found: StoreFacts) -> None:
    """Draw the database and whether its schema fits this release."""
    with facts.card("**Store**"):
        facts.line("Database", f"{found.kind} {found.version}")
        facts.line("Size", size(found.size_bytes))
        if found.journal:
            safe = "" if found.journal_is_safe else ", which this version of SQLite can corrupt"
            facts.line("Journal", f"{found.journal.upper()}{safe}")
        current = "up to date" if found.is_current else f"this release wants {found.newest_migration}"
        facts.line("Migration", f"{found.migration or 'none'}, {current}")
        if found.replica:
            facts.line("Replica", words.plain(found.replica.capitalize()))
        st.caption("Address")
        st.code(found.address, language=None, wrap_lines=True)


def files(found: FilesFacts) -> None:
    """Draw the folder of uploaded files."""
    with facts.card("**Files**"):
        facts.line("Kept", f"{words.count(found.count)} files, {size(found.size_bytes)}")
        facts.line("Writable", "Yes" if found.writable else "No")
        facts.line("Free on the disk", size(found.free_bytes))
        st.caption("Folder")
        st.code(found.folder, language=None, wrap_lines=True)


def queue(lines: Sequence[QueueLine]) -> None:
    """Draw the submissions to insurers: sent and waiting."""
    with facts.card("**Submissions to insurers**"):
        if not lines:
            st.caption("No policy has been sold yet.")
        for line in lines:
            facts.line(_STATES.get(line.state, words.title(line.state)), words.count(line.count))
            if line.state in OPEN:
                st.caption(f"The oldest since {words.moment(line.oldest_at)}")
        if any(line.state in OPEN for line in lines):
            page_links.link_to("policies/awaiting.py", "What waits for insurers", "hourglass_top")


def outbox(queues: Sequence[QueueHealth], endpoints: Mapping[str, int], letters: Sequence[MailLine]) -> None:
    """Draw each queue of the outbox: how much waits, since when the oldest is due, and what was given up."""
    with facts.card("**Outbox**"):
        for each in queues:
            _queue_lines(each)
        if broken := {state: endpoints[state] for state in ("failing", "disabled") if endpoints.get(state)}:
            counts = " and ".join(f"{words.count(count)} {state}" for state, count in broken.items())
            st.badge(f"Webhook endpoints: {counts}", icon=":material/warning:", color="orange")
            page_links.link("admin/webhooks.py", label="Webhooks", icon=":material/webhook:")
        for letter in letters:
            state = {"queued": "Waiting", "sent": "Accepted", "dead": "Given up"}[letter.state]
            st.caption(f"{words.moment(letter.created_at)} · {words.plain(letter.subject)} {words.badge(state)}")
        if letters and settings().demo:
            st.caption(f"This demonstration writes its e-mail into {words.plain(str(mail_folder()))}.")


def _queue_lines(each: QueueHealth) -> None:
    facts.line(each.name, f"{words.count(each.queued)} waiting, {words.count(each.dead)} given up")
    if not each.is_configured:
        st.caption("Not configured: set COVERDESK_SMTP_URL to send what waits.")
    if each.by_hand:
        st.caption(f"{words.count(each.by_hand)} for insurers without a connection, told by hand")
    if each.refused:
        st.caption(f"Given up because of their receivers: {words.count(each.refused)}")
    if each.held:
        st.caption(f"{words.count(each.held)} held for endpoints that are disabled")
    if each.oldest_due_at:
        st.caption(f"{words.count(each.due)} due, the oldest since {words.moment(each.oldest_due_at)}")


def release(found: SystemFacts) -> None:
    """Draw the running release, and the answers stored for retries."""
    with facts.card("**Release**"):
        commit = f", commit {found.commit[:12]}" if found.commit else ""
        facts.line("Coverdesk", f"{found.release}{commit}")
        working = sum(beat.is_fresh for beat in found.workers)
        facts.line("Workers", words.count(working) if working else "No sign of life for two minutes")
        facts.line("Newest backup", words.moment(found.backup_at) if found.backup_at else "Never")
        facts.line("Python", found.python)
        facts.line("Answers kept for retries", words.count(found.kept_answers))
        if found.oldest_answer_at:
            facts.line("The oldest of them", words.moment(found.oldest_answer_at))


def settings_in_force(found: Sequence[Setting]) -> None:
    """Draw every setting; those set explicitly come first."""
    with st.expander("Settings in force", icon=":material/tune:"):
        st.caption("From environment variables. A secret says only whether it is set.")
        lines = [
            {
                "Variable": f"`{setting.name}`",
                "Value": words.plain(setting.value),
                "": "default" if setting.is_default else "set here",
            }
            for setting in sorted(found, key=lambda setting: setting.is_default)
        ]
        st.table(lines, border="horizontal")


def check() -> None:
    """Draw the integrity check: its button, progress and last result."""
    st.subheader("Check of the whole store", anchor=False)
    st.caption("Every rule that must hold of sales, claims, files and the audit log: what `coverdesk check` prints.")
    run: CheckRun | None = st.session_state.get(_LAST)
    running = run is not None and run.is_running
    st.button("Check now", icon=":material/fact_check:", type="primary", disabled=running, on_click=_start)
    if run is None:
        st.caption("Not checked in this session yet. At a million sales it takes minutes, and disturbs nobody.")
    elif run.is_running:
        st.fragment(_watch, run_every=_EVERY)(run)
    else:
        _result(run)


def _start() -> None:
    frame.require("admin")
    st.session_state[_LAST] = check_runs.start(store())


def _watch(run: CheckRun) -> None:
    frame.require("admin")
    if not run.is_running:
        st.rerun()
    done = len(run.findings)
    st.progress(done / run.rules, f"{done} of {run.rules} rules checked")


def _result(run: CheckRun) -> None:
    when = words.moment(run.ended_at)
    if run.fault:
        st.error(f"{words.plain(run.fault)}. {when}.", icon=":material/error:")
    elif run.violated:
        st.error(f"{len(run.violated)} of {run.rules} rules do not hold. {when}.", icon=":material/report:")
    else:
        st.success(f"Everything holds: {run.rules} rules. {when}.", icon=":material/verified:")
    lines = [
        {
            "Rule": words.plain(finding.rule),
            "": ":red-badge[Broken]" if finding.faults else ":green-badge[Holds]",
            "What breaks it": _broken_by(finding),
        }
        for finding in sorted(run.findings, key=lambda finding: not finding.faults)
    ]
    if lines:
        with st.expander("Every rule", icon=":material/rule:", expanded=bool(run.violated)):
            st.table(lines, border="horizontal")


def _broken_by(finding: Finding) -> str:
    lines = [words.plain(fault) for fault in finding.faults[:_MOST]]
    left = len(finding.faults) - _MOST
    return "  \n".join([*lines, f"and {words.count(left)} more"] if left > 0 else lines) or "–"


def size(count: int) -> str:
    """Format a number of bytes: 1_500_000 -> "1.5 MB"."""
    amount, unit = float(count), 0
    while amount >= 1000 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:,.1f} {_UNITS[unit]}" if unit else f"{count} {_UNITS[0]}"


_SAYS = {
    automations.RENEWAL_REMINDERS: "An e-mail to every customer whose cover ends in 60, 30, 7 and 1 days, each once,"
    " between 8 and 20 o'clock. Whoever wants no reminders, or told a caller not to want another term, gets none.",
}


def draw_automations() -> None:
    """Draw each job with its state and its button."""
    states = read_in(Scope.system(), automations.list_states)
    st.subheader("Automatic tasks", anchor=False)
    for state in states:
        with st.container(border=True):
            _job(state)


def _job(state: AutomationState) -> None:
    badge = ":green-badge[On]" if state.is_on else ":gray-badge[Off]"
    st.markdown(f"**{words.title(state.name)}** {badge}")
    st.caption(_SAYS[state.name])
    if state.day:
        pace = "" if state.is_finished and state.day <= clock.today() else " so far"
        st.caption(f"{words.day(state.day)}: {words.count(state.done)} sent{pace}.")
    if state.changed_by:
        by = words.plain(state.changed_by.removeprefix("staff "))
        st.caption(f"Switched {'on' if state.is_on else 'off'} by {by} on {words.moment(state.changed_at)}.")
    actions.button(
        "Switch off" if state.is_on else "Switch on",
        lambda: _switching(state),
        key=f"automation {state.name}",
        icon="toggle_off" if state.is_on else "toggle_on",
    )


def _switching(state: AutomationState) -> Action:
    frame.require("admin")
    verb = "off" if state.is_on else "on"
    return action(
        title=f"{words.title(state.name)}: switch {verb}",
        icon="mail",
        says=_consequence(state),
        confirm=f"Switch {verb}",
        work=lambda session, _, by: automations.switch(session, state.name, on=not state.is_on, by=by),
        done=f"{words.title(state.name)}: switched {verb}.",
    )


def _consequence(state: AutomationState) -> str:
    if state.is_on:
        return "Nothing more is sent automatically. Reminders can still be sent from the list of what is due."
    waiting = read_in(Scope.system(), due.count_due)
    return (
        f"**{words.count(waiting)}** policies have a reminder due now: they get it at once, or from 8 o'clock on."
        " After that each policy gets its own on the day."
    )


def ended_agreements() -> None:
    """Say whose agreement is over, and whose licence to sell ends within 60 days, in red within a week."""
    with reading(Scope.staff(is_live=True)) as session:
        ended, found = agreements.list_ended(session), agreements.list_expiring(session)
    for name, last_on in ended:
        text = f"The agreement with {words.plain(name)} ended on {words.day(last_on)}, and it can still sell."
        st.error(text, icon=":material/contract_delete:")
    for _, name, last_on, left in found:
        when = "ended" if left < 0 else "ends"
        text = f"The licence of {words.plain(name)} {when} on {words.day(last_on)}."
        draw = st.error if agreements.warned_at(left) in (0, 7) else st.warning
        draw(text, icon=":material/gpp_maybe:")


@st.cache_data(ttl="15s", max_entries=4, show_spinner=False)
def looked(of_store: str) -> tuple[datetime, system.SystemFacts, str | None]:
    """Return the time of the check, the state of the installation, and its readiness fault; cached for 15 seconds."""
    found = read_in(Scope.system(), system.get_system_facts)
    try:
        fault = status.find_fault()
    except status.UNANSWERED:
        fault = "the store takes no writes"
    return clock.now(), found, fault


def draw() -> None:
    frame.require("admin")
    frame.page_header(
        "System", "Whether everything is healthy, what runs here, and whether every rule holds in the store."
    )
    actions.run()
    at, found, fault = looked(settings().database_url)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        with st.container(width="content"):
            glance(found, fault)
        st.button("Refresh", icon=":material/refresh:", type="tertiary", on_click=looked.clear)
    if overdue_bordereaux():
        page_links.link_to("finance/bordereaux.py", "Open the bordereaux", "assignment_turned_in")
    ended_agreements()
    st.caption(f"As of {words.moment(at)}. Live and test records together.")
    with st.grid(2, min_column_width=340, gap="small"):
        database(found.store)
        files(found.files)
        queue(found.queue)
        outbox(found.outbox, found.endpoints, found.mail)
        release(found)
    draw_automations()
    check()
    settings_in_force(system.list_settings())
