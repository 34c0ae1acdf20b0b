"""Review of one claim: documents, cover checks, related claims, history and the possible decisions."""

import streamlit as st

from core.services.claims.review import officers as claim_officers
from core.services.claims.review.officers import Officer
from core.services.claims.review.review import ClaimReview
from core.services.people.staff import Person
from core.store.access import reading
from core.ui.claims import cards as claim_cards
from core.ui.claims import claim_actions, document_viewer, next_claim
from core.ui.claims import corrections as claim_corrections
from core.ui.claims import decision as claim_decision
from core.ui.claims import tabs as claim_tabs
from core.ui.claims_diary import letters as diary_letters
from core.ui.claims_diary import tasks as claims_diary
from core.ui.frame import frame, record_pages
from core.ui.kit import actions, url_state
from core.ui.lists import tables


def notices(review: ClaimReview, officers: list[Officer], person: Person) -> None:
    """Show the last action, changes by others, and the answers due from the claimant.

    They have a container of their own, so that the elements below keep their place, and the document stays loaded.
    """
    with st.container():
        actions.run()
        next_claim.draw(review)
        claim_cards.draw_changes(review, officers)
        claim_cards.waiting(review)


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
        claim_cards.people(review, person)
        claim_corrections.draw(review)
    with money:
        claim_tabs.amounts(review, person)
    with line:
        claim_tabs.time_line(review)
    with talk:
        claim_tabs.conversation(review)
    with diary:
        claims_diary.draw(review, officers, person)
        diary_letters.draw(review)
    with kin:
        none = "No other claim is on this policy, of this customer, or to this account."
        claim_tabs.draw_claims(review.related_claims, linked=True, empty=none)
    with history:
        claim_tabs.log(review, officers)


def draw() -> None:
    person = frame.require("claims", "supervisor")
    next_claim.follow()
    tables.back_link("claims", "claims/queue.py", "Back to the queue")
    with record_pages.require_id("claim", is_of_mode=True) as claim_id:
        review = claim_actions.open_review(claim_id, person=person, is_live=frame.mode())
    with reading(frame.scope()) as session:
        officers = claim_officers.list_active(session)
    claim_cards.header(review)
    notices(review, officers, person)
    claim_cards.figures(review, officers, person)
    # Side by side from 1280 on; on a narrower screen the document comes after what is decided by it.
    with st.grid(2, min_column_width=400, gap="small"):
        with st.container(gap="small"):
            claim_decision.draw(review, person)
            claim_cards.draw_checks(review, person)
            claim_cards.draw_submitted(review, person)
        with st.container(border=True, gap="small"):
            document_viewer.draw(review)
    details(review, officers, person)
    st.caption(
        f"Claim {review.id} · policy {review.policy_id} · customer {review.customer_id} · version {review.version}"
    )
