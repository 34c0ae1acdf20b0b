"""An admin's changes to distributors and insurers: confirmed in a dialog, made once."""

from core import ids
from core.services.distributors import changes as partner_changes
from core.services.distributors.list import DistributorRow
from core.services.insurers.list import InsurerRow
from core.ui.admin import admin_writes
from core.ui.kit import dialogs, words
from core.ui.kit.dialogs import Decision

_BUSINESS = ("name", "email")
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


def adding() -> Decision:
    """Return the dialog that adds a distributor; adds one however often the button is clicked."""
    distributor_id = ids.new()

    def act() -> str:
        said = dialogs.get_values(*_BUSINESS)
        admin_writes.write(lambda session, by: partner_changes.add_distributor(session, distributor_id, said, by=by))
        return f"{said['name'].strip()} is added. Issue its first key under API keys."

    return Decision(
        title="Add a distributor",
        icon="add_business",
        says="A business that sells through the API, or for which the desk sells.",
        asks=_ask_business,
        given=dict.fromkeys(_BUSINESS, ""),
        confirm="Add the distributor",
        act=act,
    )


def changing(of: DistributorRow) -> Decision:
    """Return the dialog that changes a distributor's name or e-mail."""

    def act() -> str:
        said = dialogs.get_values(*_BUSINESS)
        admin_writes.write(
            lambda session, by: partner_changes.change_distributor(session, of.id, said, seen_at=of.updated_at, by=by)
        )
        return f"{said['name'].strip()} is saved."

    return Decision(
        title="Change the distributor",
        icon="edit",
        says="The new name shows everywhere, also on what was sold before.",
        asks=_ask_business,
        given={"name": of.name, "email": of.email or ""},
        confirm="Save",
        act=act,
    )


def switching(of: DistributorRow) -> Decision:
    """Return the dialog that enables or disables a distributor."""
    on = not of.active
    name = words.plain(of.name)

    def act() -> str:
        admin_writes.write(
            lambda session, by: partner_changes.set_distributor_active(
                session, of.id, active=on, seen_at=of.updated_at, by=by
            )
        )
        return f"{of.name} is switched {'on' if on else 'off'}."

    says = (
        f"Every key of **{name}** that is not revoked works again, at once."
        if on
        else f"Every key of **{name}**, live and test, is refused with 401 at once, and the desk cannot sell for it."
        " Its policies and claims stay, and are served as before."
    )
    return Decision(
        title=f"Switch {'on' if on else 'off'}",
        icon="toggle_on" if on else "toggle_off",
        says=says,
        confirm=f"Switch {'on' if on else 'off'}",
        act=act,
    )


def changing_insurer(of: InsurerRow) -> Decision:
    """Return the dialog that changes an insurer's name, class and addresses."""

    def act() -> str:
        said = dialogs.get_values(*_COMPANY)
        admin_writes.write(
            lambda session, by: partner_changes.change_insurer(session, of.id, said, seen_at=of.updated_at, by=by)
        )
        return f"{said['company_name'].strip()} is saved."

    def ask() -> None:
        for name, label in _COMPANY.items():
            dialogs.field(name, label, longest=200)

    held = {name: getattr(of, "name" if name == "company_name" else name) or "" for name in _COMPANY}
    return Decision(
        title="Change the insurer",
        icon="edit",
        says="The name shows everywhere, also on certificates. The connection is a setting of the server.",
        asks=ask,
        given=held,
        confirm="Save",
        act=act,
    )


def _ask_business() -> None:
    dialogs.field("name", "Name", longest=100)
    dialogs.field("email", "E-mail (optional)", longest=200)
