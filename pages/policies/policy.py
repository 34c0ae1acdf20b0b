"""One policy: cover, certificate, submitted and sent data, money, and the possible actions."""

import streamlit as st

from core.services.people.staff import Person
from core.services.views import policy as policy_view
from core.services.views.policy import PolicyDetail
from core.ui.finance import policy_papers
from core.ui.frame import frame, page_links, record_pages
from core.ui.kit import actions, facts, reveal_dialog, url_state, words
from core.ui.letters import certificate_mail, mail_log
from core.ui.lists import tables
from core.ui.policies import cards as policy_cards
from core.ui.policies import claims as policy_claims
from core.ui.policies import endorsement_view, policy_actions, submission_card
from core.ui.renewals import renewal_calls, renewal_reminders

SEARCH = "policies/search.py"


def header(policy: PolicyDetail, person: Person) -> None:
    with frame.header_with_buttons(
        facts.policy_title(policy.sale),
        f"{words.plain(policy.sale.product)} of {words.plain(policy.sale.customer)}",
        tab=f"{policy.sale.policy_number or 'Without a number'} · Policy",
    ):
        if person.has_role("operations"):
            policy_actions.buttons(policy)
    if policy.possible_duplicate_of:
        st.warning(
            "The same customer has an earlier policy for this amount and this loan start. Is it a second loan?",
            icon=":material/content_copy:",
        )
        page_links.link(
            "policies/policy.py",
            label="Open the earlier policy",
            icon=":material/policy:",
            query_params={"id": str(policy.possible_duplicate_of), **frame.mode_query()},
        )


def details(policy: PolicyDetail, person: Person) -> None:
    papers, money, terms, endorsed, claims, letters, submitted, sent, history = url_state.tabs(
        *("Certificate", "Money", "Terms and renewals", "Endorsements", "Claims", "E-mail", "Submitted"),
        *("Sent to the insurer", "History"),
    )
    with papers:
        policy_cards.certificate(policy, beside=lambda: send_certificate(policy, person))
    with money:
        policy_cards.money(policy)
        policy_papers.draw(policy.id, person)
    with terms:
        policy_cards.terms(policy)
        renewal_reminders.opt_out(policy.sale.customer_id, person)
        renewal_calls.history(policy.id)
    with endorsed:
        endorsement_view.draw(policy, person)
    with claims:
        policy_claims.draw(policy, person)
    with letters:
        mail_log.draw(policy.letters)
    with submitted:
        personal(policy, "submitted", person)
        facts.draw_masked(policy.sale.submitted)
    with sent:
        personal(policy, "payload", person)
        submission_card.story(policy)
        policy_cards.draw_payload(policy)
    with history:
        facts.log(policy.sale.history)


def send_certificate(policy: PolicyDetail, person: Person) -> None:
    if person.has_role("operations"):
        certificate_mail.button(policy.id, policy.sale.email, key="mail certificate")


def personal(policy: PolicyDetail, within: str, person: Person) -> None:
    reveal_dialog.values(policy.sale.hidden, within=within, kind="policy", record_id=policy.id, by=person)


def draw() -> None:
    person = frame.require("operations", "claims", "supervisor")
    tables.back_link("policies", SEARCH, "Back to the search")
    policy = record_pages.load("policy", policy_view.get_policy, is_of_mode=True)
    header(policy, person)
    policy_actions.follow_address(policy)
    actions.run()
    with st.grid(2, min_column_width=320, gap="small"):
        policy_cards.cover(policy)
        policy_cards.holder(policy)
        policy_cards.sale(policy, person)
        submission_card.draw(policy, person)
    details(policy, person)
    st.caption(f"Policy {policy.id} · purchase {policy.sale.id} · customer {policy.sale.customer_id}")
