"""Claims that wait for finance, paid from one file: paid whole or not at all (contract C10).

Each line of the file is matched with the claim that waits for its payment.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids, money
from core.errors import CoverdeskError, FieldFault, InvalidInput, StateForbids, TooLarge
from core.services.audit import log as audit
from core.services.claims.workflow import paying as claim_paying
from core.services.claims.workflow.paying import HandOver
from core.services.claims.workflow.payments import Source
from core.services.finance.reconciling import table_files
from core.services.finance.reconciling.table_files import RowFault, TableFile
from core.services.lists.spreadsheets import csv_field, hash_chunks
from core.services.people.staff import Person
from core.services.people.transfers import LONGEST_REFERENCE, reference_key
from core.store.access import AnySelect, ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import ClaimPaymentFile, Staff

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
    places = table_files.find_columns(file, MEANINGS, columns)
    # By the names that a file can give: the reference and the whole id.
    named: dict[str, list[HandOver]] = {}
    for each in waiting:
        for name in (each.reference, str(each.id)):
            named.setdefault(name.casefold(), []).append(each)
    lines = [
        _read_line(number, {meaning: cells[place] for meaning, place in places.items()}, named)
        for number, cells in file.rows
    ]
    lines = table_files.refuse_repeated(
        lines, lambda line: line.claim and line.claim.id, "names the claim of another row: a claim is paid once"
    )
    return table_files.refuse_repeated(
        lines, lambda line: reference_key(line.reference), table_files.REPEATED_REFERENCE
    )


def _read_line(number: int, texts: Mapping[str, str], named: Mapping[str, Sequence[HandOver]]) -> PaymentLine:
    name = texts["claim"][:LONGEST_REFERENCE]
    line = PaymentLine(number=number, name=name)
    try:
        line = replace(
            line,
            amount_minor=_read_amount(texts["amount"]),
            reference=_read_reference(texts["reference"]),
            value_on=table_files.read_day(texts["date"]) if texts.get("date") else clock.today(),
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
    amount_minor = table_files.read_amount(text)
    if amount_minor <= 0:
        raise RowFault("has an amount that is not above 0")
    return amount_minor


def _read_reference(text: str) -> str:
    if not reference_key(text):
        raise RowFault("has no reference")
    return table_files.read_reference(text)


def _match_account(line: PaymentLine, account: str) -> PaymentLine:
    """Compare the last four digits: a spreadsheet drops the noughts in front of a number."""
    digits = re.sub(r"\D", "", account).zfill(4)
    hint = line.claim.payee.hint if line.claim else None
    return line if hint and digits.endswith(hint) else line.refuse("names another account than that of the payee")


PAID_ALREADY: Final = "This very file was paid already"
_HEADING: Final = "claim,insurer,account,amount,payment_reference,value_date"
_LISTED: Final = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class PaidFile:
    """A file that was paid; amount in kobo."""

    id: UUID
    file_name: str
    sha256: str
    payments: int
    amount_minor: int
    by: str
    at: datetime


def preview(
    session: ScopedSession, file_name: str, content: bytes, columns: Mapping[str, str], *, by: Person
) -> list[PaymentLine]:
    """Return every row with its claim and what stands against paying it for this person; nothing changes.

    InvalidInput for a file that is none of payments, and StateForbids for one that was paid already.
    """
    claim_paying.require_payer(by)
    _refuse_paid(session, hash_chunks([content]))
    file = read(file_name, content)
    lines = match(file, columns, claim_paying.list_open(session))
    return [_judge(session, line, by) for line in lines]


def pay(
    session: ScopedSession,
    file_name: str,
    content: bytes,
    columns: Mapping[str, str],
    *,
    seen: Mapping[UUID, int],
    by: Person,
) -> UUID:
    """Pay every row of a file in this transaction, and return the id of the kept file.

    `seen` has the version of each claim that the preview showed. InvalidInput names each row that is refused, by
    whatever stands against the same payment made by hand; then nothing is paid.
    """
    claim_paying.require_payer(by)
    lines = match(read(file_name, content), columns, claim_paying.list_open(session))
    # Whoever pays the same file at this moment waits here, and is refused.
    file_id = _keep_file(session, file_name, content, lines, by)
    table_files.refuse([FieldFault(f"row {line.number}", line.refusal) for line in lines if line.refusal])
    claim_paying.lock_claims(session, [line.claim.id for line in lines if line.claim])
    for line in lines:
        _pay_line(session, line, file_id, seen, by)
    facts = {"file": file_name[:200], "sha256": hash_chunks([content]), "payments": len(lines)}
    facts["amount"] = money.to_wire(_sum(lines))
    audit.note(session, "batch", file_id, "claims paid from a file", actor=by.actor, **facts)
    return file_id


def _judge(session: ScopedSession, line: PaymentLine, by: Person) -> PaymentLine:
    if line.is_refused or line.claim is None:
        return line
    try:
        claim_paying.check_payment(session, line.claim.id, person=by, **_inputs(line))
    except CoverdeskError as error:
        return line.refuse(_describe(error))
    return line


def _pay_line(session: ScopedSession, line: PaymentLine, file_id: UUID, seen: Mapping[UUID, int], by: Person) -> None:
    assert line.claim is not None  # noqa: S101 - a row without a claim was refused above
    version = seen.get(line.claim.id, 0)
    try:
        source = Source(file_id=file_id)
        claim_paying.pay(session, line.claim.id, person=by, version=version, source=source, **_inputs(line))
    except CoverdeskError as error:
        raise error.reword(InvalidInput.for_field(f"row {line.number}", _describe(error))) from None


def _inputs(line: PaymentLine) -> dict[str, Any]:
    return {
        "payment_reference": line.reference,
        "amount": money.to_naira(line.amount_minor),
        "payment": {"value_on": str(line.value_on)},
    }


def _describe(error: CoverdeskError) -> str:
    """Describe a refusal in the words of a row: the amount must be ..., or the sentence as it is."""
    if not isinstance(error, InvalidInput):
        return f"is refused: {error}"
    names = {"payment_reference": "reference", "value_on": "date"}
    return "; ".join(f"{names.get(fault.field, fault.field)} {fault.message}" for fault in error.faults)


def _keep_file(
    session: ScopedSession, file_name: str, content: bytes, lines: Sequence[PaymentLine], by: Person
) -> UUID:
    if session.scope.is_live is None:
        raise StateForbids("A file is paid in one mode")
    row = ClaimPaymentFile(
        id=ids.new(),
        is_live=session.scope.is_live,
        file_name=file_name[:200],
        sha256=hash_chunks([content]),
        payments=len(lines),
        amount_minor=_sum(lines),
        paid_by=by.id,
        paid_at=clock.now(),
    )
    if not session.insert_if_absent(row):
        raise StateForbids(PAID_ALREADY)
    return row.id


def _refuse_paid(session: ScopedSession, digest: str) -> None:
    is_of_mode = col(ClaimPaymentFile.is_live) == session.scope.is_live
    if session.count_rows(ClaimPaymentFile, is_of_mode, col(ClaimPaymentFile.sha256) == digest):
        raise StateForbids(PAID_ALREADY)


def _sum(lines: Sequence[PaymentLine]) -> int:
    return sum(line.amount_minor for line in lines)


def list_files(session: ScopedSession) -> list[PaidFile]:
    """List the files that were paid in the session's mode, the newest first; at most 20."""
    query: AnySelect = (
        sa.select(ClaimPaymentFile, col(Staff.name))
        .join(Staff, col(Staff.id) == col(ClaimPaymentFile.paid_by))
        .where(col(ClaimPaymentFile.is_live) == session.scope.is_live)
        .order_by(col(ClaimPaymentFile.paid_at).desc(), col(ClaimPaymentFile.id).desc())
        .limit(_LISTED)
    )
    return [build_row(PaidFile, row, by=name, at=row.paid_at) for row, name in session.execute(query)]


def build_form(session: ScopedSession) -> bytes:
    """Return the payments that wait as CSV, to be completed with references and paid from; it names no person."""
    lines = [_HEADING]
    for each in claim_paying.list_open(session):
        cells = (each.reference, csv_field(each.provider), csv_field(each.payee.hint or ""))
        lines.append(",".join((*cells, money.to_wire(each.amount_minor), "", str(clock.today()))))
    return ("\r\n".join(lines) + "\r\n").encode()
