"""Shared by the screens of sales: a call about a renewal, and the buttons of a policy that is due."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

import streamlit as st

from core import clock
from core.services.people.staff import Person
from core.services.renewals import calls, due, renewals
from core.services.renewals.calls import OUTCOMES
from core.services.renewals.due import DueRow
from core.services.renewals.renewals import BulkRenewal, ShownTerm
from core.store.access import ScopedSession, reading
from core.ui.frame import frame
from core.ui.kit import actions, facts, policy_actions, words
from core.ui.kit.actions import Action, Choice, Day, Field, Text, Tick, Values
from core.ui.lists import tables
from core.ui.lists.tables import Table

ROLES = ("operations",)
_CALL, _RENEW = "Call", "Renew"


def _next_premium(row: DueRow) -> str:
    if row.refusal is None:
        return words.naira(row.next_minor)
    return f"From {words.day(row.opens_on)}" if row.opens_on else "Not today"


def _describe_reminders(row: DueRow) -> str:
    # Why stands in a column of its own, in the dialogs and, of a call, beside it.
    return "No more" if row.no_reminder else words.day(row.reminded_at)


def of_due(**more: Any) -> Table[DueRow]:
    """Return a table of policies that are due."""
    return tables.of(
        due.DUE,
        opens="policies/policy.py",
        changed={
            "cover": {
                "of": lambda row: words.until(row.days_left, is_over=row.is_over),
                "colour": lambda row: "red" if row.is_over else "",
            },
            "customer": {"width": 125},
            "next": {"of": _next_premium, "is_right": True, "width": 95},
            "product": {"width": 150, "wraps": True},
            "reminded": {"of": _describe_reminders},
            "note": {"of": lambda row: row.refusal and words.format_dates(row.refusal)},
        },
        **more,
    )


DUE = of_due(
    home=("sales/due.py", "Back to what is due"),
    narrow=("customer", "phone", "ends", "next"),
    only_wide=("cover", "again", "reminded"),
)


def list_acts(row: DueRow) -> Sequence[str]:
    return (_CALL, _RENEW) if row.refusal is None else (_CALL,)


def follow_click(table: Table[DueRow], rows: Sequence[DueRow], person: Person) -> None:
    """Open the dialog of the button that was clicked in a row."""
    policy_id, label = tables.get_clicked(table)
    row = next((row for row in rows if row.id == policy_id), None)
    if row is None:
        return
    if label == _CALL:
        actions.open_(calling(row, person))
    else:
        policy_actions.begin_renewal(row.id)


def _about(picked: Sequence[DueRow]) -> str:
    names = ", ".join(row.customer for row in picked[:5])
    return words.plain(names + (f" and {len(picked) - 5} more" if len(picked) > 5 else ""))


def recording(rows: Sequence[DueRow], person: Person) -> Action:
    """Return the dialog that records one outcome for these policies."""
    return Action(
        title="Record a call",
        icon="call",
        says=f"About the renewal of **{_about(rows)}**.",
        fields=_ask_outcome(person),
        confirm="Record",
        roles=ROLES,
        work=partial(_record, [row.id for row in rows]),
        done=lambda number: "The call is recorded." if number == 1 else f"{number} calls are recorded.",
        then=lambda _: tables.let_go(DUE),
    )


def calling(row: DueRow, person: Person) -> Action:
    """Return the dialog of a call with one customer: the number, the price, what to say, and what came of it."""
    shown = show_term(row)

    def is_renewing(values: Values) -> bool:
        return row.next_minor is not None and values["outcome"] == "will_renew"

    def record(session: ScopedSession, typed: Values, by: Person) -> str:
        _record([row.id], session, typed, by)
        if not (is_renewing(typed) and typed["renew"]):
            return "The call is recorded."
        return f"The call is recorded. {summarise_renewals(renewals.renew_each(session, [shown], by=by))}"

    outcome, *others = _ask_outcome(person)
    return Action(
        title=f"Call {row.customer}",
        icon="call",
        fields=[
            lambda _: _show_call(row),
            replace(outcome, is_live=True),
            Tick("renew", f"Renew now for {words.naira(row.next_minor)}", is_live=True, when=is_renewing),
            *others,
        ],
        confirm=lambda values: "Record and renew" if is_renewing(values) and values["renew"] else "Record the call",
        roles=ROLES,
        work=record,
        done=str,
        then=lambda _: tables.let_go(DUE),
    )


def _ask_outcome(person: Person) -> list[Field]:
    with reading(frame.scope()) as session:
        owners = {str(key): name for key, name in calls.list_owners(session).items()}
    return [
        Choice("outcome", "Outcome", options=OUTCOMES),
        Text("note", "Note (optional)", longest=500),
        Day("call_again_on", "Call again on (optional)", first=clock.today()),
        Choice("owner", "Owner", options=owners, value=str(person.id) if str(person.id) in owners else None),
    ]


def _show_call(row: DueRow) -> None:
    """Draw whom to call about what, for which premium, and what to say."""
    with st.container(gap="xsmall"):
        number = words.phone(row.phone)
        facts.line("Phone", number or "No number: write to the customer instead")
        facts.line("Cover", f"{row.product}, {row.provider}")
        facts.line(describe_end(row).capitalize(), words.day(row.expiration_at))
        refusal = row.refusal and f"Not today: {words.format_dates(row.refusal)}"
        facts.line("Next premium", refusal or words.naira(row.next_minor))
        if row.call:
            suffix = f": {row.call.note}" if row.call.note else ""
            facts.line("Last call", f"{row.call.label}{suffix} ({row.call.caller}, {words.day(row.call.created_at)})")
        if row.no_reminder:
            facts.line("Reminders", f"No more are sent: the customer {row.no_reminder}")
    st.info(write_script(row), icon=":material/record_voice_over:")


def write_script(row: DueRow) -> str:
    """Return what a caller says, as Markdown."""
    cover = f"your {words.plain(row.product)} cover with {words.plain(row.provider)}"
    price = (
        f"One more term costs **{words.plain(words.naira(row.next_minor))}**. Shall I renew it for you now?"
        if row.next_minor is not None
        else "May I call you again once it can be renewed?"
    )
    return (
        f"Good day, am I speaking with {words.plain(row.customer)}? It is about {cover}, which {describe_end(row)} on"
        f" **{words.day(row.expiration_at)}**. {price}"
    )


def _record(policy_ids: Sequence[UUID], session: ScopedSession, typed: Values, by: Person) -> int:
    given = {name: typed[name].strip() for name in ("outcome", "note", "call_again_on")}
    inputs = {name: text for name, text in given.items() if text}
    owner = UUID(typed["owner"]) if typed["owner"] else None
    return calls.record_calls(session, policy_ids, inputs, owner_id=owner, by=by)


def show_term(row: DueRow) -> ShownTerm:
    return ShownTerm(policy_id=row.id, expiration_at=row.expiration_at, total_minor=row.next_minor or 0)


def describe_end(row: DueRow) -> str:
    return "ended" if row.is_over else "ends"


def summarise_renewals(found: BulkRenewal) -> str:
    """Return the result in words: "2 policies are renewed for ₦1,068.75. Left out 1: it was renewed meanwhile."."""
    left_out = words.list_left_out(found.left_out)
    if not found.done:
        return words.Unchanged(f"No policy is renewed.{left_out}")
    number = words.counted(found.done, "policy is", "policies are")
    return f"{number} renewed for {words.naira(found.total_minor)}.{left_out}"
