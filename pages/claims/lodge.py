"""Lodge a claim for a caller: find the policy, fill in the form of its line, lodge it once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final
from uuid import UUID

import streamlit as st

from core import clock, ids
from core.covers.claims.request import DEATH, OWNER
from core.errors import CoverdeskError, InvalidInput
from core.services.claims.intake import claimable_policies, lodging, requirements
from core.services.claims.intake.claimable_policies import ClaimablePolicy
from core.services.claims.intake.new_claims import ClaimRequest
from core.services.claims.intake.request import CreditLifeDeskRequest
from core.services.claims.review import related
from core.services.people.staff import Person
from core.store.access import ScopedSession, reading
from core.ui.buying.selling import Counter
from core.ui.claims import related_claims
from core.ui.forms import forms
from core.ui.forms.forms import Form
from core.ui.frame import frame, page_links
from core.ui.kit import attempts, facts, words

_RECEIPT: Final = "lodge.receipt"
_LIVE: Final = frozenset({"incident_type", "accidental", "incident_date", "claimant"})
_NAMED: Final = frozenset({"claimant_first_name", "claimant_last_name"})
_FUTURE: Final = "This day is in the future. The claim would be taken in and flagged: ask the caller for the day again."


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """Receipt of a lodged claim."""

    claim_id: UUID
    policy_number: str
    holder: str


def receipt() -> Receipt | None:
    """Return the receipt of the claim just lodged, until the next one begins."""
    kept: Receipt | None = st.session_state.get(_RECEIPT)
    return kept


def draw_form(policy: ClaimablePolicy, counter: Counter) -> None:
    """Draw the form of a claim on a policy, and the button that lodges it."""
    form = _form(policy)
    # Idempotency token of a filled form: it lodges once, however often the page reruns.
    token = st.session_state.setdefault(f"{form.key}.token", ids.new_token())
    _fill_in(form, policy)
    typed = forms.draw(form, live=_LIVE, before={"Papers": lambda: _say_papers(policy)})
    if refusal := st.session_state.pop(f"{form.key}.refusal", None):
        st.error(words.plain(refusal), icon=":material/error:")
    if st.button("Lodge the claim", type="primary", icon=":material/note_add:", key=f"{form.key}.lodge"):
        _lodge(form, typed, policy, counter, token)
        st.rerun()
    if wrong := forms.list_faulty(form):
        # The fields may be a screen above the button.
        st.markdown(forms.complaint(f"Nothing is lodged yet. Look again at: {', '.join(wrong)}"))


def _say_papers(policy: ClaimablePolicy) -> None:
    papers = ", ".join(words.title(name).lower() for name in checklist(policy))
    st.caption(
        f"This incident calls for: {words.plain(papers)}. What is not there yet is owed, and can follow later."
        if papers
        else "Choose the incident to see what it calls for."
    )


def _form(policy: ClaimablePolicy) -> Form:
    """Return the form of the policy's line; papers may follow, so none is required (contract C3, C16)."""
    key = f"lodge {policy.id.hex}"
    happened: date | None = st.session_state.get(f"{key}.incident_date")
    claimant = st.session_state.get(f"{key}.claimant") or OWNER
    return Form(
        key=key,
        model=policy.line.request if policy.line else CreditLifeDeskRequest,
        given={"policy_number": policy.number},
        needed=_NAMED if claimant != OWNER else frozenset(),
        cautions={"incident_date": _FUTURE} if happened and happened > clock.today() else {},
    )


def checklist(policy: ClaimablePolicy) -> tuple[str, ...]:
    """Return the documents that the chosen incident requires, those not chosen yet included (contract C16)."""
    chosen = {
        name: st.session_state.get(f"lodge {policy.id.hex}.{name}")
        for name in ("incident_type", "accidental", "no_police_report")
    }
    incident = chosen["incident_type"]
    if not incident:
        return ()
    if policy.line:
        return policy.line.list_required(incident, no_police_report=chosen["no_police_report"])
    papers = requirements.list_required_documents(incident, accidental=chosen["accidental"] == "Yes")
    return (*papers, *([requirements.DEATH_CERTIFICATE] if incident == DEATH else []))


def _fill_in(form: Form, policy: ClaimablePolicy) -> None:
    """Prefill the loan as insured; where the caller's details differ, they are typed over it and flagged."""
    known: Mapping[str, Any] = {
        "loan_offer_date": policy.loan_start_on,
        "loan_repayment_date": policy.loan_end_on,
        "loan_amount": words.as_typed(f"{policy.loan_amount:.2f}") if policy.loan_amount else None,
    }
    for name, value in known.items():
        if value is not None:
            st.session_state.setdefault(f"{form.key}.{name}", value)


def _lodge(form: Form, typed: Mapping[str, Any], policy: ClaimablePolicy, counter: Counter, token: str) -> None:
    try:
        request = forms.store_files_and_validate(form, typed, counter)
        claim_id = _lodged(request, counter, token)
    except InvalidInput as error:
        forms.blame(form, error.faults)
        return
    except CoverdeskError as error:
        forms.blame(form, ())
        st.session_state[f"{form.key}.refusal"] = str(error)
        return
    forms.clear(form)
    st.session_state[_RECEIPT] = Receipt(claim_id=UUID(claim_id), policy_number=policy.number, holder=policy.holder)


def _lodged(request: ClaimRequest, counter: Counter, token: str) -> str:
    frame.require("claims", "supervisor")

    def work(session: ScopedSession) -> str:
        claim = lodging.lodge_claim(session, request, [], owner=counter.seller.owner, actor=counter.person.actor)
        return claim["id"]

    return attempts.run_once(counter.scope, f"lodge {token}", work, request.model_dump_json())


def show_receipt(receipt: Receipt) -> None:
    """Show the receipt, with links to the claim and to the next one."""
    with st.container(border=True, gap="medium"):
        st.success(f"The claim of {words.plain(receipt.holder)} is lodged.", icon=":material/check_circle:")
        grid = st.grid(2, min_column_width=200)
        grid.metric("Claim", requirements.format_reference(receipt.claim_id))
        grid.metric("Policy", receipt.policy_number)
        with st.container(horizontal=True):
            if st.button("Open the claim", type="primary", icon=":material/gavel:"):
                del st.session_state[_RECEIPT]
                page_links.go("claims/claim.py", id=str(receipt.claim_id))
            if st.button("Lodge another", icon=":material/add:"):
                del st.session_state[_RECEIPT]
                st.session_state["policy"] = ""
                st.rerun()


SEARCH = "policies/search.py"


def found(person: Person) -> ClaimablePolicy | None:
    """Return the policy that the typed text finds; of several, the selected one."""
    number = st.text_input(
        "Policy",
        key="policy",
        bind="query-params",
        icon=":material/search:",
        placeholder="Number, plate, name, e-mail or phone, or a part of one",
        autocomplete="off",
    )
    with reading(frame.scope()) as session:
        policies = claimable_policies.find_policies(session, number)
    if not number.strip():
        st.info("Find the caller's policy to begin.", icon=":material/badge:")
        search(person)
    elif not policies:
        st.warning(f"There is no policy “{words.plain(number[:60])}” in this mode.", icon=":material/search_off:")
        search(person)
    return chosen(policies) if policies else None


def search(person: Person) -> None:
    if person.has_role("operations", "claims", "supervisor"):
        page_links.link(
            SEARCH,
            label="Find the policy by name, e-mail or phone",
            icon=":material/person_search:",
            query_params=frame.mode_query(),
        )


def chosen(policies: Sequence[ClaimablePolicy]) -> ClaimablePolicy | None:
    """Let the officer choose; nothing is chosen beforehand, as a claim on another person's policy is soon lodged."""
    if len(policies) == 1:
        return policies[0]
    by_id = {policy.id: policy for policy in policies}
    kept = st.radio(
        "Which of these policies?",
        list(by_id),
        index=None,
        format_func=lambda id_: describe(by_id[id_]),
    )
    return by_id[kept] if kept else None


def describe(policy: ClaimablePolicy) -> str:
    return words.plain(f"{policy.number}: {policy.holder}, {policy.provider}, through {policy.distributor}")


def about(policy: ClaimablePolicy) -> None:
    with st.container(border=True, gap="xsmall"):
        st.markdown(f"**{words.plain(policy.number)}** {words.badge(policy.stage)}")
        with st.grid(2, min_column_width=300, gap="small"):
            with st.container(gap="xxsmall"):
                facts.line("Holder", policy.holder)
                facts.line("E-mail", policy.email)
                facts.line("Distributor", policy.distributor)
            with st.container(gap="xxsmall"):
                facts.line("Insurer", policy.provider)
                for label, value in policy.cover:
                    facts.line(label, value)
                insured = words.naira(policy.insured_minor) if policy.insured_minor is not None else "–"
                facts.line("Insured loan" if policy.line is None else "Sum insured", insured)
        answers = policy.incidents if policy.line else map(words.title, policy.benefits)
        st.caption(f"{words.plain(policy.product)} answers for: {words.plain(', '.join(answers).lower() or 'nothing')}")


def others(policy: ClaimablePolicy) -> None:
    """Show the claims that the policy has already, so that none is lodged twice."""
    with reading(frame.scope()) as session:
        lines = related.list_by_policy(session, policy.id)
    if lines:
        st.warning(
            f"This policy has {words.count(len(lines))} {'claim' if len(lines) == 1 else 'claims'} already:"
            " is this another loss?",
            icon=":material/content_copy:",
        )
        related_claims.draw(lines, linked=True, empty="")


def draw() -> None:
    person = frame.require("claims", "supervisor")
    frame.page_header(
        "Lodge a claim", "Take a claim in for a caller, on any policy. Nothing is turned away, and papers may follow."
    )
    if done := receipt():
        show_receipt(done)
        return
    policy = found(person)
    if policy is None:
        return
    about(policy)
    others(policy)
    if policy.line is None:
        st.caption("The loan is filled in as it was insured: type over it what the caller says otherwise.")
    draw_form(policy, Counter(distributor_id=policy.distributor_id, is_live=frame.mode(), person=person))
