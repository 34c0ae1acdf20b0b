"""The table of claims on the queue: its columns and sort orders."""

from datetime import date

from core.services.claims.intake.requirements import FLAG_DESCRIPTIONS
from core.services.claims.lists.queue import QueueRow
from core.services.claims.workflow.clock import STATUTORY_PERIOD, Clock
from core.ui.lists import columns
from core.ui.lists.columns import Column
from core.ui.lists.tables import Table


def days_left(clock: Clock) -> str:
    """Return the time left of the 60 days, in a few words."""
    if clock.is_decided:
        return "Decided"
    days = abs(clock.days_left)
    number = f"{days} {'day' if days == 1 else 'days'}"
    if clock.is_overdue:
        over = f"{number} over" if days else "Just over"
        return f"Paused, {over}" if clock.is_waiting else over
    return f"Paused, {days} left" if clock.is_waiting else number


def colour_of(clock: Clock) -> str:
    """Return the colour of the days left: red once they are over."""
    return "red" if clock.is_overdue and not clock.is_decided else ""


def _happened(row: QueueRow) -> date | None:
    try:
        return date.fromisoformat(row.incident_on or "")
    except ValueError:
        return None


def _signals(row: QueueRow) -> str | None:
    return f"{len(row.fraud_flags)} ⚑" if row.fraud_flags else None


CLAIMS: Table[QueueRow] = Table(
    name="claims",
    noun=("claim", "claims"),
    opens="claims/claim.py",
    orders={
        "urgent": "Most urgent first",
        "relaxed": "Most days left first",
        "newest": "Newest first",
        "oldest": "Oldest first",
        "largest": "Largest claim first",
        "smallest": "Smallest claim first",
        "highest-offer": "Highest offer first",
        "lowest-offer": "Lowest offer first",
        "claimant": "Claimants from A to Z",
        "claimant-back": "Claimants from Z to A",
    },
    narrow=("claimant", "status", "left", "claimed"),
    columns={
        "claimant": columns.text("Claimant", lambda row: row.claimant, 160, sorts=("claimant", "claimant-back")),
        "left": Column(
            "Days left",
            lambda row: days_left(row.clock),
            says=f"Of the {STATUTORY_PERIOD.days} days from lodging to Paid or Declined. They stand still while the"
            " claimant has to act",
            sorts=("urgent", "relaxed"),
            colour=lambda row: colour_of(row.clock),
        ),
        "status": columns.state("Status", lambda row: row.status),
        "incident": columns.text("Incident", lambda row: row.incident, 115),
        "claimed": columns.naira(
            "Claimed",
            lambda row: row.claimed_minor or None,
            says="Set when the review begins; until then nothing",
            sorts=("smallest", "largest"),
        ),
        "signals": columns.text("Signals", _signals, says="What an officer should look twice at", right=True),
        "officer": columns.text("Assigned to", lambda row: row.officer or "Nobody", 110),
        "policy": columns.text("Policy number", lambda row: row.policy_number, 170, usual=False),
        "type": columns.text("Type", lambda row: row.claim_type, 85, usual=False),
        "lodged": columns.day("Lodged", lambda row: row.lodged_at, usual=False, sorts=("oldest", "newest")),
        "age": columns.number("Age, days", lambda row: row.clock.age_days, usual=False, sorts=("newest", "oldest")),
        "reference": columns.text("Reference", lambda row: row.reference, 100),
        "happened": columns.day("Incident on", _happened, usual=False),
        "email": columns.text("E-mail", lambda row: row.email, 190, usual=False),
        "phone": columns.text("Phone", lambda row: row.phone, 130, usual=False),
        "offered": columns.naira(
            "Offered",
            lambda row: row.offered_minor or None,
            usual=False,
            sorts=("lowest-offer", "highest-offer"),
        ),
        "reserve": columns.naira(
            "Outstanding",
            lambda row: row.outstanding_minor or None,
            says="The reserve: what is expected to be paid still",
            usual=False,
        ),
        "why": columns.text(
            "What to look at",
            lambda row: "; ".join(FLAG_DESCRIPTIONS[name] for name in row.fraud_flags),
            260,
            usual=False,
        ),
    },
)
