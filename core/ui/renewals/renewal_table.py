"""The tables of renewals: those written, and the policies that are due."""

from dataclasses import replace

from core.services.renewals.due import DueRow
from core.services.renewals.records import RenewalRow
from core.ui.kit import words
from core.ui.lists import columns
from core.ui.lists.columns import Column
from core.ui.lists.tables import Table
from core.ui.sales.sales_table import BY_TIME, BY_TIME_OR_AMOUNT, THROUGH_WHOM, WHOSE


def _next_premium(row: DueRow) -> str | None:
    return words.naira(row.next_minor) if row.refusal is None else words.format_dates(row.refusal)


def _last_call(row: DueRow) -> str | None:
    if row.call is None:
        return None
    again = f", again {words.day(row.call.call_again_on)}" if row.call.call_again_on else ""
    return f"{row.call.label}{again}"


RENEWALS: Table[RenewalRow] = Table(
    name="renewals",
    noun=("renewal", "renewals"),
    opens="policies/policy.py",
    home=("sales/renewals.py", "Back to the renewals"),
    key=lambda row: row.policy_id,
    orders=BY_TIME_OR_AMOUNT,
    narrow=("customer", "policy", "renewed", "total"),
    columns={
        **WHOSE,
        "renewed": columns.day("Renewed", lambda row: row.created_at, sorts=BY_TIME),
        "ends": columns.day("Term to", lambda row: row.expiration_at),
        "status": columns.state("Status", lambda row: "Took effect" if row.status else "Failed or reversed"),
        "starts": columns.day("Term from", lambda row: row.start_at, usual=False),
        "before": columns.day("Ended before", lambda row: row.previous_expiration_at, usual=False),
        "expires": columns.day("Policy ends now", lambda row: row.policy_expires_at, usual=False),
        **{name: replace(column, usual=False) for name, column in THROUGH_WHOM.items()},
    },
)
DUE: Table[DueRow] = Table(
    name="due",
    noun=("policy", "policies"),
    opens="policies/policy.py",
    home=("sales/due.py", "Back to what is due"),
    narrow=("customer", "phone", "ends", "next"),
    orders={"soonest": "Ends soonest first", "latest": "Ends latest first"},
    columns={
        "customer": columns.text("Customer", lambda row: row.customer, 125),
        "phone": columns.text("Phone", lambda row: words.phone(row.phone), 120),
        "ends": columns.day("Ends", lambda row: row.expiration_at, sorts=("soonest", "latest")),
        "left": columns.number("Days left", lambda row: row.days_left, usual=False, sorts=("soonest", "latest")),
        "cover": Column(
            "Cover",
            lambda row: words.until(row.days_left, is_over=row.is_over),
            120,
            colour=lambda row: "red" if row.is_over else "",
        ),
        "next": columns.text(
            "Next premium", _next_premium, 150, right=True, says="What one more term costs today, or why there is none."
        ),
        "call": columns.text("Last call", _last_call, 165),
        "reminded": columns.day("Reminded", lambda row: row.reminded_at),
        "product": columns.text("Product", lambda row: row.product, 130),
        "email": columns.text("E-mail", lambda row: row.email, 190, usual=False),
        "policy": columns.text("Policy number", lambda row: row.policy_number, 165, usual=False),
        "note": columns.text(
            "Not today, because", lambda row: row.refusal and words.format_dates(row.refusal), 250, usual=False
        ),
        "owner": columns.text("Owner", lambda row: row.call and row.call.owner, 110, usual=False),
        "said": columns.text("Note", lambda row: row.call and row.call.note, 200, usual=False),
        "provider": columns.text("Insurer", lambda row: row.provider, 150, usual=False),
        "distributor": columns.text("Distributor", lambda row: row.distributor, 130, usual=False),
        "last": columns.naira(
            "Last premium", lambda row: row.last_minor, says="What the term that ends has cost.", usual=False
        ),
    },
)
