"""An admin's changes of an agreement and of a bank account: typed in a dialog, made once."""

from datetime import date
from typing import Any

from core import clock
from core.services.finance import agreements, bank_accounts
from core.services.finance.parties import Party
from core.ui.admin import admin_writes
from core.ui.kit import dialogs
from core.ui.kit.dialogs import Decision

_TEXTS = {
    "number": "Agreement number",
    "starts_on": "Holds from",
    "ends_on": "Ends on (optional)",
    "contact_email": "E-mail for papers (optional)",
}
_OF_DISTRIBUTOR = {
    "licence_number": "Licence number (optional)",
    "licence_expires_on": "Licence ends on (optional)",
    "tin": "Tax identification number (optional)",
}
_OF_INSURER = {
    "class_of_business": "Class of business (optional)",
    "remittance_days": "Days until premium is remitted",
    "bordereau_due_day": "Day of the month on which bordereaux are due",
}
_DAYS = frozenset({"starts_on", "ends_on", "licence_expires_on"})
_NUMBERS = frozenset({"remittance_days", "bordereau_due_day"})
_FLAGS = {
    "is_resident": "Resident in Nigeria",
    "is_small": "Small company: little is paid without withholding",
    "charges_vat": "Charges VAT on its commission",
}
_BANK = {"bank_name": "Bank", "account_name": "Name of the account", "account_number": "Account number, 10 digits"}
_YES_NO = {"true": "Yes", "false": "No"}
_HOLDERS = dict(zip(agreements.COLLECTS, ("The platform's wallet", "The distributor"), strict=True))


def changing(party: Party) -> Decision:
    """Return the dialog that adds terms; the fields begin as they hold today."""
    texts = {**_TEXTS, **(_OF_DISTRIBUTOR if party.account == "distributor" else _OF_INSURER)}
    flags = _FLAGS if party.account == "distributor" else {}
    names = [*texts, *flags, *(["collects"] if flags else [])]

    def ask() -> None:
        for name, label in texts.items():
            if name in _DAYS:
                dialogs.day(name, label)
            else:
                dialogs.field(name, label, longest=254)
        for name, label in flags.items():
            dialogs.choice(name, label, _YES_NO)
        if flags:
            dialogs.choice("collects", "Who holds the premium", _HOLDERS)

    def act() -> str:
        typed: dict[str, Any] = {name: value for name, value in dialogs.get_values(*names).items() if value}
        numbers: dict[str, Any] = {
            name: _whole(typed[name]) for name in ("remittance_days", "bordereau_due_day") if name in typed
        }
        admin_writes.write(lambda session, by: agreements.add(session, party, {**typed, **numbers}, by=by))
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


def _begin_with(party: Party, names: list[str]) -> dict[str, str | date | None]:
    held = admin_writes.write(lambda session, _: agreements.get_in_force(session, party, clock.today()))
    usual = {"is_resident": "true", "is_small": "false", "charges_vat": "false", "collects": agreements.COLLECTS[0]}
    usual |= {"remittance_days": "30", "bordereau_due_day": "10"}
    given = {name: _as_typed(getattr(held, name)) if held else usual.get(name) for name in names}
    return {name: value if name in _DAYS else value or "" for name, value in given.items()} | {
        "starts_on": clock.today()
    }


def _as_typed(value: object) -> str | date | None:
    if isinstance(value, bool):
        return str(value).lower()
    return value if value is None or isinstance(value, date) else str(value)


def paying(party: Party) -> Decision:
    """Return the dialog that proposes another bank account."""

    def ask() -> None:
        for name, label in _BANK.items():
            dialogs.field(name, label, longest=100)

    def act() -> str:
        typed = dialogs.get_values(*_BANK)
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
