"""The claims queue: open work by view, most urgent first, with assignment."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final, NamedTuple, TypeVar
from uuid import UUID

import streamlit as st

from core import ids
from core.errors import CoverdeskError
from core.services.claims.lists import queue as claim_queue
from core.services.claims.lists import totals as claim_totals
from core.services.claims.lists.filter import ASSIGNED_VIEWS, NOBODY, ClaimFilter, View
from core.services.claims.lists.queue import QueueRow
from core.services.claims.lists.totals import QueueCounts, QueueTotal
from core.services.claims.review import officers as claim_officers
from core.services.claims.review.officers import Officer
from core.services.claims.workflow import assignment as claim_assignment
from core.services.claims.workflow.assignment import BatchResult, ChosenClaim
from core.services.claims.workflow.clock import NEAR_DEADLINE, STATUTORY_PERIOD
from core.services.lists.dimensions import load_choices
from core.services.people.staff import Person
from core.states.claims import ClaimStatus
from core.store.access import ScopedSession, read_in, reading, transact
from core.ui.frame import frame, page_links
from core.ui.kit import actions, url_state, words
from core.ui.lists import export_panel, filter_bar, saved_views, tables
from core.ui.lists.tables import Table
from pages.claims._shared import colour_of, days_left

_CHANGED: Final[Mapping[str, Mapping[str, Any]]] = {
    "left": {"of": lambda row: days_left(row.clock), "colour": lambda row: colour_of(row.clock), "is_right": False},
    "signals": {"of": lambda row: f"{len(row.fraud_flags)} ⚑" if row.fraud_flags else None},
}
CLAIMS, REFERRED = (
    tables.of(
        claim_queue.CLAIMS,
        opens="claims/claim.py",
        narrow=("claimant", "status", "left", "claimed"),
        changed={**_CHANGED, "referred": {"usual": is_referred}},
    )
    for is_referred in (False, True)
)


class ViewTexts(NamedTuple):
    """A view of the queue: its name, what it holds, and what is said when it is empty."""

    name: str
    says: str
    nothing: str


IDLE: Final = "Nothing is waiting for you, and every claim has somebody who works on it."
TEXTS: Final[Mapping[View, ViewTexts]] = {
    "mine": ViewTexts(
        "Mine", "Yours: open, or paid and still to be settled.", "Nothing is waiting for you – take the next one."
    ),
    "unassigned": ViewTexts(
        "Unassigned",
        "Open, or paid and still to be settled, and nobody has it yet, or whoever has it has left or works no claims"
        " any more.",
        "Every claim that is open or still to be settled has somebody who works on it.",
    ),
    "referred": ViewTexts(
        "Referred",
        "An officer has prepared a decision that a supervisor has to make.",
        "No decision waits for a supervisor.",
    ),
    "lapsed": ViewTexts(
        "Lapsed",
        "What was approved has changed since, or its approver has left: a new approval is needed.",
        "Every approval of an open claim stands.",
    ),
    "to_pay": ViewTexts(
        "To pay",
        "The offer was accepted and is not paid, or not all of it.",
        "Every offer that was accepted is paid.",
    ),
    "near": ViewTexts(
        "Overdue or near",
        f"The clock runs, and the {STATUTORY_PERIOD.days} days are over"
        f" or at most {NEAR_DEADLINE.days} of them are left.",
        f"No claim is overdue, and none has {NEAR_DEADLINE.days} days or less left.",
    ),
    "waiting": ViewTexts(
        "Waiting",
        "An offer is out, or the claimant was asked for something: the clock stands still.",
        "Nothing waits for a claimant: every open claim is the desk's turn.",
    ),
    "open": ViewTexts("Open", "Not decided: neither paid nor declined.", "No claim is open."),
    "all": ViewTexts(
        "All",
        "Every claim, the decided ones too.",
        "There is no claim in this mode yet. Lodge one on a caller's behalf, let a distributor send one through the"
        " API, or look at the other mode with the switch in the menu.",
    ),
}


def nothing(wanted: ClaimFilter, counts: QueueCounts) -> None:
    """Show that the view is empty, or that nothing in it matches the filters."""
    if is_narrowed(wanted):
        st.info("No claim of this view matches these filters.", icon=":material/filter_alt_off:")
        st.button("Show the whole view", type="primary", on_click=clear_filters)
        return
    st.info(why_empty(wanted.view or USUAL, counts), icon=":material/inbox:")
    with st.container(horizontal=True, vertical_alignment="center"):
        if wanted.view not in ("open", "all") and counts.views["open"]:
            st.button("Show all open claims", on_click=url_state.change, args=({"view": ["open"]},))
        elif wanted.view != "all" and counts.views["all"]:
            st.button("Show all claims", on_click=url_state.change, args=({"view": ["all"]},))
        page_links.link("claims/lodge.py", label="Lodge a claim", icon=":material/note_add:")


def why_empty(view: View, counts: QueueCounts) -> str:
    """Return the message of an empty view; it mentions open claims only if there are some."""
    if not counts.views["all"]:
        return TEXTS["all"].nothing
    if not counts.views["open"]:
        return TEXTS["open"].nothing
    return IDLE if view == "mine" and not counts.views["unassigned"] else TEXTS[view].nothing


def toolbar(wanted: ClaimFilter, total: QueueTotal) -> None:
    export_panel.offer(
        "claims",
        wanted.address(),
        rows=total.count,
        sum_minor=total.claimed_minor,
        line=f"{CLAIMS.count_text(total.count)} · {words.plain(words.naira(total.claimed_minor))} claimed",
        table=_table_of(wanted),
        sums=lambda: footer(total),
    )


def _table_of(wanted: ClaimFilter) -> Table[QueueRow]:
    """Return the table of a view: what is referred says for which decision."""
    return REFERRED if wanted.view == "referred" else CLAIMS


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


def table(
    wanted: ClaimFilter, total: QueueTotal, rows: Sequence[QueueRow], person: Person, officers: Sequence[Officer]
) -> None:
    """Draw a page of claims; the line above it has the actions for those that are chosen."""
    number = tables.page_of(CLAIMS, total.count)
    if number is None:
        return
    above = st.container()
    chosen = {seen.id for seen in get_selected()}
    picked = tables.draw(_table_of(wanted), rows, number=number, total=total.count, chosen=chosen)
    store_selection(rows, picked)
    with above:
        if get_selected():
            bar(person, officers)
        else:
            toolbar(wanted, total)
    if total.payments:
        st.caption("What was paid on these claims, one line for each payment:")
        export_panel.offer(
            *("claim-payments", wanted.address()),
            rows=total.payments,
            sum_minor=total.paid_minor,
            label="Export payments",
        )


def draw() -> None:
    person = frame.require("claims", "supervisor")
    follow()
    wanted = read_filters(person)
    counts = get_counts(person)
    with reading(frame.scope()) as session:
        officers, names = claim_officers.list_active(session), load_choices(session).names["distributor"]
    view = wanted.view or USUAL
    with frame.header_with_views("Queue", describe(view, counts)):
        st.session_state[_DRAWN] = True
        _views(person, view, counts)
    notice()
    draw_filters(wanted, officers, names, person)
    with st.skeleton(height=300), reading(frame.scope()) as session:
        total = claim_totals.get_totals(session, wanted)
        rows = claim_queue.list_rows(session, wanted, order=CLAIMS.order, paging=CLAIMS.paging(url_state.page()))
    if total.count:
        table(wanted, total, rows, person, officers)
    else:
        toolbar(wanted, total)
        nothing(wanted, counts)


EVERY: Final = timedelta(seconds=20)
_VIEW, _MOVED, _DRAWN = "claims_view", "claims_moved", "claims_drawn"


def get_counts(person: Person) -> QueueCounts:
    """Return the current counts."""
    return read_in(frame.scope(), claim_totals.count_views, person)


@st.fragment(run_every=EVERY)
def _views(person: Person, view: View, drawn: QueueCounts) -> None:
    """Draw the choice of view; `drawn` are the counts that were read together with the table below."""
    counts = drawn
    if not st.session_state.pop(_DRAWN, False):
        # Triggered by the timer or by a click on another view: the table stays unchanged until somebody asks for
        # newer rows.
        if st.session_state.pop(_MOVED, False) or not frame.still_signed_in():
            st.rerun()
        counts = get_counts(person)
    st.session_state[_VIEW] = view
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.segmented_control(
            "View",
            list(TEXTS),
            key=_VIEW,
            required=True,
            wrap=True,
            format_func=lambda name: f"{TEXTS[name].name} **{words.count(counts.views[name])}**",
            on_change=_change_view,
            label_visibility="collapsed",
        )
        if counts != drawn and st.button(
            "Newer claims: refresh",
            icon=":material/sync:",
            type="tertiary",
            help="The counts are newer than the table. What you have chosen or typed stays until you refresh.",
        ):
            st.rerun()


def describe(view: View, counts: QueueCounts) -> str:
    """Return what a view holds, and how many of its claims are over."""
    overdue = f" **{words.count(counts.overdue)}** are over." if view == "near" and counts.overdue else ""
    return f"{TEXTS[view].says}{overdue}"


def _change_view() -> None:
    st.session_state[_MOVED] = True
    url_state.change({"view": [st.session_state[_VIEW]], "assigned": []})


USUAL: Final[View] = "mine"


def read_filters(person: Person) -> ClaimFilter:
    """Read the filters from the URL; show invalid query parameters and stop the page."""
    view = st.query_params.get_all("view") or [USUAL]
    given = {"view": view, **({"assigned": []} if view[0].casefold() in ASSIGNED_VIEWS else {})}
    return filter_bar.read(ClaimFilter, given=given, me=person.id)


def is_narrowed(criteria: ClaimFilter) -> bool:
    """Return True if any filter other than the view is in use."""
    assigned = None if criteria.view in ASSIGNED_VIEWS else criteria.assigned
    return replace(criteria, view=None, assigned=assigned) != ClaimFilter()


def clear_filters() -> None:
    """Remove every filter; keep the view and the order."""
    url_state.change({each.name: [] for each in ClaimFilter.parameters() if each.name != "view"})


def draw_filters(
    criteria: ClaimFilter, officers: Sequence[Officer], distributors: Mapping[UUID, str], person: Person
) -> None:
    """Draw the search field, the filters in one line, and the saved views."""
    people = {NOBODY: "Nobody", **{str(officer.id): officer.name for officer in officers}}
    held = str(criteria.assigned) if criteria.assigned else None
    if held and held not in people:
        people[held] = "Somebody who has left"
    filter_bar.draw_chips(
        criteria,
        {"distributor": distributors},
        options={"assigned": people},
        leave_out=("assigned",) if criteria.view in ASSIGNED_VIEWS else (),
        more=_matching_note,
        reset=lambda: _reset_button(criteria),
        beside=lambda: _views_and_next(person),
    )


def _views_and_next(person: Person) -> None:
    saved_views.draw("claims/queue.py", person)
    take_button(person)


def _matching_note() -> None:
    st.caption(
        "Names, phone, e-mail and amounts match exactly, as in the search of the API; the claim owner matches in part."
    )


def _reset_button(criteria: ClaimFilter) -> None:
    st.button(
        "Reset filters",
        icon=":material/restart_alt:",
        type="tertiary",
        on_click=clear_filters,
        disabled=not is_narrowed(criteria),
        help="Take every filter away, and keep the view.",
    )


_CHOSEN, _NOTICE, _TAKEN, _TOKEN = "claims_chosen", "claims_said", "claims_taken", "claims_token"
_COLLEAGUE: Final = "claims_colleague"
_QUESTION: Final = "claims_question"
R = TypeVar("R")
REVIEW: Final = "claims/claim.py"


@dataclass(frozen=True, slots=True)
class BatchNotice:
    """Result of the last attempt: what was done and what was refused, each with its reason."""

    done: str = ""
    refused: tuple[str, ...] = ()
    why: str = "Not assigned, as somebody was faster"


def follow() -> None:
    """Open the claim that was just taken; the review links back to the queue with its filters."""
    taken: UUID | None = st.session_state.pop(_TAKEN, None)
    if taken is not None:
        tables.keep_address(CLAIMS)
        page_links.go(REVIEW, id=str(taken))


def notice() -> None:
    """Show the result of the last attempt, once; over the page, where it moves nothing, unless some was refused."""
    result: BatchNotice = st.session_state.pop(_NOTICE, BatchNotice())
    if result.done and not result.refused:
        actions.keep_message(result.done)
    actions.run()
    if result.refused:
        lines = "\n".join(f"- {words.plain(line)}" for line in result.refused)
        st.warning(f"{result.done} {result.why}:\n{lines}".strip(), icon=":material/group:")


def take_button(person: Person) -> None:
    """Draw the button that takes the most urgent unassigned claim and opens it; a double click takes only one."""
    token = st.session_state.setdefault(_TOKEN, ids.new())
    st.button(
        "Take next",
        icon=":material/pan_tool_alt:",
        type="primary",
        key=f"take_next_{token}",
        on_click=_take,
        args=(person, token),
        help="Assigns the most urgent unassigned claim to you, whatever the filters say, and opens it.",
    )


def _take(person: Person, token: UUID) -> None:
    if st.session_state.get(_TOKEN) != token:
        return
    found = _write(lambda session: claim_assignment.assign_next(session, person=person))
    st.session_state[_TOKEN] = ids.new()
    if found is not None:
        st.session_state[_TAKEN] = found
    elif _NOTICE not in st.session_state:
        st.session_state[_NOTICE] = BatchNotice(
            done=words.Unchanged("Nothing is left to take: every claim has its officer.")
        )


def get_selected() -> list[ChosenClaim]:
    """Return the selected claims of the table that the URL shows."""
    where, seen = st.session_state.get(_CHOSEN, (None, []))
    return seen if where == url_state.all_parameters() else []


def store_selection(rows: Sequence[QueueRow], picked: Sequence[QueueRow]) -> None:
    """Store the selection: the picked rows of this page, and selected ones that are no longer on the screen."""
    on_screen = {row.id for row in rows}
    gone = [seen for seen in get_selected() if seen.id not in on_screen]
    st.session_state[_CHOSEN] = (url_state.all_parameters(), [*gone, *claim_assignment.choose_rows(picked)])


def bar(person: Person, officers: Sequence[Officer]) -> None:
    """Draw the actions for the selected claims, in the place of the line above the table."""
    picked = get_selected()
    with tables.ticked_bar():
        st.markdown(f"**{words.count(len(picked))}** ticked", width="content")
        st.button(
            "Assign to me", icon=":material/person_add:", on_click=_assign, args=(person, person.id, "you", picked)
        )
        with st.popover("Assign to a colleague", icon=":material/group_add:"):
            names: dict[UUID | None, str] = {
                officer.id: officer.name for officer in officers if officer.id != person.id
            }
            to: UUID | None = st.selectbox(
                "Colleague", list(names), key=_COLLEAGUE, index=None, format_func=names.__getitem__
            )
            label = f"Assign {words.count(len(picked))} to {words.plain(names[to])}" if to else "Choose a colleague"
            name = names[to] if to else ""
            st.button(
                label, type="primary", disabled=not to, on_click=_assign, args=(person, to, name, picked), key="give"
            )
        st.button("Unassign", icon=":material/person_remove:", on_click=_assign, args=(person, None, "nobody", picked))
        st.button(
            "Settle",
            icon=":material/task_alt:",
            on_click=_settle,
            args=(person, picked),
            help="Settles those that are Paid.",
        )
        with st.popover("Ask the claimants", icon=":material/contact_support:"):
            st.text_area("What to ask, or which document to send", key=_QUESTION, height=90, max_chars=2000)
            label = f"Ask for {words.counted(len(picked), *CLAIMS.noun)}"
            st.button(label, type="primary", on_click=_ask, args=(person, picked), key="ask_claimants")
        st.button("Choose none", type="tertiary", on_click=_let_go)


def _assign(person: Person, to: UUID | None, name: str, picked: Sequence[ChosenClaim]) -> None:
    if not get_selected():
        # Second click of a double click: the first one has already done it.
        return
    result = _write(lambda session: claim_assignment.assign_claims(session, picked, to=to, person=person))
    if result is None:
        return
    _let_go()
    number = words.counted(result.done_count, *CLAIMS.noun)
    done = f"{number} assigned to {words.plain(name)}." if result.done_count else ""
    st.session_state[_NOTICE] = BatchNotice(done, result.refusals)


def _settle(person: Person, picked: Sequence[ChosenClaim]) -> None:
    if get_selected():
        _tell(_write(lambda session: claim_assignment.settle_claims(session, picked, person=person)), "settled")


def _ask(person: Person, picked: Sequence[ChosenClaim]) -> None:
    text = st.session_state.get(_QUESTION) or ""
    if get_selected() and _tell(
        _write(lambda session: claim_assignment.ask_claimants(session, picked, text=text, person=person)), "asked"
    ):
        st.session_state[_QUESTION] = ""


def _tell(result: BatchResult | None, verb: str) -> bool:
    """Keep what was done and what was refused for the notice; False where nothing could be tried."""
    if result is None:
        return False
    _let_go()
    number = words.counted(result.done_count, *CLAIMS.noun)
    done = f"{number} {'is' if result.done_count == 1 else 'are'} {verb}." if result.done_count else ""
    st.session_state[_NOTICE] = BatchNotice(done, result.refusals, "Not done")
    return True


def _let_go() -> None:
    st.session_state.pop(_CHOSEN, None)
    tables.let_go(CLAIMS)


def _write(work: Callable[[ScopedSession], R]) -> R | None:
    """Run the work and return its result; None if it was refused, after storing the message."""
    try:
        return transact(frame.scope(), work)
    except CoverdeskError as error:
        st.session_state[_NOTICE] = BatchNotice(refused=(str(error),))
        return None
