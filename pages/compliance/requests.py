"""Data requests: the register, and one request with its identity, records, pack, erasure and outcome."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import streamlit as st

from core import clock
from core.services.compliance import erasures, requests, retention
from core.services.compliance.requests import IDENTITIES, KINDS, REFUSALS, FoundRecord, RequestRow
from core.ui.frame import frame
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Action, Choice, Day, Text, Tick
from core.ui.lists import columns, tables
from core.ui.lists.tables import Table
from pages.compliance._shared import (
    ERASURES,
    LEFT,
    ROLE,
    STATES,
    action,
    day_or_moment,
    days_left,
    draw_history,
    draw_register,
    late_badge,
    read,
    record,
    state_badge,
    state_tone,
    warn_of_open,
)

REQUESTS: Table[RequestRow] = Table(
    name="data_requests",
    noun=("request", "requests"),
    opens="compliance/requests.py#request",
    narrow=("number", "name", "state", "left"),
    columns={
        "number": columns.text("Number", lambda row: row.number, 120),
        "kind": columns.text("Asks for", lambda row: KINDS[row.kind], 130),
        "name": columns.text("Name", lambda row: row.name, 200),
        "state": columns.state("State", lambda row: STATES[row.state], colour=lambda row: state_tone(row.state)),
        "received": columns.day("Received", lambda row: row.received_at),
        "due": columns.day("Answer by", lambda row: row.last_day),
        "left": LEFT,
        "identity": columns.text("Identity", lambda row: "Checked" if row.identity_at else "Not yet", 90),
    },
    unsorted="Next due first",
)


def registering() -> Action:
    """Return the dialog that registers a request."""
    return action(
        title="Register a request",
        icon="contact_mail",
        says="Records with the same e-mail are found at once. The days to acknowledge and to answer begin to count.",
        confirm="Register it",
        fields=[
            Choice("kind", "What the person asks for", options=KINDS),
            Text("name", "Name", longest=200),
            Text("email", "E-mail", longest=254),
            Text("phone", "Phone", longest=32),
            Text("details", "In their words", longest=2_000, is_long=True),
            Day("received_on", "Received on, if not today"),
        ],
        work=lambda session, typed, by: requests.register(session, typed, by=by),
        done="The request is registered.",
        opens="compliance/requests.py#request",
    )


def draw() -> None:
    frame.require(ROLE)
    with frame.header_with_buttons(
        "Data requests", "What people ask about their data, over all distributors; the next due is first."
    ):
        registering().button("Register a request", icon="contact_mail", type="primary")
    actions.run()
    rows = read(requests.list_requests)
    if not rows:
        st.info("No request yet. Register every request here, whether by letter, e-mail or phone.")
        return
    draw_register(REQUESTS, rows, is_open=lambda row: row.is_open, searched=("number", "name"))


def holding(customer_id: UUID, name: str) -> Action:
    """Return the dialog that sets a legal hold."""
    return action(
        title="Set a legal hold",
        icon="gavel",
        says=f"Nothing erases the records of **{words.plain(name)}** until somebody else lifts the hold.",
        confirm="Set it",
        fields=[Text("reason", "Reason", longest=500)],
        work=lambda session, typed, by: retention.set_hold(session, customer_id, reason=typed["reason"], by=by),
        done="The hold stands: nothing erases these records until somebody else lifts it.",
    )


def acknowledging(row: RequestRow) -> Action:
    """Return the dialog that notes the acknowledgement."""
    return action(
        title="Acknowledge the request",
        icon="mark_email_read",
        says=f"**{words.plain(row.name)}** was told that {row.number} is being worked on.",
        confirm="Acknowledge it",
        work=lambda session, _, by: requests.acknowledge(session, row.id, version=row.version, by=by),
        done=f"{row.number} is acknowledged.",
    )


def identifying(row: RequestRow) -> Action:
    """Return the dialog that notes how the identity was checked."""
    return action(
        title="Identity checked",
        icon="badge",
        says="Nothing is handed out and nothing erased before the person has proven who they are.",
        confirm="Note it",
        fields=[Choice("method", "How it was checked", options={each: each for each in IDENTITIES})],
        work=lambda session, typed, by: requests.note_identity(session, row.id, **typed, version=row.version, by=by),
        done="The identity is noted.",
    )


def extending(row: RequestRow) -> Action:
    """Return the dialog that takes more time."""
    return action(
        title="Take more time",
        icon="more_time",
        says="Only once; tell the person the reason.",
        confirm="Extend it",
        fields=[Text("reason", "Reason", longest=500)],
        work=lambda session, typed, by: requests.extend(session, row.id, **typed, version=row.version, by=by),
        done="The request has more time.",
    )


def answering(row: RequestRow) -> Action:
    """Return the dialog that closes a request with its outcome."""
    return action(
        title="Answer the request",
        icon="task_alt",
        says="Write what was done and what the person was told.",
        confirm="Close it",
        fields=[Text("outcome", "Outcome", longest=2_000, is_long=True)],
        work=lambda session, typed, by: requests.answer(session, row.id, **typed, version=row.version, by=by),
        done=f"{row.number} is answered.",
    )


def refusing(row: RequestRow) -> Action:
    """Return the dialog that refuses a request with a code."""
    return action(
        title="Refuse the request",
        icon="block",
        says="A refusal names its ground; the person may complain to the Commission.",
        confirm="Refuse it",
        fields=[
            Choice("refusal_code", "Code", options=REFUSALS),
            Text("outcome", "What the person is told", longest=2_000, is_long=True),
        ],
        work=lambda session, typed, by: requests.refuse(
            session, row.id, code=typed["refusal_code"], outcome=typed["outcome"], version=row.version, by=by
        ),
        done=f"{row.number} is refused.",
    )


def erasing(row: RequestRow) -> Action:
    """Return the dialog that prepares the erasure of the person."""
    return action(
        title="Prepare the erasure",
        icon="auto_delete",
        says=f"Every record of **{words.plain(row.name)}**, at every distributor and in both modes, becomes one"
        " without a person. Sums stay as they are. Somebody else carries it out.",
        fields=[
            Text("reason", "Reason", longest=500, is_long=True),
            Tick("early", "Erase before the end of the time that the law wants it kept"),
        ],
        confirm="Prepare it",
        work=lambda session, typed, by: erasures.prepare_for_request(session, row.id, **typed, by=by),
        done="The erasure is prepared: somebody else of compliance carries it out.",
    )


def choosing(row: RequestRow, customers: Sequence[UUID]) -> Action:
    """Return the action that names the ticked records as the person's."""
    return action(
        title="Keep this choice",
        icon="save",
        work=lambda session, _, by: requests.choose_records(session, row.id, customers, version=row.version, by=by),
        done="The records of the person are noted.",
    )


def draw_person(row: RequestRow) -> None:
    """Draw who asks for what."""
    values = {
        "Name": row.name,
        "E-mail": row.email or "–",
        "Phone": row.phone or "–",
        "Identity": f"{row.identity_method}, {words.day(row.identity_at)}" if row.identity_at else "Not yet",
    }
    facts.card("**Person**", values).text(row.details)


def _late_acknowledgement(row: RequestRow) -> str:
    """Return the badge of an acknowledgement that is late; "" where it is not, or was sent."""
    days = (row.acknowledge_by - clock.today()).days
    is_late = row.is_open and row.acknowledged_at is None and days < 0
    return f" {words.badge(f'Acknowledge: {days_left(days)}', 'red')}" if is_late else ""


def draw_days(row: RequestRow) -> None:
    """Draw the days of a request and its outcome."""
    is_waiting = row.is_open and not row.acknowledged_at
    values = {
        "Received": day_or_moment(row.received_at),
        "Acknowledged": words.moment(row.acknowledged_at) if row.acknowledged_at else None,
        "Acknowledge by": words.day(row.acknowledge_by) if is_waiting else None,
        "Answer by": words.day(row.last_day),
        "Extended because": row.extension_reason,
        "Left": days_left(row.days_left),
        "Closed": words.moment(row.answered_at) if row.answered_at else None,
        "Refused": REFUSALS[row.refusal_code] if row.refusal_code else None,
    }
    card = facts.card("**Days**", values)
    if row.outcome:
        card.text(row.outcome)


def draw_records(row: RequestRow) -> None:
    """Draw the records that may be the person's, to be ticked while the request is open."""
    found = read(lambda session: requests.find_records(session, row))
    st.subheader("Records", anchor=False)
    if not found:
        st.info("No customer has this e-mail or phone: the request can be answered, or refused as “no data”.")
        return
    chosen = [record.id for record in found if _is_ticked(row, record)]
    if row.is_open:
        keep = choosing(row, chosen)
        st.button(keep.title, icon=":material/save:", on_click=keep.do)


def _is_ticked(row: RequestRow, record: FoundRecord) -> bool:
    with st.container(border=True, horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        with st.container(gap=None, width="stretch"):
            mode = "" if record.is_live else f" {words.badge('Test')}"
            held = f" {words.badge('On hold', 'red')}" if record.holds else ""
            name = f"{words.plain(record.name)}{mode}{held}"
            ticked = st.checkbox(name, value=record.is_chosen, key=f"record.{record.id}", disabled=not row.is_open)
            # Below the name: on a phone one line has no room for who has the record.
            st.caption(f"{words.plain(record.email)} at {words.plain(record.distributor)}")
            for reason in record.holds:
                st.caption(f":material/gavel: {words.plain(reason)}. Somebody else lifts the hold under Retention.")
        if not (record.holds or record.is_erased):
            holding(record.id, record.name).button("Hold", key=f"hold.{record.id}")
    return ticked


def draw_pack(row: RequestRow) -> None:
    """Draw the link to the pack of an identified person."""
    if row.kind not in {"access", "copy"}:
        return
    if row.identity_at is None:
        st.info("The pack can be made once the identity of the person is checked.", icon=":material/badge:")
        return
    st.link_button(
        "Download the pack",
        f"/data-requests/{row.id}.zip",
        icon=":material/folder_zip:",
        help="JSON, PDF and files of everything that is held of the person, and who looked at it. The log keeps it.",
    )


def find_wait(row: RequestRow, *, is_prepared: bool) -> str | None:
    """Return why the erasure of an open request cannot be prepared now; None where it can, and for other requests."""
    if row.kind != "erasure" or not row.is_open:
        return None
    if row.identity_at is None:
        return "**Prepare the erasure** once it is noted how the identity of the person was checked."
    if is_prepared:
        return "The erasure is prepared: somebody else of compliance carries it out, on its page below."
    return None


def draw_buttons(row: RequestRow, *, waits: bool) -> None:
    """Draw what can be done now; an erasure that `waits` cannot be prepared."""
    if not row.is_open:
        return
    main: dict[str, Any] = {"type": "primary"}
    if row.state == "received":
        acknowledging(row).button("Acknowledge", icon="mark_email_read", **main)
        main = {}
    if row.identity_at is None:
        identifying(row).button("Identity checked", icon="badge", **main)
        main = {}
    if row.extended_to is None:
        extending(row).button("Take more time", icon="more_time")
    if row.kind == "erasure":
        erasing(row).button("Prepare the erasure", icon="auto_delete", disabled=waits, **main)
    else:
        answering(row).button("Answer", icon="task_alt", **main)
    refusing(row).button("Refuse", icon="block")


def draw_request() -> None:
    frame.require(ROLE)
    tables.back_link("data_requests", "compliance/requests.py", "Back to the requests")
    row = record(requests.get_request, "request")
    found = read(lambda session: erasures.list_of_request(session, row.id))
    waits = find_wait(row, is_prepared=any(each.state == "open" for each in found))
    with frame.header_with_buttons(
        f"{row.number} {state_badge(row.state)}{late_badge(row)}{_late_acknowledgement(row)}",
        f"{KINDS[row.kind]}, at every distributor and in both modes.",
        tab=f"{row.number} · Data request",
    ):
        draw_buttons(row, waits=waits is not None)
    actions.run()
    if waits:
        st.caption(f":material/lock: {waits}")
    if row.kind == "erasure" and row.is_open:
        warn_of_open(row.customers, besides=row.id)
    with st.grid(2, min_column_width=320, gap="small"):
        draw_person(row)
        draw_days(row)
    draw_pack(row)
    draw_records(row)
    if found:
        st.subheader("Erasures", anchor=False)
        tables.draw_short(replace(ERASURES, home=("compliance/requests.py#request", "Back to the request")), found)
    draw_history(f"data_request {row.id}")
