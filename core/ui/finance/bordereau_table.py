"""The table of bordereaux: a month of every insurer, issued or still a draft."""

from core.services.finance.bordereaux.overview import BordereauSummary
from core.ui.kit import words
from core.ui.lists import columns, held_rows
from core.ui.lists.tables import Table

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
                lambda row: f"{words.day(row.due_on)}{', overdue' if row.is_overdue else ''}",
                170,
                sort_key=lambda row: row.due_on,
            ),
        },
    ),
    usual="By insurer and kind",
)
