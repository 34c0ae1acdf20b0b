"""The parts of one customer's page: contact, figures, personal data, and lists of purchases, policies and claims."""

from dataclasses import replace

import streamlit as st

from core.services.paging import Page
from core.services.people.staff import Person
from core.services.views.customer import CustomerDetail
from core.states.claims import CLAIMS_ROLES
from core.ui.frame import frame, menu, page_links
from core.ui.kit import facts, reveal_dialog, words
from core.ui.lists import tables
from core.ui.lists.tables import Table
from core.ui.sales.customer_table import OWN_CLAIMS, OWN_POLICIES, OWN_PURCHASES, OWN_RENEWALS


def figures(customer: CustomerDetail) -> None:
    """Draw the customer's premium, policies in force and claims."""
    bought = customer.bought
    shown = (
        ("Premium", words.naira(bought.premium_minor), "All purchases, and the renewals that took effect."),
        ("Policies in force", words.count(bought.in_force), f"Of {words.count(bought.policies)} bought in all."),
        ("Claims", words.count(customer.claims.total_count), "Every claim that was lodged, whatever became of it."),
        ("Claims paid", words.naira(customer.claims_paid_minor), "Every payment on them, less what came back."),
    )
    with st.grid(len(shown), min_column_width=190, gap="xsmall"):
        for label, value, says in shown:
            st.metric(label, value, help=says, border=True, height="stretch")


def contact(customer: CustomerDetail) -> None:
    """Draw the contact details; newer sales replace older details (contract S2)."""
    with st.container(border=True, height="stretch", gap="xsmall"):
        st.markdown("**Contact**")
        facts.line("Name", " ".join(filter(None, (customer.title, customer.name))))
        facts.line("E-mail", customer.email)
        facts.line("Phone", customer.phone or "–")
        facts.line("Address", ", ".join(customer.place) or "–")
        facts.line("Distributor", customer.distributor)
        facts.line("Customer since", words.moment(customer.created_at))
        for other in customer.same_email_customers:
            page_links.link(
                "sales/customer.py",
                label=f"Also a customer of {words.plain(other.distributor)}",
                icon=":material/group:",
                query_params={"id": str(other.id), **frame.mode_query()},
            )


def personal(customer: CustomerDetail, person: Person) -> None:
    """Draw the personal data, masked; one value at a time can be revealed for a reason."""
    with st.container(border=True, height="stretch", gap="xsmall"):
        st.markdown("**Personal data**")
        facts.line("Gender", customer.gender or "–")
        facts.line("Born", words.day(customer.date_of_birth))
        for known in customer.personal:
            reveal_dialog.value(words.title(known.label.replace(".", " ")), known.masked, of=known.hidden, by=person)
        if customer.personal:
            st.caption("As given with the newest policies; each value once.")
        else:
            st.caption("No numbers, pictures or papers were given with the policies.")


def lists(customer: CustomerDetail, person: Person) -> None:
    """Draw all records of the customer, newest first; a row is a link if the person may open its screen."""
    beneficiary = sum(row.is_for_beneficiary for row in customer.policies.items)
    note = f"{beneficiary} of them bought by somebody else" if beneficiary else ""
    _list("Policies", OWN_POLICIES, customer.policies, person, note=note)
    _list("Purchases", OWN_PURCHASES, customer.purchases, person)
    _list("Renewals", OWN_RENEWALS, customer.renewals, person)
    _list("Claims", OWN_CLAIMS, customer.claims, person)
    if person.has_role(*CLAIMS_ROLES):
        _offer_to_lodge(customer)


def _offer_to_lodge(customer: CustomerDetail) -> None:
    """Draw the way to lodge a claim on each of the listed policies that has a number."""
    numbered = [(row, row.policy_number) for row in customer.policies.items if row.policy_number]
    if not numbered:
        return
    with st.popover("Lodge a claim", icon=":material/note_add:"):
        for row, number in numbered:
            page_links.link(
                "claims/lodge.py",
                label=f"{words.plain(number)}, {words.plain(row.product)} ({row.stage.lower()})",
                query_params={"policy": number, **frame.mode_query()},
            )


def _for(person: Person, table: Table[tables.Row]) -> Table[tables.Row]:
    open_to = any(screen.path == table.opens for screen in menu.allowed_screens(person))
    return table if open_to else replace(table, opens=None)


def _list(title: str, table: Table[tables.Row], page: Page[tables.Row], person: Person, *, note: str = "") -> None:
    total, shown = page.total_count, len(page.items)
    newest = f"The newest {shown} are listed" if total > shown else ""
    with st.container(gap="xsmall"):
        st.subheader(f"{title} · {words.count(total)}", anchor=False)
        if said := " · ".join(filter(None, (newest, note))):
            st.caption(said)
        if total:
            tables.draw_short(_for(person, table), page.items)
        else:
            st.caption(f"No {table.noun[1]} yet.")
