"""Letters on the review of a claim: those that can be written now, and those in its file (contract C17)."""

from functools import partial

import streamlit as st

from core import seal
from core.outbound import mail as smtp
from core.services.claims.letters import letters as claim_letters
from core.services.claims.letters.letters import WAYS, KeptLetter
from core.services.claims.review.review import ClaimReview
from core.services.files import files
from core.services.files.files import ReceivedFile
from core.store.access import Scope, ScopedSession, transact
from core.ui.claims import attempts as claim_attempts
from core.ui.claims.attempts import LETTER, LETTER_SENT, key
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
    attempts.complain(key(review.id, LETTER_SENT))
    for letter in review.letters:
        _line(review, letter)
    if not review.letters:
        st.caption("No letter was written yet. What an admin has changed in a text stands in the next letter.")


def _line(review: ClaimReview, letter: KeptLetter) -> None:
    """Draw a letter with when and how it was sent, or the ways to send it."""
    title = f":material/description: [{words.plain(letter.title)}](/files/{letter.code}) · {words.moment(letter.at)}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if letter.is_sent:
            by = words.plain(letter.sent_by or "somebody who left")
            st.markdown(f"{title} :green-badge[{letter.way}, {words.moment(letter.sent_at)} by {by}]")
            return
        st.markdown(f"{title} :orange-badge[To be sent]")
        if review.is_live and smtp.can_send():
            _send_button(review, letter, "Send by e-mail", None)
        with st.popover("Mark as sent", icon=":material/outgoing_mail:", type="tertiary"):
            for way in WAYS:
                _send_button(review, letter, way, way)


def _send_button(review: ClaimReview, letter: KeptLetter, label: str, way: str | None) -> None:
    st.button(
        label,
        key=key(review.id, f"sent {letter.code} {way or 'mail'}"),
        type="tertiary",
        on_click=claim_attempts.carry_out,
        args=(LETTER_SENT, review, partial(_send, code=letter.code, way=way)),
    )


def _send(hand: Hand, *, code: str, way: str | None) -> str:
    """Note a letter as sent, or send its text by e-mail."""

    def work(session: ScopedSession) -> str:
        if way is None:
            claim_letters.send_by_mail(session, hand.claim_id, code, person=hand.person)
            return "The text of the letter goes to the claimant by e-mail."
        claim_letters.mark_sent(session, hand.claim_id, code, way=way, person=hand.person)
        return "The letter is marked as sent."

    return attempts.run_once(hand.scope, f"letter {code}", work, way or "mail")


def _write(hand: Hand, *, kind: str) -> str:
    scope = Scope.staff(is_live=hand.is_live)
    letter = transact(scope, lambda session: claim_letters.compose(session, hand.claim_id, kind, person=hand.person))
    arriving = ReceivedFile(field=letter.field, file_name=f"{kind}.pdf", content=letter.content)
    with files.store_files([arriving]) as (kept,):

        def work(session: ScopedSession) -> str:
            claim_letters.keep_letter(session, hand.claim_id, kept, kind=kind, person=hand.person, version=hand.version)
            return "The letter is in the file of the claim: print it, or send it."

        return once(hand, work, "letter", kind, seal.keyed_hash("claim letter", letter.body))
