"""Renewals: every further term of a policy, with filters and the total of the whole selection."""

from dataclasses import replace
from functools import partial

import streamlit as st

from core.money import Split
from core.services.lists.dimensions import load_choices
from core.services.renewals import records
from core.services.renewals.records import RenewalFilter, RenewalTotal
from core.store.access import read_in, reading
from core.ui.frame import frame, page_links
from core.ui.kit import facts, url_state, words
from core.ui.lists import periods, tables
from core.ui.lists.periods import Selection

RENEWALS = tables.of(
    records.RENEWALS,
    opens="policies/policy.py",
    home=("sales/renewals.py", "Back to the renewals"),
    key=lambda row: row["policy_id"],
    narrow=("customer", "policy", "renewed", "total"),
)


def footer(total: RenewalTotal, given_back: Split) -> None:
    """Draw the total of the whole selection across all pages, exact to the kobo, and the refunds since."""
    whole, failed = total.all_rows, total.failed
    tables.footer(
        {
            "Renewals": words.count(whole.renewals),
            "Premium": words.naira(whole.total_minor),
            "Platform commission": words.naira(whole.mca_minor),
            "Distributor commission": words.naira(whole.distributor_minor),
            "Insurers' share": words.naira(whole.rest_minor),
        }
    )
    if failed.renewals:
        effective = total.effective
        st.caption(
            f"{words.count(effective.renewals)} took effect, with {words.plain(words.naira(effective.total_minor))}:"
            f" the dashboard counts these alone. {words.count(failed.renewals)} failed or were reversed, with"
            f" {words.plain(words.naira(failed.total_minor))}."
        )
    if given_back.total_minor:
        facts.draw_amounts(facts.list_balance(total.effective.money, given_back))
        st.caption("Given back of these renewals until now, whenever that was.")


def nothing(selection: Selection[RenewalFilter]) -> None:
    if selection.is_changed:
        tables.show_no_match(RENEWALS)
    else:
        st.info(
            "No policy of this mode has been renewed yet. What is up for it stands under Due for renewal.",
            icon=":material/autorenew:",
        )
        page_links.link("sales/due.py", label="See what is due", icon=":material/event_upcoming:")


def draw() -> None:
    person = frame.require("operations", "finance")
    # Finance opens a renewal on the page of its purchase, as it has no access to policies (contract A1).
    table = (
        RENEWALS
        if person.has_role("operations")
        else replace(RENEWALS, opens="sales/purchases.py#purchase", key=lambda row: row["purchase_id"])
    )
    frame.page_header("Renewals", "Every further term that was bought for a policy, with the split of the money.")
    names = read_in(frame.scope(), load_choices)
    selection = periods.choose(RenewalFilter, names, person, path="sales/renewals.py")
    if selection is None:
        return
    with st.skeleton(height=300), reading(frame.scope()) as session:
        total = records.compute_total(session, selection.criteria)
        paging = table.paging(url_state.page())
        rows = records.RENEWALS.read_page(
            session, selection.criteria, names, shown=table.shown_columns, order=table.order, paging=paging
        )
        given_back = records.sum_refunds(session, selection.criteria)
    whole = {"rows": total.all_rows.renewals, "sum_minor": total.all_rows.total_minor}
    periods.offer("renewals", selection, table, **whole, sums=partial(footer, total, given_back))
    if not total.all_rows.renewals:
        nothing(selection)
        return
    if (number := tables.page_of(table, total.all_rows.renewals)) is not None:
        tables.draw(table, rows, number=number, total=total.all_rows.renewals)
