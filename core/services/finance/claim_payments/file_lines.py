"""Lines of a payment file, each matched with the claim that waits for its payment (contract C10)."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from core import clock
from core.errors import FieldFault, TooLarge
from core.services.claims.workflow.paying import HandOver
from core.services.finance.reconciling import file_rows, table_files
from core.services.finance.reconciling.file_rows import RowFault
from core.services.finance.reconciling.table_files import TableFile
from core.services.transfers import LONGEST_REFERENCE, find_fault, reference_key

# What a column can mean, and whether it has to be there.
MEANINGS: Final[Mapping[str, bool]] = {
    "claim": True,
    "amount": True,
    "reference": True,
    "date": False,
    "account": False,
}
# Each payment is judged and paid by itself in one transaction, in which nobody else writes on SQLite.
MAX_LINES: Final = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class PaymentLine:
    """One row of a file; `claim` is None where nothing waits under that name, `refusal` says what stands against it."""

    number: int
    name: str
    amount_minor: int = 0
    reference: str = ""
    value_on: date | None = None
    claim: HandOver | None = None
    refusal: str | None = None

    @property
    def is_refused(self) -> bool:
        """True where the row cannot be paid."""
        return self.refusal is not None

    def refuse(self, why: str) -> "PaymentLine":
        """Return the line with a refusal; the first one stays."""
        return self if self.is_refused else replace(self, refusal=why)


def read(name: str, content: bytes) -> TableFile:
    """Read a payment file; InvalidInput or TooLarge says why it cannot be one."""
    file = table_files.read(name, content)
    if len(file.rows) > MAX_LINES:
        raise TooLarge(f"A file of payments has at most {MAX_LINES} rows: divide it")
    table_files.refuse([FieldFault(f"row {number}", file.find_repeat(number) or "") for number in file.repeats])
    return file


def match(file: TableFile, columns: Mapping[str, str], waiting: Sequence[HandOver]) -> list[PaymentLine]:
    """Return the lines of a file with their claims; InvalidInput names a column that is not mapped rightly."""
    places = file_rows.find_columns(file, MEANINGS, columns)
    named = _by_name(waiting)
    lines = [
        _read_line(number, {meaning: cells[place] for meaning, place in places.items()}, named)
        for number, cells in file.rows
    ]
    for key_of, why in (
        (_claim_key, "names the claim of another row: a claim is paid once"),
        (lambda line: reference_key(line.reference), "has the reference of another row: each payment has its own"),
    ):
        lines = _refuse_repeated(lines, key_of, why)
    return lines


def _claim_key(line: PaymentLine) -> str:
    return line.claim.id.hex if line.claim else ""


def _by_name(waiting: Iterable[HandOver]) -> Mapping[str, Sequence[HandOver]]:
    """Index payments by the names that a file can give: the reference and the whole id."""
    named: dict[str, list[HandOver]] = {}
    for each in waiting:
        for name in (each.reference, str(each.id)):
            named.setdefault(name.casefold(), []).append(each)
    return named


def _read_line(number: int, texts: Mapping[str, str], named: Mapping[str, Sequence[HandOver]]) -> PaymentLine:
    name = texts["claim"][:LONGEST_REFERENCE]
    line = PaymentLine(number=number, name=name)
    try:
        line = replace(
            line,
            amount_minor=_read_amount(texts["amount"]),
            reference=_read_reference(texts["reference"]),
            value_on=file_rows.read_day(texts["date"]) if texts.get("date") else clock.today(),
        )
    except RowFault as fault:
        return line.refuse(str(fault))
    found = named.get(name.casefold(), ())
    if len(found) != 1:
        return line.refuse(
            "names more than one claim: give the whole id" if found else "names no claim that waits for finance"
        )
    account = texts.get("account", "")
    return _match_account(replace(line, claim=found[0]), account) if account else replace(line, claim=found[0])


def _read_amount(text: str) -> int:
    amount_minor = file_rows.read_amount(text)
    if amount_minor <= 0:
        raise RowFault("has an amount that is not above 0")
    return amount_minor


def _read_reference(text: str) -> str:
    if not reference_key(text):
        raise RowFault("has no reference")
    if len(text) > LONGEST_REFERENCE:
        raise RowFault("has a reference that is too long")
    if found := find_fault(text):
        raise RowFault(f"is refused: its reference {found}")
    return text


def _match_account(line: PaymentLine, account: str) -> PaymentLine:
    """Compare the last four digits: a spreadsheet drops the noughts in front of a number."""
    digits = re.sub(r"\D", "", account).zfill(4)
    hint = line.claim.payee.hint if line.claim else None
    return line if hint and digits.endswith(hint) else line.refuse("names another account than that of the payee")


def _refuse_repeated(lines: Sequence[PaymentLine], key_of: Callable[[PaymentLine], str], why: str) -> list[PaymentLine]:
    """Refuse every one of several rows with the same key: which of them is meant is not for us to choose."""
    counts = Counter(map(key_of, lines))
    return [line.refuse(why) if key_of(line) and counts[key_of(line)] > 1 else line for line in lines]


def refuse_any(lines: Sequence[PaymentLine]) -> None:
    """Raise InvalidInput that names every row that cannot be paid."""
    table_files.refuse([FieldFault(f"row {line.number}", line.refusal) for line in lines if line.refusal])
