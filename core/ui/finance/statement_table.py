"""The table of statements: a month of every party, prepared or still a draft."""

from core.services.finance.statements.overview import StatementSummary
from core.ui.lists import columns, held_rows
from core.ui.lists.tables import Table

STATEMENTS: Table[StatementSummary] = held_rows.sortable(
    Table(
        name="statements",
        noun=("account", "accounts"),
        opens="finance/statement.py",
        narrow=("party", "state", "closing"),
        key=lambda row: row.key,
        columns={
            "party": columns.text("Party", lambda row: row.name, 190),
            "account": columns.text("Account", lambda row: row.account_name, 110),
            "number": columns.text("Number", lambda row: row.number, 90),
            "state": columns.state("State", lambda row: row.state),
            "lines": columns.number("Lines", lambda row: row.lines),
            "opening": columns.naira("Opening", lambda row: row.opening_minor),
            "month": columns.naira("Of the month", lambda row: row.change_minor),
            "closing": columns.naira("Closing", lambda row: row.closing_minor),
        },
    ),
    usual="By account and party",
)
