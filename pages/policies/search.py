"""Policy search: one box that finds any policy, and what narrows the list."""

import streamlit as st

from core.services import policy_search
from core.services.choices import choices
from core.services.paging import Page, Paging
from core.services.policy_search import PolicyRow
from core.store.engine import reading
from core.ui import frame, periods, policy_filters, policy_grid, sales_filters, words
from core.ui.policy_filters import Search

ONE = "policies/policy.py"
BACK = "policies_address"


def page_asked() -> int:
    """The page that the address asks for; 0 when it asks for none that can be."""
    given = st.query_params.get("page", "1")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else 0


def found(search: Search, number: int) -> Page[PolicyRow]:
    paging = Paging(max(1, number), policy_grid.PAGE_SIZE)
    with st.skeleton(height=300), reading(frame.scope()) as session:
        return policy_search.page(session, search.text, search.wanted, names, paging=paging)


def to_page(number: int) -> None:
    sales_filters.change({"page": [str(number)] if number > 1 else []}, keep_page=True)


def nothing(search: Search) -> None:
    if search.narrowed:
        st.info("No policy matches.", icon=":material/search_off:")
        st.button("Show all policies", type="primary", on_click=sales_filters.reset)
    else:
        st.info(
            "There is no policy in this mode yet. Sell one under Buy, or look at the other mode with the switch in"
            " the menu.",
            icon=":material/rocket_launch:",
        )


def no_such_page(pages: int) -> None:
    given = words.plain(st.query_params.get("page", "")[:20])
    st.warning(f"There is no page “{given}”: this selection has {words.count(pages)}.", icon=":material/find_in_page:")
    st.button("Go to the first page", type="primary", on_click=to_page, args=(1,))


def results(search: Search, page: Page[PolicyRow], number: int) -> None:
    days = periods.in_words(search.asked.window) if search.asked.window else "All time"
    noun = "policy" if page.total_count == 1 else "policies"
    st.markdown(f"**{words.count(page.total_count)}** {noun} · sold {days[:1].lower() + days[1:]}")
    policy_grid.draw(page.rows, key=f"{number} {search}")
    st.session_state["pager"] = number
    pages = -(-page.total_count // policy_grid.PAGE_SIZE)
    st.pagination(pages, key="pager", on_change=lambda: to_page(st.session_state["pager"]))


frame.require("operations", "claims")
if opened := policy_grid.opened():
    st.session_state[BACK] = {name: st.query_params.get_all(name) for name in st.query_params}
    st.switch_page(ONE, query_params={"id": str(opened), **frame.mode_query()})
frame.page_header("Policy search", "Find any policy by its number, plate or customer, and see where it stands.")
with reading(frame.scope()) as session:
    names = choices(session)
search, number = policy_filters.read(names), page_asked()
policy_filters.draw(search, names)
if search.fault:
    st.stop()
page = found(search, number)
pages = -(-page.total_count // policy_grid.PAGE_SIZE)
if not page.total_count:
    nothing(search)
elif not 1 <= number <= pages:
    no_such_page(pages)
else:
    results(search, page, number)
