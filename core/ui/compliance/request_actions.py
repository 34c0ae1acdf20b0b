"""Actions on a request about personal data, each in a dialog."""

from collections.abc import Sequence
from uuid import UUID

from core.services.compliance import erasures, requests
from core.services.compliance.request_forms import IDENTITIES, KINDS, REFUSALS
from core.services.compliance.requests import RequestRow
from core.ui.compliance.desk import action
from core.ui.kit import words
from core.ui.kit.actions import Action, Choice, Day, Text, Tick


def registering() -> Action:
    """Return the dialog that registers a request."""
    return action(
        title="Register a request",
        icon="contact_mail",
        says="Records with the same e-mail are found at once. The days to acknowledge and to answer begin to count.",
        confirm="Register it",
        fields=[
            Choice("kind", "What the person asks for", options=KINDS),
            Text("name", "Name", longest=200),
            Text("email", "E-mail", longest=254),
            Text("phone", "Phone", longest=32),
            Text("details", "In their words", longest=2_000, is_long=True),
            Day("received_on", "Received on, if not today"),
        ],
        work=lambda session, typed, by: requests.register(session, typed, by=by),
        done="The request is registered.",
    )


def acknowledging(row: RequestRow) -> Action:
    """Return the dialog that notes the acknowledgement."""
    return action(
        title="Acknowledge the request",
        icon="mark_email_read",
        says=f"**{words.plain(row.name)}** was told that {row.number} is being worked on.",
        confirm="Acknowledge it",
        work=lambda session, _, by: requests.acknowledge(session, row.id, version=row.version, by=by),
        done=f"{row.number} is acknowledged.",
    )


def identifying(row: RequestRow) -> Action:
    """Return the dialog that notes how the identity was checked."""
    return action(
        title="Identity checked",
        icon="badge",
        says="Nothing is handed out and nothing erased before the person has proven who they are.",
        confirm="Note it",
        fields=[Choice("method", "How it was checked", options={each: each for each in IDENTITIES})],
        work=lambda session, typed, by: requests.note_identity(
            session, row.id, method=typed["method"], version=row.version, by=by
        ),
        done="The identity is noted.",
    )


def extending(row: RequestRow) -> Action:
    """Return the dialog that takes more time."""
    return action(
        title="Take more time",
        icon="more_time",
        says="Once, and the person is told the reason.",
        confirm="Extend it",
        fields=[Text("reason", "Reason", longest=500)],
        work=lambda session, typed, by: requests.extend(
            session, row.id, reason=typed["reason"], version=row.version, by=by
        ),
        done="The request has more time.",
    )


def answering(row: RequestRow) -> Action:
    """Return the dialog that closes a request with its outcome."""
    return action(
        title="Answer the request",
        icon="task_alt",
        says="Write what was done and what the person was told.",
        confirm="Close it",
        fields=[Text("outcome", "Outcome", longest=2_000, is_long=True)],
        work=lambda session, typed, by: requests.answer(
            session, row.id, outcome=typed["outcome"], version=row.version, by=by
        ),
        done=f"{row.number} is answered.",
    )


def refusing(row: RequestRow) -> Action:
    """Return the dialog that refuses a request with a code."""
    return action(
        title="Refuse the request",
        icon="block",
        says="A refusal names its ground; the person may complain to the Commission.",
        confirm="Refuse it",
        fields=[
            Choice("refusal_code", "Code", options=REFUSALS),
            Text("outcome", "What the person is told", longest=2_000, is_long=True),
        ],
        work=lambda session, typed, by: requests.refuse(
            session, row.id, code=typed["refusal_code"], outcome=typed["outcome"], version=row.version, by=by
        ),
        done=f"{row.number} is refused.",
    )


def erasing(row: RequestRow) -> Action:
    """Return the dialog that prepares the erasure of the person."""
    return action(
        title="Prepare the erasure",
        icon="auto_delete",
        says=f"Every record of **{words.plain(row.name)}**, at every distributor and in both modes, becomes one"
        " without a person. Sums stay as they are. Somebody else carries it out.",
        fields=[
            Text("reason", "Reason", longest=500, is_long=True),
            Tick("early", "Erase before the end of the time that the law wants it kept"),
        ],
        confirm="Prepare it",
        work=lambda session, typed, by: erasures.prepare_for_request(session, row.id, **typed, by=by),
        done="The erasure is prepared: somebody else of compliance carries it out.",
    )


def choosing(row: RequestRow, customers: Sequence[UUID]) -> Action:
    """Return the action that names the ticked records as the person's."""
    return action(
        title="Keep this choice",
        icon="save",
        work=lambda session, _, by: requests.choose_records(session, row.id, customers, version=row.version, by=by),
        done="The records of the person are noted.",
    )
