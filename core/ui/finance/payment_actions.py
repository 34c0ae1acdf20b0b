"""Payments and payouts in dialogs: prepared, approved, confirmed with the bank's reference, returned, given up."""

from collections.abc import Callable, Sequence
from decimal import Decimal

from core import clock, money
from core.errors import InvalidInput
from core.services.finance.parties import Party
from core.services.finance.payments import batches, transitions
from core.services.finance.payments.allocation import Balance
from core.services.finance.payments.reading import BatchRow, PaymentRow
from core.ui.finance.finance_writes import made, submitted
from core.ui.kit import dialogs, words
from core.ui.kit.dialogs import Decision


def preparing(found: Sequence[Balance]) -> Decision:
    """Return the dialog that prepares a batch of everything that can be paid out."""
    total = sum(balance.amount_minor for balance in found)
    chosen: dict[Party, int | None] = {balance.party: None for balance in found}
    return Decision(
        title="Prepare a payout",
        icon="payments",
        says=f"**{words.naira(total)}** to {len(found)} {'party' if len(found) == 1 else 'parties'}, each all that is"
        " due until its newest statement. Somebody else of finance approves it, and only then there is a bank file.",
        confirm="Prepare the payout",
        act=lambda: made(
            lambda session, by: batches.prepare(session, chosen, by=by),
            "The payout is prepared: somebody else of finance approves it.",
        ),
    )


def paying(balance: Balance) -> Decision:
    """Return the dialog that prepares a payout to one party, of all or a part."""

    def act() -> str:
        amount = _amount()
        return made(
            lambda session, by: batches.prepare(session, {balance.party: amount}, by=by),
            "The payout is prepared: somebody else of finance approves it.",
        )

    return Decision(
        title=f"Pay {words.plain(balance.name)}",
        icon="payments",
        says=f"At most **{words.naira(balance.amount_minor)}**; the oldest statement is settled first.",
        asks=lambda: dialogs.field("amount", "Amount in naira", longest=20),
        given={"amount": money.to_wire(balance.amount_minor)},
        confirm="Prepare the payout",
        act=act,
    )


def receiving(balance: Balance) -> Decision:
    """Return the dialog that notes a payment received."""
    names = ("amount", "bank_reference", "value_on")

    def ask() -> None:
        dialogs.field("amount", "Amount in naira", longest=20)
        _bank_answer()

    def act() -> str:
        typed = dialogs.get_values(*names) | {"amount": words.read_naira(dialogs.get_values("amount")["amount"])}
        return made(
            lambda session, by: transitions.receive(session, balance.party, typed, by=by),
            "The payment is noted: somebody else of finance confirms it.",
        )

    return Decision(
        title=f"Payment received from {words.plain(balance.name)}",
        icon="move_to_inbox",
        says=f"It owes **{words.naira(-balance.amount_minor)}** until its newest statement.",
        asks=ask,
        given={"amount": money.to_wire(-balance.amount_minor), "value_on": clock.today(), "bank_reference": ""},
        confirm="Note the payment",
        act=act,
    )


def of_payment(row: PaymentRow, verb: str) -> Decision:
    """Return the dialog of one step of a payment: approve, confirm, return or withdraw."""
    return {"approve": _approving, "confirm": _confirming, "return": _returning, "withdraw": _withdrawing}[verb](row)


def _approving(row: PaymentRow) -> Decision:
    return Decision(
        title="Confirm the payment",
        icon="task_alt",
        says=f"**{words.naira(-row.net_minor)}** of {words.plain(row.name)}, reference"
        f" {words.plain(row.bank_reference)}, {words.day(row.value_on)}. Compare it with the bank's statement.",
        confirm="Confirm it",
        act=lambda: made(
            lambda session, by: transitions.approve_receipt(session, row.id, by=by), "The payment is confirmed."
        ),
    )


def _confirming(row: PaymentRow) -> Decision:
    return Decision(
        title="The bank has paid",
        icon="task_alt",
        says=f"**{words.naira(row.net_minor)}** to {words.plain(row.name)}.",
        asks=_bank_answer,
        given={"bank_reference": "", "value_on": clock.today()},
        confirm="Confirm it",
        act=submitted(
            (
                "bank_reference",
                "value_on",
            ),
            lambda session, typed, by: transitions.confirm(session, row.id, typed, by=by),
            "The payment is confirmed: its statements are settled.",
        ),
    )


def _returning(row: PaymentRow) -> Decision:
    def ask() -> None:
        dialogs.day("returned_on", "Returned on")
        dialogs.field("bank_reference", "The bank's reference of the return", longest=60)
        dialogs.field("reason", "What the bank says", longest=500)

    return Decision(
        title="The bank has returned it",
        icon="undo",
        says=f"**{words.naira(row.net_minor)}** to {words.plain(row.name)} is due again.",
        asks=ask,
        given={"returned_on": clock.today(), "reason": "", "bank_reference": row.bank_reference or ""},
        confirm="Note the return",
        act=submitted(
            (
                "returned_on",
                "reason",
                "bank_reference",
            ),
            lambda session, typed, by: transitions.return_payment(session, row.id, typed, by=by),
            "The payment came back: its statements are due again.",
        ),
    )


def _withdrawing(row: PaymentRow) -> Decision:
    return _giving_up(
        "the payment",
        lambda reason: made(
            lambda session, by: transitions.withdraw(session, row.id, reason=reason, by=by), "The payment is given up."
        ),
    )


def approving_batch(row: BatchRow) -> Decision:
    """Return the dialog that approves somebody else's payout."""
    return Decision(
        title=f"Approve {row.number}",
        icon="task_alt",
        says=f"**{words.naira(row.net_minor)}** in {row.payments} payments, prepared by {words.plain(row.preparer)}."
        " The bank file is made now, and its hash is kept.",
        confirm="Approve the payout",
        act=lambda: made(
            lambda session, by: batches.approve(session, row.id, by=by), f"{row.number} is approved: send its file."
        ),
    )


def approving_batch_anew(row: BatchRow) -> Decision:
    """Return the dialog that approves a payout again whose approval lapsed."""
    return Decision(
        title=f"Approve {row.number} again",
        icon="task_alt",
        says=f"**{words.naira(row.net_minor)}** in {row.payments} payments, as they were prepared by"
        f" {words.plain(row.preparer)}. Its bank file can be opened again by that.",
        confirm="Approve the payout again",
        act=lambda: made(
            lambda session, by: batches.approve_anew(session, row.id, by=by), f"{row.number} is approved."
        ),
    )


def giving_up_batch(row: BatchRow) -> Decision:
    """Return the dialog that gives a prepared payout up."""
    return _giving_up(
        row.number,
        lambda reason: made(
            lambda session, by: batches.withdraw(session, row.id, reason=reason, by=by), f"{row.number} is given up."
        ),
    )


def _giving_up(what: str, act: Callable[[str], str]) -> Decision:
    return Decision(
        title=f"Give {what} up",
        icon="block",
        says="Nobody can approve it any more; what it would have paid stays due.",
        asks=lambda: dialogs.field("reason", "Reason", longest=500),
        given={"reason": ""},
        confirm="Give it up",
        act=lambda: act(dialogs.get_values("reason")["reason"]),
    )


def _bank_answer() -> None:
    dialogs.field("bank_reference", "Bank reference", longest=60)
    dialogs.day("value_on", "Value date")


def _amount() -> int:
    text = words.read_naira(dialogs.get_values("amount")["amount"])
    try:
        return money.to_minor(money.round_half_up(Decimal(text)))
    except (ArithmeticError, ValueError):
        raise InvalidInput.for_field("amount", "must be an amount in naira, such as 1,250.50") from None
