"""The tables of payments, payout batches, and of what is due with each party."""

from core.services.finance.payments.allocation import Balance
from core.services.finance.payments.reading import BatchRow, PaymentRow
from core.services.finance.tax_schedules import TaxLine
from core.ui.lists import columns, held_rows
from core.ui.lists.tables import Table

ACCOUNTS = {"distributor": "Distributor", "provider": "Insurer"}
PAYMENTS: Table[PaymentRow] = Table(
    name="payments",
    noun=("payment", "payments"),
    opens="finance/payment.py",
    orders={
        "newest": "Newest first",
        "oldest": "Oldest first",
        "largest": "Largest amount first",
        "smallest": "Smallest amount first",
    },
    narrow=("party", "state", "net", "prepared"),
    columns={
        "party": columns.text("Party", lambda row: row.name, 190),
        "direction": columns.text("Direction", lambda row: row.direction_name, 90),
        "state": columns.state("State", lambda row: row.state),
        "statement": columns.text("Settles up to", lambda row: row.statement, 110),
        "batch": columns.text("Payout", lambda row: row.batch, 90),
        "gross": columns.naira("Gross", lambda row: row.gross_minor, usual=False),
        "vat": columns.naira("VAT", lambda row: row.vat_minor, usual=False),
        "withheld": columns.naira("Withholding tax", lambda row: row.withheld_minor, usual=False),
        "net": columns.naira("Paid", lambda row: row.net_minor, sorts=("smallest", "largest")),
        "reference": columns.text("Bank reference", lambda row: row.bank_reference, 130),
        "value": columns.day("Value date", lambda row: row.value_on),
        "prepared": columns.day("Prepared", lambda row: row.prepared_at, sorts=("oldest", "newest")),
    },
)
PAYOUTS: Table[BatchRow] = held_rows.sortable(
    Table(
        name="payouts",
        noun=("payout", "payouts"),
        opens="finance/payout.py",
        narrow=("number", "state", "net"),
        columns={
            "number": columns.text("Number", lambda row: row.number, 90),
            "state": columns.state("State", lambda row: row.progress),
            "payments": columns.number("Payments", lambda row: row.payments),
            "answered": columns.number("Answered by the bank", lambda row: row.answered),
            "net": columns.naira("Paid out", lambda row: row.net_minor),
            "preparer": columns.text("Prepared by", lambda row: row.preparer, 150),
            "approver": columns.text("Approved by", lambda row: row.approver, 150),
            "prepared": columns.moment("Prepared", lambda row: row.prepared_at),
        },
    ),
    usual="Newest first",
)
OF_BATCH: Table[PaymentRow] = held_rows.sortable(
    Table(
        name="of_batch",
        noun=("payment", "payments"),
        opens="finance/payment.py",
        narrow=("party", "state", "net"),
        columns={
            name: PAYMENTS.columns[name]
            for name in ("party", "state", "statement", "gross", "vat", "withheld", "net", "reference")
        },
    ),
    usual="As in the bank file",
)
DUE: Table[tuple[Balance, str | None]] = held_rows.sortable(
    Table(
        name="due_balances",
        noun=("balance", "balances"),
        opens="finance/statement.py",
        narrow=("party", "due", "says"),
        key=lambda row: row[0].newest.statement_id if row[0].newest else "",
        columns={
            "party": columns.text("Party", lambda row: row[0].name, 190),
            "account": columns.text("Account", lambda row: ACCOUNTS[row[0].party.account], 110),
            "statement": columns.text(
                "Newest statement", lambda row: row[0].newest.number if row[0].newest else None, 120
            ),
            "since": columns.text(
                "Due since",
                lambda row: f"{row[0].oldest_month:%b %Y}" if row[0].oldest_month else None,
                sort_key=lambda row: row[0].oldest_month,
            ),
            "due": columns.naira("Due", lambda row: row[0].amount_minor, says="Positive is owed by the platform"),
            "says": columns.text("Can be paid out", lambda row: row[1] or "Yes", 320),
        },
    ),
    usual="By account and party",
)
TAXES: Table[TaxLine] = Table(
    name="taxes",
    noun=("payee", "payees with base, rate and tax"),
    key=lambda row: f"{row.statement} {row.payee}",
    narrow=("payee", "rate", "tax"),
    columns={
        "payee": columns.text("Payee", lambda row: row.payee, 230),
        "tin": columns.text("Tax number", lambda row: row.tax_number, 150),
        "statement": columns.text("Statement", lambda row: row.statement, 110),
        "base": columns.naira("Base", lambda row: row.base_minor),
        "rate": columns.text("Rate", lambda row: f"{row.rate_bp / 100:.2f} %", 90, right=True),
        "tax": columns.naira("Tax", lambda row: row.tax_minor),
    },
)
