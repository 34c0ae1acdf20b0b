"""Changes of the registers of breaches, complaints, returns and figures, each in a dialog."""

from datetime import date
from uuid import UUID

from core.services.compliance import breaches, complaints, figures, filings
from core.services.compliance.breaches import RISKS, BreachRow
from core.services.compliance.complaints import CATEGORIES, ComplaintRow
from core.services.compliance.filings import FilingRow
from core.ui.compliance.compliance_writes import made, submitted
from core.ui.kit import dialogs
from core.ui.kit.dialogs import Decision

_BREACH = ("title", "description", "actor", "known_on", "since_on", "until_on")
_RISK = ("risk", "risk_reason", "people")
_COMPLAINT = ("category", "name", "contact", "policy_number", "text")
_FIGURE = ("name", "amount", "effective_on", "source")


def registering_breach() -> Decision:
    """Return the dialog that registers a breach."""

    def ask() -> None:
        dialogs.field("title", "What happened, in a line", longest=120)
        dialogs.area("description", "What is known", longest=4_000)
        dialogs.field("actor", "Actor of the audit log, if one is suspected (staff name@…)", longest=120)
        dialogs.day("known_on", "Known since")
        dialogs.day("since_on", "From")
        dialogs.day("until_on", "To")

    return Decision(
        title="Register a breach",
        icon="gpp_bad",
        says="The clock to the Commission runs from the day on which it was known.",
        asks=ask,
        confirm="Register it",
        act=submitted(
            _BREACH, lambda session, typed, by: breaches.register(session, typed, by=by), "The breach is registered."
        ),
    )


def judging(row: BreachRow) -> Decision:
    """Return the dialog that decides the risk."""

    def ask() -> None:
        dialogs.choice("risk", "Risk to people", RISKS)
        dialogs.area("risk_reason", "Why", longest=2_000)
        dialogs.field("people", "People concerned", longest=9)

    return Decision(
        title="Judge the risk",
        icon="balance",
        says="Who judges it does not close it.",
        asks=ask,
        confirm="Decide",
        act=submitted(
            _RISK,
            lambda session, typed, by: breaches.judge(session, row.id, typed, version=row.version, by=by),
            "The risk is decided.",
        ),
    )


def notifying(row: BreachRow) -> Decision:
    """Return the dialog that notes the notice to the Commission."""

    return Decision(
        title="The Commission was notified",
        icon="outgoing_mail",
        says="Its reference proves when.",
        asks=lambda: dialogs.field("reference", "Reference", longest=60),
        confirm="Note it",
        act=submitted(
            ("reference",),
            lambda session, typed, by: breaches.note_commission(
                session, row.id, reference=typed["reference"], version=row.version, by=by
            ),
            "The notice is noted.",
        ),
    )


def telling(row: BreachRow) -> Decision:
    """Return the dialog that notes that people were told."""
    return Decision(
        title="The people were told",
        icon="campaign",
        says="Everybody concerned was told what happened and what they can do.",
        confirm="Note it",
        act=lambda: made(
            lambda session, by: breaches.note_people(session, row.id, version=row.version, by=by), "It is noted."
        ),
    )


def closing(row: BreachRow) -> Decision:
    """Return the dialog that closes a breach."""
    return Decision(
        title="Close the breach",
        icon="task_alt",
        says="Somebody else judged it, and everybody was told who has to know.",
        confirm="Close it",
        act=lambda: made(
            lambda session, by: breaches.close(session, row.id, version=row.version, by=by), f"{row.number} is closed."
        ),
    )


def registering_complaint() -> Decision:
    """Return the dialog that registers a complaint."""

    def ask() -> None:
        dialogs.choice("category", "About", CATEGORIES)
        dialogs.field("name", "Name", longest=200)
        dialogs.field("contact", "E-mail or phone", longest=254)
        dialogs.field("policy_number", "Policy number, if there is one", longest=60)
        dialogs.area("text", "In their words", longest=4_000)

    return Decision(
        title="Register a complaint",
        icon="feedback",
        says="The policy names the insurer that it is counted for.",
        asks=ask,
        confirm="Register it",
        act=submitted(
            _COMPLAINT,
            lambda session, typed, by: complaints.register(session, typed, by=by),
            "The complaint is registered.",
        ),
    )


def answering_complaint(row: ComplaintRow) -> Decision:
    """Return the dialog that answers a complaint."""

    return Decision(
        title="Answer the complaint",
        icon="task_alt",
        says="Write what was found and what the person was told.",
        asks=lambda: dialogs.area("outcome", "Answer", longest=4_000),
        confirm="Close it",
        act=submitted(
            ("outcome",),
            lambda session, typed, by: complaints.answer(session, row.id, outcome=typed["outcome"], by=by),
            f"{row.number} is answered.",
        ),
    )


def preparing_return(kind: str, ends_on: date) -> Decision:
    """Return the dialog that notes a return as prepared."""
    return Decision(
        title="The return is prepared",
        icon="draw",
        says="Somebody else checks it.",
        confirm="Note it",
        act=lambda: made(
            lambda session, by: filings.prepare(session, kind, ends_on, by=by), "The return is noted as prepared."
        ),
    )


def checking_return(filing_id: UUID) -> Decision:
    """Return the dialog that notes a return as checked."""
    return Decision(
        title="The return was checked",
        icon="fact_check",
        says="You have compared it with the books.",
        confirm="Note it",
        act=lambda: made(
            lambda session, by: filings.check(session, filing_id, by=by), "The return is noted as checked."
        ),
    )


def sending_return(row: FilingRow, filing_id: UUID) -> Decision:
    """Return the dialog that notes a return as sent."""

    return Decision(
        title=f"{row.label} was sent",
        icon="outgoing_mail",
        says="The authority's reference proves it.",
        asks=lambda: dialogs.field("reference", "Reference", longest=60),
        confirm="Note it",
        act=submitted(
            ("reference",),
            lambda session, typed, by: filings.send(session, filing_id, reference=typed["reference"], by=by),
            "The return is noted as sent.",
        ),
    )


def setting_figure() -> Decision:
    """Return the dialog that sets a figure from a day on."""

    def ask() -> None:
        dialogs.choice("name", "Figure", figures.LABELS)
        dialogs.field("amount", "Amount", longest=4)
        dialogs.day("effective_on", "From (tomorrow or later)")
        dialogs.field("source", "Source", longest=300)

    return Decision(
        title="Set a figure",
        icon="tune",
        says="It holds from its day on; what held before stays on record.",
        asks=ask,
        confirm="Set it",
        act=submitted(
            _FIGURE, lambda session, typed, by: figures.set_figure(session, typed, by=by), "The figure is set."
        ),
    )
