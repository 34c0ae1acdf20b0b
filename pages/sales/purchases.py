"""Purchases: every sale, with filters, the total of the whole selection, and its export."""

import streamlit as st

from core.money import Split
from core.services.lists.dimensions import load_choices
from core.services.people.staff import Person
from core.services.sales import table as sales_table
from core.services.sales.filter import PurchaseFilter
from core.services.sales.totals import SalesTotals
from core.store.access import reading
from core.ui.frame import frame
from core.ui.kit import url_state, words
from core.ui.lists import export_panel, periods, saved_views, tables
from core.ui.sales import money_table, sales_filters, search_box
from core.ui.sales.sales_filters import Selection

PURCHASES = tables.of(sales_table.PURCHASES, opens="sales/purchase.py", narrow=("customer", "product", "sold", "total"))


def toolbar(selection: Selection[PurchaseFilter], total: SalesTotals, given_back: Split, found: str) -> None:
    days = periods.describe_period(selection.window) if selection.window else "All time"
    premium = words.plain(words.naira(total.sold_minor))
    export_panel.offer(
        "purchases",
        selection.criteria.address(),
        rows=total.sold,
        sum_minor=total.sold_minor,
        line=f"{PURCHASES.count_text(total.sold)} · {premium} · {days}{found}",
        table=PURCHASES,
        sums=lambda: footer(total, given_back),
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
        money_table.draw(money_table.balance(total.purchases, given_back))
        st.caption("Given back of these purchases until now, whenever that was; refunds of renewals stand with those.")


def nothing(selection: Selection[PurchaseFilter], person: Person) -> None:
    if selection.is_changed:
        st.info("No purchase matches this selection.", icon=":material/filter_alt_off:")
        st.button("Show all purchases", type="primary", on_click=url_state.reset)
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
    with reading(frame.scope()) as session:
        names = load_choices(session)
    search = search_box.read()
    selection = sales_filters.read(PurchaseFilter, names, usual=periods.ALL, given=search.address)
    sales_filters.draw(
        selection,
        names,
        search=lambda: search_box.draw(PurchaseFilter.FIELDS["find"], search),
        leave_out=("find",),
        beside=lambda: saved_views.draw("sales/purchases.py", person),
    )
    search_box.complain(search)
    if search.fault:
        return
    with st.skeleton(height=300), reading(frame.scope()) as session:
        wanted, paging = selection.criteria, PURCHASES.paging(url_state.page())
        total = sales_table.compute_total(session, wanted)
        rows = sales_table.list_rows(
            session, wanted, names, shown=PURCHASES.shown_columns, order=PURCHASES.order, paging=paging
        )
        given_back = sales_table.sum_refunds(session, wanted)
    toolbar(selection, total, given_back, search_box.describe(search))
    if not total.sold:
        nothing(selection, person)
        return
    number = tables.page_of(PURCHASES, total.sold)
    if number is None:
        return
    tables.draw(PURCHASES, rows, number=number, total=total.sold)
