"""The submission of one policy to its insurer: the card at the top, and the history in its tab."""

import streamlit as st

from core.services.audit.log import AuditEvent
from core.services.insurers import resending
from core.services.insurers.submission_detail import SubmissionDetail
from core.services.people.staff import Person
from core.services.views.policy import PolicyDetail
from core.states.submissions import AnswerStatus, SubmissionState
from core.ui.kit import facts, words
from core.ui.policies import resends

_MEANS = {
    "Delegated": "Issued here under the insurer's authority; to be reported by bordereau.",
    "Accepted": "The insurer has accepted it.",
    "Declined": "The insurer has declined it.",
    "Withdrawn": "It ended before the insurer took it.",
    "Queued": "Waiting to be sent to the insurer.",
    "Being sent": "A worker is talking to the insurer about it now.",
    "Deciding": "The insurer has it and is still deciding; it is asked again.",
    "Trying again": "The insurer did not take it yet; it is tried again.",
    "Set aside": "It is not tried any more: somebody has to look at it.",
    "Not connected": "This insurer has no connection here: tell it by hand.",
}


def draw(policy: PolicyDetail, person: Person) -> None:
    """Draw the state of the submission and the possible actions."""
    told = policy.submission
    with st.container(border=True, height="stretch"):
        st.markdown("**With the insurer**")
        if told is None:
            st.caption("Nothing was noted for the insurer.")
            return
        st.markdown(f"{words.badge(told.situation)} {_means(told)}")
        if told.waits and (issued := _issued_by_hand(policy)):
            facts.line("Issued by hand", f"{issued.actor_name or issued.actor}, {words.moment(issued.at)}")
            st.caption("It is in force here, and the insurer has not accepted it.")
        facts.line("Since", words.moment(told.updated_at))
        if told.attempts:
            facts.line("Attempts", words.count(told.attempts))
        if told.last_error:
            st.caption(words.plain(told.last_error))
        if person.has_role(*resending.SENDING_ROLES):
            _actions(policy, told)


def _means(told: SubmissionDetail) -> str:
    """Return the meaning of the state; an acceptance without a stored answer of the insurer was set at the desk."""
    if told.state == SubmissionState.ACCEPTED and told.answer != AnswerStatus.ACCEPTED:
        return "Settled at the desk: no answer of the insurer is kept here."
    return _MEANS.get(told.situation, "")


def _issued_by_hand(policy: PolicyDetail) -> AuditEvent | None:
    """Return the log entry that says who activated the policy without its insurer."""
    found = (event for event in policy.sale.history if event.action == "policy issued by hand")
    return next(found, None)


def _actions(policy: PolicyDetail, told: SubmissionDetail) -> None:
    with st.container(horizontal=True, gap="xsmall"):
        if told.resendable:
            resend = resends.resending_one(policy.id)
            st.button(resend.title, icon=":material/send:", key="policy.resend", on_click=resend.do)
        if told.reportable:
            report = resends.reporting(policy.id)
            st.button(
                report.title,
                icon=":material/task_alt:",
                key="policy.reported",
                on_click=report.do,
                help="The insurer knows of it by another way, such as the bordereau.",
            )


def story(policy: PolicyDetail) -> None:
    """Draw the events of the submission, above the payload that was sent."""
    told = policy.submission
    if told is None:
        return
    with st.container(border=True):
        for label, value in _facts(told).items():
            facts.line(label, value)


def _facts(told: SubmissionDetail) -> dict[str, str]:
    said = {
        "State": told.situation,
        "Noted": words.moment(told.created_at),
        "Times sent": words.count(told.attempts),
        "Next try": words.moment(told.next_try_at) if told.next_try_at else None,
        "Last answer": told.last_error,
        "Answer": words.title(told.answer) if told.answer else None,
        "Answered": words.moment(told.answered_at) if told.answered_at else None,
        "Number at the insurer": told.insurer_number,
        "Certificate at the insurer": told.insurer_certificate_url,
    }
    return {label: value for label, value in said.items() if value}
