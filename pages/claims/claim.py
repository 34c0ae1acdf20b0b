"""Review of one claim: documents, cover checks, related claims, history and the possible decisions."""

from collections.abc import Mapping
from datetime import date
from typing import Any, Final
from uuid import UUID

import streamlit as st

from core import clock
from core.covers.claims.line import CLAIMANTS
from core.desk.pii_reveal import HiddenField
from core.services.claims.review import officers as claim_officers
from core.services.claims.review.officers import Officer
from core.services.claims.review.review import ClaimReview
from core.services.claims.workflow import assignment as claim_assignment
from core.services.claims.workflow import corrections as claim_corrections
from core.services.claims.workflow import moves as claim_moves
from core.services.claims.workflow import questions
from core.services.claims.workflow.clock import Clock
from core.services.people.staff import Person
from core.states.claims import CLAIMS_ROLES, ClaimStatus
from core.store.access import read_in
from core.ui.frame import frame, page_links
from core.ui.kit import actions, facts, reveal_dialog, url_state, words
from core.ui.kit.actions import Action, Choice, Day, Naira, Text, Values
from core.ui.lists import tables
from core.ui.lists.claims import draw_claims
from pages.claims import _actions, _decision, _money, _papers, _shared, _talk
from pages.claims._actions import DECIDED, adding, changing, draw_form, key, propose
from pages.claims._shared import colour_of, days_left

_MARKS: Final = {
    True: ":green[:material/check_circle:]",
    False: ":red[:material/cancel:]",
    None: ":orange[:material/help:]",
}
_NOBODY: Final = "Nobody"
_ANSWER, _ASSIGNEE = "answer", "assignee"
_OLDEST_MONTHS: Final = 120
POLICY: Final = "policies/policy.py"
CUSTOMER: Final = "sales/customers.py#customer"


def draw() -> None:
    person = frame.require("claims", "supervisor")
    follow()
    with page_links.require_id("claim", is_of_mode=True) as claim_id:
        review = _actions.open_review(claim_id, person=person, is_live=frame.mode())
    officers = read_in(frame.scope(), claim_officers.list_active)
    with st.container(key="claim_head", gap="xxsmall"):
        _draw_title(review)
        _draw_standing(review, officers, person)
    notices(review, officers)
    # Side by side from 1280 on; on a narrower screen the document comes after what is decided by it.
    with st.grid(2, min_column_width=400, gap="small"):
        with st.container(gap="small"):
            _decision.draw(review, person)
            draw_checks(review)
            # Beside the document, as the one is compared with the other.
            with st.container(border=True, gap="small"):
                draw_submitted(review, person)
                _draw_corrections(review)
        with st.container(border=True, gap="small"):
            details(review, officers, person)


def _draw_title(review: ClaimReview) -> None:
    """Draw whose claim it is and how it stands, with the next claim and the main action."""
    declined = f" · declined: {words.plain(review.decline_reason)}" if review.status == ClaimStatus.DECLINED else ""
    with frame.header_with_buttons(
        f"{words.plain(review.owner)} · {words.plain(review.claim_type)} claim"
        f" {words.plain(review.reference)} {words.badge(review.status)}",
        f"{words.plain(_describe(review))} · lodged {words.moment(review.lodged_at)}"
        f" through {words.plain(review.distributor)}{declined}",
        tab=f"{review.reference} · Claim",
    ):
        draw_next(review)
        _decision.draw_main(review)


def _describe(review: ClaimReview) -> str:
    """Return what happened; the number of the policy, which a description ends with, stands in the link to it."""
    return review.description.removesuffix(f", policy {review.policy_number}")


def _draw_standing(review: ClaimReview, officers: list[Officer], person: Person) -> None:
    """Draw in one line the way back, the money, the days left, the policy and who has the claim."""
    label, amount, source = _amount(review)
    left, colour = days_left(review.clock), colour_of(review.clock)
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="claim_standing"):
        tables.back_link("claims", "claims/queue.py", "Back to the queue")
        st.markdown(f":small[{label}] **{amount}**", width="content", help=source)
        st.markdown(
            f":{colour}[:material/warning: **{left}**]" if colour else f":material/schedule: **{left}**",
            width="content",
            help=_explain_clock(review.clock),
        )
        page_links.link_to(
            POLICY,
            words.plain(review.policy_number or "Policy awaiting its number"),
            "policy",
            id=str(review.policy_id),
        )
        _assignee(review, officers, person)


def notices(review: ClaimReview, officers: list[Officer]) -> None:
    """Show the last action, changes by others, and the answers due from the claimant.

    They have a container of their own, so that the elements below keep their place, and the document stays loaded.
    """
    with st.container(key="claim_notices"):
        actions.run()
        draw_changes(review, officers)
        waiting(review)


def details(review: ClaimReview, officers: list[Officer], person: Person) -> None:
    """Draw the tabs of what the decision rests on, and of what was said and written."""
    document, claimant, money, talk, letters, history = url_state.tabs(
        "Document",
        "Claimant",
        "Money",
        f"Talk ({len(review.messages) + sum(task.done_at is None for task in review.tasks)})",
        f"Letters ({len(review.letters)})",
        "History",
    )
    with document:
        _papers.draw(review)
    with claimant:
        people(review, person)
        st.markdown(f"**Other claims ({len(review.related_claims)})**")
        none = "No other claim is on this policy, of this customer, or to this account."
        draw_claims(review.related_claims, linked=True, empty=none)
    with money:
        _money.draw(review, person)
    with talk:
        _talk.conversation(review)
        _talk.draw_tasks(review, officers, person)
    with letters:
        _papers.draw_letters(review)
    with history:
        _talk.time_line(review)
        _talk.log(review, officers)
        st.caption(
            f"Claim {review.id} · policy {review.policy_id} · customer {review.customer_id} · version {review.version}"
        )


def _amount(review: ClaimReview) -> tuple[str, str, str]:
    """Return the amount at the current stage of the claim, with its source."""
    amounts = review.amounts
    if review.status == ClaimStatus.DECLINED:
        return "Owed", words.naira(0), "Nothing is owed on a claim that is declined"
    if amounts.limits.paid_minor and review.balance_minor <= 0:
        return ClaimStatus.PAID, words.naira(amounts.limits.paid_minor), "All that was offered is paid"
    if amounts.offer_minor:
        return "Offer", words.naira(amounts.offer_minor), f"Approved {words.naira(amounts.approved_minor)}"
    if amounts.approved_minor:
        by = words.plain(review.approved_name or "nobody")
        return ClaimStatus.APPROVED, words.naira(amounts.approved_minor), f"By {by}"
    if "pending_repayment_amount" in review.facts:
        return "Owed", words.naira_of(amounts.owed), "The lower of pending repayment and loan"
    label = "Cost of repair" if "cost_of_repair" in review.facts else "Loss"
    return label, words.naira_of(amounts.owed), "As claimed or estimated"


def _explain_clock(clock: Clock) -> str:
    age = f"Lodged {words.counted(clock.age_days, 'day', 'days')} ago."
    if clock.is_decided:
        return f"{age} Decided after {words.counted(clock.elapsed.days, 'day', 'days')} of the desk's time."
    if clock.is_waiting:
        return f"{age} The 60 days stand still while the claimant has to answer."
    return f"{age} Past the statutory limit of 60 days." if clock.is_overdue else f"{age} The 60 days run."


def _assignee(review: ClaimReview, officers: list[Officer], person: Person) -> None:
    names: dict[Any, str] = {_NOBODY: _NOBODY, **{officer.id: officer.name for officer in officers}}
    if review.assigned_to:
        names.setdefault(review.assigned_to, review.assigned_name or "Somebody who left")
    open_ = {officer.id: officer.open_claims for officer in officers}
    chooser = key(review.id, _ASSIGNEE)
    st.session_state[chooser] = review.assigned_to or _NOBODY
    with st.popover(
        f"With {words.plain(names[st.session_state[chooser]].replace(_NOBODY, 'nobody'))}", type="tertiary"
    ):
        st.selectbox(
            "Assigned to",
            list(names),
            format_func=lambda to: f"{names[to]} ({open_[to]} open)" if to in open_ else names[to],
            key=chooser,
            on_change=lambda: _assign(review, st.session_state[chooser], names),
        )
    if review.assigned_to != person.id and person.id in names:
        st.button(
            "Assign to me",
            key=key(review.id, "mine"),
            icon=":material/person_add:",
            type="tertiary",
            on_click=_assign,
            args=(review, person.id, names),
        )
    actions.complain(key(review.id, _ASSIGNEE))


def _assign(review: ClaimReview, to: UUID | None, names: dict[Any, str]) -> None:
    given = None if to == _NOBODY else to
    assign = changing(
        review,
        "assign",
        lambda session, _, by: claim_moves.assign_claim(
            session, review.id, to=given, person=by, version=review.version
        ),
        f"Assigned to {names[to]}." if given else "The claim is unassigned.",
        given=given,
    )
    assign.do(key(review.id, _ASSIGNEE))


def waiting(review: ClaimReview) -> None:
    """Show the open questions to the claimant, each with a button to record the answer."""
    question = review.open_question
    if question is None:
        return
    answer = adding(
        review,
        "answer",
        lambda session, typed, by: questions.record_answer(session, review.id, person=by, text=typed["answer"] or None),
        "The answer is in; the clock runs again.",
        token=f"answer {question.id}",
        of_any=True,
        fields=[Text("answer", "Answer (optional)", longest=2000)],
    )
    due = f" :small[(due {words.day(question.due_on)})]" if question.due_on else ""
    with st.container(border=True, gap="xsmall"):
        st.markdown(
            f":material/pause_circle: **Waiting for the claimant** since {words.moment(question.at)}:"
            f" {words.plain(question.text)}{due}"
        )
        # An answer is a sentence or two: its field has the line, less the button.
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.text_input(
                "Answer (optional)",
                key=key(review.id, "answer"),
                max_chars=2000,
                autocomplete="off",
                on_change="ignore",
                label_visibility="collapsed",
                placeholder="What the claimant answered",
                width="stretch",
            )
            st.button(
                "The answer is in",
                key=key(review.id, "answered"),
                icon=":material/mark_email_read:",
                on_click=answer.do,
                args=(key(review.id, _ANSWER), key(review.id, "")),
            )
    actions.complain(key(review.id, _ANSWER))


def draw_checks(review: ClaimReview) -> None:
    """Show what stands against the claim first, then what is met, folded."""
    against, met = _list_checks(review)
    with st.container(border=True, gap="xsmall"):
        with st.container(gap="xxsmall"):
            for line in against:
                st.markdown(line)
            for override in review.overrides:
                st.caption(
                    f":material/gavel: Approved against a check, {words.moment(override.at)} by"
                    f" {words.plain(override.by)}: {words.plain(override.detail)}. {words.plain(override.reason)}"
                )
            for signal in review.fraud_flags:
                st.markdown(f":orange[:material/flag: {words.plain(signal)}]")
        if not review.is_fixed and review.incident_on is None:
            _incident_day(review)
        if met:
            with st.expander(f"{words.counted(len(met), 'check', 'checks')} met", icon=":material/check_circle:"):
                for line in met:
                    st.markdown(line)


def _list_checks(review: ClaimReview) -> tuple[list[str], list[str]]:
    """Return the lines of the checks that are failed or unknown, and of those that are met."""
    found = [(check.passed, words.plain(check.question), words.plain(check.detail)) for check in review.checks]
    # What is missing stands at the decision that waits for it, and in the list of papers.
    if not review.missing_documents:
        found.append((True, "Documents complete", "All papers that the incident requires"))
    # What has failed before what is not known.
    found.sort(key=lambda each: (each[0] is not False, each[0] is not None))
    lines = [(passed, f"{_MARKS[passed]} {question} :small[– {detail}]") for passed, question, detail in found]
    return [line for passed, line in lines if not passed], [line for passed, line in lines if passed]


def _incident_day(review: ClaimReview) -> None:
    known = review.incident_on is not None
    save = changing(
        review,
        "Save the day",
        lambda session, typed, by: claim_corrections.set_incident_date(
            session,
            review.id,
            on=typed["incident_date"],
            person=by,
            version=review.version,
            reason=typed.get(_REASON) or None,
        ),
        "The day of the incident is saved, and the checks use it.",
        fields=[
            Day(
                "incident_date",
                "Day of the incident",
                value=date.fromisoformat(review.incident_on[:10]) if review.incident_on else None,
                first=clock.add_months(clock.today(), -_OLDEST_MONTHS),
                last=clock.today(),
            ),
            *([_show_supervisor, _WHY] if known else []),
        ],
    )
    with st.popover(
        "Correct the day of the incident" if known else "Fill in the day of the incident",
        icon=":material/event:",
        type="tertiary" if known else "secondary",
    ):
        draw_form(review, save, "keep day", prefix="day ")


def _show_supervisor(_: Values) -> None:
    st.caption("A day by which a failed check is met takes a supervisor.")


def draw_changes(review: ClaimReview, officers: list[Officer]) -> None:
    """Show what somebody else changed since this officer looked; typed input is kept (contract C7)."""
    seen = _actions.seen_since(review)
    if seen is None:
        return
    names = _shared.names(officers)
    lines = [
        f"- **{words.plain(_shared.action(event))}** · {words.plain(_shared.actor(event))} ·"
        f" {words.moment(event.at)} · {words.plain(_shared.facts(event, names))}"
        for event in review.list_events_since(seen)
    ]
    attempt = _actions.get_open_form(review)
    is_ruled_out = attempt is not None and _actions.find_possible(review, attempt.to) is None
    next_ = "It rules out what you were about to do." if is_ruled_out else "Look at it, and confirm again if it holds."
    st.warning(
        f"This claim was changed while you had it open: it is now {words.badge(review.status)}. Nothing of yours was"
        f" written, and what you typed is still there. {next_}\n\n" + "\n".join(lines),
        icon=":material/sync_problem:",
    )
    st.button("I have looked", key=key(review.id, "looked"), on_click=_actions.acknowledge, args=(review.id,))


def people(review: ClaimReview, person: Person) -> None:
    """Show the claimant, the distributor and the insurer."""
    values = {
        "Claimant": f"{review.owner} ({review.owner_role.lower()})",
        "E-mail": review.owner_email or "–",
        "Phone": words.phone(review.owner_phone) or "–",
        "Distributor": review.distributor,
        "Product": review.product,
        "Insurer": review.provider,
    }
    with facts.grid(values):
        for name, value in review.personal.items():
            place = HiddenField(kind="policy", record_id=review.policy_id, path=f"submitted.{name}")
            reveal_dialog.value(words.title(name), value, of=place, by=person)
    page_links.link_to(CUSTOMER, "Open the customer", "person", id=str(review.customer_id))


def draw_submitted(review: ClaimReview, person: Person) -> None:
    """Show the submitted details: the loan or the device and the incident, and then the account given with them."""
    given = {name: value for name, value in review.facts.items() if value not in {None, ""} and name not in _IN_HEAD}
    account = {name: value for name, value in given.items() if name in _ACCOUNT}
    is_dated = not review.incident_on or {"date", "incident_date"} & review.facts.keys()
    day = {} if is_dated else {"Day of the incident": words.day(review.incident_on)}
    st.markdown("**The loan**" if review.claim_type == "Credit life" else "**What happened**")
    _draw_given(review, {name: value for name, value in given.items() if name not in account}, person, besides=day)
    if account:
        st.markdown("**Account given with the claim**")
        _draw_given(review, account, person)


def _draw_given(
    review: ClaimReview, given: Mapping[str, Any], person: Person, *, besides: Mapping[str, str] | None = None
) -> None:
    """Draw some submitted details and facts besides, what is hidden with a button that shows it."""
    values = {words.title(name): _shown(name, value) for name, value in given.items() if name not in review.hidden}
    with facts.grid(values | dict(besides or {})):
        for name in given.keys() & review.hidden.keys():
            place = HiddenField(kind="claim", record_id=review.id, path=review.hidden[name])
            reveal_dialog.value(words.title(name), given[name], of=place, by=person)


# The head of the review has it, as the link to the policy.
_IN_HEAD: Final = frozenset({"policy_number"})
_ACCOUNT: Final = frozenset({"bank_name", "bank_code", "account_name", "account_number"})


def _shown(name: str, value: Any) -> str:  # noqa: ANN401 a value of any field
    if name in _shared.SUBMITTED:
        return words.naira_of(value)
    if name == "accidental":
        return "Yes" if value == "true" else "No"
    text = str(value) if value not in {None, ""} else "–"
    if name.endswith("phone_number"):
        return words.phone(text) or text
    return words.day(text) if name == "date" or name.endswith("_date") else text


_REASON: Final = "correction_reason"
_WHY: Final = Text(_REASON, "Why", longest=500)
_CLAIMANT: Final = tuple(
    f"claimant_{name}" for name in ("relation", "first_name", "last_name", "email", "phone_number")
)


def _draw_corrections(review: ClaimReview) -> None:
    """Draw the forms that correct the amounts, the day and the claimant, until an offer was accepted."""
    if review.is_fixed:
        return
    with st.container(horizontal=True, gap="small"):
        _draw_amounts(review)
        if review.incident_on is not None:
            _incident_day(review)
        _draw_claimant(review)


def _draw_amounts(review: ClaimReview) -> None:
    for name, value in review.submitted_amounts.items():
        propose(review.id, f"right {name}", words.as_typed(value) if value else "")
    save = changing(
        review,
        "Save the amounts",
        lambda session, typed, by: claim_corrections.correct_amounts(
            session,
            review.id,
            amounts={name: typed[name] for name in review.submitted_amounts if typed[name]},
            reason=typed[_REASON],
            person=by,
            version=review.version,
        ),
        "The amounts are corrected, and the checks are made with them.",
        fields=[*(Naira(name, f"{words.title(name)} (₦)") for name in review.submitted_amounts), _WHY],
        keeps_typed=True,
        clears={f"right {_REASON}": ""},
    )
    with st.popover("Correct the amounts", icon=":material/edit:", type="tertiary"):
        st.caption("Raising what is owed or was claimed takes a supervisor. Before and after stay in the history.")
        draw_form(review, save, "keep amounts", prefix="right ")


def _draw_claimant(review: ClaimReview) -> None:
    save = changing(
        review,
        "Save the claimant",
        lambda session, typed, by: claim_corrections.set_claimant(
            session,
            review.id,
            claimant={name: typed[name] for name in ("claimant", *_CLAIMANT)},
            reason=typed[_REASON],
            person=by,
            version=review.version,
        ),
        "The claimant is saved.",
        fields=[
            Choice("claimant", "Who claims", options={each: each for each in CLAIMANTS}, value=CLAIMANTS[0]),
            *(Text(name, words.title(name.removeprefix("claimant_")), longest=500) for name in _CLAIMANT),
            _WHY,
        ],
        keeps_typed=True,
        clears={_REASON: ""},
    )
    with st.popover("Correct the claimant", icon=":material/person_edit:", type="tertiary"):
        draw_form(review, save, "keep claimant")


_NEXT: Final = "claims_next"
_NOTHING_LEFT: Final = words.Unchanged("Nothing is left to do: every claim waits or has its officer.")
REVIEW: Final = "claims/claim.py"


def follow() -> None:
    """Open the claim that was just asked for."""
    found: UUID | None = st.session_state.pop(_NEXT, None)
    if found is not None:
        page_links.go(REVIEW, id=str(found))


def draw_next(review: ClaimReview) -> None:
    """Draw the way to the next claim: what comes next once this one is decided."""
    find = Action(
        title="Next claim",
        roles=tuple(CLAIMS_ROLES),
        work=lambda session, _, by: claim_assignment.find_next(session, person=by, after=review.id) or "",
        done=lambda found: "" if found else _NOTHING_LEFT,
        then=lambda found: st.session_state.__setitem__(_NEXT, found or None),
    )
    main = _decision.find_main(review)
    is_done_here = _actions.get_typed(review.id, DECIDED) and (main is None or bool(main.missing))
    st.button(
        find.title,
        key=key(review.id, "next"),
        icon=":material/skip_next:",
        type="primary" if is_done_here else "secondary",
        on_click=find.do,
        help="The next of your claims by urgency that waits for nobody else, or one that nobody has: it is yours then.",
    )
