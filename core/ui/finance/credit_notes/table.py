"""The table of credit notes."""

from core.services.finance.credit_notes.reading import CreditNoteRow
from core.ui.lists import columns
from core.ui.lists.tables import Table

CREDIT_NOTES: Table[CreditNoteRow] = Table(
    name="credit_notes",
    noun=("credit note", "credit notes"),
    opens="finance/credit_note.py",
    orders={
        "newest": "Newest first",
        "oldest": "Oldest first",
        "largest": "Most given back first",
        "smallest": "Least given back first",
    },
    narrow=("number", "provider", "state", "back"),
    columns={
        "number": columns.text("Number", lambda row: row.number, 90),
        "made": columns.moment("Made", lambda row: row.created_at, sorts=("oldest", "newest")),
        "provider": columns.text("Insurer", lambda row: row.provider, 170),
        "policy": columns.text("Policy", lambda row: row.policy_number, 170),
        "customer": columns.text("Customer", lambda row: row.customer, 160),
        "back": columns.naira("Given back", lambda row: row.total_minor, sorts=("smallest", "largest")),
        "insurer": columns.naira("Insurer's share", lambda row: row.parts.provider_share_minor, usual=False),
        "platform": columns.naira("Platform", lambda row: row.parts.mca_profit_minor, usual=False),
        "seller": columns.naira("Distributor's", lambda row: row.parts.distributor_profit_minor, usual=False),
        "state": columns.state("State", lambda row: row.state),
        "age": columns.number("Days", lambda row: row.age_days),
        "distributor": columns.text("Distributor", lambda row: row.distributor, 160, usual=False),
        "reference": columns.text("Bank reference", lambda row: row.reference, 150, usual=False),
    },
)
