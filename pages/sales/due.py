"""Due for renewal: policies by days until they end, with contacts; calls, reminders and renewal in place."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from core import clock
from core.errors import InvalidInput
from core.outbound import mail as smtp
from core.services.lists import windows
from core.services.lists.dimensions import Choices, load_choices
from core.services.people.staff import Person
from core.services.policies.policies import BulkResult
from core.services.renewals import automations, calls, due, renewals
from core.services.renewals.calls import CallerFigures
from core.services.renewals.due import BUCKETS, Bucket, DueRow
from core.services.renewals.records import NOBODY, DueFilter
from core.store.access import Scope, read_in, reading
from core.ui.frame import frame
from core.ui.kit import actions, url_state, words
from core.ui.kit.actions import Action
from core.ui.kit.policy_actions import WAITS
from core.ui.lists import columns, export_panel, filter_bar, periods, saved_views, tables
from core.ui.lists.periods import SearchText
from core.ui.lists.tables import Table
from pages.sales._shared import (
    DUE,
    ROLES,
    describe_end,
    follow_click,
    list_acts,
    recording,
    show_term,
    summarise_renewals,
)

BUCKET, SOONEST, _LAPSED, _TAB = "bucket", "week", "lapsed", "due.tab"


def read_bucket(names: Choices, search: SearchText) -> tuple[str, DueFilter]:
    """Read bucket and filters from the URL; show invalid query parameters and stop the page."""
    criteria = filter_bar.read(DueFilter, names.names, given=search.address)
    bucket = st.query_params.get(BUCKET, SOONEST)
    if bucket not in BUCKETS:
        url_state.way_back(InvalidInput.for_field(BUCKET, f"must be one of {', '.join(BUCKETS)}").faults)
    return bucket, criteria


def draw_filters(criteria: DueFilter, search: SearchText, names: Choices, person: Person) -> None:
    """Draw the search and the filters, which apply to all buckets."""
    with reading(Scope.system()) as session:
        people = {str(key): name for key, name in calls.list_owners(session).items()}
    filter_bar.draw_chips(
        criteria,
        names.names,
        options={"owned_by": {NOBODY: "Nobody", **people}},
        first=lambda: filter_bar.draw_field(DueFilter.FIELDS["find"], search.text, {}),
        leave_out=("find",),
        beside=lambda: saved_views.draw("sales/due.py", person),
    )
    periods.complain_of_search(search)


def draw_tabs(buckets: Sequence[Bucket], chosen: str) -> None:
    """Draw each bucket as a tab with its number of policies; one is open."""
    numbers = {bucket.key: bucket.policies for bucket in buckets}
    st.session_state[_TAB] = chosen
    st.segmented_control(
        "Days until the policies end",
        list(numbers),
        key=_TAB,
        required=True,
        wrap=True,
        label_visibility="collapsed",
        format_func=lambda key: f"{bucket_label(key)} · **{words.count(numbers[key])}**",
        on_change=_choose,
    )


def bucket_label(key: str) -> str:
    """Return the label of a bucket, short enough for its tab."""
    return "Lapsed 1–30 days" if key == _LAPSED else BUCKETS[key].label.replace("-", "–")


def _choose() -> None:
    _open(st.session_state[_TAB])


def _open(key: str) -> None:
    url_state.change({BUCKET: [] if key == SOONEST else [key]})


def draw_sums(buckets: Sequence[Bucket]) -> None:
    """Draw the premium at risk of each bucket, and of all."""
    whole = sum(bucket.premium_minor for bucket in buckets)
    rows = {bucket_label(bucket.key): bucket.premium_minor for bucket in buckets}
    tables.footer({label: words.naira(minor) for label, minor in {**rows, "Together": whole}.items()})
    st.caption("At risk is what the term that ends has cost. What ended today stands in the first days.")


# Calls, and what they led to.

# The name of the choice in the address, and the periods it offers.
_PERIOD, _USUAL = "calls", "30d"
_PERIODS = ("7d", "30d", "this-month", "last-month", "6m", "1y")
CALLERS: Table[CallerFigures] = Table(
    name="callers",
    noun=("caller", "callers"),
    narrow=("caller", "calls", "renewed", "premium"),
    key=lambda row: row.caller,
    columns={
        "caller": columns.text("Caller", lambda row: row.caller, 200),
        "calls": columns.number("Calls made", lambda row: row.calls),
        "reached": columns.number(
            "Reached", lambda row: row.reached, says="Calls in which the customer was spoken to, whatever the answer."
        ),
        "terms": columns.number("Policies called about", lambda row: row.terms),
        "renewed": columns.number(
            "Renewed", lambda row: row.renewed, says="Each renewal counts for whoever called last before it."
        ),
        "premium": columns.naira("Premium renewed", lambda row: row.premium_minor),
        "rate": columns.text(
            "Conversion",
            lambda row: None if row.conversion is None else words.percent(row.conversion),
            right=True,
            says="Renewed, as a share of the policies called about.",
        ),
    },
)


def draw_bar(picked: Sequence[DueRow], person: Person) -> None:
    """Draw what can be done with the ticked policies at once."""
    with tables.ticked_bar():
        st.markdown(f"**{words.count(len(picked))}** ticked", width="content")
        actions.button(
            f"Record a call ({len(picked)})" if len(picked) > 1 else "Record a call",
            lambda: recording(picked, person),
            icon="call",
        )
        remind_button(picked)
        renew_button(picked)


def figures(*, has_calls: bool) -> None:
    """Draw what the calls of a period led to, by caller, with their sum; the period is in the address.

    With `has_calls` there is somebody above whom this person may call.
    """
    with st.container(horizontal=True, gap="small", vertical_alignment="center", horizontal_alignment="distribute"):
        st.subheader("Call outcomes", anchor=False, width="content")
        period = st.segmented_control(
            "Calls made in",
            _PERIODS,
            default=_USUAL,
            required=True,
            key=_PERIOD,
            format_func=periods.NAMES.__getitem__,
            label_visibility="collapsed",
            bind="query-params",
        )
    window = windows.named_window(period or _USUAL, clock.today())
    found = read_in(frame.scope(), calls.compute_conversion, window.span)
    if not found:
        todo = " Press Call beside a customer above, and record what came of it." if has_calls else ""
        st.caption(f"Nobody called about a renewal in {periods.describe_period(window)}.{todo}")
        return
    made, renewed = sum(row.calls for row in found), sum(row.renewed for row in found)
    premium = words.plain(words.naira(sum(row.premium_minor for row in found)))
    noun, term = "call" if made == 1 else "calls", "renewal" if renewed == 1 else "renewals"
    st.markdown(
        f"**{words.count(made)}** {noun} · **{words.count(renewed)}** {term} · {premium} ·"
        f" {periods.describe_period(window)}"
    )
    tables.draw_short(CALLERS, found)


# Reminders.


def remind_button(picked: Sequence[DueRow]) -> None:
    """Draw the button that sends a reminder to the chosen customers."""
    st.button(
        f"Remind ({len(picked)})" if len(picked) > 1 else "Remind",
        icon=":material/mail:",
        disabled=not frame.mode(),
        help="By e-mail, 60, 30, 7 and 1 days before the end, each once."
        if frame.mode()
        else "Test policies send no e-mail: the address may be a stranger's.",
        on_click=lambda: actions.open_(_reminding(picked)),
    )


def _reminding(picked: Sequence[DueRow]) -> Action:
    return Action(
        title="Send reminders",
        icon="mail",
        says="One e-mail to each customer, with the day on which cover ends and the price of one more term. Left out"
        " is whoever was reminded already, wants no reminders or does not want to renew, or cannot.",
        fields=[lambda _: _show(picked)],
        confirm=f"Remind {len(picked)} customers" if len(picked) > 1 else "Remind",
        roles=("operations",),
        work=lambda session, _, by: due.remind(session, [row.id for row in picked], by=by),
        done=summarise_reminders,
        then=lambda _: tables.let_go(DUE),
    )


def _show(picked: Sequence[DueRow]) -> None:
    """Draw whom it goes to, and the same as a text message."""
    for row in picked[:5]:
        ends = f"{describe_end(row)} {words.day(row.expiration_at)}"
        left_out = f" · left out: {row.no_reminder}" if row.no_reminder else ""
        st.caption(f"{words.plain(row.customer)} · {words.plain(words.email(row.email))} · {ends}{left_out}")
    if len(picked) > 5:
        st.caption(f"and {len(picked) - 5} more")
    if len(picked) == 1 and not picked[0].no_reminder:
        st.caption("As a text message, to copy:")
        st.code(text_message(picked[0]), language=None, wrap_lines=True)


def text_message(row: DueRow) -> str:
    """Return the reminder as a text message."""
    price = f" One more term costs {words.naira(row.next_minor)} today." if row.next_minor is not None else ""
    return (
        f"{row.customer}, your {row.product} cover with {row.provider} {describe_end(row)} on"
        f" {words.day(row.expiration_at)}.{price}"
    )


def summarise_reminders(found: BulkResult) -> str:
    """Return what became of a request in words: "12 reminders are queued. Left out 2: reminded already."."""
    left_out = words.list_left_out(found.left_out)
    if not found.done:
        return words.Unchanged(f"No reminder is queued.{left_out}")
    number = words.counted(found.done, "reminder is", "reminders are")
    return f"{number} queued.{left_out}{'' if smtp.can_send() else WAITS}"


def draw_automatic_note() -> None:
    """Say that reminders go out by themselves, while an admin has switched that on."""
    state = read_in(Scope.system(), automations.get_state, automations.RENEWAL_REMINDERS)
    if state.is_on:
        sent = f" {words.count(state.done)} went out on {words.day(state.day)}." if state.day else ""
        st.caption(f"Reminders are sent automatically every day.{sent}")


# Renewing the ticked policies, with a preview of every term and the sum.

_PREVIEW: Table[DueRow] = Table(
    name="bulk renewal",
    noun=("policy", "policies"),
    columns={
        "customer": columns.text("Customer", lambda row: row.customer, 150),
        "ends": columns.day("Ends", lambda row: row.expiration_at),
        "next": columns.naira("Next term", lambda row: row.next_minor),
        "call": columns.text("Last call", lambda row: row.call.label if row.call else "Not called", 120),
    },
)


def renew_button(picked: Sequence[DueRow]) -> None:
    """Draw the button that opens the preview; disabled unless something of what is ticked can be renewed."""
    renewable = [row for row in picked if row.next_minor is not None]
    st.button(
        f"Renew ({len(renewable)})" if len(renewable) > 1 else "Renew ticked",
        icon=":material/autorenew:",
        key="due.renew",
        disabled=not renewable,
        on_click=lambda: actions.open_(_renewing(picked, renewable)),
    )


def _renewing(picked: Sequence[DueRow], renewable: Sequence[DueRow]) -> Action:
    shown = [show_term(row) for row in renewable]
    total = sum(each.total_minor for each in shown)
    return Action(
        title="Renew these policies",
        icon="autorenew",
        says=f"One more term for each of **{len(renewable)}** {DUE.noun[len(renewable) != 1]},"
        f" **{words.naira(total)}** together. Each keeps its number and gets a new certificate.",
        fields=[lambda _: _preview(picked, renewable)],
        confirm=f"Renew {len(renewable)} for {words.naira(total)}",
        roles=("operations",),
        work=lambda session, _, by: renewals.renew_each(session, shown, by=by),
        done=summarise_renewals,
        then=lambda _: tables.let_go(DUE),
    )


def _preview(picked: Sequence[DueRow], renewable: Sequence[DueRow]) -> None:
    tables.draw_short(_PREVIEW, renewable)
    for row in picked:
        if row.refusal:
            st.caption(f"Left out: {words.plain(row.customer)}, {words.plain(words.format_dates(row.refusal))}")


# The screen.


def draw_head(bucket: Bucket, buckets: Sequence[Bucket], criteria: DueFilter, table: Table[DueRow]) -> None:
    """Draw the number of policies and their premium at risk, the export and the columns."""
    ends = f"{'ends' if bucket.policies == 1 else 'end'} in {bucket_label(bucket.key)}"
    when = "lapsed in the last 30 days" if bucket.key == "lapsed" else ends
    at_risk = words.plain(words.naira(bucket.premium_minor))
    export_panel.offer(
        "due",
        {**criteria.address(), "bucket": [bucket.key]},
        rows=bucket.policies,
        sum_minor=bucket.premium_minor,
        line=f"{table.count_text(bucket.policies)} {when} · {at_risk} at risk",
        table=table,
        sums=lambda: draw_sums(buckets),
    )
    draw_automatic_note()


def nothing(criteria: DueFilter, buckets: Sequence[Bucket]) -> None:
    """Show that the open tab has no policies, and lead to those of the other tabs."""
    of_selection = " of this selection" if criteria != DueFilter() else ""
    found = [bucket for bucket in buckets if bucket.policies]
    if found or of_selection:
        st.info(f"No policy{of_selection} ends in these days.", icon=":material/filter_alt_off:")
        with st.container(horizontal=True, gap="small"):
            for bucket in found:
                st.button(
                    f"{bucket_label(bucket.key)}: {words.count(bucket.policies)}",
                    key=f"due.in.{bucket.key}",
                    # What ends soonest comes next.
                    type="primary" if bucket is found[0] else "secondary",
                    on_click=_open,
                    args=(bucket.key,),
                )
            if of_selection:
                st.button("Show all that is due", type="secondary" if found else "primary", on_click=url_state.reset)
    else:
        st.info(
            "Nothing is due: no policy that can be renewed ends within 90 days or has lapsed in the last 30.",
            icon=":material/task_alt:",
        )


def draw_policies(
    table: Table[DueRow], rows: Sequence[DueRow], number: int, bucket: Bucket, person: Person, head: Callable[[], None]
) -> None:
    """Draw a page of policies below its `head`; for whoever may renew, what can be done with ticked ones is there."""
    above = st.container()
    chosen = () if table.act else None
    picked = tables.draw(table, rows, number=number, total=bucket.policies, chosen=chosen)
    with above:
        if picked:
            draw_bar(picked, person)
        else:
            head()


def draw() -> None:
    person = frame.require("operations", "finance")
    may_renew = person.has_role(*ROLES)
    # Finance may view and open the purchase only; renewing needs the operations role (contract A1).
    looking = replace(DUE, act=None, opens="sales/purchases.py#purchase", key=lambda row: row.purchase_id)
    table = replace(DUE, act=list_acts) if may_renew else looking
    todo = ": call them, and renew here. Tick several to remind or renew them together." if may_renew else "."
    views = frame.header_with_views("Due for renewal", f"Whose cover ends soon or has just ended{todo}")
    names = read_in(frame.scope(), load_choices)
    search = periods.read_search()
    open_bucket, criteria = read_bucket(names, search)
    draw_filters(criteria, search, names, person)
    if search.fault:
        return
    with st.skeleton(height=300), reading(frame.scope()) as session:
        buckets = due.list_due(session, clock.today(), criteria)
        paging = table.paging(url_state.page())
        rows = due.list_due_rows(session, open_bucket, criteria, names, order=table.order, paging=paging)
    follow_click(table, rows, person)
    actions.run()
    with views:
        draw_tabs(buckets, open_bucket)
    bucket = next(bucket for bucket in buckets if bucket.key == open_bucket)
    everywhere = sum(each.policies for each in buckets)
    if not bucket.policies:
        nothing(criteria, buckets)
    elif (number := tables.page_of(table, bucket.policies)) is not None:
        head = partial(draw_head, bucket, buckets, criteria, table)
        draw_policies(table, rows, number, bucket, person, head)
    figures(has_calls=may_renew and bool(everywhere))
