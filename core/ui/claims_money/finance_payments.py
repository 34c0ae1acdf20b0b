"""Payments of claims that finance makes, each in a dialog with its reference, method and value date (contract C15)."""

from core import clock
from core.services.claims.paying import hand_overs
from core.services.claims.paying.hand_overs import HandOver
from core.services.claims.workflow.inputs import PAYMENT_METHODS
from core.ui.claims import paying as payments
from core.ui.finance.finance_writes import made
from core.ui.kit import dialogs, words
from core.ui.kit.dialogs import Decision


def describe_account(row: HandOver) -> str:
    """Describe the account that is paid, by its last four digits."""
    bank = f" at {row.payee.bank_name}" if row.payee.bank_name else ""
    return f"account ending in {row.payee.hint}{bank}" if row.payee.hint else f"account not named{bank}"


def paying(row: HandOver) -> Decision:
    """Return the dialog that makes a payment."""

    def ask() -> None:
        payments.draw_chain(row.links)
        dialogs.field("payment_reference", "Payment reference", longest=60)
        dialogs.choice("method", "Method", {name: name for name in PAYMENT_METHODS})
        dialogs.day("value_on", "Value date")

    def act() -> str:
        typed = dialogs.get_values("payment_reference", "method", "value_on")
        reference = typed.pop("payment_reference") or None
        payment = {name: value for name, value in typed.items() if value}
        return made(
            lambda session, by: hand_overs.pay(
                session, row.id, payment_reference=reference, payment=payment, person=by, version=row.version
            ),
            f"{row.reference} is Paid.",
        )

    return Decision(
        title=f"Pay {words.plain(row.reference)}",
        icon="payments",
        says=f"**{words.naira(row.amount_minor)}** to **{words.plain(row.payee.name)}**,"
        f" {words.plain(describe_account(row))}. Approved by {words.plain(row.approved_name)}.",
        asks=ask,
        given={"payment_reference": "", "method": PAYMENT_METHODS[0], "value_on": clock.today()},
        confirm=f"Pay {words.naira(row.amount_minor)}",
        act=act,
    )
