"""The papers of a claim on its review: documents one at a time (contract C2), and letters (contract C17)."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import streamlit as st

from core import seal
from core.desk import pii_reveal
from core.desk.pii_reveal import HiddenField
from core.errors import InvalidInput
from core.outbound import mail as smtp
from core.services.claims.intake import lodging
from core.services.claims.intake.submitted import Document, Version
from core.services.claims.review.review import ClaimReview
from core.services.claims.workflow import letters
from core.services.claims.workflow.letters import WAYS, KeptLetter
from core.services.files import files
from core.services.files.files import ReceivedFile
from core.services.people.staff import Person
from core.states.claims import ClaimStatus
from core.store.access import Scope, ScopedSession, transact
from core.ui.forms import uploads
from core.ui.frame import frame
from core.ui.kit import actions, facts, reveal_dialog, words
from core.ui.kit.actions import Action, Values
from pages.claims import _shared
from pages.claims._actions import STORED, adding, changing, key

_SHOWN: Final = "document"
# To the foot of the screen, below the head and the chooser.
_HEIGHT: Final = "max(24rem, calc(100vh - 28.1rem))"


def draw(review: ClaimReview) -> None:
    """Draw the document chooser with the chosen document, and the checklist with the upload."""
    with st.container(gap="small"):
        _show(review)
    if not review.documents:
        st.info("No document came with this claim, and none is required.", icon=":material/folder_off:")
    there = sum(document.code is not None or bool(document.link) for document in review.documents)
    with st.expander(
        f"Papers: {there} of {len(review.documents)} in",
        icon=":material/attach_file:",
        expanded=bool(review.missing_documents),
    ):
        with st.container(gap="xxsmall"):
            for document in review.documents:
                st.markdown(_line(document))
                for version in document.versions:
                    st.caption(_earlier(document, version))
        if not review.is_decided:
            _add(review)


def draw_missing(review: ClaimReview) -> None:
    """Name the papers that are missing while a decision waits for them, with the letter that asks for them."""
    papers = review.missing_documents
    if not papers or review.is_decided:
        return
    names = words.plain(", ".join(map(_shared.document, papers)))
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(f":red[:material/cancel: Missing: {names}]", width="content")
        offer_letter(review, _REQUEST, place="missing")
    _draw_newest(review, _REQUEST, place="missing")


def draw_decided(review: ClaimReview) -> None:
    """Draw the letter that tells the claimant of an offer or a decline, to be written and sent where it was decided."""
    if review.status in _LETTERS:
        kind, about = _LETTERS[review.status]
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown(f"The claimant is told by a letter, with the {about}:", width="content")
            offer_letter(review, kind, place="decided", label="Write the letter")
        _draw_newest(review, kind, place="decided")


def _draw_newest(review: ClaimReview, kind: str, *, place: str) -> None:
    actions.complain(key(review.id, _PLACE))
    if newest := next((letter for letter in review.letters if letter.kind == kind), None):
        _letter_line(review, newest, place=place)


def _show(review: ClaimReview) -> None:
    there = [document for document in review.documents if document.code]
    chosen = _chosen(review, there)
    if chosen is None or (chosen.is_medical and not _may_be_seen(review, chosen)):
        return
    # Every opening is logged when the browser fetches the file, so only the document on display is fetched.
    address, title = f"/files/{chosen.code}", _shared.document(chosen.name)
    if (chosen.content_type or "").startswith("image/"):
        facts.show_picture(address, title=title, height=_HEIGHT)
    else:
        facts.embed_pdf(address, title=title, name="claim-document", height=_HEIGHT)


def _may_be_seen(review: ClaimReview, document: Document) -> bool:
    """Return True for a medical report for which a reason was just given; otherwise draw the way to give one."""
    hidden = HiddenField(kind="claim", record_id=review.id, path=f"{review.meta_column}.{document.name}")
    if not reveal_dialog.is_shown(hidden):
        name, by = _shared.document(document.name), frame.require()
        reveal_dialog.value(name, pii_reveal.HIDDEN_PLACEHOLDER, of=hidden, by=by, is_paper=True)
        return False
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.caption("The audit log says that you have opened it.", width="content")
        with st.container(horizontal=True, gap="xsmall", width="content"):
            st.link_button("Open in a new tab", f"/files/{document.code}", icon=":material/open_in_new:")
            st.button("Hide it", key="reveal.hide", icon=":material/visibility_off:", on_click=reveal_dialog.put_away)
    return True


def _add(review: ClaimReview) -> None:
    """Draw the upload of a document that arrived later, or of a better copy."""
    # Widget keys contain the version: after a save, the saved file is not offered again.
    place, chosen = (key(review.id, f"{name} {review.version}") for name in ("place", "upload"))
    first = review.missing_documents[0] if review.missing_documents else review.document_names[0]
    st.selectbox(
        "Document",
        review.document_names,
        index=list(review.document_names).index(first),
        format_func=_shared.document,
        key=place,
        on_change="ignore",
    )
    st.file_uploader(
        "File",
        type=uploads.ACCEPTED,
        key=chosen,
        label_visibility="collapsed",
        on_change="ignore",
        max_upload_size=uploads.MOST_MIB,
    )
    actions.complain(key(review.id, _SHOWN))
    st.button(
        "Save the document",
        key=key(review.id, "attach"),
        on_click=lambda: _attaching(review, place, chosen).do(key(review.id, _SHOWN)),
    )


def _attaching(review: ClaimReview, place: str, chosen: str) -> Action:
    """Return the action that adds the chosen document; it is validated before the transaction that stores it."""
    sent, name = st.session_state.get(chosen), st.session_state[place]
    arriving = ReceivedFile(field=name, file_name=sent.name, content=sent.getvalue()) if sent else None

    @contextmanager
    def store(_: Values, __: Person) -> Iterator[Values]:
        if arriving is None:
            raise InvalidInput.for_field("file", "is required: choose one first")
        with files.store_files([arriving]) as (kept,):
            yield {STORED: kept}

    return changing(
        review,
        "document",
        lambda session, typed, by: lodging.attach_document(
            session, review.id, typed[STORED], person=by, version=review.version
        ),
        "The document is saved with the claim.",
        given=(name, arriving and arriving.sha256),
        around=store,
    )


def _chosen(review: ClaimReview, there: list[Document]) -> Document | None:
    if not there:
        return None
    named = {document.name: document for document in there}
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        name = st.segmented_control(
            "Document",
            list(named),
            default=there[0].name,
            required=True,
            format_func=_shared.document,
            key=key(review.id, _SHOWN),
            label_visibility="collapsed",
        )
        chosen = named.get(name or "", there[0])
        if not chosen.is_medical:
            st.link_button("Open in a new tab", f"/files/{chosen.code}", icon=":material/open_in_new:")
    return chosen


def _earlier(document: Document, version: Version) -> str:
    """Return an earlier version; a medical one names no address, as it opens for a reason alone."""
    name = words.plain(version.file_name)
    opened = name if document.is_medical else f"[{name}](/files/{version.code})"
    return f":material/history: Earlier: {opened}, {words.moment(version.at)}"


def _line(document: Document) -> str:
    name = words.plain(_shared.document(document.name))
    need = "required" if document.is_required else "not required"
    if document.is_missing:
        return f":red[:material/cancel:] **{name}** · {need}, :red[missing]"
    if document.code is None:
        where = words.plain(document.link)
        return f":orange[:material/link_off:] **{name}** · {need}, not among our files: {where}"
    size = f"{(document.size or 0) / 1024:,.0f} kB"
    return f":green[:material/check_circle:] **{name}** · {need} · :small[{words.plain(document.file_name)}, {size}]"


_PLACE: Final = "letters"
_REQUEST: Final = "documents"
# What tells the claimant of a decision, by the status that it led to: the letter, and what is in it.
_LETTERS: Final[Mapping[str, tuple[str, str]]] = {
    ClaimStatus.DECLINED: ("decline", "reason"),
    ClaimStatus.OFFER_SENT: ("offer", "discharge form"),
}


def draw_letters(review: ClaimReview) -> None:
    """Draw a button for each letter that can be written, why others cannot, and the letters so far."""
    with st.container(horizontal=True, gap="xsmall"):
        for kind in review.letters_possible:
            offer_letter(review, kind)
    if lacking := [(letters.KINDS[kind].title, why) for kind, why in review.letters_possible.items() if why]:
        st.caption(f":material/lock: {words.plain('; '.join(f'{title} needs {why}' for title, why in lacking))}.")
    draw_written(review)
    if not review.letters:
        st.caption("No letter was written yet. An admin can change the texts of the letters; the next letter has them.")


def offer_letter(review: ClaimReview, kind: str, *, place: str = "", label: str = "") -> None:
    """Draw the button that writes a letter, disabled with the reason while something is missing for it.

    `place` tells it from the one among all letters.
    """
    missing = review.letters_possible[kind]
    st.button(
        label or letters.KINDS[kind].title,
        key=key(review.id, f"letter {kind} {place}".rstrip()),
        icon=":material/mail:",
        disabled=missing is not None,
        help=f"Needs {missing}" if missing else None,
        on_click=_writing(review, kind).do,
        args=(key(review.id, _PLACE),),
    )


def draw_written(review: ClaimReview) -> None:
    """Draw the letters so far, each with the ways to send it."""
    actions.complain(key(review.id, _PLACE))
    for letter in review.letters:
        _letter_line(review, letter)


def _letter_line(review: ClaimReview, letter: KeptLetter, *, place: str = "") -> None:
    """Draw a letter with when and how it was sent, or the ways to send it."""
    title = f":material/description: [{words.plain(letter.title)}](/files/{letter.code}) · {words.moment(letter.at)}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if letter.is_sent:
            by = words.plain(letter.sent_by or "somebody who left")
            st.markdown(f"{title} :green-badge[{letter.way}, {words.moment(letter.sent_at)} by {by}]")
            return
        st.markdown(f"{title} :orange-badge[To be sent]")
        if review.is_live and review.owner_email and smtp.can_send():
            _send_button(review, letter, "Send by e-mail", None, place)
        with st.popover("Mark as sent", icon=":material/outgoing_mail:", type="tertiary"):
            for way in WAYS:
                _send_button(review, letter, way, way, place)


def _send_button(review: ClaimReview, letter: KeptLetter, label: str, way: str | None, place: str) -> None:
    st.button(
        label,
        key=key(review.id, f"sent {letter.code} {way or 'mail'} {place}".rstrip()),
        type="tertiary",
        on_click=_sending(review, letter.code, way).do,
        args=(key(review.id, _PLACE),),
    )


def _sending(review: ClaimReview, code: str, way: str | None) -> Action:
    """Return the action that notes a letter as sent, or sends its text by e-mail where no way is given."""

    def send(session: ScopedSession, _: Values, by: Person) -> None:
        if way is None:
            letters.send_by_mail(session, review.id, code, person=by)
        else:
            letters.mark_sent(session, review.id, code, way=way, person=by)

    by_mail = "The text of the letter goes to the claimant by e-mail."
    return adding(review, "send", send, "The letter is marked as sent." if way else by_mail, token=f"letter {code}")


def _writing(review: ClaimReview, kind: str) -> Action:
    @contextmanager
    def store(_: Values, by: Person) -> Iterator[Values]:
        scope = Scope.staff(is_live=review.is_live)
        letter = transact(scope, lambda session: letters.compose(session, review.id, kind, person=by))
        arriving = ReceivedFile(field=letter.field, file_name=f"{kind}.pdf", content=letter.content)
        with files.store_files([arriving]) as (kept,):
            yield {STORED: kept, "text": seal.keyed_hash("claim letter", letter.body)}

    return changing(
        review,
        "letter",
        lambda session, typed, by: letters.keep_letter(
            session, review.id, typed[STORED], kind=kind, person=by, version=review.version
        ),
        "The letter is in the file of the claim: print it, or send it.",
        given=kind,
        around=store,
    )
