"""Purchases: every sale with filters, the total of the whole selection and its export; and one purchase."""

from functools import partial

import streamlit as st

from core.desk import sale as sale_view
from core.desk.sale import SaleDetail
from core.money import Split
from core.services.lists.dimensions import load_choices
from core.services.lists.listing import SOURCES
from core.services.people.staff import Person
from core.services.sales import purchases
from core.services.sales.purchases import PurchaseFilter
from core.services.sales.totals import SalesTotals
from core.store.access import read_in, reading
from core.ui.buying import receipts
from core.ui.frame import frame, page_links
from core.ui.kit import facts, reveal_dialog, url_state, words
from core.ui.lists import periods, tables
from core.ui.lists.periods import Selection

PURCHASES = tables.of(
    purchases.PURCHASES, opens="sales/purchases.py#purchase", narrow=("customer", "product", "sold", "total")
)


def footer(total: SalesTotals, given_back: Split) -> None:
    """Draw the total of the whole selection across all pages, exact to the kobo, and the refunds since."""
    rest = total.sold_minor - total.sold_mca_minor - total.sold_distributor_minor
    tables.footer(
        {
            "Purchases": words.count(total.sold),
            "Premium": words.naira(total.sold_minor),
            "Platform commission": words.naira(total.sold_mca_minor),
            "Distributor commission": words.naira(total.sold_distributor_minor),
            "Insurers' share": words.naira(rest),
        }
    )
    if given_back.total_minor:
        facts.draw_amounts(facts.list_balance(total.purchases, given_back))
        st.caption("Given back of these purchases until now, whenever that was; refunds of renewals stand with those.")


def nothing(selection: Selection[PurchaseFilter], person: Person) -> None:
    if selection.is_changed:
        tables.show_no_match(PURCHASES)
    else:
        first = "Record one under Buy, let" if person.has_role("operations") else "Let"
        st.info(
            f"There is no purchase in this mode yet. {first} a distributor sell through the API, or look at the other"
            " mode with the switch in the menu.",
            icon=":material/rocket_launch:",
        )


def draw() -> None:
    person = frame.require("operations", "finance")
    frame.page_header("Purchases", "Every sale, with its customer, its policy and the split of the money.")
    names = read_in(frame.scope(), load_choices)
    selection = periods.choose(PurchaseFilter, names, person, path=PAGE)
    if selection is None:
        return
    with st.skeleton(height=300), reading(frame.scope()) as session:
        wanted, paging = selection.criteria, PURCHASES.paging(url_state.page())
        total = purchases.sum_purchases(session, wanted)
        rows = purchases.PURCHASES.read_page(
            session, wanted, names, shown=PURCHASES.shown_columns, order=PURCHASES.order, paging=paging
        )
        given_back = purchases.sum_refunds(session, wanted)
    whole, sums = {"rows": total.sold, "sum_minor": total.sold_minor}, partial(footer, total, given_back)
    periods.offer("purchases", selection, PURCHASES, **whole, sums=sums)
    if not total.sold:
        nothing(selection, person)
        return
    if (number := tables.page_of(PURCHASES, total.sold)) is not None:
        tables.draw(PURCHASES, rows, number=number, total=total.sold)


_MOST_INSURED = 4
PAGE, POLICY, CUSTOMER = "sales/purchases.py", "policies/policy.py", "sales/customers.py#customer"


def money(sale: SaleDetail) -> None:
    with facts.card("**Split of the money**"):
        st.metric("Total", words.naira(sale.total_minor))
        facts.draw_split(sale)


def policy(sale: SaleDetail, person: Person) -> None:
    with facts.card("**Policy**"):
        facts.grid(
            {
                "Number": sale.policy_number or "Not given yet",
                "Product": sale.product,
                "Insurer": sale.provider,
                **dict(sale.insured[:_MOST_INSURED]),
                **facts.list_days_of_cover(sale),
            }
        )
        if person.has_role("operations", "claims"):
            page_links.link_to(POLICY, "Open the policy", "policy", id=str(sale.policy_id))
        if sale.certificate_url:
            st.link_button("Open the certificate", sale.certificate_url, icon=":material/verified:")
        elif sale.ended_at is None:
            st.caption("The certificate follows when the policy is activated.")


def customer(sale: SaleDetail, person: Person) -> None:
    with facts.card("**Customer**"):
        facts.grid(
            {
                "Name": sale.customer,
                "Phone": words.phone(sale.phone) or "–",
                "E-mail": words.email(sale.email),
                "Place": sale.place or "–",
            }
        )
        if person.has_role("operations", "claims"):
            page_links.link_to(CUSTOMER, "Open the customer", "person", id=str(sale.customer_id))
        page_links.link_to(PAGE, "All purchases of this customer", "person_search", email=sale.email)


def origin(sale: SaleDetail) -> None:
    with facts.card("**Sale**"):
        facts.grid(
            {
                "Sold": words.moment(sale.created_at),
                "Distributor": sale.distributor,
                "Category": sale.category,
                "Source": SOURCES.get(sale.request_source or "", sale.request_source or "–"),
                "Payment": ", ".join(SOURCES.get(word, words.title(word)) for word in sale.payment) or "–",
                "Premium paid": words.title(sale.premium_frequency),
            }
        )


def draw_purchase() -> None:
    person = frame.require("operations", "finance")
    tables.back_link("purchases", PAGE, "Back to the purchases")
    sale = page_links.load_record("purchase", sale_view.get_sale, is_of_mode=True)
    frame.page_header(
        facts.policy_title(sale),
        f"Purchase of {words.moment(sale.created_at)}",
        tab=f"{sale.policy_number or 'Without a number'} · Purchase",
    )
    if person.has_role("operations"):
        receipts.draw(sale)
    with st.grid(2, min_column_width=320, gap="small"):
        with st.container(height="stretch", gap="small"):
            money(sale)
            customer(sale, person)
        with st.container(height="stretch", gap="small"):
            policy(sale, person)
            origin(sale)
    facts.draw_steps(sale.explained)
    reveal_dialog.values(sale.hidden, within="submitted", kind="policy", record_id=sale.policy_id, by=person)
    facts.draw_submitted(sale.submitted)
    facts.history(sale.history)
    st.caption(f"Purchase {sale.id} · policy {sale.policy_id} · customer {sale.customer_id}")
