"""Due for renewal: policies by days until they end, with contacts, and renewal in place."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from core import clock
from core.services.dimensions import load_choices
from core.services.people.staff import Person
from core.services.renewals import due
from core.services.renewals.due import Bucket, DueRow
from core.services.renewals.filter import DueFilter
from core.store.access import reading
from core.ui.frame import frame
from core.ui.kit import actions, url_state, words
from core.ui.lists import export_panel, tables
from core.ui.lists.record_tables import DUE
from core.ui.lists.tables import Table
from core.ui.policies import policy_actions
from core.ui.renewals import due_filters, renewal_calls


def toolbar(bucket: Bucket, criteria: DueFilter, table: Table[DueRow]) -> None:
    ends = f"{'ends' if bucket.policies == 1 else 'end'} in {due_filters.bucket_label(bucket.key)}"
    when = "lapsed in the last 30 days" if bucket.key == "lapsed" else ends
    at_risk = words.plain(words.naira(bucket.premium_minor))
    export_panel.offer(
        "due",
        {**criteria.address(), "bucket": [bucket.key]},
        rows=bucket.policies,
        sum_minor=bucket.premium_minor,
        line=f"{table.count_text(bucket.policies)} {when} · {at_risk} at risk",
        table=table,
    )


def nothing(criteria: DueFilter, everywhere: int) -> None:
    """Show that the open tile has no policies; `everywhere` is the number in all tiles."""
    if criteria != DueFilter():
        st.info("No policy of this selection ends in these days.", icon=":material/filter_alt_off:")
        st.button("Show all that is due", type="primary", on_click=url_state.reset)
    elif everywhere:
        st.info("No policy ends in these days. Look at the other tiles.", icon=":material/task_alt:")
    else:
        st.info(
            "Nothing is due: no policy that can be renewed ends within 90 days or has lapsed in the last 30.",
            icon=":material/task_alt:",
        )


def policies(table: Table[DueRow], rows: Sequence[DueRow], number: int, total: int, person: Person) -> None:
    """Draw a page of policies; whoever may renew ticks them and calls or renews the ticked ones."""
    if not person.has_role("operations"):
        tables.draw(table, rows, number=number, total=total)
        return
    above = st.container()
    picked = tables.draw(table, rows, number=number, total=total, chosen=())
    with above:
        renewal_calls.bar(picked, person)


def draw() -> None:
    person = frame.require("operations", "finance")
    # Finance may view and open the purchase only; renewing needs the operations role (contract A1).
    looking = replace(DUE, act=None, opens="sales/purchase.py", key=lambda row: row.purchase_id)
    table = DUE if person.has_role("operations") else looking
    if policy_id := tables.get_clicked_row(table):
        policy_actions.begin_renewal(policy_id)
    todo = ": call them, and renew here." if table.act else "."
    frame.page_header("Due for renewal", f"Whose cover ends soon or has just ended{todo}")
    actions.run()
    with reading(frame.scope()) as session:
        names = load_choices(session)
    open_bucket, criteria = due_filters.read(names)
    due_filters.draw(criteria, names, person)
    with st.skeleton(height=300), reading(frame.scope()) as session:
        buckets = due.list_due(session, clock.today(), criteria)
        paging = table.paging(url_state.page())
        rows = due.list_due_rows(session, open_bucket, criteria, names, order=table.order, paging=paging)
    due_filters.tiles(buckets, open_bucket)
    bucket = next(bucket for bucket in buckets if bucket.key == open_bucket)
    if not bucket.policies:
        nothing(criteria, sum(each.policies for each in buckets))
        renewal_calls.figures()
        return
    toolbar(bucket, criteria, table)
    if (number := tables.page_of(table, bucket.policies)) is not None:
        policies(table, rows, number, bucket.policies, person)
        renewal_calls.figures()
