"""Shared by the screens of finance: who may, changes from dialogs, the choice of a month, and what two screens draw."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from core.services.finance import tax
from core.services.finance.bordereaux import overview
from core.services.finance.bordereaux.reading import KIND_NAMES
from core.services.people.staff import Person
from core.store.access import Scope, ScopedSession, reading, store, transact
from core.ui.frame import frame
from core.ui.kit import dialogs, url_state, words
from core.ui.kit.actions import Action
from core.ui.kit.dialogs import Decision

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class DialogWrites:
    """The changes of one desk: the role that they need, and the scope of their transactions."""

    role: str
    scope: Callable[[], Scope]

    def carry_out(self, work: Callable[[ScopedSession, Person], Result]) -> Result:
        """Run the work as the signed-in person and return its result."""
        by, scope = frame.require(self.role), self.scope()
        return transact(scope, lambda session: work(session, by))

    def run(self, work: Callable[[ScopedSession, Person], object], sentence: str) -> str:
        """Run the work and return the sentence that says so."""
        self.carry_out(work)
        return sentence

    def run_with_fields(
        self, names: tuple[str, ...], work: Callable[[ScopedSession, Mapping[str, Any], Person], object], sentence: str
    ) -> Callable[[], str]:
        """Return the action of a dialog that hands its fields to the work.

        They are read before the transaction: the thread that writes has no session of the browser.
        """

        def act() -> str:
            typed = dialogs.get_values(*names)
            return self.run(lambda session, by: work(session, typed, by), sentence)

        return act


ROLE = "finance"
action = partial(Action, roles=(ROLE,))
_WRITES = DialogWrites(ROLE, frame.scope)
carry_out, made, submitted = _WRITES.carry_out, _WRITES.run, _WRITES.run_with_fields
_NAMED = 3


def show_resting(person: Person) -> None:
    """Say why somebody cannot approve anything now."""
    if not person.may_approve:
        until = words.moment(person.approves_from)
        st.caption(f"Somebody else reset your password: you can approve again from {until}.")


def giving_up(what: str, act: Callable[[str], str]) -> Decision:
    return Decision(
        title=f"Give {what} up",
        icon="block",
        says="Nobody can approve it any more; what it would have paid stays due.",
        asks=lambda: dialogs.field("reason", "Reason", longest=500),
        given={"reason": ""},
        confirm="Give it up",
        act=lambda: act(dialogs.get_values("reason")["reason"]),
    )


def bank_answer() -> None:
    dialogs.field("bank_reference", "Bank reference", longest=60)
    dialogs.day("value_on", "Value date")


def lacks_withholding(month: date) -> bool:
    """Return True for a month for which no rate of withholding tax is on file."""
    with store().reading(frame.scope()) as session:
        return tax.lacks_withholding(session, month)


def warn_of_withholding(month: date) -> str:
    """Return what a dialog says before a month without a rate is stated."""
    said = f"**No rate of withholding tax is on file for {month:%B %Y}: nothing is withheld of the commissions.**\n\n"
    return said if lacks_withholding(month) else ""


def overdue_bordereaux() -> None:
    """Say in red which insurers should have had a bordereau by now."""
    with reading(Scope.staff(is_live=True)) as session:
        found = overview.list_overdue(session)
    if not found:
        return
    named = [
        f"{words.plain(each.party)}, {KIND_NAMES[each.kind].lower()} of {each.month:%B %Y},"
        f" due {words.day(each.due_on)}: {each.missing}"
        for each in sorted(found, key=lambda each: each.due_on)[:_NAMED]
    ]
    more = f"; and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    st.error(f"Bordereaux are overdue: {'; '.join(named)}{more}.", icon=":material/assignment_late:")


def newest_over(months: Sequence[date]) -> date:
    """Return the newest month that is over; `months` has the newest first, and begins with the one that runs."""
    return months[1] if len(months) > 1 else months[0]


def choose_month(months: Sequence[date], usual: date | None = None) -> date:
    """Draw the choice and return the month in the URL, or the usual one, else the newest that is over."""
    usual = usual or newest_over(months)
    month = next((each for each in months if f"{each:%Y-%m}" == st.query_params.get("month")), usual)
    names = {f"{each:%Y-%m}": f"{each:%B %Y}" for each in months}
    st.session_state["month"] = f"{month:%Y-%m}"
    st.selectbox(
        "Month",
        list(names),
        key="month",
        format_func=names.__getitem__,
        width=220,
        on_change=lambda: url_state.change({"month": [st.session_state["month"]]}),
    )
    return month
