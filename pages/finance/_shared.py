"""Shared by the screens of finance: who may, what the bank says, the choice of a month, and what two screens draw."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from functools import partial
from zlib import crc32

import streamlit as st

from core import clock
from core.errors import CoverdeskError, InvalidInput
from core.services.finance import tax
from core.services.finance.bordereaux import bordereaux
from core.services.finance.bordereaux.bordereaux import KIND_NAMES, Overdue
from core.store.access import Scope, read_in, store
from core.ui.frame import frame, page_links
from core.ui.kit import url_state, words
from core.ui.kit.actions import Action, Day, Text

ROLE = "finance"
action = partial(Action, roles=(ROLE,))
NOT_IN_FILE = "– not in the file –"
# What the amounts of an insurer's file are.
AMOUNTS = {"net": "Net of both commissions", "gross": "Gross premium"}
_NAMED = 3


def bank_answer() -> tuple[Text, Day]:
    """Return the fields of what the bank says of a payment."""
    return Text("bank_reference", "Bank reference", longest=60), Day("value_on", "Value date", value=clock.today())


def bank_return(reference: str | None) -> tuple[Day, Text, Text]:
    """Return the fields of a payment that came back; the reference is that of the payment until another is typed."""
    return (
        Day("returned_on", "Returned on", value=clock.today()),
        Text("bank_reference", "The bank's reference of the return", value=reference, longest=60),
        Text("reason", "What the bank says", longest=500),
    )


def downloads(address: str, *formats: str, title: str = "") -> None:
    """Draw the links to the files of a paper side by side, each by its format."""
    with st.container(horizontal=True, gap="xsmall"):
        for each in formats:
            st.link_button(f"{title} {each.upper()}".strip(), f"{address}.{each}", icon=":material/download:")


def describe_owed(minors: Iterable[int]) -> str:
    """Return what some balances come to, for the parties that we owe and for those that owe us."""
    each = list(minors)
    owed, owing = sum(minor for minor in each if minor > 0), -sum(minor for minor in each if minor < 0)
    return f"owed by the platform **{words.naira(owed)}** · owed to it **{words.naira(owing)}**"


def count_states(states: Collection[str]) -> str:
    """Return how many stand in which state: "Sent 12 · Paid 3"."""
    return " · ".join(f"{words.badge(state)} {words.count(number)}" for state, number in Counter(states).items())


def choose_columns(
    place: str, heading: Sequence[str], labels: Mapping[str, str], guessed: Mapping[str, str], *, side_by_side: int
) -> Mapping[str, str]:
    """Draw which column of a file means what, as it was guessed first, and return it; empty is not in the file."""
    # What was chosen for one heading says nothing of another.
    place = f"{place}.{crc32('|'.join(heading).encode())}"
    names = [NOT_IN_FILE, *heading]
    with st.grid(side_by_side, min_column_width=190, gap="small"):
        chosen = {
            meaning: st.selectbox(
                label, names, index=names.index(guessed.get(meaning, NOT_IN_FILE)), key=f"{place}.{meaning}"
            )
            for meaning, label in labels.items()
        }
    return {meaning: "" if name == NOT_IN_FILE else str(name) for meaning, name in chosen.items()}


def describe_faults(error: CoverdeskError, labels: Mapping[str, str]) -> str:
    """Return what is wrong with a file, each fault on a line, and what to do; `labels` are those of its columns."""
    if not isinstance(error, InvalidInput):
        return f"{words.plain(str(error))}."
    named = {"file": "The file", **labels}
    faults = [f"{named.get(fault.field, fault.field.capitalize())} {fault.message}" for fault in error.faults]
    is_mapping = all(fault.field in labels for fault in error.faults)
    todo = "Choose the columns above." if is_mapping else "Correct the file, and upload it again."
    return "  \n".join([*(f"{words.plain(fault)}." for fault in faults), todo])


def lacks_withholding(month: date) -> bool:
    """Return True for a month for which no rate of withholding tax is on file."""
    with store().reading(frame.scope()) as session:
        return tax.lacks_withholding(session, month)


def warn_of_withholding(month: date) -> str:
    """Return what a dialog says before a month without a rate is stated."""
    warning = (
        f"**No rate of withholding tax is on file for {month:%B %Y}: nothing is withheld of the commissions.**\n\n"
    )
    return warning if lacks_withholding(month) else ""


def overdue_bordereaux() -> bool:
    """Say in red which insurers should have had a bordereau by now, and return True if any should."""
    if found := _list_overdue():
        st.error(f"Bordereaux are overdue: {_name_overdue(found)}.", icon=":material/assignment_late:")
    return bool(found)


def overdue_beside() -> None:
    """Draw in red how many bordereaux are overdue, and behind that which."""
    if found := _list_overdue():
        with st.popover(f":red[{words.count(len(found))} overdue]", icon=":material/assignment_late:", type="tertiary"):
            st.markdown(f"Bordereaux are overdue: {_name_overdue(found)}.")


def _list_overdue() -> Sequence[Overdue]:
    return read_in(Scope.staff(is_live=True), bordereaux.list_overdue)


def _name_overdue(found: Sequence[Overdue]) -> str:
    named = [
        f"{words.plain(each.party)}, {KIND_NAMES[each.kind].lower()} of {each.month:%B %Y},"
        f" due {words.day(each.due_on)}: {each.missing}"
        for each in sorted(found, key=lambda each: each.due_on)[:_NAMED]
    ]
    more = f"; and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return f"{'; '.join(named)}{more}"


def newest_over(months: Sequence[date]) -> date:
    """Return the newest month that is over; `months` has the newest first, and begins with the one that runs."""
    return months[1] if len(months) > 1 else months[0]


def lead_to_first(path: str, due: Iterable[date], month: date, says: str = "") -> None:
    """Draw the link to the oldest month that is due before this one, where there is any: its papers come first."""
    if (first := min(due, default=month)) < month:
        page_links.link_to(path, f"{first:%B %Y} comes first{says}", "event_busy", month=f"{first:%Y-%m}")


def choose_month(months: Sequence[date], usual: date | None = None, *, is_labelled: bool = True) -> date:
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
        label_visibility="visible" if is_labelled else "collapsed",
        on_change=lambda: url_state.change({"month": [st.session_state["month"]]}),
    )
    return month
