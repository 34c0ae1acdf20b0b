"""The agreement with one distributor or insurer: its terms, their history, and where it is paid."""

import streamlit as st

from core import clock
from core.services.catalogue import product_list, share_changes
from core.services.finance import agreements, bank_accounts, parties
from core.services.finance.parties import Account, Party
from core.services.people.staff import Person
from core.store.access import reading
from core.ui.finance import agreement_actions, agreement_cards, commission_shares
from core.ui.frame import frame, record_pages
from core.ui.kit import actions, words
from core.ui.kit.actions import Action
from core.ui.lists import tables


def proposing(party: Party) -> Action:
    """Return the dialog of another commission share, with the products of the catalogue."""
    with reading(frame.scope()) as session:
        return commission_shares.proposing(party.id, product_list.get_names(session))


def buttons(party: Party) -> None:
    actions.button("New terms", lambda: agreement_actions.changing(party), icon="contract_edit")
    agreement_actions.paying(party).button("Another bank account", icon="account_balance")
    if party.account == "distributor":
        actions.button("Another commission share", lambda: proposing(party), icon="percent")


def shares(party: Party, person: Person) -> None:
    with reading(frame.scope()) as session:
        found = share_changes.list_shares(session, party.id)
    with st.container(border=True):
        st.markdown("**Commission shares of its own**")
        commission_shares.draw(found, person)


def draw() -> None:
    person = frame.require("admin")
    tables.back_link("distributors", "admin/partners.py", "All distributors and insurers")
    account: Account = "provider" if st.query_params.get("party") == "provider" else "distributor"
    with record_pages.require_id("party") as party_id, reading(frame.scope()) as session:
        party = Party(account, party_id)
        name = parties.get_name(session, party)
    with frame.header_with_buttons(
        f"Agreement with {words.plain(name)}",
        "Terms hold from their first day on and are never changed; a bank account takes two admins and two days.",
        tab=f"{name} · Agreement",
    ):
        buttons(party)
    actions.run()
    with reading(frame.scope()) as session:
        held = agreements.get_in_force(session, party, clock.today())
        history = agreements.list_history(session, party)
        accounts = bank_accounts.list_accounts(session, party)
    if held and held.licence_expires_on:
        agreement_cards.licence(held.licence_expires_on, (held.licence_expires_on - clock.today()).days)
    with st.grid(2, min_column_width=320, gap="small"):
        with st.container(border=True, height="stretch"):
            st.markdown("**Terms that hold today**")
            if held:
                agreement_cards.terms(held)
            else:
                st.caption("None yet. Statements are prepared by the usual terms: the platform holds the premium.")
        with st.container(border=True, height="stretch"):
            st.markdown("**Bank accounts**")
            if not accounts:
                st.caption("None yet: nothing can be paid out.")
            agreement_cards.accounts(accounts, person)
    if party.account == "distributor":
        shares(party, person)
    agreement_cards.history(history)
