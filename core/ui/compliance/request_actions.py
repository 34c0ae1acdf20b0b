"""Actions on a request about personal data, each in a dialog."""

from collections.abc import Sequence
from uuid import UUID

import streamlit as st

from core.errors import CoverdeskError
from core.services.compliance import erasures, requests
from core.services.compliance.request_forms import IDENTITIES, KINDS, REFUSALS
from core.services.compliance.requests import RequestRow
from core.ui.compliance.compliance_writes import made, submitted
from core.ui.kit import attempts, dialogs, words
from core.ui.kit.dialogs import Decision

_NEW = ("kind", "name", "email", "phone", "details", "received_on")
RECORDS = "records chosen"


def registering() -> Decision:
    """Return the dialog that registers a request."""

    def ask() -> None:
        dialogs.choice("kind", "What the person asks for", KINDS)
        dialogs.field("name", "Name", longest=200)
        dialogs.field("email", "E-mail", longest=254)
        dialogs.field("phone", "Phone", longest=32)
        dialogs.area("details", "In their words", longest=2_000)
        dialogs.day("received_on", "Received on, if not today")

    return Decision(
        title="Register a request",
        icon="contact_mail",
        says="Records with the same e-mail are found at once. The days to acknowledge and to answer begin to count.",
        asks=ask,
        confirm="Register it",
        act=submitted(
            _NEW, lambda session, typed, by: requests.register(session, typed, by=by), "The request is registered."
        ),
    )


def acknowledging(row: RequestRow) -> Decision:
    """Return the dialog that notes the acknowledgement."""
    return Decision(
        title="Acknowledge the request",
        icon="mark_email_read",
        says=f"**{words.plain(row.name)}** was told that {row.number} is being worked on.",
        confirm="Acknowledge it",
        act=lambda: made(
            lambda session, by: requests.acknowledge(session, row.id, version=row.version, by=by),
            f"{row.number} is acknowledged.",
        ),
    )


def identifying(row: RequestRow) -> Decision:
    """Return the dialog that notes how the identity was checked."""

    return Decision(
        title="Identity checked",
        icon="badge",
        says="Nothing is handed out and nothing erased before the person has proven who they are.",
        asks=lambda: dialogs.choice("method", "How it was checked", {each: each for each in IDENTITIES}),
        confirm="Note it",
        act=submitted(
            ("method",),
            lambda session, typed, by: requests.note_identity(
                session, row.id, method=typed["method"], version=row.version, by=by
            ),
            "The identity is noted.",
        ),
    )


def extending(row: RequestRow) -> Decision:
    """Return the dialog that takes more time."""

    return Decision(
        title="Take more time",
        icon="more_time",
        says="Once, and the person is told the reason.",
        asks=lambda: dialogs.field("reason", "Reason", longest=500),
        confirm="Extend it",
        act=submitted(
            ("reason",),
            lambda session, typed, by: requests.extend(
                session, row.id, reason=typed["reason"], version=row.version, by=by
            ),
            "The request has more time.",
        ),
    )


def answering(row: RequestRow) -> Decision:
    """Return the dialog that closes a request with its outcome."""

    return Decision(
        title="Answer the request",
        icon="task_alt",
        says="Write what was done and what the person was told.",
        asks=lambda: dialogs.area("outcome", "Outcome", longest=2_000),
        confirm="Close it",
        act=submitted(
            ("outcome",),
            lambda session, typed, by: requests.answer(
                session, row.id, outcome=typed["outcome"], version=row.version, by=by
            ),
            f"{row.number} is answered.",
        ),
    )


def refusing(row: RequestRow) -> Decision:
    """Return the dialog that refuses a request with a code."""

    def ask() -> None:
        dialogs.choice("refusal_code", "Code", REFUSALS)
        dialogs.area("outcome", "What the person is told", longest=2_000)

    return Decision(
        title="Refuse the request",
        icon="block",
        says="A refusal names its ground; the person may complain to the Commission.",
        asks=ask,
        confirm="Refuse it",
        act=submitted(
            (
                "refusal_code",
                "outcome",
            ),
            lambda session, typed, by: requests.refuse(
                session, row.id, code=typed["refusal_code"], outcome=typed["outcome"], version=row.version, by=by
            ),
            f"{row.number} is refused.",
        ),
    )


def erasing(row: RequestRow) -> Decision:
    """Return the dialog that prepares the erasure of the person."""

    def ask() -> None:
        dialogs.area("reason", "Reason", longest=500)
        st.checkbox("Erase before the end of the time that the law wants it kept", key=f"{dialogs.FIELD}early")

    def act() -> str:
        reason, early = dialogs.get_values("reason")["reason"], bool(st.session_state.get(f"{dialogs.FIELD}early"))
        return made(
            lambda session, by: erasures.prepare_for_request(session, row.id, reason=reason, early=early, by=by),
            "The erasure is prepared: somebody else of compliance carries it out.",
        )

    return Decision(
        title="Prepare the erasure",
        icon="auto_delete",
        says=f"Every record of **{words.plain(row.name)}**, at every distributor and in both modes, becomes one"
        " without a person. Sums stay as they are. Somebody else carries it out.",
        asks=ask,
        confirm="Prepare it",
        act=act,
    )


def choose(row: RequestRow, customers: Sequence[UUID]) -> None:
    """Name the ticked records as the person's; in a button's callback."""
    try:
        done = made(
            lambda session, by: requests.choose_records(session, row.id, customers, version=row.version, by=by),
            "The records of the person are noted.",
        )
    except CoverdeskError as error:
        attempts.refuse(RECORDS, str(error))
        return
    attempts.forget(RECORDS)
    dialogs.keep_message(done)
