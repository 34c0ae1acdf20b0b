"""Review of one claim: documents, cover checks, related claims, history and the possible decisions."""

from datetime import date
from typing import Any, Final
from uuid import UUID

import streamlit as st

from core import clock
from core.covers.claims.request import CLAIMANTS
from core.services.claims.review import officers as claim_officers
from core.services.claims.review.officers import Officer
from core.services.claims.review.review import ClaimReview
from core.services.claims.review.timeline import Message
from core.services.claims.workflow import actions as assignments
from core.services.claims.workflow import assignment, corrections, questions
from core.services.claims.workflow.clock import Clock
from core.services.people.staff import Person
from core.services.views.pii_reveal import HiddenField
from core.states.claims import CLAIMS_ROLES, ClaimStatus
from core.store.access import reading
from core.ui.claims import related_claims
from core.ui.frame import frame, page_links, record_pages
from core.ui.kit import actions, facts, reveal_dialog, url_state, words
from core.ui.kit.actions import Action, Choice, Day, Naira, Text, Values
from core.ui.lists import tables
from pages.claims import _actions, _decision, _money, _papers, _talk
from pages.claims import _words as claim_words
from pages.claims._actions import DECIDED, adding, changing, draw_form, key, propose


def notices(review: ClaimReview, officers: list[Officer], person: Person) -> None:
    """Show the last action, changes by others, and the answers due from the claimant.

    They have a container of their own, so that the elements below keep their place, and the document stays loaded.
    """
    with st.container():
        actions.run()
        draw_next(review)
        draw_changes(review, officers)
        waiting(review)


def details(review: ClaimReview, officers: list[Officer], person: Person) -> None:
    told, money, line, talk, diary, kin, history = url_state.tabs(
        "People",
        "Amounts",
        "Time line",
        f"Comments ({len(review.messages)})",
        f"Diary ({sum(task.done_at is None for task in review.tasks)})",
        f"Other claims ({len(review.related_claims)})",
        "History",
    )
    with told:
        people(review, person)
        draw_corrections(review)
    with money:
        _money.draw(review, person)
    with line:
        _talk.time_line(review)
    with talk:
        _talk.conversation(review)
    with diary:
        _talk.draw_tasks(review, officers, person)
        _papers.draw_letters(review)
    with kin:
        none = "No other claim is on this policy, of this customer, or to this account."
        related_claims.draw(review.related_claims, linked=True, empty=none)
    with history:
        _talk.log(review, officers)


def draw() -> None:
    person = frame.require("claims", "supervisor")
    follow()
    tables.back_link("claims", "claims/queue.py", "Back to the queue")
    with record_pages.require_id("claim", is_of_mode=True) as claim_id:
        review = _actions.open_review(claim_id, person=person, is_live=frame.mode())
    with reading(frame.scope()) as session:
        officers = claim_officers.list_active(session)
    header(review)
    notices(review, officers, person)
    figures(review, officers, person)
    # Side by side from 1280 on; on a narrower screen the document comes after what is decided by it.
    with st.grid(2, min_column_width=400, gap="small"):
        with st.container(gap="small"):
            _decision.draw(review, person)
            draw_checks(review, person)
            draw_submitted(review, person)
        with st.container(border=True, gap="small"):
            _papers.draw(review)
    details(review, officers, person)
    st.caption(
        f"Claim {review.id} · policy {review.policy_id} · customer {review.customer_id} · version {review.version}"
    )


_MARKS: Final = {
    True: ":green[:material/check_circle:]",
    False: ":red[:material/cancel:]",
    None: ":orange[:material/help:]",
}
_NOBODY: Final = "Nobody"
_ANSWER, _ASSIGNEE = "answer", "assignee"
_MONEY: Final = frozenset({"loan_amount", "pending_repayment_amount", "cost_of_repair", "amount_claimed"})
_OLDEST_MONTHS: Final = 120


def header(review: ClaimReview) -> None:
    """Draw the title and state of the claim."""
    declined = f" · declined: {words.plain(review.decline_reason)}" if review.status == ClaimStatus.DECLINED else ""
    frame.page_header(
        f"{words.plain(review.claim_type)} claim {words.plain(review.reference)} {words.badge(review.status)}",
        f"{words.plain(review.description)} · {words.plain(review.owner)} · lodged {words.moment(review.lodged_at)}"
        f" through {words.plain(review.distributor)}{declined}",
        tab=f"{review.reference} · Claim",
    )


def figures(review: ClaimReview, officers: list[Officer], person: Person) -> None:
    """Draw the tiles for the clock, the amount and the assignee."""
    label, amount, source = _amount(review)
    with st.grid(4, min_column_width=170, gap="small"):
        _tile(label, amount, source)
        _tile("Age", _days(review.clock.age_days), f"lodged {words.day(review.lodged_at)}")
        _tile("Days left of 60", *_days_left(review.clock))
        with st.container(border=True, height="stretch", gap="xxsmall"):
            _assignee(review, officers, person)


def _tile(label: str, figure: str, said: str) -> None:
    with st.container(border=True, height="stretch", gap="xxsmall"):
        st.metric(label, figure)
        st.caption(said)


def _amount(review: ClaimReview) -> tuple[str, str, str]:
    """Return the amount at the current stage of the claim, with its source."""
    amounts = review.amounts
    if amounts.offer_minor:
        return "Offer", words.naira(amounts.offer_minor), f"approved {words.naira(amounts.approved_minor)}"
    if amounts.approved_minor:
        return (
            ClaimStatus.APPROVED,
            words.naira(amounts.approved_minor),
            f"by {words.plain(review.approved_name or 'nobody')}",
        )
    if "pending_repayment_amount" in review.facts:
        return "Owed", words.naira_of(amounts.owed), "the lower of pending repayment and loan"
    label = "Cost of repair" if "cost_of_repair" in review.facts else "Loss"
    return label, words.naira_of(amounts.owed), "as claimed or estimated"


def _days_left(clock: Clock) -> tuple[str, str]:
    """Return the days left, and the state of the clock."""
    if clock.is_decided:
        return "Decided", f"after {_days(clock.elapsed.days)} of the desk's time"
    if clock.is_overdue:
        return f"{-clock.days_left} over", ":red[:material/warning: past the statutory limit]"
    if clock.is_waiting:
        return str(clock.days_left), ":material/pause_circle: stands still: waiting for the claimant"
    return str(clock.days_left), "the clock runs"


def _days(number: int) -> str:
    return f"{number} day" if number == 1 else f"{number} days"


def _assignee(review: ClaimReview, officers: list[Officer], person: Person) -> None:
    names: dict[Any, str] = {_NOBODY: _NOBODY, **{officer.id: officer.name for officer in officers}}
    if review.assigned_to:
        names.setdefault(review.assigned_to, review.assigned_name or "Somebody who left")
    chooser = key(review.id, _ASSIGNEE)
    st.session_state[chooser] = review.assigned_to or _NOBODY
    st.selectbox(
        "Assigned to",
        list(names),
        format_func=names.__getitem__,
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
        lambda session, _, by: assignments.assign_claim(
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
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(
            f":material/pause_circle: **Waiting for the claimant** since {words.moment(question.at)}:"
            f" {words.plain(question.text)}{_due(question)}",
            width="stretch",
        )
        st.text_input(
            "Answer (optional)",
            key=key(review.id, "answer"),
            max_chars=2000,
            autocomplete="off",
            on_change="ignore",
            label_visibility="collapsed",
            placeholder="What the claimant answered",
        )
        st.button(
            "The answer is in",
            key=key(review.id, "answered"),
            icon=":material/mark_email_read:",
            on_click=answer.do,
            args=(key(review.id, _ANSWER), key(review.id, "")),
        )
    actions.complain(key(review.id, _ANSWER))


def _due(question: Message) -> str:
    """Return by when an answer is due."""
    return f" :small[(due {words.day(question.due_on)})]" if question.due_on else ""


def draw_checks(review: ClaimReview, person: Person) -> None:
    """Show the checks against policy and loan, the fraud flags, and the link to the policy."""
    with st.container(border=True, height="stretch", gap="xsmall"):
        st.markdown("**Covered?**")
        with st.container(gap="xxsmall"):
            for check in review.checks:
                st.markdown(
                    f"{_MARKS[check.passed]} {words.plain(check.question)} :small[– {words.plain(check.detail)}]"
                )
            st.markdown(_complete(review))
            for duplicate in (each for each in review.duplicates if each.is_same_loss):
                st.markdown(f":red[:material/content_copy: {words.plain(duplicate.text)}]")
            for override in review.overrides:
                st.caption(
                    f":material/gavel: Approved against a check, {words.moment(override.at)} by"
                    f" {words.plain(override.by)}: {words.plain(override.detail)}. {words.plain(override.reason)}"
                )
            for signal in review.fraud_flags:
                st.markdown(f":orange[:material/flag: {words.plain(signal)}]")
        if not review.is_fixed:
            _incident_day(review)
        if person.has_role("operations", "claims", "supervisor"):
            page_links.link(
                "policies/policy.py",
                label=f"Policy {words.plain(review.policy_number or 'awaiting its number')}",
                icon=":material/policy:",
                query_params={"id": str(review.policy_id), **frame.mode_query()},
            )


def _complete(review: ClaimReview) -> str:
    papers = words.plain(", ".join(words.title(name).lower() for name in review.missing_documents))
    said = f"Missing: {papers}" if papers else "All that the incident calls for"
    return f"{_MARKS[not papers]} Documents complete :small[– {said}]"


def _incident_day(review: ClaimReview) -> None:
    known = review.incident_on is not None
    reason = Text("correction_reason", "Why", longest=500)
    save = changing(
        review,
        "Save the day",
        lambda session, typed, by: corrections.set_incident_date(
            session,
            review.id,
            on=typed["incident_date"],
            person=by,
            version=review.version,
            reason=typed.get("correction_reason") or None,
        ),
        "The day of the incident is kept, and the checks are made with it.",
        fields=[
            Day(
                "incident_date",
                "Day of the incident",
                value=date.fromisoformat(review.incident_on[:10]) if review.incident_on else None,
                first=clock.add_months(clock.today(), -_OLDEST_MONTHS),
                last=clock.today(),
            ),
            *([_say_supervisor, reason] if known else []),
        ],
    )
    with st.popover(
        "Correct the day of the incident" if known else "Fill in the day of the incident",
        icon=":material/event:",
        type="tertiary" if known else "secondary",
    ):
        draw_form(review, save, "keep day", prefix="day ")


def _say_supervisor(_: Values) -> None:
    st.caption("A day by which a failed check is met takes a supervisor.")


def draw_changes(review: ClaimReview, officers: list[Officer]) -> None:
    """Show what somebody else changed since this officer looked; typed input is kept (contract C7)."""
    seen = _actions.seen_since(review)
    if seen is None:
        return
    names = claim_words.names(officers)
    lines = [
        f"- **{words.plain(claim_words.action(event))}** · {words.plain(claim_words.actor(event))} ·"
        f" {words.moment(event.at)} · {words.plain(claim_words.facts(event, names))}"
        for event in review.list_events_since(seen)
    ]
    st.warning(
        f"This claim was changed while you had it open: it is now {words.badge(review.status)}. Nothing of yours was"
        " written, and what you typed is still there. Look at it, and confirm again if it still holds.\n\n"
        + "\n".join(lines),
        icon=":material/sync_problem:",
    )
    st.button("I have looked", key=key(review.id, "looked"), on_click=_actions.acknowledge, args=(review.id,))


def people(review: ClaimReview, person: Person) -> None:
    """Show the claimant, the distributor and the insurer."""
    with st.container(border=True, height="stretch"):
        st.markdown("**Claimant and policy**")
        facts.line("Claimant", f"{review.owner} ({review.owner_role.lower()})")
        facts.line("E-mail", review.owner_email)
        facts.line("Phone", review.owner_phone or "–")
        facts.line("Distributor", review.distributor)
        facts.line("Product", review.product)
        facts.line("Insurer", review.provider)
        facts.line("Policy", review.policy_number or "Not numbered yet")
        for name, value in review.personal.items():
            place = HiddenField(kind="policy", record_id=review.policy_id, path=f"submitted.{name}")
            reveal_dialog.value(words.title(name), value, of=place, by=person)


def draw_submitted(review: ClaimReview, person: Person) -> None:
    """Show the submitted details: the loan or the device, and the incident."""
    with st.container(border=True, height="stretch"):
        st.markdown("**The loan**" if review.claim_type == "Credit life" else "**What happened**")
        for name, value in review.facts.items():
            if value in {None, ""}:
                continue
            if name in review.hidden:
                place = HiddenField(kind="claim", record_id=review.id, path=review.hidden[name])
                reveal_dialog.value(words.title(name), value, of=place, by=person)
            else:
                facts.line(words.title(name), _shown(name, value))
        if review.incident_on and not {"date", "incident_date"} & review.facts.keys():
            facts.line("Day of the incident", words.day(review.incident_on))


def _shown(name: str, value: Any) -> str:  # noqa: ANN401 a value of any field
    if name in _MONEY:
        return words.naira_of(value)
    if name == "accidental":
        return "Yes" if value == "true" else "No"
    text = str(value) if value not in {None, ""} else "–"
    return words.day(text) if name == "date" or name.endswith("_date") else text


_REASON: Final = "correction_reason"
_WHY: Final = Text(_REASON, "Why", longest=500)
_CLAIMANT: Final = (
    *("claimant_relation", "claimant_first_name", "claimant_last_name", "claimant_email", "claimant_phone_number"),
)


def draw_corrections(review: ClaimReview) -> None:
    """Draw the forms that correct the amounts and the claimant, until an offer was accepted."""
    if review.is_fixed:
        return
    with st.container(horizontal=True, gap="small"):
        _draw_amounts(review)
        _draw_claimant(review)


def _draw_amounts(review: ClaimReview) -> None:
    for name, value in review.submitted_amounts.items():
        propose(review.id, f"right {name}", words.as_typed(value) if value else "")
    save = changing(
        review,
        "Save the amounts",
        lambda session, typed, by: corrections.correct_amounts(
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
        st.caption("Raising what is owed takes a supervisor. Before and after stay in the history.")
        draw_form(review, save, "keep amounts", prefix="right ")


def _draw_claimant(review: ClaimReview) -> None:
    save = changing(
        review,
        "Save the claimant",
        lambda session, typed, by: corrections.set_claimant(
            session,
            review.id,
            claimant={name: typed[name] for name in ("claimant", *_CLAIMANT)},
            reason=typed[_REASON],
            person=by,
            version=review.version,
        ),
        "The claimant is kept.",
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
REVIEW: Final = "claims/claim.py"


def follow() -> None:
    """Open the claim that was just asked for."""
    found: UUID | None = st.session_state.pop(_NEXT, None)
    if found is not None:
        page_links.go(REVIEW, id=str(found))


def draw_next(review: ClaimReview) -> None:
    """Draw the button once a decision was made on this claim."""
    if not _actions.get_typed(review.id, DECIDED):
        return
    find = Action(
        title="Next claim",
        roles=tuple(CLAIMS_ROLES),
        work=lambda session, _, by: assignment.find_next(session, person=by, after=review.id) or "",
        done=lambda found: "" if found else "Nothing is left to do: every open claim waits or has its officer.",
        then=lambda found: st.session_state.__setitem__(_NEXT, found or None),
    )
    st.button(
        find.title,
        key=key(review.id, "next"),
        icon=":material/skip_next:",
        type="primary",
        on_click=find.do,
        help="Your most urgent claim, or the next one that nobody has: it is yours then.",
    )
