"""Hashed records that lost a text by an erasure: what remains is sealed, so that `coverdesk check` can prove it."""

from collections.abc import Collection, Sequence
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.services.audit import log as audit
from core.services.audit.log import AUDIT_KIND
from core.services.compliance.personal_values import ERASED, PersonalValues
from core.services.finance import proofs as bordereau_proofs
from core.services.finance.bordereaux import columns, issuing
from core.services.finance.redactions import seal_redacted
from core.services.finance.statements import proofs
from core.store.access import ScopedSession
from core.store.expressions import matches
from core.store.schema.tables import AuditEntry, Bordereau, BordereauLine, Redaction, Statement, StatementLine

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
