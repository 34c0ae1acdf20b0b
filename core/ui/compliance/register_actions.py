"""Changes of the registers of breaches, complaints, returns and figures, each in a dialog."""

from datetime import date
from uuid import UUID

from core.services.compliance import breaches, complaints, figures, filings
from core.services.compliance.breaches import RISKS, BreachRow
from core.services.compliance.complaints import CATEGORIES, ComplaintRow
from core.services.compliance.filings import FilingRow
from core.ui.compliance.desk import action
from core.ui.kit.actions import Action, Choice, Day, Text


def registering_breach() -> Action:
    """Return the dialog that registers a breach."""
    return action(
        title="Register a breach",
        icon="gpp_bad",
        says="The clock to the Commission runs from the day on which it was known.",
        confirm="Register it",
        fields=[
            Text("title", "What happened, in a line", longest=120),
            Text("description", "What is known", longest=4_000, is_long=True),
            Text("actor", "Actor of the audit log, if one is suspected (staff name@…)", longest=120),
            Day("known_on", "Known since"),
            Day("since_on", "From"),
            Day("until_on", "To"),
        ],
        work=lambda session, typed, by: breaches.register(session, typed, by=by),
        done="The breach is registered.",
    )


def judging(row: BreachRow) -> Action:
    """Return the dialog that decides the risk."""
    return action(
        title="Judge the risk",
        icon="balance",
        says="Who judges it does not close it.",
        confirm="Decide",
        fields=[
            Choice("risk", "Risk to people", options=RISKS),
            Text("risk_reason", "Why", longest=2_000, is_long=True),
            Text("people", "People concerned", longest=9),
        ],
        work=lambda session, typed, by: breaches.judge(session, row.id, typed, version=row.version, by=by),
        done="The risk is decided.",
    )


def notifying(row: BreachRow) -> Action:
    """Return the dialog that notes the notice to the Commission."""
    return action(
        title="The Commission was notified",
        icon="outgoing_mail",
        says="Its reference proves when.",
        confirm="Note it",
        fields=[Text("reference", "Reference", longest=60)],
        work=lambda session, typed, by: breaches.note_commission(
            session, row.id, reference=typed["reference"], version=row.version, by=by
        ),
        done="The notice is noted.",
    )


def telling(row: BreachRow) -> Action:
    """Return the dialog that notes that people were told."""
    return action(
        title="The people were told",
        icon="campaign",
        says="Everybody concerned was told what happened and what they can do.",
        confirm="Note it",
        work=lambda session, _, by: breaches.note_people(session, row.id, version=row.version, by=by),
        done="It is noted.",
    )


def closing(row: BreachRow) -> Action:
    """Return the dialog that closes a breach."""
    return action(
        title="Close the breach",
        icon="task_alt",
        says="Somebody else judged it, and everybody was told who has to know.",
        confirm="Close it",
        work=lambda session, _, by: breaches.close(session, row.id, version=row.version, by=by),
        done=f"{row.number} is closed.",
    )


def registering_complaint() -> Action:
    """Return the dialog that registers a complaint."""
    return action(
        title="Register a complaint",
        icon="feedback",
        says="The policy names the insurer that it is counted for.",
        confirm="Register it",
        fields=[
            Choice("category", "About", options=CATEGORIES),
            Text("name", "Name", longest=200),
            Text("contact", "E-mail or phone", longest=254),
            Text("policy_number", "Policy number, if there is one", longest=60),
            Text("text", "In their words", longest=4_000, is_long=True),
        ],
        work=lambda session, typed, by: complaints.register(session, typed, by=by),
        done="The complaint is registered.",
    )


def answering_complaint(row: ComplaintRow) -> Action:
    """Return the dialog that answers a complaint."""
    return action(
        title="Answer the complaint",
        icon="task_alt",
        says="Write what was found and what the person was told.",
        confirm="Close it",
        fields=[Text("outcome", "Answer", longest=4_000, is_long=True)],
        work=lambda session, typed, by: complaints.answer(session, row.id, outcome=typed["outcome"], by=by),
        done=f"{row.number} is answered.",
    )


def preparing_return(kind: str, ends_on: date) -> Action:
    """Return the dialog that notes a return as prepared."""
    return action(
        title="The return is prepared",
        icon="draw",
        says="Somebody else checks it.",
        confirm="Note it",
        work=lambda session, _, by: filings.prepare(session, kind, ends_on, by=by),
        done="The return is noted as prepared.",
    )


def checking_return(filing_id: UUID) -> Action:
    """Return the dialog that notes a return as checked."""
    return action(
        title="The return was checked",
        icon="fact_check",
        says="You have compared it with the books.",
        confirm="Note it",
        work=lambda session, _, by: filings.check(session, filing_id, by=by),
        done="The return is noted as checked.",
    )


def sending_return(row: FilingRow, filing_id: UUID) -> Action:
    """Return the dialog that notes a return as sent."""
    return action(
        title=f"{row.label} was sent",
        icon="outgoing_mail",
        says="The authority's reference proves it.",
        confirm="Note it",
        fields=[Text("reference", "Reference", longest=60)],
        work=lambda session, typed, by: filings.send(session, filing_id, reference=typed["reference"], by=by),
        done="The return is noted as sent.",
    )


def setting_figure() -> Action:
    """Return the dialog that sets a figure from a day on."""
    return action(
        title="Set a figure",
        icon="tune",
        says="It holds from its day on; what held before stays on record.",
        confirm="Set it",
        fields=[
            Choice("name", "Figure", options=figures.LABELS),
            Text("amount", "Amount", longest=4),
            Day("effective_on", "From (tomorrow or later)"),
            Text("source", "Source", longest=300),
        ],
        work=lambda session, typed, by: figures.set_figure(session, typed, by=by),
        done="The figure is set.",
    )
