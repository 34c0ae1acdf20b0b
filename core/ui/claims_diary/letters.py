"""Letters on the review of a claim: those that can be written now, and those in its file (contract C17)."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from core import seal
from core.outbound import mail as smtp
from core.services.claims.letters import letters as claim_letters
from core.services.claims.letters.letters import WAYS, KeptLetter
from core.services.claims.review.review import ClaimReview
from core.services.files import files
from core.services.files.files import ReceivedFile
from core.services.people.staff import Person
from core.store.access import Scope, transact
from core.ui.claims.claim_actions import STORED, adding, changing, key
from core.ui.kit import actions, words
from core.ui.kit.actions import Action, Values

_PLACE = "letters"


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
                on_click=_writing(review, kind).do,
                args=(key(review.id, _PLACE),),
            )
    actions.complain(key(review.id, _PLACE))
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
        on_click=_sending(review, letter.code, way).do,
        args=(key(review.id, _PLACE),),
    )


def _sending(review: ClaimReview, code: str, way: str | None) -> Action:
    """Return the action that notes a letter as sent, or sends its text by e-mail."""
    if way is None:
        return adding(
            review,
            "send",
            lambda session, _, by: claim_letters.send_by_mail(session, review.id, code, person=by),
            "The text of the letter goes to the claimant by e-mail.",
            token=f"letter {code}",
        )
    return adding(
        review,
        "send",
        lambda session, _, by: claim_letters.mark_sent(session, review.id, code, way=way, person=by),
        "The letter is marked as sent.",
        token=f"letter {code}",
    )


def _writing(review: ClaimReview, kind: str) -> Action:
    @contextmanager
    def store(_: Values, by: Person) -> Iterator[Values]:
        scope = Scope.staff(is_live=review.is_live)
        letter = transact(scope, lambda session: claim_letters.compose(session, review.id, kind, person=by))
        arriving = ReceivedFile(field=letter.field, file_name=f"{kind}.pdf", content=letter.content)
        with files.store_files([arriving]) as (kept,):
            yield {STORED: kept, "text": seal.keyed_hash("claim letter", letter.body)}

    return changing(
        review,
        "letter",
        lambda session, typed, by: claim_letters.keep_letter(
            session, review.id, typed[STORED], kind=kind, person=by, version=review.version
        ),
        "The letter is in the file of the claim: print it, or send it.",
        given=kind,
        around=store,
    )
