"""Calls about renewals on the screens: recorded for the chosen policies, and the figures of each caller."""

from collections.abc import Sequence
from functools import partial
from uuid import UUID

import streamlit as st

from core import clock
from core.errors import NotFound
from core.services.people.staff import Person
from core.services.renewals import calls
from core.services.renewals.calls import OUTCOMES, Call, CallerFigures
from core.services.renewals.due import DueRow
from core.store.access import ScopedSession, reading
from core.ui.frame import frame
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Action, Choice, Day, Text, Values
from core.ui.lists import columns, periods, tables
from core.ui.lists.record_tables import DUE
from core.ui.lists.tables import Table
from core.ui.renewals import bulk_renewal, renewal_reminders

ROLES = ("operations",)
# The name of the choice in the address, and the periods it offers.
_PERIOD, _USUAL = "calls", "30d"
_PERIODS = ("7d", "30d", "this-month", "last-month", "6m", "1y")
CALLERS: Table[CallerFigures] = Table(
    name="callers",
    noun=("caller", "callers"),
    narrow=("caller", "calls", "renewed", "premium"),
    key=lambda row: row.caller,
    columns={
        "caller": columns.text("Caller", lambda row: row.caller, 200),
        "calls": columns.number("Calls made", lambda row: row.calls),
        "reached": columns.number(
            "Reached", lambda row: row.reached, says="Calls in which the customer was spoken to, whatever the answer."
        ),
        "terms": columns.number("Policies called about", lambda row: row.terms),
        "renewed": columns.number(
            "Renewed", lambda row: row.renewed, says="Each renewal counts for whoever called last before it."
        ),
        "premium": columns.naira("Premium renewed", lambda row: row.premium_minor),
        "rate": columns.text(
            "Conversion",
            lambda row: None if row.conversion is None else words.percent(row.conversion),
            right=True,
            says="Renewed, as a share of the policies called about.",
        ),
    },
)


def bar(picked: Sequence[DueRow], person: Person) -> None:
    """Draw the buttons that record a call with the chosen customers, and that remind them."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.button(
            f"Record a call ({len(picked)})" if len(picked) > 1 else "Record a call",
            icon=":material/call:",
            disabled=not picked,
            on_click=lambda: actions.open_(recording([row.id for row in picked], _about(picked), person)),
        )
        renewal_reminders.button(picked)
        bulk_renewal.button(picked)
        if not picked:
            st.caption("Tick the customers whom you called, or want to remind or renew.", width="content")
    renewal_reminders.draw_automatic_note()


def _about(picked: Sequence[DueRow]) -> str:
    names = ", ".join(row.customer for row in picked[:5])
    return words.plain(names + (f" and {len(picked) - 5} more" if len(picked) > 5 else ""))


def recording(policy_ids: Sequence[UUID], about: str, person: Person) -> Action:
    """Return the dialog that records one outcome for these policies."""
    with reading(frame.scope()) as session:
        owners = {str(key): name for key, name in calls.list_owners(session).items()}
    return Action(
        title="Record a call",
        icon="call",
        says=f"About the renewal of **{about}**.",
        fields=[
            Choice("outcome", "Outcome", options=OUTCOMES),
            Text("note", "Note (optional)", longest=500),
            Day("call_again_on", "Call again on (optional)"),
            Choice("owner", "Owner", options=owners, value=str(person.id) if str(person.id) in owners else None),
        ],
        confirm="Record",
        roles=ROLES,
        work=partial(_record, policy_ids),
        done=lambda number: "The call is recorded." if number == 1 else f"{number} calls are recorded.",
        then=lambda _: tables.let_go(DUE),
    )


def _record(policy_ids: Sequence[UUID], session: ScopedSession, typed: Values, by: Person) -> int:
    given = {name: typed[name].strip() for name in ("outcome", "note", "call_again_on")}
    inputs = {name: text for name, text in given.items() if text}
    owner = UUID(typed["owner"]) if typed["owner"] else None
    return calls.record_calls(session, policy_ids, inputs, owner_id=owner, by=by)


def figures() -> None:
    """Draw what the calls of a period led to, by caller, with their sum; the period is in the address."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center", horizontal_alignment="distribute"):
        st.subheader("Call outcomes", anchor=False, width="content")
        period = st.segmented_control(
            "Calls made in",
            _PERIODS,
            default=_USUAL,
            required=True,
            key=_PERIOD,
            format_func=periods.NAMES.__getitem__,
            label_visibility="collapsed",
            bind="query-params",
        )
    window = periods.window_of(period or _USUAL, clock.today())
    with reading(frame.scope()) as session:
        found = calls.compute_conversion(session, window.span)
    if not found:
        st.caption(
            f"Nobody called about a renewal in {periods.describe_period(window)}. Tick customers above, call them, and"
            " record what came of it."
        )
        return
    made, renewed = sum(row.calls for row in found), sum(row.renewed for row in found)
    premium = words.plain(words.naira(sum(row.premium_minor for row in found)))
    noun, term = "call" if made == 1 else "calls", "renewal" if renewed == 1 else "renewals"
    st.markdown(
        f"**{words.count(made)}** {noun} · **{words.count(renewed)}** {term} · {premium} ·"
        f" {periods.describe_period(window)}"
    )
    tables.draw_short(CALLERS, found)


def history(policy_id: UUID) -> None:
    """Draw every call about a policy, the latest first."""
    try:
        with reading(frame.scope()) as session:
            found = calls.list_calls(session, policy_id)
    except NotFound:
        return
    if found:
        st.markdown("**Calls about the renewal**")
    for call in found:
        with st.container(border=True, gap="xsmall"):
            _call(call)


def _call(call: Call) -> None:
    facts.line(words.moment(call.created_at), call.label)
    if call.note:
        st.text(call.note)
    again = f", to call again on {words.day(call.call_again_on)}" if call.call_again_on else ""
    st.caption(f"Called by {words.plain(call.caller)}; owner {words.plain(call.owner)}{again}.")
