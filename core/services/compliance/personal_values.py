"""The values by which a person is recognised in texts, and taking them out of texts and JSON."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.services.audit import log as audit
from core.services.audit.log import AUDIT_KIND
from core.services.finance import proofs as bordereau_proofs
from core.services.finance.bordereaux import columns, issuing
from core.services.finance.redactions import seal_redacted
from core.services.finance.statements import proofs
from core.store.access import ScopedSession
from core.store.expressions import matches
from core.store.schema.tables import AuditEntry, Bordereau, BordereauLine, Redaction, Statement, StatementLine

ERASED: Final = "[erased]"
ERASED_DOMAIN: Final = "erased.invalid"
_SHORTEST: Final = 5
_AMOUNT: Final = re.compile(r"\d{1,14}\.\d\d")
# A field of these names is a text about somebody, or is somebody's: it goes whole from the log of an erased record.
_TEXT_FIELDS: Final = frozenset(
    {
        *("note", "reason", "details", "text", "comment", "question", "description", "refusal", "outcome", "detail"),
        *("name", "first_name", "last_name", "email", "phone", "phone_number", "address", "date_of_birth", "dob"),
        *("claim_description", "claim_owner_first_name", "claim_owner_last_name", "claim_owner_email"),
        *("claim_owner_phone_number", "decline_reason", "incident_date", "last_error", "file_name"),
        *("payee", "payee_reason"),
    }
)


@dataclass(frozen=True, slots=True)
class PersonalValues:
    """`distinct` values (e-mail, phone, numbers, full name) are looked for everywhere, `names` only in own records."""

    distinct: tuple[str, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, distinct: Iterable[str | None], names: Iterable[str | None]) -> "PersonalValues":
        """Build the values, the longest first, so that no part of one remains after a shorter one was taken out."""
        whole = {value.strip() for value in distinct if value and len(value.strip()) >= _SHORTEST}
        parts = {name.strip() for name in names if name and len(name.strip()) > 1}
        return cls(tuple(sorted(whole, key=len, reverse=True)), tuple(sorted(parts, key=len, reverse=True)))

    def take_out(self, text: str, *, is_own: bool = False) -> str:
        """Return a text without the person's values; of their own records without their names as well."""
        for value in self.distinct:
            text = re.sub(re.escape(value), ERASED, text, flags=re.IGNORECASE)
        for name in self.names if is_own else ():
            text = re.sub(rf"\b{re.escape(name)}\b", ERASED, text, flags=re.IGNORECASE)
        return text

    def take_out_of(self, value: Any, *, is_own: bool = False) -> Any:
        """Return plain data without the person's values; fields that are texts go whole from their own records."""
        if isinstance(value, str):
            return self.take_out(value, is_own=is_own)
        if isinstance(value, Mapping):
            return {
                self.take_out(str(key)): ERASED
                if is_own and key in _TEXT_FIELDS and isinstance(held, str)
                else self.take_out_of(held, is_own=is_own)
                for key, held in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.take_out_of(each, is_own=is_own) for each in value]
        return value

    def patterns(self) -> list[str]:
        """Return what to look for in a column: each value, and as JSON writes it."""
        return sorted({written for value in self.distinct for written in (value, json.dumps(value)[1:-1])})

    def is_in(self, content: bytes) -> bool:
        """Return True when bytes in UTF-8 hold one of the values."""
        text = content.decode("utf-8", "replace").casefold()
        return any(value.casefold() in text for value in self.distinct)


def keep_figures(data: Any) -> Any:
    """Return submitted data with its figures and facts alone: every text in it is somebody's."""
    if isinstance(data, Mapping):
        return {key: held for key, value in data.items() if (held := keep_figures(value)) not in (None, {}, [])}
    if isinstance(data, list | tuple):
        return [held for value in data if (held := keep_figures(value)) not in (None, {}, [])]
    is_amount = isinstance(data, str) and _AMOUNT.fullmatch(data)
    return data if isinstance(data, int | float) or is_amount else None


def list_texts(data: Any) -> Iterator[str]:
    """Yield every text in plain data."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        for value in data.values():
            yield from list_texts(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from list_texts(value)


def phone_spellings(phone: str | None) -> tuple[str, ...]:
    """Return a phone number as people write it: +2348031234567 is 2348031234567 and 08031234567 as well."""
    digits = re.sub(r"\D", "", phone or "")
    if len(digits) < _SHORTEST:
        return ()
    local = f"0{digits[3:]}" if digits.startswith("234") else digits
    return (phone or "", digits, local, local[1:] if local.startswith("0") else local)


_CHUNK: Final = 200
# The columns of bordereaux that say something of a person.
_OF_PERSON: Final = frozenset(
    {"insured_first_name", "insured_full_name", "insured", "claimant", "state", "loss_description", "loss_location"}
)


def redact_log(session: ScopedSession, subjects: Sequence[str], values: PersonalValues, erasure_id: UUID) -> int:
    """Take a person out of the audit log; who did what and when stays. Returns the number of changed entries.

    An entry is the person's own when it is about one of their records (`subjects`, each a kind and an id) or names one.
    """
    ids = [subject.partition(" ")[2] for subject in subjects]
    found = {entry.id: (entry, False) for entry in _load(session, _mentions(values.patterns()))}
    about = [col(AuditEntry.subject).in_(some) for some in _in_chunks(subjects)]
    found |= {entry.id: (entry, True) for entry in _load(session, [*about, *_mentions(ids)])}
    return sum(_redact(session, entry, values, erasure_id, is_own=is_own) for entry, is_own in found.values())


def _mentions(texts: Sequence[str]) -> list[Any]:
    sides = [sa.func.coalesce(sa.cast(col(side), sa.String), "") for side in (AuditEntry.before, AuditEntry.after)]
    return [
        sa.or_(*(matches(side, sa.literal(f"%{_escape(text)}%")) for side in sides for text in some))
        for some in _in_chunks(sorted(set(texts)))
    ]


def _load(session: ScopedSession, conditions: Sequence[Any]) -> list[Any]:
    columns = [col(getattr(AuditEntry, name)) for name in ("id", "hash", "before", "after")]
    return [row for each in conditions for row in session.execute(sa.select(*columns).where(each))]


def _redact(session: ScopedSession, entry: Any, values: PersonalValues, erasure_id: UUID, *, is_own: bool) -> bool:
    before, after = (values.take_out_of(side, is_own=is_own) for side in (entry.before, entry.after))
    if (before, after) == (entry.before, entry.after):
        return False
    _run(session, sa.update(AuditEntry).where(col(AuditEntry.id) == entry.id).values(before=before, after=after))
    _keep(session, AUDIT_KIND, entry.id, audit.seal_redacted(entry.hash, before, after), erasure_id)
    return True


def seal_statements(session: ScopedSession, movements: Collection[UUID], erasure_id: UUID) -> int:
    """Seal anew the statements that printed these movements; their lines have lost the name by now."""
    ids: set[UUID] = set()
    for some in _in_chunks(list(movements)):
        query = sa.select(col(StatementLine.statement_id)).where(col(StatementLine.movement_id).in_(some)).distinct()
        ids |= set(session.execute(query).scalars())
    for id_ in sorted(ids):
        row: Statement = session.execute(sa.select(Statement).where(col(Statement.id) == id_)).scalar_one()
        digest = proofs.digest_of(session, row)
        _keep(session, proofs.STATEMENT_KIND, id_, seal_redacted(id_, row.sha256, digest), erasure_id)
    return len(ids)


def redact_bordereaux(session: ScopedSession, subjects: Sequence[UUID], erasure_id: UUID) -> int:
    """Take the person out of the rows of bordereaux about these movements and claims, and seal those anew."""
    ids: set[UUID] = set()
    for some in _in_chunks(subjects):
        for row in session.execute(sa.select(BordereauLine).where(col(BordereauLine.subject_id).in_(some))).scalars():
            pairs = zip(columns.OF[row.kind], row.cells, strict=True)
            cells = [ERASED if column.name in _OF_PERSON and text else text for column, text in pairs]
            at = (col(BordereauLine.bordereau_id) == row.bordereau_id, col(BordereauLine.position) == row.position)
            _run(session, sa.update(BordereauLine).where(*at).values(cells=cells))
            ids.add(row.bordereau_id)
    for id_ in sorted(ids):
        query = sa.select(Bordereau).where(col(Bordereau.id) == id_)
        paper: Bordereau = session.execute(query).scalar_one()
        seal = seal_redacted(id_, paper.sha256, issuing.hash_of(session, paper))
        _keep(session, bordereau_proofs.REDACTED_KIND, id_, seal, erasure_id)
    return len(ids)


def _keep(session: ScopedSession, kind: str, record_id: UUID, seal: str, erasure_id: UUID) -> None:
    row = Redaction(kind=kind, record_id=record_id, erasure_id=erasure_id, seal=seal)
    if not session.insert_if_absent(row):
        session.update_columns(row, "erasure_id", "seal")


def _in_chunks(values: Sequence[Any]) -> list[Sequence[Any]]:
    return [values[start : start + _CHUNK] for start in range(0, len(values), _CHUNK)]


def _escape(pattern: str) -> str:
    return pattern.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _run(session: ScopedSession, statement: Any) -> None:
    session.execute(statement.execution_options(synchronize_session=False))
