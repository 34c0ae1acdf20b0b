"""Lodge a claim for a caller: find the policy, fill in the form of its line, lodge it once."""

from collections.abc import Sequence

import streamlit as st

from core.services.claims.intake import claimable_policies
from core.services.claims.intake.claimable_policies import ClaimablePolicy
from core.services.claims.review import related
from core.services.people.staff import Person
from core.store.access import reading
from core.ui.buying.selling import Counter
from core.ui.claims import lodging as claim_lodging
from core.ui.claims import tabs as claim_tabs
from core.ui.frame import frame, page_links
from core.ui.kit import facts, words

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
        claim_tabs.draw_claims(lines, linked=True, empty="")


def draw() -> None:
    person = frame.require("claims", "supervisor")
    frame.page_header(
        "Lodge a claim", "Take a claim in for a caller, on any policy. Nothing is turned away, and papers may follow."
    )
    if done := claim_lodging.receipt():
        claim_lodging.show_receipt(done)
        return
    policy = found(person)
    if policy is None:
        return
    about(policy)
    others(policy)
    if policy.line is None:
        st.caption("The loan is filled in as it was insured: type over it what the caller says otherwise.")
    claim_lodging.draw_form(policy, Counter(distributor_id=policy.distributor_id, is_live=frame.mode(), person=person))
