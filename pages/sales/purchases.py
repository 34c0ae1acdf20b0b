"""Purchases: every sale, narrowed as one likes, with the total of the whole selection and its export."""

import streamlit as st

from core.services import sales_table
from core.services.choices import choices
from core.services.paging import Paging
from core.services.takings import Takings
from core.store.engine import reading
from core.ui import export_panel, frame, periods, sales_filters, sales_grid, words
from core.ui.sales_filters import Asked

DEFAULT = periods.ALL
ONE = "sales/purchase.py"
BACK = "purchases_address"


def filters(asked: Asked) -> None:
    sales_filters.draw_period(asked, offer=list(periods.NAMES), default=DEFAULT)
    with st.grid(3, min_column_width=190, gap="xsmall"):
        sales_filters.draw_members(asked, names, "provider", "category", "product", "distributor")
        sales_filters.draw_email(asked)
        sales_filters.draw_sources(asked)


def toolbar(asked: Asked, total: Takings, chosen: list[str], order: sales_grid.Order) -> None:
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        export_panel.button(asked, total)
        sales_grid.draw_choices(chosen, order)
    export_panel.panel(asked, total)
    # This line keeps the table's own toolbar, which floats above its corner, off the buttons.
    days = periods.in_words(asked.window) if asked.window else "All time"
    st.markdown(f"**{words.count(total.sold)}** purchases · {days}")


def footer(total: Takings) -> None:
    """The total of the whole selection, to the kobo, whatever page is shown."""
    rest = total.sold_minor - total.sold_mca_minor - total.sold_distributor_minor
    figures = {
        "Purchases": words.count(total.sold),
        "Premium": words.naira(total.sold_minor),
        "Platform commission": words.naira(total.sold_mca_minor),
        "Distributor commission": words.naira(total.sold_distributor_minor),
        "Insurers' share": words.naira(rest),
    }
    with st.container(border=True, gap="xsmall", key="purchases_total"):
        st.caption("Total of the whole selection, all pages")
        with st.grid(5, min_column_width=150, gap="small"):
            for label, value in figures.items():
                with st.container(gap=None):
                    st.caption(label)
                    st.markdown(f"**{value}**")


def page_number(pages: int) -> int | None:
    """The page that the address asks for; of one that does not exist say so, and offer the way back."""
    given = st.query_params.get("page", "1")
    number = int(given) if given.isascii() and given.isdigit() and len(given) < 10 else 0
    if 1 <= number <= pages:
        return number
    st.warning(
        f"There is no page “{words.plain(given[:20])}”: this selection has {words.count(pages)}.",
        icon=":material/find_in_page:",
    )
    st.button("Go to the first page", type="primary", on_click=to_page, args=(1,))
    return None


def to_page(number: int) -> None:
    sales_filters.change({"page": [str(number)] if number > 1 else []}, keep_page=True)


def pager(number: int, pages: int) -> None:
    st.session_state["pager"] = number
    st.pagination(pages, key="pager", on_change=lambda: to_page(st.session_state["pager"]))


def nothing(asked: Asked) -> None:
    if asked.narrowed or asked.period != DEFAULT:
        st.info("No purchase matches this selection.", icon=":material/filter_alt_off:")
        st.button("Show all purchases", type="primary", on_click=sales_filters.reset)
    else:
        first = "Record one under Buy, let" if person.may("operations") else "Let"
        st.info(
            f"There is no purchase in this mode yet. {first} a distributor sell through the API, or look at the other"
            " mode with the switch in the menu.",
            icon=":material/rocket_launch:",
        )


person = frame.require("operations", "finance")
if opened := sales_grid.opened():
    st.session_state[BACK] = {name: st.query_params.get_all(name) for name in st.query_params}
    st.switch_page(ONE, query_params={"id": str(opened), **frame.mode_query()})
frame.page_header("Purchases", "Every sale, with its customer, its policy and the split of the money.")
with reading(frame.scope()) as session:
    names = choices(session)
asked = sales_filters.read(names, default=DEFAULT)
filters(asked)
chosen, order = sales_grid.read_columns(), sales_grid.read_order()
with st.skeleton(height=300), reading(frame.scope()) as session:
    total = sales_table.total(session, asked.selection.wanted)
toolbar(asked, total, chosen, order)
if not total.sold:
    nothing(asked)
    st.stop()
pages = -(-total.sold // sales_grid.PAGE_SIZE)
number = page_number(pages)
if number is None:
    st.stop()
with reading(frame.scope()) as session:
    paging = Paging(number, sales_grid.PAGE_SIZE)
    rows = sales_table.rows(session, asked.selection.wanted, names, order=order, paging=paging)
sales_grid.draw(rows, chosen, key=f"{number} {order} {asked.link}")
pager(number, pages)
footer(total)
