"""The steps of a credit note, each in a dialog: approve, note the payment, note its return."""

from core import clock
from core.services.finance.credit_notes import deciding
from core.services.finance.credit_notes.reading import CreditNoteRow
from core.states.credit_notes import CreditNoteState
from core.ui.finance.finance_writes import carry_out, submitted
from core.ui.kit import dialogs, words
from core.ui.kit.dialogs import Decision

LABELS = {
    "approve": "Approve",
    "anew": "Another payee or account",
    "pay": "It was paid",
    "return": "The bank returned it",
}


def build_dialog(row: CreditNoteRow, verb: str) -> Decision:
    """Return the dialog of one step of a credit note."""
    return {"approve": _approving, "anew": _approving, "pay": _paying, "return": _returning}[verb](row)


def describe_account(row: CreditNoteRow) -> str:
    """Describe the account that was approved, by its last four digits."""
    return f"account ending in {row.payee_hint} at {row.payee_bank}" if row.payee_hint else "account not named"


def _approving(row: CreditNoteRow) -> Decision:
    names = ("payee", "payee_bank", "payee_account")

    def ask() -> None:
        dialogs.field("payee", "Pay to", longest=200)
        dialogs.field("payee_bank", "Bank", longest=200)
        held = f" (empty: as approved, ending in {row.payee_hint})" if row.payee_hint else ""
        dialogs.field("payee_account", f"Account number{held}", longest=32)

    def act() -> str:
        typed = {name: text for name, text in dialogs.get_values(*names).items() if text}
        state = carry_out(lambda session, by: deciding.approve(session, row.id, typed, by=by))
        if state == CreditNoteState.SECOND_PERSON:
            return "Approved by you: above your limit somebody else of finance approves it as well."
        return "Approved: somebody else of finance notes the payment."

    return Decision(
        title=f"Approve {row.number}",
        icon="fact_check",
        asks=ask,
        given={"payee": row.payee or row.customer, "payee_bank": row.payee_bank or "", "payee_account": ""},
        says=f"**{words.naira(row.total_minor)}** to {words.plain(row.customer)}: {words.plain(row.reason)}."
        f" One person approves up to {words.naira(deciding.LIMIT)}, an admin up to {words.naira(deciding.ADMIN_LIMIT)};"
        " above it two do.",
        confirm="Approve it",
        act=act,
    )


def _paying(row: CreditNoteRow) -> Decision:
    def ask() -> None:
        dialogs.field("bank_reference", "The bank's reference", longest=60)
        dialogs.day("value_on", "Value date")

    return Decision(
        title=f"{row.number} was paid",
        icon="task_alt",
        says=f"**{words.naira(row.total_minor)}**, to {words.plain(row.payee or row.customer)},"
        f" {words.plain(describe_account(row))}, approved by"
        f" {words.plain(row.approver or '')}.",
        asks=ask,
        given={"bank_reference": "", "value_on": clock.today()},
        confirm="Note the payment",
        act=submitted(
            ("bank_reference", "value_on"),
            lambda session, typed, by: deciding.pay(session, row.id, typed, by=by),
            "The credit note is paid.",
        ),
    )


def _returning(row: CreditNoteRow) -> Decision:
    def ask() -> None:
        dialogs.day("returned_on", "Returned on")
        dialogs.field("bank_reference", "The bank's reference of the return", longest=60)
        dialogs.field("reason", "What the bank says", longest=500)

    return Decision(
        title=f"The bank returned {row.number}",
        icon="undo",
        says=f"**{words.naira(row.total_minor)}** waits for the customer again.",
        asks=ask,
        given={"returned_on": clock.today(), "reason": "", "bank_reference": row.reference or ""},
        confirm="Note the return",
        act=submitted(
            ("returned_on", "reason", "bank_reference"),
            lambda session, typed, by: deciding.return_payment(session, row.id, typed, by=by),
            "The payment came back: it can be paid once more.",
        ),
    )
