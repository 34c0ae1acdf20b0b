"""Shared by the screens of administration: who may, their actions, and links to agreement and audit log."""

from functools import partial
from typing import TypeVar
from uuid import UUID

import streamlit as st

from core.services.people import role_grants
from core.services.people.staff import Person
from core.store.access import Scope, read_in
from core.ui.frame import page_links
from core.ui.kit.actions import Action, Field, Text

ROLE = "admin"
action = partial(Action, roles=(ROLE,), scope=Scope.system)
T = TypeVar("T")
COMPANY_FIELDS = {
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


def list_business_fields(name: str = "", email: str = "") -> list[Field]:
    return [
        Text("name", "Name", longest=100, value=name),
        Text("email", "E-mail (optional)", longest=200, value=email),
    ]


def agreement_link(account: str, party_id: UUID) -> None:
    """Draw the link to the agreement with a distributor or an insurer ("provider")."""
    page_links.link_to("admin/agreement.py", "Agreement", "contract", party=account, id=str(party_id))


def log_link(kind: str, record_id: UUID) -> None:
    """Draw the link to all audit log entries about a record."""
    page_links.link_to("admin/audit_log.py", "In the audit log", "history", kind=kind, id=str(record_id))


def show_no_second(person: Person) -> None:
    """Say to who proposed something that no other admin can confirm it now, and what is done then."""
    if why := read_in(Scope.system(), role_grants.describe_no_second, person):
        st.warning(f"{why}.", icon=":material/group_off:")
