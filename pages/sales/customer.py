"""One customer: contact, personal data, figures, and all purchases, renewals and claims."""

import streamlit as st

from core.services.dimensions import load_choices
from core.services.views import customer as customer_view
from core.ui.frame import frame, record_pages
from core.ui.kit import actions, words
from core.ui.lists import tables
from core.ui.renewals import renewal_reminders
from core.ui.sales import customer_cards, customer_merging, customer_notes

CUSTOMERS = "sales/customers.py"


def draw() -> None:
    person = frame.require("operations", "claims", "supervisor")
    tables.back_link("customers", CUSTOMERS, "Back to the customers")
    customer = record_pages.load(
        "customer",
        lambda session, id_: customer_view.get_customer(session, id_, load_choices(session)),
        is_of_mode=True,
    )
    frame.page_header(
        words.plain(customer.name),
        f"Customer of {words.plain(customer.distributor)}",
        tab=f"{customer.name} · Customer",
    )
    actions.run()
    customer_merging.draw(customer, person)
    customer_cards.figures(customer)
    with st.grid(2, min_column_width=320, gap="small"):
        customer_cards.contact(customer)
        customer_cards.personal(customer, person)
    customer_merging.draw_search(customer, person)
    renewal_reminders.opt_out(customer.id, person)
    customer_notes.draw(customer.id, also=[record.id for record in customer.group.merged])
    customer_cards.lists(customer, person)
    st.caption(f"Customer {customer.id} · details last changed {words.moment(customer.updated_at)}")
