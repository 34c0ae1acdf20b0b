"""The claims queue: open work by view, most urgent first, with assignment."""

from collections.abc import Sequence

import streamlit as st

from core.services.claims.lists import queue as claim_queue
from core.services.claims.lists import totals as claim_totals
from core.services.claims.lists.filter import ClaimFilter, View
from core.services.claims.lists.totals import QueueCounts, QueueTotal
from core.services.claims.review import officers as claim_officers
from core.services.claims.review.officers import Officer
from core.services.dimensions import load_choices
from core.services.people.staff import Person
from core.states.claims import ClaimStatus
from core.store.access import reading
from core.ui.claims import assignment as claim_assignment
from core.ui.claims import filters as claim_filters
from core.ui.claims import queue_views
from core.ui.frame import frame, page_links
from core.ui.kit import url_state, words
from core.ui.lists import export_panel, tables
from core.ui.lists.record_tables import CLAIMS

IDLE = "Nothing is waiting for you, and every open claim has somebody who works on it."
NOTHING = {
    "mine": "Nothing is waiting for you – take the next one.",
    "unassigned": "Every open claim has somebody who works on it.",
    "referred": "No decision waits for a supervisor.",
    "to_pay": "Every offer that was accepted is paid.",
    "near": "No claim is overdue, and none has 7 days or less left.",
    "waiting": "Nothing waits for a claimant: every open claim is the desk's turn.",
    "open": "No claim is open.",
    "all": "There is no claim in this mode yet. Lodge one on a caller's behalf, let a distributor send one through the"
    " API, or look at the other mode with the switch in the menu.",
}


def nothing(asked: ClaimFilter, counts: QueueCounts) -> None:
    """Show that the view is empty, or that nothing in it matches the filters."""
    if claim_filters.is_narrowed(asked):
        st.info("No claim of this view matches these filters.", icon=":material/filter_alt_off:")
        st.button("Show the whole view", type="primary", on_click=claim_filters.clear)
        return
    st.info(why_empty(asked.view or claim_filters.USUAL, counts), icon=":material/inbox:")
    with st.container(horizontal=True, vertical_alignment="center"):
        if asked.view not in ("open", "all") and counts.views["open"]:
            st.button("Show all open claims", on_click=url_state.change, args=({"view": ["open"]},))
        elif asked.view != "all" and counts.views["all"]:
            st.button("Show all claims", on_click=url_state.change, args=({"view": ["all"]},))
        page_links.link("claims/lodge.py", label="Lodge a claim", icon=":material/note_add:")


def why_empty(view: View, counts: QueueCounts) -> str:
    """Return the message of an empty view; it mentions open claims only if there are some."""
    if not counts.views["all"]:
        return NOTHING["all"]
    if not counts.views["open"]:
        return NOTHING["open"]
    return IDLE if view == "mine" and not counts.views["unassigned"] else NOTHING[view]


def toolbar(asked: ClaimFilter, total: QueueTotal) -> None:
    export_panel.offer(
        "claims",
        asked.address(),
        rows=total.count,
        sum_minor=total.claimed_minor,
        line=f"{CLAIMS.count_text(total.count)} · {words.plain(words.naira(total.claimed_minor))} claimed",
        table=CLAIMS,
        sums=lambda: footer(total),
    )


def footer(total: QueueTotal) -> None:
    tables.footer(
        {
            "Claims": words.count(total.count),
            "Claimed": words.naira(total.claimed_minor),
            "Offered": words.naira(total.offered_minor),
            ClaimStatus.PAID: words.naira(total.paid_minor),
            "Outstanding": words.naira(total.outstanding_minor),
            "Incurred": words.naira(total.incurred_minor),
        }
    )


def header(person: Person, view: View, counts: QueueCounts) -> None:
    with st.container(gap=None):
        with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            with st.container(width="content"):
                frame.page_header("Queue", "")
            queue_views.draw(person, view, counts)
        st.caption(queue_views.describe(view, counts))


def table(asked: ClaimFilter, total: QueueTotal, person: Person, officers: Sequence[Officer]) -> None:
    """Draw a page of claims; the line above it has the actions for those that are chosen."""
    number = tables.page_of(CLAIMS, total.count)
    if number is None:
        return
    with st.skeleton(height=300), reading(frame.scope()) as session:
        rows = claim_queue.list_rows(session, asked, order=CLAIMS.order, paging=CLAIMS.paging(number))
    above = st.container()
    chosen = {seen.id for seen in claim_assignment.get_selected()}
    picked = tables.draw(CLAIMS, rows, number=number, total=total.count, chosen=chosen)
    claim_assignment.store_selection(rows, picked)
    with above:
        if claim_assignment.get_selected():
            claim_assignment.bar(person, officers)
        else:
            toolbar(asked, total)
    if total.payments:
        st.caption("What was paid on these claims, one line for each payment:")
        export_panel.offer("claim-payments", asked.address(), rows=total.payments, sum_minor=total.paid_minor)


def draw() -> None:
    person = frame.require("claims", "supervisor")
    claim_assignment.follow()
    asked = claim_filters.read(person)
    counts = queue_views.get_counts(person)
    with reading(frame.scope()) as session:
        officers, names = claim_officers.list_active(session), load_choices(session).names["distributor"]
        total = claim_totals.get_totals(session, asked)
    header(person, asked.view or claim_filters.USUAL, counts)
    claim_assignment.notice()
    claim_filters.draw(asked, officers, names, person)
    if total.count:
        table(asked, total, person, officers)
    else:
        toolbar(asked, total)
        nothing(asked, counts)
