"""The table of bordereaux: a month of every insurer, issued or still a draft."""

from core.services.finance.bordereaux.overview import BordereauSummary
from core.ui.kit import words
from core.ui.lists import columns, held_rows
from core.ui.lists.tables import Table


def _due(row: BordereauSummary) -> str:
    if not row.is_overdue:
        return words.day(row.due_on)
    return f"{words.day(row.due_on)}, overdue: {'send it' if row.bordereau_id else 'issue it'}"


BORDEREAUX: Table[BordereauSummary] = held_rows.sortable(
    Table(
        name="bordereaux",
        noun=("bordereau", "bordereaux"),
        opens="finance/bordereau.py",
        narrow=("party", "kind", "state", "main"),
        key=lambda row: row.key,
        columns={
            "party": columns.text("Insurer", lambda row: row.party, 190),
            "kind": columns.text("Kind", lambda row: row.kind_name, 90),
            "number": columns.text("Number", lambda row: row.number, 90),
            "state": columns.state("State", lambda row: row.state),
            "rows": columns.number("Rows", lambda row: row.rows),
            "main": columns.naira("Gross premium, or incurred", lambda row: row.main_minor),
            "due": columns.text(
                "Due",
                _due,
                190,
                sort_key=lambda row: row.due_on,
            ),
        },
    ),
    usual="By insurer and kind",
)
