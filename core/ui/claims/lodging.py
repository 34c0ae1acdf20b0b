"""Lodging a claim from a screen: the same service as the API, once per filled form (contract C1, C2, S13)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final
from uuid import UUID

import streamlit as st

from core import clock, ids
from core.covers.claims.request import DEATH, OWNER
from core.errors import CoverdeskError, InvalidInput
from core.services.claims.intake import lodging, requirements
from core.services.claims.intake.claimable_policies import ClaimablePolicy
from core.services.claims.intake.new_claims import ClaimRequest
from core.services.claims.intake.request import CreditLifeDeskRequest
from core.store.access import ScopedSession
from core.ui.buying.selling import Counter
from core.ui.forms import forms
from core.ui.forms.forms import Form
from core.ui.frame import frame, page_links
from core.ui.kit import attempts, words

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
