"""Lodge a claim for a caller: find the policy, ask the few questions of a call, lodge it once."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Final
from uuid import UUID

import streamlit as st

from core import clock, ids
from core.covers.claims.line import DEATH, OWNER
from core.errors import CoverdeskError, InvalidInput
from core.services.claims.intake import lodging, submitted
from core.services.claims.intake.lodging import MAX_POLICIES, ClaimablePolicy
from core.services.claims.intake.new_claims import ClaimRequest, CreditLifeDeskRequest
from core.services.claims.review import related
from core.services.claims.review import review as claim_review
from core.services.claims.workflow.tasks import PAPERS_DAYS
from core.services.people.staff import Person
from core.services.selling.drafts import Draft
from core.states.policies import PolicyStage
from core.store.access import ScopedSession, read_in, reading
from core.ui.buying import sale_drafts
from core.ui.buying.selling import Counter
from core.ui.forms import forms
from core.ui.forms.forms import Form
from core.ui.frame import frame, page_links
from core.ui.kit import actions, facts, url_state, words
from core.ui.kit.actions import Action, Once
from core.ui.lists.claims import draw_claims
from pages.claims import _papers, _shared

ROLES: Final = ("claims", "supervisor")
_DRAFTS: Final = "claim "
_SHOWN: Final = 5
_CHOICE: Final = "lodge chosen"
# The draft of the claim that was lodged last, and the claim.
_LODGED: Final = "claim lodged"
_LIVE: Final = frozenset({"incident_type", "accidental", "incident_date", "claimant"})
_NAMES: Final = ("claimant_first_name", "claimant_last_name")
_FLAGGED: Final = "The claim would be taken in and flagged: ask the caller for the day again."


def draw() -> None:
    person = frame.require(*ROLES)
    frame.page_header(
        "Lodge a claim", "Take a claim in for a caller, on any policy. Nothing is turned away, and papers may follow."
    )
    actions.run()
    # A run that was asked for before the claim was lodged comes with the address of its draft.
    draft, claim_id = st.session_state.get(_LODGED, ("", ""))
    if draft and st.query_params.get(sale_drafts.DRAFT) == draft:
        st.query_params.from_dict({"id": claim_id, **frame.mode_query()})
    # The claim just lodged stands in the address: its receipt survives a reload.
    if st.query_params.get("id"):
        show_receipt(person)
        return
    policy = found()
    if policy is None:
        draw_unfinished(person)
        return
    about(policy)
    others(policy)
    draw_form(policy, Counter(distributor_id=policy.distributor_id, is_live=frame.mode(), person=person))


# The policy


def found() -> ClaimablePolicy | None:
    """Return the policy that the typed text finds; of several, the selected one."""
    text = st.query_params.get("policy", "")
    url_state.search_box(
        "policy", "Policy", text=text, placeholder="Number, plate, name, e-mail or phone, or a part of one"
    )
    policies = read_in(frame.scope(), lodging.find_policies, text)
    if not text.strip():
        st.info(
            "Find the caller's policy to begin. Ask the caller for the policy number or the plate, else for the phone"
            " or the name that it was bought with; part of any of them will do.",
            icon=":material/badge:",
        )
        page_links.link_to("policies/search.py", "Search all policies by insurer, product or day", "search")
    elif not policies:
        st.warning(
            f"There is no policy “{words.plain(text[:60])}” in this mode. Try the plate, the phone or a part of the"
            " name.",
            icon=":material/search_off:",
        )
    return chosen(policies) if policies else None


def chosen(policies: Sequence[ClaimablePolicy]) -> ClaimablePolicy | None:
    """Let the officer choose; nothing is chosen beforehand, as a claim on another person's policy is soon lodged.

    What is looked for is then the number of the chosen one: the form stands where the others stood.
    """
    if len(policies) == 1:
        return policies[0]
    by_id = {policy.id: policy for policy in policies}
    kept = st.radio(
        "Which of these policies?",
        list(by_id),
        index=None,
        key=_CHOICE,
        on_change=lambda: url_state.change({"policy": [by_id[st.session_state[_CHOICE]].number]}),
        format_func=lambda id_: describe(by_id[id_]),
        captions=[words.plain(", ".join((policy.product, policy.provider))) for policy in policies],
    )
    if len(policies) == MAX_POLICIES:
        st.caption(f"The newest {MAX_POLICIES} are shown: type more to narrow them.")
    return by_id[kept] if kept else None


def describe(policy: ClaimablePolicy) -> str:
    """Name a policy among several by whose it is, with its stage where it is not in force."""
    thing = next((value for label, value in policy.cover if label == "Registration number"), "")
    named = words.plain(", ".join(filter(None, (policy.holder, words.phone(policy.phone), thing, policy.number))))
    return named if policy.stage == PolicyStage.IN_FORCE else f"{named} {words.badge(policy.stage)}"


def about(policy: ClaimablePolicy) -> None:
    """Show the policy with what is insured by it: goods, journey, vehicle or loan."""
    with st.container(border=True, gap="xsmall"):
        st.markdown(f"**{words.plain(policy.number)}** {words.badge(policy.stage)} · {words.plain(policy.product)}")
        values = {
            "Holder": policy.holder,
            "Phone": words.phone(policy.phone) or "–",
            "E-mail": words.email(policy.email),
            "Insurer": policy.provider,
            "Distributor": policy.distributor,
            **dict(policy.cover),
        }
        if policy.insured_minor is not None:
            values["Insured loan" if policy.line is None else "Sum insured"] = words.naira(policy.insured_minor)
        facts.grid(values, columns=4)
        answers = policy.incidents if policy.line else map(words.title, policy.benefits)
        st.caption(f"Insured against: {words.plain(', '.join(answers).lower() or 'nothing')}")


def others(policy: ClaimablePolicy) -> None:
    """Show the claims that the policy has already, so that none is lodged twice."""
    lines = read_in(frame.scope(), related.list_by_policy, policy.id)
    if lines:
        number = words.counted(len(lines), "claim", "claims")
        st.warning(f"This policy has {number} already: is this another loss?", icon=":material/content_copy:")
        draw_claims(lines, linked=True, empty="")


# The form: what a caller is asked first, the rest of the line folded, its errors and button in the bar


def draw_form(policy: ClaimablePolicy, counter: Counter) -> None:
    """Draw the form of a claim on a policy, kept as a draft, and the bar with the button that lodges it."""
    form, cover = _form(policy), f"{_DRAFTS}{policy.id.hex}"
    sale_drafts.restore(form, cover, counter)
    if f"{form.key}.token" not in st.session_state:
        # Idempotency token of a filled form: it lodges once, however often the page reruns.
        st.session_state[f"{form.key}.token"] = ids.new_token()
        _fill_in(form, policy)
    token = st.session_state[f"{form.key}.token"]
    _follow_claimant(form, policy)
    typed = forms.draw(
        form, columns=3, live=_LIVE, before={"Papers": lambda: _show_papers(policy)}, first=_list_first(policy)
    )
    if typed.get("incident_type") or typed.get("incident_date") or typed.get("incident_description"):
        given = {"policy": policy.number, "holder": policy.holder}
        sale_drafts.store_draft(form, cover, counter, policy.product_id, given)
    sale_drafts.watch(form, counter)
    sale_drafts.draw_state(form, counter)
    if refusal := st.session_state.pop(f"{form.key}.refusal", None):
        st.error(words.plain(refusal), icon=":material/error:")
    if _bar(form, typed):
        # One draft is lodged once, whichever of several tabs it is open in.
        _lodge(form, typed, counter, str(sale_drafts.get_held(form, counter) or token))
        st.session_state.pop(_press(form), None)
        st.rerun()


def _list_first(policy: ClaimablePolicy) -> list[str]:
    """Return the questions of a call: what, when, where, how much, who calls, and the phone."""
    claimant = st.session_state.get(f"{_key(policy.id)}.claimant") or OWNER
    amount = policy.line.amount if policy.line else "pending_repayment_amount"
    return [
        *("incident_type", "accidental", "incident_date", "incident_place", amount, "claimant"),
        *(_NAMES if claimant != OWNER else ()),
        *("claimant_phone_number", "incident_description"),
    ]


def _bar(form: Form, typed: Mapping[str, Any]) -> bool:
    """Draw the bar at the foot of the screen: what is missing or wrong as links, and the button; True when pressed."""
    pressed = _press(form)
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        with st.container(gap="xxsmall", width="stretch"):
            if forms.is_refused(form):
                st.markdown(forms.complaint("Nothing is lodged yet."))
            forms.link_gaps(form, typed, complete="Everything that is needed is filled in; papers may follow.")
        st.button(
            "Lodge the claim",
            type="primary",
            icon=":material/note_add:",
            key=f"{form.key} lodge",
            on_click=st.session_state.update,
            args=({pressed: True},),
        )
    # Kept until it is taken: the run of a press may be stopped by the one that typing asked for just before.
    return bool(st.session_state.get(pressed, False))


def _press(form: Form) -> str:
    return f"{form.key} pressed"


def _show_papers(policy: ClaimablePolicy) -> None:
    papers = ", ".join(words.title(name).lower() for name in checklist(policy))
    st.caption(
        f"This incident calls for: {words.plain(papers)}. What is not there yet is owed, and can follow later."
        if papers
        else "Choose the incident to see what it calls for."
    )


def _key(policy_id: UUID) -> str:
    return f"lodge {policy_id.hex}"


def _form(policy: ClaimablePolicy) -> Form:
    """Return the form of the policy's line; papers may follow, so none is required (contract C3, C16)."""
    key = _key(policy.id)
    happened: date | None = st.session_state.get(f"{key}.incident_date")
    claimant = st.session_state.get(f"{key}.claimant") or OWNER
    return Form(
        key=key,
        model=policy.line.request if policy.line else CreditLifeDeskRequest,
        given={"policy_number": policy.number},
        needed=frozenset(_NAMES) if claimant != OWNER else frozenset(),
        cautions={"incident_date": caution} if happened and (caution := _caution(policy, happened)) else {},
    )


def _caution(policy: ClaimablePolicy, happened: date) -> str:
    """Return what is unusual about the day of an incident; empty where nothing is."""
    if happened > clock.today():
        return f"This day is in the future. {_FLAGGED}"
    if policy.first_on and happened < policy.first_on:
        return f"This day is before the cover, which begins on {words.day(policy.first_on)}. {_FLAGGED}"
    if policy.last_on and happened > policy.last_on:
        return f"This day is after the last day of the cover, {words.day(policy.last_on)}. {_FLAGGED}"
    return ""


def checklist(policy: ClaimablePolicy) -> tuple[str, ...]:
    """Return the documents that the chosen incident requires, those not chosen yet included (contract C16)."""
    chosen = {
        name: st.session_state.get(f"{_key(policy.id)}.{name}")
        for name in ("incident_type", "accidental", "no_police_report")
    }
    incident = chosen["incident_type"]
    if not incident:
        return ()
    if policy.line:
        return policy.line.list_required(incident, no_police_report=chosen["no_police_report"])
    papers = submitted.list_required_of_incident(incident, accidental=chosen["accidental"] == "Yes")
    return (*papers, *([submitted.DEATH_CERTIFICATE] if incident == DEATH else []))


def _fill_in(form: Form, policy: ClaimablePolicy) -> None:
    """Prefill what the policy says: the loan as insured, plate, traveller, device and the owner's phone.

    Where the caller's details differ, they are typed over it and flagged.
    """
    known: dict[str, Any] = {
        **policy.known,
        "loan_offer_date": policy.loan_start_on,
        "loan_repayment_date": policy.loan_end_on,
        "loan_amount": words.as_typed(f"{policy.loan_amount:.2f}") if policy.loan_amount else None,
    }
    for name, value in known.items():
        if value is not None and not st.session_state.get(f"{form.key}.{name}"):
            st.session_state[f"{form.key}.{name}"] = value


def _follow_claimant(form: Form, policy: ClaimablePolicy) -> None:
    """Empty the phone once somebody else is chosen as the claimant, while it is still the owner's."""
    now, phone = st.session_state.get(f"{form.key}.claimant") or OWNER, f"{form.key}.claimant_phone_number"
    before = st.session_state.get(f"{form.key} claimant", OWNER)
    st.session_state[f"{form.key} claimant"] = now
    if before == OWNER != now and st.session_state.get(phone) == policy.known.get("claimant_phone_number"):
        st.session_state[phone] = ""


def _lodge(form: Form, typed: Mapping[str, Any], counter: Counter, token: str) -> None:
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
    # Remembered first: whichever run stops this one, the draft leads to the receipt; until then the token finds it.
    st.session_state[_LODGED] = str(sale_drafts.get_held(form, counter) or ""), claim_id
    sale_drafts.discard(form, counter)
    st.session_state.pop(_press(form), None)
    st.query_params.from_dict({"id": claim_id, **frame.mode_query()})


def _lodged(request: ClaimRequest, counter: Counter, token: str) -> str:
    def lodge(session: ScopedSession, _: Mapping[str, str], by: Person) -> str:
        claim = lodging.lodge_claim(session, request, [], owner=counter, actor=by.actor)
        return claim["id"]

    lodging_once = Action(
        title="Lodge the claim",
        roles=ROLES,
        scope=lambda: counter.scope,
        work=lodge,
        done=str,
        once=Once(scope=counter.scope, token=f"lodge {token}"),
    )
    by = frame.require(*ROLES)
    return actions.perform(lodging_once, {"request": request.model_dump_json()}, by)[1]


# The receipt, and what was begun


def show_receipt(person: Person) -> None:
    """Show the claim just lodged: the papers that it owes and by when, the letter, and the ways on."""
    with page_links.require_id("claim", is_of_mode=True) as claim_id, reading(frame.scope()) as session:
        review = claim_review.get_review(session, claim_id, person=person)
    sale_drafts.settle(_key(review.policy_id), person)
    with st.container(border=True, gap="small"):
        st.success(f"The claim of {words.plain(review.owner)} is lodged.", icon=":material/check_circle:")
        values = {
            "Claim": review.reference,
            "Policy": review.policy_number or "–",
            "Claimant": f"{review.owner} ({review.owner_role.lower()})",
            "Phone": words.phone(review.owner_phone) or "–",
        }
        facts.grid(values, columns=4)
        if papers := review.missing_documents:
            due = words.day(clock.add_days(clock.to_lagos_day(review.lodged_at), PAPERS_DAYS))
            st.markdown(f"**Tell the caller to send by {due} ({PAPERS_DAYS} days):**")
            st.markdown("\n".join(f"- {words.plain(_shared.document(name))}" for name in papers))
        else:
            st.caption("No paper is owed.")
        with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
            if st.button("Open the claim", type="primary", icon=":material/gavel:"):
                page_links.go("claims/claim.py", id=str(review.id))
            _papers.offer_letter(review, "acknowledgement")
            if st.button("Lodge another", icon=":material/add:"):
                st.query_params.from_dict(frame.mode_query())
                st.rerun()
        _papers.draw_written(review)


def draw_unfinished(person: Person) -> None:
    """Draw the claims that the person has begun to type, each to be continued or discarded."""
    mine = [each for each in sale_drafts.list_mine(frame.mode(), person) if each.cover.startswith(_DRAFTS)]
    if mine:
        st.markdown(f"**{words.counted(len(mine), 'unfinished claim', 'unfinished claims')}**")
    for draft in mine[:_SHOWN]:
        draw_draft(draft, person)
    if rest := mine[_SHOWN:]:
        with st.expander(f"{words.count(len(rest))} more, begun earlier", icon=":material/expand_more:"):
            for draft in rest:
                draw_draft(draft, person)


def draw_draft(draft: Draft, person: Person) -> None:
    """Draw one claim that was begun, to be continued or discarded."""
    number = str(draft.given.get("policy", ""))
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        st.markdown(
            f"**{words.plain(str(draft.given.get('holder', '')))}** · {words.plain(number)} ·"
            f" {words.moment(draft.updated_at)}",
            width="stretch",
        )
        page_links.link_to(
            "claims/lodge.py", "Continue", "edit", **{"policy": number, sale_drafts.DRAFT: str(draft.id)}
        )
        st.button(
            "Discard", key=f"discard {draft.id}", type="tertiary", on_click=sale_drafts.delete, args=(draft.id, person)
        )
