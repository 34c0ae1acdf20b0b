"""The tables of the privacy desk."""

from core.services.compliance.breaches import BreachRow, Exposure
from core.services.compliance.complaints import CATEGORIES, ComplaintRow, InsurerLine
from core.services.compliance.erasures import ErasureRow
from core.services.compliance.figures import Figure
from core.services.compliance.filings import FilingRow, Licence
from core.services.compliance.request_forms import KINDS
from core.services.compliance.requests import RequestRow
from core.services.compliance.retention import CLASSES, Preview
from core.ui.kit import words
from core.ui.lists import columns, held_rows
from core.ui.lists.tables import Table

STATES = {
    "received": "Waiting",
    "acknowledged": "Acknowledged",
    "answered": "Answered",
    "refused": "Declined",
    "withdrawn": "Off",
    "open": "Proposed",
    "erased": "Erased",
    "due": "Planned",
    "prepared": "Prepared",
    "checked": "Checked",
    "sent": "Sent",
}


def days_left(days: int | None) -> str | None:
    """Return the days left in words: "3 days", "2 days late"; None when nothing is due."""
    if days is None:
        return None
    plural = "" if abs(days) == 1 else "s"
    return f"{-days} day{plural} late" if days < 0 else f"{days} day{plural}"


def _days_left(row: RequestRow | FilingRow | ComplaintRow) -> int | None:
    return row.days_left


REQUESTS: Table[RequestRow] = held_rows.sortable(
    Table(
        name="data_requests",
        noun=("request", "requests"),
        opens="compliance/request.py",
        narrow=("number", "kind", "state", "left"),
        columns={
            "number": columns.text("Number", lambda row: row.number, 120),
            "kind": columns.text("Asks for", lambda row: KINDS[row.kind], 130),
            "name": columns.text("Name", lambda row: row.name, 200),
            "state": columns.state("State", lambda row: STATES[row.state]),
            "received": columns.day("Received", lambda row: row.received_at),
            "due": columns.day("Answer by", lambda row: row.last_day),
            "left": columns.text("Left", lambda row: days_left(row.days_left), 110, right=True, sort_key=_days_left),
            "identity": columns.text("Identity", lambda row: "Checked" if row.identity_at else "Not yet", 90),
        },
    ),
    usual="Next due first",
)
PREVIEWS: Table[Preview] = Table(
    name="retention",
    noun=("class", "classes"),
    key=lambda row: row.record_class,
    columns={
        "label": columns.text("Records", lambda row: row.label, 280),
        "trigger": columns.text("Kept from", lambda row: row.trigger, 210),
        "period": columns.text("For", lambda row: row.period, 90),
        "count": columns.number("Due", lambda row: row.count),
        "oldest": columns.day("Oldest", lambda row: row.oldest_at),
    },
)
ERASURES: Table[ErasureRow] = held_rows.sortable(
    Table(
        name="erasures",
        noun=("erasure", "erasures"),
        opens="compliance/erasure.py",
        columns={
            "number": columns.text("Number", lambda row: row.number, 120),
            "class": columns.text("Of", lambda row: CLASSES[row.record_class][0], 240),
            "people": columns.number("Records of people", lambda row: len(row.customers)),
            "state": columns.state("State", lambda row: STATES[row.state]),
            "preparer": columns.text("Prepared by", lambda row: row.preparer, 150),
            "prepared": columns.moment("Prepared", lambda row: row.prepared_at),
            "decider": columns.text("Decided by", lambda row: row.decider, 150),
        },
    ),
    usual="Newest first",
)
BREACHES: Table[BreachRow] = held_rows.sortable(
    Table(
        name="breaches",
        noun=("breach", "breaches"),
        opens="compliance/breach.py",
        narrow=("number", "title", "state", "left"),
        columns={
            "number": columns.text("Number", lambda row: row.number, 120),
            "title": columns.text("What", lambda row: row.title, 320),
            "state": columns.state("State", lambda row: row.state),
            "known": columns.moment("Known since", lambda row: row.known_at),
            "left": columns.text(
                "Notify within",
                lambda row: None if row.hours_left is None else f"{row.hours_left} h",
                110,
                right=True,
                sort_key=lambda row: row.hours_left,
            ),
            "people": columns.number("People", lambda row: row.people),
        },
    ),
    usual="Newest first",
)
EXPOSURES: Table[Exposure] = Table(
    name="exposures",
    noun=("entry", "entries"),
    columns={
        "at": columns.moment("When", lambda row: row.at),
        "actor": columns.text("Who", lambda row: row.actor, 260),
        "action": columns.text("What", lambda row: words.title(row.action), 180),
        "subject": columns.text("Record", lambda row: row.subject, 360),
    },
)
CALENDAR: Table[FilingRow] = held_rows.sortable(
    Table(
        name="filings",
        noun=("return", "returns"),
        opens="compliance/filing.py",
        key=lambda row: row.key,
        narrow=("label", "due", "left", "state"),
        columns={
            "label": columns.text("Return", lambda row: row.label, 210),
            "period": columns.day("Period to", lambda row: row.period_ends_on),
            "due": columns.day("Due", lambda row: row.due_on),
            "left": columns.text("Left", lambda row: days_left(row.days_left), 110, right=True, sort_key=_days_left),
            "state": columns.state("State", lambda row: STATES[row.state]),
            "preparer": columns.text("Prepared by", lambda row: row.preparer, 140),
            "checker": columns.text("Checked by", lambda row: row.checker, 140),
            "reference": columns.text("Reference", lambda row: row.reference, 140),
        },
    ),
    usual="Next due first",
)
LICENCES: Table[Licence] = Table(
    name="licences",
    noun=("distributor", "distributors"),
    key=lambda row: row.distributor_id,
    columns={
        "distributor": columns.text("Distributor", lambda row: row.distributor, 260),
        "number": columns.text("Licence", lambda row: row.number, 180),
        "expires": columns.day("Until", lambda row: row.expires_on),
        "state": columns.state("State", lambda row: row.state),
    },
)
COMPLAINTS: Table[ComplaintRow] = held_rows.sortable(
    Table(
        name="complaints",
        noun=("complaint", "complaints"),
        opens="compliance/complaint.py",
        columns={
            "number": columns.text("Number", lambda row: row.number, 120),
            "category": columns.text("About", lambda row: CATEGORIES[row.category], 100),
            "insurer": columns.text("Insurer", lambda row: row.insurer, 190),
            "policy": columns.text("Policy", lambda row: row.policy_number, 170),
            "name": columns.text("Name", lambda row: row.name, 170),
            "received": columns.day("Received", lambda row: row.received_at),
            "left": columns.text(
                "Left", lambda row: days_left(row.days_left) or "Answered", 110, right=True, sort_key=_days_left
            ),
        },
    ),
    usual="Next due first",
)
INSURERS: Table[InsurerLine] = Table(
    name="complaints_of_insurers",
    noun=("insurer", "insurers"),
    columns={
        "insurer": columns.text("Insurer", lambda row: row.insurer, 260),
        "complaints": columns.number("Complaints, 12 months", lambda row: row.complaints),
        "delays": columns.number("Of them delay", lambda row: row.delays),
        "open": columns.number("Open", lambda row: row.open),
        "notice": columns.number("Premiums not notified in time", lambda row: row.notice_late),
        "placing": columns.number("Covers not placed in time", lambda row: row.placing_late),
    },
)
FIGURES: Table[Figure] = Table(
    name="figures",
    noun=("figure", "figures"),
    key=lambda row: f"{row.name} {row.effective_on}",
    columns={
        "label": columns.text("Figure", lambda row: row.label, 420),
        "amount": columns.number("Amount", lambda row: row.amount),
        "from": columns.day("From", lambda row: row.effective_on),
        "source": columns.text("Source", lambda row: row.source, 420),
    },
)
