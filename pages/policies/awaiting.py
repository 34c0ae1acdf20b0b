"""Awaiting insurer: policies not yet accepted or answered by insurers, the reasons, and each insurer's health."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from uuid import UUID

import streamlit as st

from core import clock
from core.services.insurers import awaiting, resending
from core.services.insurers.awaiting import NOBODY, NextAct, OpenSubmission, SubmissionFilter
from core.services.insurers.insurers import InsurerHealth, list_health
from core.services.lists.dimensions import Choices, load_choices
from core.services.lists.paging import Page
from core.services.people.staff import Person
from core.store.access import read_in, reading
from core.ui.frame import frame, page_links
from core.ui.kit import actions, url_state, words
from core.ui.kit.actions import Action, Values
from core.ui.lists import export_panel, filter_bar, saved_views, tables
from core.ui.lists.filter_bar import Names
from core.ui.lists.tables import Table
from pages.policies._shared import acting_on, draw_untold, reporting, resending_one


def found(wanted: SubmissionFilter, names: Choices) -> tuple[Page[OpenSubmission], int]:
    """Return the page of policies that wait, and the premium of all of them in kobo."""
    with st.skeleton(height=300), reading(frame.scope()) as session:
        order, paging = WAITING.order_among(awaiting.ORDERS), WAITING.paging(url_state.page())
        page = awaiting.list_open(session, names, wanted, order=order, paging=paging)
        return page, awaiting.sum_premium(session, wanted)


def nothing(wanted: SubmissionFilter) -> None:
    if wanted != SubmissionFilter():
        st.info("Nothing that waits matches.", icon=":material/search_off:")
        st.button("Show all that waits", type="primary", on_click=url_state.reset)
    else:
        st.info(
            "Nothing waits for an insurer: every policy of this mode is settled with its insurer.",
            icon=":material/task_alt:",
        )


def results(
    page: Page[OpenSubmission], premium_minor: int, wanted: SubmissionFilter, people: Mapping[UUID, str], person: Person
) -> None:
    number = tables.page_of(WAITING, page.total_count)
    if number is None:
        return
    premium = words.plain(words.naira(premium_minor))
    above = st.container()
    picked = tables.draw(WAITING, page.items, number=number, total=page.total_count, chosen=())
    with above:
        if picked:
            bulk(picked, people, person)
        else:
            export_panel.offer(
                "awaiting",
                wanted.address(),
                rows=page.total_count,
                sum_minor=premium_minor,
                line=f"{WAITING.count_text(page.total_count)} waiting · {premium} of premium",
                table=WAITING,
            )


def draw() -> None:
    person = frame.require("operations")
    follow()
    frame.page_header("Awaiting insurer", "Policies that their insurer has not taken or answered yet, and why.")
    actions.run()
    with reading(frame.scope()) as session:
        names, insurers = load_choices(session), list_health(session)
        people = awaiting.list_candidates(session)
    wanted = read(insurers)
    filters(wanted, insurers, people, person)
    page, premium_minor = found(wanted, names)
    if page.total_count:
        results(page, premium_minor, wanted, people, person)
    else:
        nothing(wanted)
    draw_untold()
    draw_health(insurers)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.caption(f"As of {words.moment(clock.now())}", width="content")
        st.button("Refresh", icon=":material/refresh:", type="tertiary")


_OWNER = "awaiting_owner_choice"
PAGE = "policies/awaiting.py"
People = Mapping[UUID, str]


def read(insurers: Sequence[InsurerHealth]) -> SubmissionFilter:
    """Read the filters from the URL; show invalid query parameters and stop the page."""
    return filter_bar.read(SubmissionFilter, _names(insurers))


def filters(criteria: SubmissionFilter, insurers: Sequence[InsurerHealth], people: People, person: Person) -> None:
    """Draw the filters in one line, with the saved views."""
    filter_bar.draw_chips(
        criteria,
        _names(insurers),
        options={"owned_by": {NOBODY: "Nobody", **{str(key): name for key, name in people.items()}}},
        beside=lambda: saved_views.draw(PAGE, person),
    )


def _names(insurers: Sequence[InsurerHealth]) -> Names:
    return {"provider": {insurer.id: insurer.name for insurer in insurers}}


def follow() -> None:
    """Do what the button of a row offers, as it was drawn: send it, note that the insurer was told, or activate it."""
    policy_id = tables.get_clicked(WAITING)[0]
    if policy_id is None:
        return
    act = read_in(frame.scope(), awaiting.get_next_act, policy_id)
    if act == "send":
        resending_one(policy_id).do()
    elif act == "tell":
        reporting(policy_id).do()
    elif act == "activate":
        page_links.go("policies/policy.py", id=str(policy_id), do="activate")


def bulk(picked: Sequence[OpenSubmission], people: People, person: Person) -> None:
    """Draw what can be done with the ticked policies at once."""
    ids_ = [row.id for row in picked]
    number = f" ({len(picked)})" if len(picked) > 1 else ""
    with tables.ticked_bar():
        st.button(
            f"Send again{number}",
            key="awaiting.resend",
            icon=":material/send:",
            disabled=not any(row.retryable for row in picked),
            on_click=acting_on(ids_, resending.resend, "first in the queue", WAITING).do,
        )
        st.button(
            f"Reported by bordereau{number}",
            key="awaiting.reported",
            icon=":material/task:",
            help="The insurer was told of these active policies another way.",
            on_click=acting_on(ids_, resending.record_reported, "noted as reported", WAITING).do,
        )
        _owner_button(ids_, people, person)


def _owner_button(ids_: Sequence[UUID], people: People, person: Person) -> None:
    """Draw the choice of who goes on with the ticked policies: oneself, a colleague or nobody."""
    others: dict[UUID | None, str] = {key: name for key, name in people.items() if key != person.id}
    choices: dict[UUID | None, str] = {person.id: "Me", **others, None: "Nobody"}
    with st.popover("Owner", icon=":material/person_add:", disabled=not ids_, key="awaiting_owner"):
        to: UUID | None = st.selectbox("New owner", list(choices), key=_OWNER, format_func=choices.__getitem__)
        whom = {"Me": "you", "Nobody": "nobody"}.get(choices[to], choices[to])
        st.button(
            "Set the owner",
            key="awaiting.owner",
            type="primary",
            on_click=acting_on(ids_, partial(awaiting.set_owner, to=to), f"now with {whom}", WAITING).do,
        )


_ACTS: Mapping[NextAct, str] = {"tell": "Told by hand", "activate": "Activate", "send": "Send now"}


def _colour(row: OpenSubmission) -> str:
    """Return the colour of what the row says: an insurer without a connection is told, whatever was tried before."""
    if row.connection == "Delegated":
        return words.colour("Not connected")
    is_failing = row.connection in ("Failing", "Paused", "Checking")
    return words.colour("Trying again" if is_failing and row.situation != "Set aside" else row.situation)


WAITING: Table[OpenSubmission] = tables.of(
    awaiting.WAITING,
    changed={
        "state": {"colour": _colour, "wraps": True},
        "product": {"wraps": True},
        "insurer": {"wraps": True},
        "age": {"label": "Waiting", "of": lambda row: age(row.created_at)},
        "target": {"is_right": True, "colour": lambda row: "red" if row.is_overdue else "gray"},
    },
    without=("id",),
    opens="policies/policy.py",
    act=lambda row: _ACTS[row.next_act] if row.next_act else "",
    home=(PAGE, "Back to awaiting insurer"),
    narrow=("holder", "state", "target"),
    only_wide=("cover", "owner"),
)


def draw_health(insurers: Sequence[InsurerHealth]) -> None:
    """Draw a card for each insurer that is connected or has policies waiting; the others in one line."""
    shown = [insurer for insurer in insurers if insurer.is_connected or insurer.queued or insurer.dead]
    if shown:
        with st.grid(4, min_column_width=230, gap="small"):
            for insurer in shown:
                _card(insurer)
    quiet = [words.plain(insurer.name) for insurer in insurers if insurer not in shown]
    if quiet:
        st.caption(f"Without a connection, and nothing waiting: {', '.join(quiet)}.")


def _card(insurer: InsurerHealth) -> None:
    with st.container(border=True, height="stretch", gap="xsmall"):
        st.markdown(f"**{words.plain(insurer.name)}** {words.badge(insurer.health)}")
        st.caption(_means(insurer))
        st.markdown(_count_waiting(insurer))
        with st.container(horizontal=True, gap="xsmall"):
            if insurer.queued or insurer.dead:
                st.button(
                    "Show",
                    icon=":material/filter_alt:",
                    type="tertiary",
                    key=f"awaiting.show.{insurer.segment}",
                    on_click=url_state.change,
                    args=({"provider": [str(insurer.id)], "state": []},),
                )
            if insurer.dead and insurer.is_connected:
                _retrying_all(insurer).button(
                    f"Retry {words.count(insurer.dead)} set aside",
                    type="tertiary",
                    key=f"awaiting.all.{insurer.segment}",
                )


def _count_waiting(insurer: InsurerHealth) -> str:
    """Return how many policies wait, those that need a person in red, and for how long the oldest has waited."""
    oldest = f", the oldest for {age(insurer.oldest_at)}" if insurer.oldest_at else ""
    # Without a connection, what was set aside is told by hand as all others are.
    dead = insurer.dead if insurer.is_connected else 0
    queued = insurer.queued + insurer.dead - dead
    waiting = f"**{words.count(queued)}** waiting"
    aside = f"  \n:red[**{words.count(dead)}** set aside: needs you]" if dead else ""
    # Where nothing else waits, the oldest is one of those set aside.
    return f"{waiting}{oldest}{aside}" if queued else f"{waiting}{aside}{oldest}"


def _means(insurer: InsurerHealth) -> str:
    trouble = words.plain(insurer.last_error)
    heard = f"Last success {words.moment(insurer.last_success_at)}." if insurer.last_success_at else "No success yet."
    return {
        "Delegated": "No connection: tell it by hand, or by bordereau.",
        "Not used yet": "Connected; nothing was sent yet.",
        "Working": heard,
        "Failing": f"{trouble}. {heard}",
        "Paused": f"{trouble}. Tried again at {clock.format_lagos(insurer.rests_until, '%H:%M:%S')}. {heard}",
        "Checking": f"{trouble}. One policy is sent to see whether it answers again. {heard}",
    }[insurer.health]


def _retrying_all(insurer: InsurerHealth) -> Action:
    """Return the dialog that sends everything again that was set aside for an insurer."""
    noun = "policy that was" if insurer.dead == 1 else "policies that were"

    def show_error(_: Values) -> None:
        if insurer.last_error:
            st.caption(f"Its connection said last: {words.plain(insurer.last_error)}.")

    return Action(
        title="Retry all that was set aside",
        icon="replay",
        says=f"**{words.count(insurer.dead)}** {noun} set aside for **{words.plain(insurer.name)}** will be sent again."
        " Whatever the insurer has taken already, it does not take twice.",
        fields=[show_error],
        confirm="Retry them all",
        roles=resending.SENDING_ROLES,
        work=lambda session, _, by: resending.resend_all(session, insurer.id, person=by),
        done=lambda count: (
            f"{words.counted(count, 'policy is', 'policies are')} queued again for {insurer.name}."
            if count
            else f"Nothing was set aside for {insurer.name}."
        ),
    )


def age(since: datetime) -> str:
    """Return the time since an instant in its largest useful unit: "5 min", "3 h", "12 days"."""
    return awaiting.format_age(clock.now() - since)
