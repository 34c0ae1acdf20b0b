"""One customer: contact, personal data, figures, and all purchases, renewals and claims."""

import streamlit as st

from core import ids
from core.errors import InvalidInput, NotFound
from core.services.dimensions import load_choices
from core.services.views import customer as customer_view
from core.services.views.customer import CustomerDetail
from core.store.access import reading
from core.ui.frame import frame
from core.ui.kit import dialogs, words
from core.ui.lists import tables
from core.ui.renewals import renewal_reminders
from core.ui.sales import customer_cards, customer_merging, customer_notes

CUSTOMERS = "sales/customers.py"


def found() -> CustomerDetail | None:
    """Return the customer named in the URL; if there is none, show a message and return None."""
    try:
        with reading(frame.scope()) as session:
            return customer_view.get_customer(session, ids.parse(st.query_params.get("id", "")), load_choices(session))
    except InvalidInput:
        st.error("The address names no customer: its id has to be a UUID.", icon=":material/link_off:")
    except NotFound as error:
        st.error(f"{error}. Look at the other mode with the switch in the menu.", icon=":material/search_off:")
    return None


person = frame.require("operations", "claims", "supervisor")
tables.back_link("customers", CUSTOMERS, "Back to the customers")
customer = found()
if customer is None:
    st.stop()
frame.page_header(
    words.plain(customer.name),
    f"Customer of {words.plain(customer.distributor)}",
    tab=f"{customer.name} · Customer",
)
dialogs.run("operations")
customer_merging.draw(customer, person)
customer_cards.figures(customer)
with st.grid(2, min_column_width=320, gap="small"):
    customer_cards.contact(customer)
    customer_cards.personal(customer, person)
customer_merging.draw_search(customer, person)
renewal_reminders.opt_out(customer.id, person)
customer_notes.draw(customer.id, person, also=[record.id for record in customer.group.merged])
customer_cards.lists(customer, person)
st.caption(f"Customer {customer.id} · details last changed {words.moment(customer.updated_at)}")
