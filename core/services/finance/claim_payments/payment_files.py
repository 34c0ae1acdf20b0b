"""Claims that wait for finance, paid from one file: judged row by row, paid whole or not at all (contract C10)."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids, money
from core.errors import CoverdeskError, InvalidInput, StateForbids
from core.services.audit import log as audit
from core.services.claims.workflow import paying as claim_paying
from core.services.claims.workflow.payments import Source
from core.services.finance.claim_payments import file_lines
from core.services.finance.claim_payments.file_lines import PaymentLine
from core.services.lists.spreadsheets.formula_escaping import csv_field
from core.services.people.staff import Person
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import ClaimPaymentFile, Staff

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
    _refuse_paid(session, _hash(content))
    file = file_lines.read(file_name, content)
    lines = file_lines.match(file, columns, claim_paying.list_open(session))
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
    lines = file_lines.match(file_lines.read(file_name, content), columns, claim_paying.list_open(session))
    # Whoever pays the same file at this moment waits here, and is refused.
    file_id = _keep_file(session, file_name, content, lines, by)
    file_lines.refuse_any(lines)
    claim_paying.lock_claims(session, [line.claim.id for line in lines if line.claim])
    for line in lines:
        _pay_line(session, line, file_id, seen, by)
    after = {"file": file_name[:200], "sha256": _hash(content), "payments": len(lines)}
    after["amount"] = money.to_wire(_sum(lines))
    subject = audit.subject_of("batch", file_id)
    audit.write(session, actor=by.actor, action="claims paid from a file", subject=subject, after=after)
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
        refused = InvalidInput.for_field(f"row {line.number}", _describe(error))
        refused.kept = error.kept
        raise refused from None


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
        sha256=_hash(content),
        payments=len(lines),
        amount_minor=_sum(lines),
        paid_by=by.id,
        paid_at=clock.now(),
    )
    if not session.insert_if_absent(row):
        raise StateForbids(PAID_ALREADY)
    return row.id


def _refuse_paid(session: ScopedSession, digest: str) -> None:
    query = sa.select(col(ClaimPaymentFile.id)).where(
        col(ClaimPaymentFile.is_live) == session.scope.is_live, col(ClaimPaymentFile.sha256) == digest
    )
    if session.execute(query).first() is not None:
        raise StateForbids(PAID_ALREADY)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


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
    return [
        PaidFile(
            id=row.id,
            file_name=row.file_name,
            sha256=row.sha256,
            payments=row.payments,
            amount_minor=row.amount_minor,
            by=name,
            at=row.paid_at,
        )
        for row, name in session.execute(query)
    ]


def build_form(session: ScopedSession) -> bytes:
    """Return the payments that wait as CSV, to be completed with references and paid from; it names no person."""
    lines = [_HEADING]
    for each in claim_paying.list_open(session):
        cells = (each.reference, csv_field(each.provider), csv_field(each.payee.hint or ""))
        lines.append(",".join((*cells, money.to_wire(each.amount_minor), "", str(clock.today()))))
    return ("\r\n".join(lines) + "\r\n").encode()
