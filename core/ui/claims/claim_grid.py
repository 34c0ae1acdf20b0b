"""The table of claims on the queue: its columns and its orders."""

from datetime import date
from typing import Any

from streamlit import column_config as cc

from core.services.claims.claim_clock import ALLOWED, Clock
from core.services.claims.claim_queue import QueueRow
from core.services.claims.claim_rules import CLAIM_STATUSES, FLAGS
from core.ui import tables, words
from core.ui.tables import Column, Table


def days_left(clock: Clock) -> str:
    """What is left of the 60 days, in a few words."""
    if clock.is_decided:
        return "Decided"
    if clock.is_overdue:
        over = f"{-clock.days_left} over" if clock.days_left else "Just over"
        return f"{over}, stands still" if clock.is_waiting else f"{over} ⚠"
    return f"{clock.days_left}, stands still" if clock.is_waiting else str(clock.days_left)


def _status() -> Column[QueueRow]:
    colours: Any = [words.colour(status) for status in CLAIM_STATUSES]
    config = cc.MultiselectColumn("Status", options=CLAIM_STATUSES, color=colours, width=174)
    return Column("Status", lambda row: [row.status], config)


def _happened(row: QueueRow) -> date | None:
    try:
        return date.fromisoformat(row.incident_on or "")
    except ValueError:
        return None


def _signals(row: QueueRow) -> int | None:
    return len(row.signals) or None


CLAIMS: Table[QueueRow] = Table(
    name="claims",
    noun=("claim", "claims"),
    opens="claims/claim.py",
    orders={
        "urgent": "Most urgent first",
        "newest": "Newest first",
        "oldest": "Oldest first",
        "largest": "Largest claim first",
    },
    columns={
        "left": Column(
            "Days left",
            lambda row: days_left(row.clock),
            cc.TextColumn(
                "Days left",
                width=90,
                help=f"Of the {ALLOWED.days} days from lodging to Paid or Declined. They stand still while the claimant"
                " has to act.",
            ),
        ),
        "status": _status(),
        "claimant": tables.text("Claimant", lambda row: row.claimant, 110),
        "incident": tables.text("Incident", lambda row: row.incident, 115),
        "claimed": tables.naira(
            "Claimed", lambda row: row.claimed_minor or None, says="Set when the review begins; until then nothing."
        ),
        "signals": Column(
            "Signals",
            _signals,
            cc.NumberColumn("Signals", format="%d ⚑", width=62, help="What an officer should look twice at."),
        ),
        "officer": tables.text("Assigned to", lambda row: row.officer or "Nobody", 110),
        "policy": tables.text("Policy number", lambda row: row.policy_number, 170, usual=False),
        "type": tables.text("Type", lambda row: row.claim_type, 85, usual=False),
        "lodged": tables.day("Lodged", lambda row: row.lodged_at, usual=False),
        "age": tables.number("Age, days", lambda row: row.clock.age_days, 75, usual=False),
        "reference": tables.text("Reference", lambda row: row.reference, 100),
        "happened": Column("Incident on", _happened, cc.DateColumn("Incident on", format="D MMM YYYY"), usual=False),
        "email": tables.text("E-mail", lambda row: row.email, 190, usual=False),
        "phone": tables.text("Phone", lambda row: row.phone, 130, usual=False),
        "offered": tables.naira("Offered", lambda row: row.offered_minor or None, usual=False),
        "why": tables.text("What to look at", lambda row: "; ".join(FLAGS[name] for name in row.signals), usual=False),
    },
)
