"""The bank's answer on a payout as a file: each row confirms or returns one of its payments (contract F4)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Final
from uuid import UUID

from core import clock, money
from core.errors import InvalidInput, StateForbids, TooLarge
from core.services.finance.payments import reading as payment_reading
from core.services.finance.payments import settlement
from core.services.finance.payments.reading import BatchRow, PaymentRow, PayoutName
from core.services.finance.reconciling import table_files
from core.services.finance.reconciling.table_files import CONFIRMED, RETURNED, RowFault, TableFile
from core.services.people.staff import Person
from core.services.people.transfers import reference_key
from core.states.finance import PaymentState
from core.store.access import ScopedSession

# What a column can mean, and whether it has to be there. A row names its payment by our narration or by the account.
MEANINGS: Final[Mapping[str, bool]] = {
    "amount": True,
    "narration": False,
    "account": False,
    "status": False,
    "reference": False,
    "date": False,
    "reason": False,
}
MAX_LINES: Final = 1_000
_OURS: Final = re.compile(r"PB-0*(\d+)\s*/\s*(\d+)", re.IGNORECASE)
_ANSWERED: Final = {CONFIRMED: PaymentState.CONFIRMED, RETURNED: PaymentState.RETURNED}
# Fields of a typed answer as the file has them.
_NAMES: Final = {"bank_reference": "reference", "value_on": "date", "returned_on": "date"}
WITHOUT_REFERENCE: Final = "has no reference of the bank"
_UNTOLD: Final = "The bank returned it without a reason"


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerLine:
    """One row of the bank's file: the payment that it names, and what it says of it.

    `refusal` says why the row cannot be noted, `note` why there is nothing to note; `texts` are the cells of one that
    cannot be read, by their meanings. `other` is the payout to which it
    belongs where that is not this one.
    """

    number: int
    payment: PaymentRow | None = None
    answer: str = ""
    amount_minor: int = 0
    reference: str = ""
    on: date | None = None
    reason: str = ""
    note: str = ""
    refusal: str = ""
    other: PayoutName | None = None
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_to_note(self) -> bool:
        """True where the row confirms or returns a payment that was not answered like that before."""
        return self.payment is not None and not self.note and not self.refusal

    @property
    def is_unclear(self) -> bool:
        """True where the bank has to be asked: the row is wrong, or names no payment of ours."""
        return bool(self.refusal) or (self.payment is None and self.other is None)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Known:
    """The payments that a row may name: those of the file's payout and of others that wait; and every payout."""

    batch: BatchRow
    payments: Sequence[PaymentRow]
    others: Sequence[PaymentRow]
    names: Mapping[str, PayoutName]


def read(name: str, content: bytes) -> TableFile:
    """Read the bank's file; InvalidInput or TooLarge says why it cannot be one."""
    file = table_files.read(name, content)
    if len(file.rows) > MAX_LINES:
        raise TooLarge(f"An answer of the bank has at most {MAX_LINES:,} rows: divide it")
    return file


def match(session: ScopedSession, file: TableFile, columns: Mapping[str, str], batch: BatchRow) -> list[AnswerLine]:
    """Return the rows of a file with the payments of a payout that they name; InvalidInput names a wrong column."""
    places = table_files.find_columns(file, MEANINGS, columns)
    if "narration" not in places and "account" not in places:
        raise InvalidInput.for_field("narration", "or the account number must be mapped to a column")
    known = _Known(
        batch=batch,
        payments=payment_reading.list_of_batch(session, batch.id),
        others=payment_reading.list_unanswered(session, apart_from=batch.id),
        names={name.number: name for name in payment_reading.list_names(session)},
    )
    read_lines = (
        _read_line(number, {meaning: cells[place] for meaning, place in places.items()}, known)
        for number, cells in file.rows
    )
    lines = [line for line in read_lines if line]
    lines = table_files.refuse_repeated(lines, _payment_key, "names the payment of another row")
    return table_files.refuse_repeated(lines, _reference_key, table_files.REPEATED_REFERENCE)


def note(session: ScopedSession, line: AnswerLine, *, file_name: str, by: Person) -> None:
    """Note what the bank says of one payment, by the rules of an answer that is typed.

    StateForbids or NotAllowed says what stands against it.
    """
    if line.payment is None or not line.is_to_note:
        raise StateForbids("The row answers no payment")
    evidence = {"file": file_name[:200], "file_row": str(line.number)}
    try:
        if line.answer == CONFIRMED:
            typed: dict[str, Any] = {"bank_reference": line.reference, "value_on": str(line.on)}
            settlement.confirm(session, line.payment.id, typed, by=by, evidence=evidence)
        else:
            typed = {"returned_on": str(line.on), "reason": line.reason, "bank_reference": line.reference or None}
            settlement.return_payment(session, line.payment.id, typed, by=by, evidence=evidence)
    except InvalidInput as error:
        faults = (f"its {_NAMES.get(fault.field, fault.field)} {fault.message}" for fault in error.faults)
        raise error.reword(StateForbids("; ".join(faults))) from None


def _payment_key(line: AnswerLine) -> UUID | None:
    return line.payment.id if line.payment and line.is_to_note else None


def _reference_key(line: AnswerLine) -> str:
    return reference_key(line.reference) if line.is_to_note and line.answer == CONFIRMED else ""


def _read_line(number: int, texts: Mapping[str, str], known: _Known) -> AnswerLine | None:
    """Return a row as it is understood; None for one that holds no money, such as the words below a table."""
    if not texts["amount"]:
        return None
    line = AnswerLine(number=number)
    try:
        line = replace(
            line,
            amount_minor=abs(table_files.read_amount(texts["amount"])),
            answer=table_files.read_status(texts["status"]) if texts.get("status") else CONFIRMED,
            reference=table_files.read_reference(texts.get("reference", "")),
            on=table_files.read_day(texts["date"]) if texts.get("date") else clock.today(),
            reason=texts.get("reason", "").strip()[:500],
        )
    except RowFault as fault:
        return replace(line, refusal=str(fault), texts=texts)
    try:
        found = _find(texts, line.amount_minor, known)
    except RowFault as fault:
        return replace(line, note=str(fault))
    if isinstance(found, PayoutName):
        return replace(line, other=found, note=f"belongs to payout {found.number}")
    return _judge(replace(line, payment=found))


def _find(texts: Mapping[str, str], amount_minor: int, known: _Known) -> PaymentRow | PayoutName:
    """Return the payment that a row names: by our narration, else by account and amount; RowFault for none.

    Of a payment of another payout that one is returned.
    """
    if found := _OURS.search(f"{texts.get('narration', '')} {texts.get('reference', '')}"):
        return _find_named(f"PB-{int(found[1]):04d}", int(found[2]), known)
    # A spreadsheet drops the noughts in front of a number.
    digits = re.sub(r"\D", "", texts.get("account", "")).zfill(4)
    fitting = _list_fitting(known.payments, digits[-4:], amount_minor)
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise RowFault("may be one of several payments")
    others = {row.batch for row in _list_fitting(known.others, digits[-4:], amount_minor)}
    if len(others) == 1:
        return known.names[str(others.pop())]
    raise RowFault("may be of one of several other payouts" if others else "names no payment of this payout")


def _find_named(number: str, line: int, known: _Known) -> PaymentRow | PayoutName:
    if number not in known.names:
        raise RowFault(f"names payout {number}, which does not exist")
    if number != known.batch.number:
        return known.names[number]
    if 0 < line <= len(known.payments):
        return known.payments[line - 1]
    raise RowFault(f"names line {line}: this payout has {len(known.payments)}")


def _list_fitting(payments: Iterable[PaymentRow], ending: str, amount_minor: int) -> list[PaymentRow]:
    """List the payments of this amount to an account with these last digits."""
    to_it = f"ending in {ending}"
    return [row for row in payments if row.net_minor == amount_minor and row.bank and row.bank.endswith(to_it)]


def _judge(line: AnswerLine) -> AnswerLine:
    """Refuse what the row cannot say of its payment; what was noted before needs nothing."""
    payment = line.payment
    assert payment is not None  # noqa: S101 - it was found above
    if line.answer not in _ANSWERED:
        return replace(line, note="is not decided by the bank yet")
    if payment.state == _ANSWERED[line.answer]:
        return replace(line, note="is noted already")
    if line.answer == RETURNED and len(line.reason) < 5:
        line = replace(line, reason=_UNTOLD)
    return replace(line, refusal=_find_fault(line, payment))


def _find_fault(line: AnswerLine, payment: PaymentRow) -> str:
    if line.amount_minor != payment.net_minor:
        stated, paid = money.format_naira(line.amount_minor), money.format_naira(payment.net_minor)
        return f"has {stated}, and the payment is {paid}"
    if line.answer == CONFIRMED and payment.state != PaymentState.APPROVED:
        return f"confirms a payment that is {payment.state.lower()}"
    if line.on and line.on > clock.today():
        return "has a date after today"
    if line.on and payment.approved_at and line.on < clock.to_lagos_day(payment.approved_at):
        return "has a date before the day of the approval"
    return WITHOUT_REFERENCE if line.answer == CONFIRMED and not line.reference else ""
