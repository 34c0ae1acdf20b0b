"""Issuing bordereaux and moving one on, each confirmed in a dialog."""

from collections.abc import Sequence
from datetime import date
from functools import partial
from uuid import UUID

from core.errors import StateForbids
from core.services.finance.bordereaux import issuing, overview
from core.services.finance.bordereaux.reading import KIND_NAMES, BordereauRow
from core.states.bordereaux import BordereauState
from core.states.transitions import Transition
from core.store.access import store, transact
from core.ui.finance.finance_writes import ROLE, made, submitted
from core.ui.frame import frame
from core.ui.kit import dialogs, words
from core.ui.kit.dialogs import Decision


def issuing_all(month: date, number: int) -> Decision:
    """Return the dialog that issues every bordereau of a month that is next."""

    def act() -> str:
        by, scope, done, refusals = frame.require(ROLE), frame.scope(), 0, []
        with store().reading(scope) as session:
            due = overview.list_due(session, month)
        for provider_id, name, kind in due:
            try:
                transact(scope, partial(issuing.issue, provider_id=provider_id, kind=kind, month=month, by=by))
                done += 1
            except StateForbids as refusal:
                refusals.append(f"{name}: {refusal}")
        if not done and refusals:
            raise StateForbids(refusals[0])
        return f"{done} bordereaux are issued." + (f" {len(refusals)} were not: {refusals[0]}." if refusals else "")

    return Decision(
        title=f"Issue {month:%B %Y}",
        icon="assignment_turned_in",
        says=f"{number} are frozen, each with the next number of its insurer and a hash. A row that comes later goes"
        " into the next one.",
        confirm="Issue them",
        act=act,
    )


def sending_all(month: date, rows: Sequence[BordereauRow]) -> Decision:
    """Return the dialog that marks the issued bordereaux of a month as sent."""

    def act() -> str:
        by, scope, done, refusals = frame.require(ROLE), frame.scope(), 0, []
        for row in rows:
            try:
                transact(scope, partial(issuing.move, bordereau_id=row.id, to=BordereauState.SENT, by=by))
                done += 1
            except StateForbids as refusal:
                refusals.append(f"{row.number} of {row.party}: {refusal}")
        if not done and refusals:
            raise StateForbids(refusals[0])
        return f"{done} bordereaux are sent." + (f" {len(refusals)} were not: {refusals[0]}." if refusals else "")

    return Decision(
        title=f"Mark {len(rows)} of {month:%B %Y} as sent",
        icon="outgoing_mail",
        says=", ".join(f"**{row.number}** to {words.plain(row.party)}" for row in rows) + ".",
        confirm="Mark them as sent",
        act=act,
    )


def issuing_one(provider_id: UUID, kind: str, month: date) -> Decision:
    """Return the dialog that issues one bordereau."""
    return Decision(
        title=f"Issue the {KIND_NAMES[kind].lower()} bordereau of {month:%B %Y}",
        icon="assignment_turned_in",
        says="It is frozen with the next number of the insurer and a hash. A row that comes later goes into the next.",
        confirm="Issue it",
        act=lambda: made(
            lambda session, by: issuing.issue(session, provider_id, kind, month, by=by), "The bordereau is issued."
        ),
    )


def moving(row: BordereauRow, step: Transition[BordereauState]) -> Decision:
    """Return the dialog of one step of a bordereau."""

    return Decision(
        title=step.label,
        icon="task_alt",
        says=f"**{row.number}** becomes **{step.to}**.",
        asks=lambda: dialogs.field("note", "What the insurer said" if step.needs_note else "Note", longest=500),
        given={"note": ""},
        confirm=step.label,
        act=submitted(
            ("note",),
            lambda session, typed, by: issuing.move(session, row.id, step.to, by=by, note=typed["note"]),
            f"{row.number} is {step.to.lower()}.",
        ),
    )
