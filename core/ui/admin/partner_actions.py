"""An admin's changes to distributors and insurers: confirmed in a dialog, made once."""

from core import ids
from core.services.catalogue import changes
from core.services.insurers.list import InsurerRow
from core.services.sales.distributors import DistributorRow
from core.ui.admin.desk import action
from core.ui.kit import words
from core.ui.kit.actions import Action, Field, Text

_COMPANY = {
    "company_name": "Name",
    "business_type": "Class of business (optional)",
    "first_name": "Contact, first name",
    "last_name": "Contact, last name",
    "email": "Contact's e-mail",
    "phone_number": "Contact's phone",
    "business_email": "Office e-mail (optional)",
    "claim_email": "Claims e-mail (optional)",
    "support_email": "Support e-mail (optional)",
}


def adding() -> Action:
    """Return the dialog that adds a distributor; adds one however often the button is clicked."""
    distributor_id = ids.new()
    return action(
        title="Add a distributor",
        icon="add_business",
        says="A business that sells through the API, or for which the desk sells.",
        fields=_ask_business(),
        confirm="Add the distributor",
        work=lambda session, typed, by: changes.add_distributor(session, distributor_id, typed, by=by),
        done=lambda typed: f"{typed['name'].strip()} is added. Issue its first key under API keys.",
    )


def changing(of: DistributorRow) -> Action:
    """Return the dialog that changes a distributor's name or e-mail."""
    return action(
        title="Change the distributor",
        icon="edit",
        says="The new name shows everywhere, also on what was sold before.",
        fields=_ask_business(of.name, of.email or ""),
        confirm="Save",
        work=lambda session, typed, by: changes.change_distributor(session, of.id, typed, seen_at=of.updated_at, by=by),
        done=lambda typed: f"{typed['name'].strip()} is saved.",
    )


def switching(of: DistributorRow) -> Action:
    """Return the dialog that enables or disables a distributor."""
    on, name = not of.active, words.plain(of.name)
    return action(
        title=f"Switch {'on' if on else 'off'}",
        icon="toggle_on" if on else "toggle_off",
        says=f"Every key of **{name}** that is not revoked works again, at once."
        if on
        else f"Every key of **{name}**, live and test, is refused with 401 at once, and the desk cannot sell for it."
        " Its policies and claims stay, and are served as before.",
        work=lambda session, _, by: changes.set_distributor_active(
            session, of.id, active=on, seen_at=of.updated_at, by=by
        ),
        done=f"{of.name} is switched {'on' if on else 'off'}.",
    )


def changing_insurer(of: InsurerRow) -> Action:
    """Return the dialog that changes an insurer's name, class and addresses."""
    held = {name: getattr(of, "name" if name == "company_name" else name) or "" for name in _COMPANY}
    return action(
        title="Change the insurer",
        icon="edit",
        says="The name shows everywhere, also on certificates. The connection is a setting of the server.",
        fields=[Text(name, label, longest=200, value=held[name]) for name, label in _COMPANY.items()],
        confirm="Save",
        work=lambda session, typed, by: changes.change_insurer(session, of.id, typed, seen_at=of.updated_at, by=by),
        done=lambda typed: f"{typed['company_name'].strip()} is saved.",
    )


def _ask_business(name: str = "", email: str = "") -> list[Field]:
    return [
        Text("name", "Name", longest=100, value=name),
        Text("email", "E-mail (optional)", longest=200, value=email),
    ]
