"""The terms with a party, their history, and its bank accounts."""

from collections.abc import Sequence
from datetime import date
from typing import Any

import streamlit as st

from core.services.finance import agreements, bank_accounts
from core.services.finance.bank_accounts import Account
from core.services.people.staff import Person
from core.ui.finance import proposal_buttons
from core.ui.kit import facts, words

_WORK = {"Confirm": bank_accounts.confirm, "Refuse": bank_accounts.refuse, "Take back": bank_accounts.take_back}
_HOLDERS = {"platform": "The platform's wallet", "distributor": "The distributor"}
_ACCOUNT_STATES = {"open": "Proposed", "confirmed": "Approved", "refused": "Declined", "withdrawn": "Off"}


def terms(row: Any) -> None:  # noqa: ANN401 - a row of the store, whose table screens do not import
    """Draw the terms that hold; `row` is an agreement."""
    facts.line("Agreement", row.number)
    facts.line("Holds", f"from {words.day(row.starts_on)}" + (f" to {words.day(row.ends_on)}" if row.ends_on else ""))
    facts.line("E-mail for papers", row.contact_email or "–")
    if row.account == "provider":
        facts.line("Class of business", row.class_of_business or "–")
        facts.line("Premium is remitted within", f"{row.remittance_days} days")
        facts.line("Bordereaux are due", f"on day {row.bordereau_due_day} of the month")
        return
    licence = f"{row.licence_number or '–'}, until {words.day(row.licence_expires_on)}"
    facts.line("Licence", licence if row.licence_expires_on else row.licence_number or "–")
    facts.line("Tax number", row.tin or "None: withholding tax is doubled")
    facts.line("Resident", "Yes" if row.is_resident else "No")
    facts.line("Small company", "Yes" if row.is_small else "No")
    facts.line("Charges VAT", "Yes" if row.charges_vat else "No")
    facts.line("Holds the premium", _HOLDERS[row.collects])
    allowed = words.naira(row.book_premium_minor) if row.book_premium_minor else "Nothing: the desk confirms them"
    facts.line("Loan books confirmed by its key in a month", allowed)


def licence(expires_on: date | None, days_left: int) -> None:
    """Say that a licence ends soon, or is over."""
    bound = agreements.warned_at(days_left)
    if bound is None:
        return
    if bound == 0:
        st.error(f"The licence ended on {words.day(expires_on)}.", icon=":material/gpp_bad:")
    else:
        st.warning(
            f"The licence ends on {words.day(expires_on)}, in {days_left} {'day' if days_left == 1 else 'days'}.",
            icon=":material/gpp_maybe:",
        )


def history(rows: Sequence[tuple[Any, str]]) -> None:
    """Draw all terms as a table, the newest first."""
    if rows:
        with st.expander(f"History of the terms: {len(rows)}", icon=":material/history:", expanded=True):
            st.table(
                [
                    {
                        "Holds from": words.day(row.starts_on),
                        "Agreement": words.plain(row.number),
                        "Holds the premium": _HOLDERS[row.collects] if row.account == "distributor" else "–",
                        "Made by": words.plain(name),
                        "Made": words.moment(row.created_at),
                    }
                    for row, name in rows
                ],
                border="horizontal",
            )


def accounts(found: Sequence[Account], person: Person) -> None:
    """Draw the bank accounts, the newest first; nobody sees a button that the service would refuse."""
    for account in found:
        with st.container(border=True, gap="xsmall"):
            state = _ACCOUNT_STATES[account.state]
            st.markdown(
                f"{words.badge(state)} **{words.plain(account.bank_name)}** · {words.plain(account.account_name)}"
                f" · \\*\\*\\*\\*\\*\\*{account.hint}"
            )
            rests = f" · is paid to from {words.moment(account.usable_from)}" if account.rests else ""
            decided = f" · decided by {words.plain(account.decider)}" if account.decider else ""
            st.caption(
                f"Proposed by {words.plain(account.proposer)}, {words.moment(account.proposed_at)}{decided}{rests}"
            )
            if account.state == "open":
                says = (
                    f"**{words.plain(account.bank_name)}**, {words.plain(account.account_name)}, ending in"
                    f" {account.hint}; proposed by {words.plain(account.proposer)}."
                )
                proposal_buttons.show(account, person, noun="account", icon="account_balance", says=says, work=_WORK)
