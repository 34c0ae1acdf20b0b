"""Letters on the review of a claim: those that can be written now, and those in its file (contract C17)."""

from functools import partial

import streamlit as st

from core import seal
from core.services.claims.letters import letters as claim_letters
from core.services.claims.review.review import ClaimReview
from core.services.files import files
from core.services.files.files import ReceivedFile
from core.store.access import Scope, ScopedSession, transact
from core.ui.claims import attempts as claim_attempts
from core.ui.claims.attempts import LETTER, key
from core.ui.claims.review_actions import Hand, once
from core.ui.kit import attempts, words


def draw(review: ClaimReview) -> None:
    """Draw a button for each letter that can be written, why others cannot, and the letters so far."""
    st.markdown("**Letters**")
    with st.container(horizontal=True, gap="xsmall"):
        for kind, missing in review.letters_possible.items():
            title = claim_letters.KINDS[kind].title
            st.button(
                title,
                key=key(review.id, f"letter {kind}"),
                icon=":material/mail:",
                disabled=missing is not None,
                help=f"Needs {missing}" if missing else None,
                on_click=claim_attempts.carry_out,
                args=(LETTER, review, partial(_write, kind=kind)),
            )
    attempts.complain(key(review.id, LETTER))
    for letter in review.letters:
        st.markdown(
            f":material/description: [{words.plain(letter.title)}](/files/{letter.code}) · {words.moment(letter.at)}"
        )
    if not review.letters:
        st.caption("No letter was written yet. What an admin has changed in a text stands in the next letter.")


def _write(hand: Hand, *, kind: str) -> str:
    scope = Scope.staff(is_live=hand.is_live)
    letter = transact(scope, lambda session: claim_letters.compose(session, hand.claim_id, kind, person=hand.person))
    arriving = ReceivedFile(field=letter.field, file_name=f"{kind}.pdf", content=letter.content)
    with files.store_files([arriving]) as (kept,):

        def work(session: ScopedSession) -> str:
            claim_letters.keep_letter(session, hand.claim_id, kept, kind=kind, person=hand.person, version=hand.version)
            return "The letter is in the file of the claim: print it, or send it."

        return once(hand, work, "letter", kind, seal.keyed_hash("claim letter", letter.body))
