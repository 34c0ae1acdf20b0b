"""An admin's changes of an agreement and of a bank account: typed in a dialog, made once."""

from datetime import date
from typing import Any

from core import clock, money
from core.services.finance import agreements, bank_accounts
from core.services.finance.parties import Party
from core.store.access import Scope, reading
from core.ui.admin.desk import ROLE, action
from core.ui.frame import frame
from core.ui.kit.actions import Action, Choice, Day, Field, Text, Values

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
    "book_premium": "Premium of loan books that its key confirms in a month, in naira (optional)",
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


def changing(party: Party) -> Action:
    """Return the dialog that adds terms; the fields begin as they hold today."""
    is_distributor = party.account == "distributor"
    texts, flags = {**_TEXTS, **(_OF_DISTRIBUTOR if is_distributor else _OF_INSURER)}, _FLAGS if is_distributor else {}
    held = _begin_with(party, [*texts, *flags, "collects"])
    fields: list[Field] = [
        Day(name, label, value=held[name]) if name in _DAYS else Text(name, label, longest=254, value=held[name] or "")
        for name, label in texts.items()
    ]
    fields += [Choice(name, label, options=_YES_NO, value=held[name]) for name, label in flags.items()]
    if is_distributor:
        fields.append(Choice("collects", "Who holds the premium", options=_HOLDERS, value=held["collects"]))
    return action(
        title="New terms",
        icon="contract_edit",
        says="The terms hold from the day that you name. What held before stays in the history, and on its statements.",
        fields=fields,
        confirm="Save the terms",
        work=lambda session, typed, by: agreements.add(session, party, _read(typed), by=by),
        done="The agreement is saved: it holds from its first day on.",
    )


def _read(typed: Values) -> dict[str, Any]:
    return {name: _whole(value) if name in _NUMBERS else value for name, value in typed.items() if value}


def _whole(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else text


def _begin_with(party: Party, names: list[str]) -> dict[str, str | date | None]:
    frame.require(ROLE)
    with reading(Scope.system()) as session:
        held = agreements.get_in_force(session, party, clock.today())
    usual = {"is_resident": "true", "is_small": "false", "charges_vat": "false", "collects": agreements.COLLECTS[0]}
    usual |= {"remittance_days": "30", "bordereau_due_day": "10"}
    given = {name: _as_typed(_get(held, name)) if held else usual.get(name) for name in names}
    return given | {"starts_on": clock.today()}


def _get(held: Any, name: str) -> object:  # noqa: ANN401 - a row of the store, whose table screens do not import
    if name != "book_premium":
        return getattr(held, name)
    return None if held.book_premium_minor is None else money.to_wire(held.book_premium_minor)


def _as_typed(value: object) -> str | date | None:
    if isinstance(value, bool):
        return str(value).lower()
    return value if value is None or isinstance(value, date) else str(value)


def paying(party: Party) -> Action:
    """Return the dialog that proposes another bank account."""
    return action(
        title="Another bank account",
        icon="account_balance",
        says="Ask the party on a telephone number that you know, not on one of the letter. A second admin confirms.",
        fields=[Text(name, label, longest=100) for name, label in _BANK.items()],
        confirm="Propose the account",
        work=lambda session, typed, by: bank_accounts.propose(session, party, typed, by=by),
        done="The account is proposed: another admin confirms it, and it is paid to 48 hours after that.",
    )
