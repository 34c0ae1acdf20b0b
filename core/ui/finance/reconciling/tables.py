"""The tables of reconciliations and of the differences of one."""

from core.services.finance.reconciling.reading import DifferenceRow, ReconciliationRow
from core.ui.lists import columns, held_rows
from core.ui.lists.tables import Table

RECONCILIATIONS: Table[ReconciliationRow] = held_rows.sortable(
    Table(
        name="reconciliations",
        noun=("reconciliation", "reconciliations"),
        opens="finance/reconciliation.py",
        narrow=("party", "month", "verdict"),
        columns={
            "party": columns.text("Party", lambda row: row.party, 190),
            "month": columns.text("Month", lambda row: f"{row.month:%b %Y}", 90, sort_key=lambda row: row.month),
            "file": columns.text("File", lambda row: row.file_name, 180),
            "rows": columns.number("Their rows", lambda row: row.theirs_rows),
            "matched": columns.number("Matched", lambda row: row.matched_rows),
            "verdict": columns.text("Differences", lambda row: row.verdict, 150),
            "difference": columns.naira("Ours less theirs", lambda row: row.ours_minor - row.theirs_minor),
            "made": columns.moment("Made", lambda row: row.made_at),
        },
    ),
    usual="Newest first",
)
DIFFERENCES: Table[DifferenceRow] = Table(
    name="differences",
    noun=("difference", "differences"),
    opens="finance/difference.py",
    narrow=("number", "result", "difference", "state"),
    columns={
        "number": columns.text("Policy or reference", lambda row: row.policy_number, 200),
        "transaction": columns.text("Transaction", lambda row: row.kind, 100),
        "result": columns.text("Result", lambda row: row.result, 130),
        "ours": columns.naira("Ours", lambda row: row.ours_minor),
        "theirs": columns.naira("Theirs", lambda row: row.theirs_minor),
        "difference": columns.naira("Difference", lambda row: row.difference_minor),
        "state": columns.state("State", lambda row: row.state),
        "owner": columns.text("Owner", lambda row: row.owner, 120),
        "age": columns.number("Days old", lambda row: row.age_days),
    },
)
