"""Breaches of personal data: the register, and one breach with its risk and who was told."""

from datetime import timedelta

import streamlit as st

from core.services.compliance import breaches
from core.services.compliance.breaches import MAX_LISTED, RISKS, BreachRow, Exposure
from core.services.people.staff import Person
from core.ui.frame import frame
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Action, Choice, Day, Text
from core.ui.lists import columns, tables
from core.ui.lists.tables import Table
from pages.compliance._shared import ROLE, action, day_or_moment, draw_history, draw_register, read, record


def describe_hours(hours_left: int | None) -> str | None:
    """Describe the hours in which the Commission has to know: "44 h", "5 h late"."""
    if hours_left is None:
        return None
    return f"{hours_left} h" if hours_left >= 0 else f"{-hours_left} h late"


BREACHES: Table[BreachRow] = Table(
    name="breaches",
    noun=("breach", "breaches"),
    opens="compliance/breaches.py#breach",
    narrow=("number", "title", "state", "left"),
    columns={
        "number": columns.text("Number", lambda row: row.number, 120),
        "title": columns.text("What", lambda row: row.title, 320),
        "state": columns.state("State", lambda row: row.state),
        "known": columns.text(
            "Known since", lambda row: day_or_moment(row.known_at), right=True, sort_key=lambda row: row.known_at
        ),
        "left": columns.text(
            "Notify within",
            lambda row: describe_hours(row.hours_left),
            110,
            right=True,
            colour=lambda row: "red" if (row.hours_left or 0) < 0 else "",
            sort_key=lambda row: row.hours_left,
        ),
        "people": columns.number("People", lambda row: row.people),
    },
    unsorted="Newest first",
)


def registering_breach() -> Action:
    """Return the dialog that registers a breach."""
    return action(
        title="Register a breach",
        icon="gpp_bad",
        says="The clock to the Commission runs from the day on which it was known.",
        confirm="Register it",
        fields=[
            Text("title", "What happened, in a line", longest=120),
            Text("description", "What is known", longest=4_000, is_long=True),
            Text("actor", "Actor of the audit log, if one is suspected (staff name@…)", longest=120),
            Day("known_on", "Known since"),
            Day("since_on", "From"),
            Day("until_on", "To"),
        ],
        work=lambda session, typed, by: breaches.register(session, typed, by=by),
        done="The breach is registered.",
        opens="compliance/breaches.py#breach",
    )


def draw() -> None:
    frame.require(ROLE)
    with frame.header_with_buttons(
        "Breaches", "What happened to personal data, the risk to people, and who was told in time."
    ):
        registering_breach().button("Register a breach", icon="gpp_bad", type="primary")
    actions.run()
    rows = read(breaches.list_breaches)
    if not rows:
        st.info("No breach is known. One that is suspected is registered too: the clock runs from when it was known.")
        return
    draw_register(
        BREACHES,
        rows,
        is_open=lambda row: row.closed_at is None,
        is_late=lambda row: (row.hours_left or 0) < 0,
        searched=("number", "title"),
    )


EXPOSURES: Table[Exposure] = Table(
    name="exposures",
    noun=("entry", "entries"),
    columns={
        "at": columns.moment("When", lambda row: row.at),
        "actor": columns.text("Who", lambda row: row.actor, 260),
        "action": columns.text("What", lambda row: words.title(row.action), 180),
        "subject": columns.text("Record", lambda row: row.subject, 360),
    },
)


def judging(row: BreachRow) -> Action:
    """Return the dialog that decides the risk."""
    return action(
        title="Judge the risk",
        icon="balance",
        says="Whoever judges it cannot close it.",
        confirm="Decide",
        fields=[
            Choice("risk", "Risk to people", options=RISKS),
            Text("risk_reason", "Why", longest=2_000, is_long=True),
            Text("people", "People concerned", longest=9),
        ],
        work=lambda session, typed, by: breaches.judge(session, row.id, typed, version=row.version, by=by),
        done="The risk is decided.",
    )


def notifying(row: BreachRow) -> Action:
    """Return the dialog that notes the notice to the Commission."""
    return action(
        title="The Commission was notified",
        icon="outgoing_mail",
        says="Its reference proves when.",
        confirm="Note it",
        fields=[Text("reference", "Reference", longest=60)],
        work=lambda session, typed, by: breaches.note_commission(session, row.id, **typed, version=row.version, by=by),
        done="The notice is noted.",
    )


def telling(row: BreachRow) -> Action:
    """Return the dialog that notes that people were told."""
    return action(
        title="The people were told",
        icon="campaign",
        says="Everybody concerned was told what happened and what they can do.",
        confirm="Note it",
        work=lambda session, _, by: breaches.note_people(session, row.id, version=row.version, by=by),
        done="It is noted.",
    )


def closing(row: BreachRow) -> Action:
    """Return the dialog that closes a breach."""
    return action(
        title="Close the breach",
        icon="task_alt",
        says="Somebody else judged it, and everybody was told who has to know.",
        confirm="Close it",
        work=lambda session, _, by: breaches.close(session, row.id, version=row.version, by=by),
        done=f"{row.number} is closed.",
    )


def buttons(row: BreachRow, person: Person) -> None:
    if row.closed_at is None:
        judging(row).button("Judge the risk", icon="balance", type="primary" if row.risk is None else "secondary")
        if row.risk not in {None, "unlikely"} and row.commission_at is None:
            notifying(row).button("Commission notified", icon="outgoing_mail", type="primary")
        waits = row.state == "To be notified"
        if row.risk and row.people_at is None:
            is_next = waits and row.commission_at is not None
            telling(row).button("People told", icon="campaign", type="primary" if is_next else "secondary")
        if row.risk and row.decided_by != person.id:
            closing(row).button("Close", icon="task_alt", type="secondary" if waits else "primary")


def show_who_closes(row: BreachRow, person: Person) -> None:
    if row.closed_at is None and row.risk and row.decided_by == person.id:
        st.caption(":material/lock: You judged the risk: somebody else closes it.")


def draw_breach() -> None:
    person = frame.require(ROLE)
    tables.back_link("breaches", "compliance/breaches.py", "Back to the breaches")
    row = record(breaches.get_breach, "breach")
    with frame.header_with_buttons(
        f"{words.plain(row.title)} {words.badge(row.state)}",
        row.number if row.closed_at else f"{row.number}: whoever judges the risk cannot close it.",
        tab=f"{row.number} · Breach",
    ):
        buttons(row, person)
    actions.run()
    show_who_closes(row, person)
    with st.grid(2, min_column_width=320, gap="small"):
        # The span ends with its last day.
        span = {"From": words.day(row.since_at), "To": words.day(row.until_at - timedelta(days=1))}
        facts.card("**What happened**", {**span, "Suspected": row.actor or "Nobody yet"}).text(row.description)
        clock = {
            "Known since": day_or_moment(row.known_at),
            "Commission by": words.moment(row.notify_by),
            "Hours left": None if row.hours_left is None else str(row.hours_left),
            "Risk": RISKS[row.risk] if row.risk else "To be judged",
            "Why": row.risk_reason,
            "People": "–" if row.people is None else words.count(row.people),
            "Commission told": f"{words.moment(row.commission_at)} {row.commission_reference or ''}",
            "People told": words.moment(row.people_at),
        }
        facts.card("**Clock**", clock)
    exposures = read(lambda session: breaches.find_exposures(session, row))
    st.subheader("Opened, shown or exported in the span", anchor=False)
    if exposures:
        more = f" The newest {MAX_LISTED} are shown." if len(exposures) == MAX_LISTED else ""
        st.markdown(f"{EXPOSURES.count_text(len(exposures))} of the audit log.{more}")
        tables.draw_short(EXPOSURES, exposures)
    else:
        st.caption("The audit log has no entry of the kind in this span.")
    with st.expander("Draft of the notice to the Commission", icon=":material/draft:"):
        st.code(breaches.draft_notice(row, exposures), language=None, wrap_lines=True)
    draw_history(f"breach {row.id}")
