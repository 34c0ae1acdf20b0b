"""An admin's changes of an agreement and of a bank account: typed in a dialog, made once."""

from typing import Any

import streamlit as st

from core import clock
from core.services.finance import agreements, bank_accounts
from core.services.finance.bank_accounts import Account
from core.services.finance.parties import Party
from core.ui.admin import admin_writes
from core.ui.kit import dialogs, words
from core.ui.kit.dialogs import Decision

_TEXTS = {
    "number": "Agreement number",
    "starts_on": "Holds from (YYYY-MM-DD)",
    "ends_on": "Ends on (YYYY-MM-DD, optional)",
    "contact_email": "E-mail for papers (optional)",
}
_OF_DISTRIBUTOR = {
    "licence_number": "Licence number (optional)",
    "licence_expires_on": "Licence ends on (YYYY-MM-DD, optional)",
    "tin": "Tax identification number (optional)",
}
_OF_INSURER = {
    "class_of_business": "Class of business (optional)",
    "remittance_days": "Days until premium is remitted",
    "bordereau_due_day": "Day of the month on which bordereaux are due",
}
_NUMBERS = frozenset({"remittance_days", "bordereau_due_day"})
_FLAGS = {
    "is_resident": "Resident in Nigeria",
    "is_small": "Small company: little is paid without withholding",
    "charges_vat": "Charges VAT on its commission",
}
_BANK = {"bank_name": "Bank", "account_name": "Name of the account", "account_number": "Account number, 10 digits"}
_YES_NO = {"true": "Yes", "false": "No"}
_HOLDERS = dict(zip(agreements.COLLECTS, ("The platform's wallet", "The distributor"), strict=True))


def _choice(name: str, label: str, options: dict[str, str]) -> None:
    st.selectbox(label, list(options), key=dialogs.FIELD + name, format_func=options.__getitem__, on_change="ignore")
    dialogs.blame(name)


def changing(party: Party) -> Decision:
    """Return the dialog that adds terms; the fields begin as they hold today."""
    texts = {**_TEXTS, **(_OF_DISTRIBUTOR if party.account == "distributor" else _OF_INSURER)}
    flags = _FLAGS if party.account == "distributor" else {}
    names = [*texts, *flags, *(["collects"] if flags else [])]

    def ask() -> None:
        for name, label in texts.items():
            dialogs.field(name, label, longest=254)
        for name, label in flags.items():
            _choice(name, label, _YES_NO)
        if flags:
            _choice("collects", "Who holds the premium", _HOLDERS)

    def act() -> str:
        typed: dict[str, Any] = {name: value for name, value in dialogs.typed(*names).items() if value}
        for name in _NUMBERS & typed.keys():
            typed[name] = _whole(typed[name])
        admin_writes.write(lambda session, by: agreements.add(session, party, typed, by=by))
        return "The agreement is saved: it holds from its first day on."

    return Decision(
        title="New terms",
        icon="contract_edit",
        says="The terms hold from the day that you name. What held before stays in the history, and on its statements.",
        asks=ask,
        given=_begin_with(party, names),
        confirm="Save the terms",
        act=act,
    )


def _whole(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else text


def _begin_with(party: Party, names: list[str]) -> dict[str, str]:
    held = admin_writes.write(lambda session, _: agreements.get_in_force(session, party, clock.today()))
    usual = {"is_resident": "true", "is_small": "false", "charges_vat": "false", "collects": agreements.COLLECTS[0]}
    usual |= {"remittance_days": "30", "bordereau_due_day": "10", "starts_on": str(clock.today())}
    given = {name: usual.get(name, "") for name in names}
    for name in names if held else ():
        value = getattr(held, name)
        given[name] = str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
    return given | {"starts_on": str(clock.today())}


def paying(party: Party) -> Decision:
    """Return the dialog that proposes another bank account."""

    def ask() -> None:
        for name, label in _BANK.items():
            dialogs.field(name, label, longest=100)

    def act() -> str:
        typed = dialogs.typed(*_BANK)
        admin_writes.write(lambda session, by: bank_accounts.propose(session, party, typed, by=by))
        return "The account is proposed: another admin confirms it, and it is paid to 48 hours after that."

    return Decision(
        title="Another bank account",
        icon="account_balance",
        says="Ask the party on a telephone number that you know, not on one of the letter. A second admin confirms.",
        asks=ask,
        given=dict.fromkeys(_BANK, ""),
        confirm="Propose the account",
        act=act,
    )


def deciding(account: Account, verb: str) -> Decision:
    """Return the dialog that confirms, refuses or takes back a proposed account."""
    work = {"Confirm": bank_accounts.confirm, "Refuse": bank_accounts.refuse, "Take back": bank_accounts.take_back}

    def act() -> str:
        admin_writes.write(lambda session, by: work[verb](session, account.id, by=by))
        return f"{verb}: done."

    return Decision(
        title=f"{verb} the account",
        icon="account_balance",
        says=f"**{words.plain(account.bank_name)}**, {words.plain(account.account_name)}, ending in {account.hint};"
        f" proposed by {words.plain(account.proposer)}.",
        confirm=verb,
        act=act,
    )
