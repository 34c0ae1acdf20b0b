"""The steps of a month, each confirmed in a dialog."""

from datetime import date

from core.services.closing import closing
from core.services.people.staff import Person
from core.states.months import MonthState
from core.store.access import ScopedSession
from core.ui.finance.finance_writes import made
from core.ui.kit import dialogs
from core.ui.kit.dialogs import Decision

LABELS = {
    MonthState.CLOSING: "Start closing",
    MonthState.CLOSED: "Close the month",
    MonthState.OPEN: "Give the closing up",
    MonthState.REOPENING: "Ask to reopen it",
    MonthState.REOPENED: "Reopen it",
}
_SAYS = {
    MonthState.CLOSING: "Somebody else of finance closes it, once nothing stands against it.",
    MonthState.CLOSED: "Its statements are not reversed any more, and the hash of its journal is kept.",
    MonthState.OPEN: "The month is open as before.",
    MonthState.REOPENING: "Somebody else of finance decides.",
    MonthState.REOPENED: "Its papers can be changed, and it is closed anew by two people.",
}
_NOTES = {MonthState.CLOSED: "What you have looked at", MonthState.REOPENING: "Why it has to be open again"}


def label_of(state: MonthState, to: MonthState) -> str:
    """Return the label of a step: closing again after a reopening was asked for is giving that up."""
    return "Leave it closed" if (state, to) == (MonthState.REOPENING, MonthState.CLOSED) else LABELS[to]


def stepping(month: date, state: MonthState, to: MonthState) -> Decision:
    """Return the dialog that brings a month to another state."""
    is_given_up = to == MonthState.OPEN or (state, to) == (MonthState.REOPENING, MonthState.CLOSED)
    has_note = to in _NOTES and not is_given_up
    label = label_of(state, to)

    def act() -> str:
        note = dialogs.get_values("note")["note"]
        return made(lambda session, by: _step(session, month, to, note, by, is_given_up=is_given_up), f"{label}: done.")

    return Decision(
        title=f"{label}: {month:%B %Y}",
        icon="lock_clock",
        says="It stays closed as it was." if is_given_up and to == MonthState.CLOSED else _SAYS[to],
        asks=(lambda: dialogs.field("note", _NOTES[to], longest=500)) if has_note else None,
        given={"note": ""},
        confirm=label,
        act=act,
    )


def _step(session: ScopedSession, month: date, to: MonthState, note: str, by: Person, *, is_given_up: bool) -> None:
    if is_given_up:
        closing.give_up(session, month, by=by)
    elif to == MonthState.CLOSING:
        closing.begin(session, month, by=by)
    elif to == MonthState.CLOSED:
        closing.close(session, month, by=by, note=note)
    elif to == MonthState.REOPENING:
        closing.ask_reopening(session, month, by=by, note=note)
    else:
        closing.reopen(session, month, by=by)
