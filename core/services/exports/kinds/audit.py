"""Export of the audit log: actor, action, subject, values before and after, and the hash chain (contract A4)."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core.services.audit import search as audit_search
from core.services.audit.filter import AuditFilter
from core.services.dimensions import Choices
from core.services.exports.column_parts import printed_columns, text_column
from core.services.exports.exports import ExportKind
from core.services.spreadsheets.columns import COUNT, DAY, ID, INSTANT, WORD
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import AuditEntry

_NOTHING = "null"


def _print_json(side: object) -> Any:
    return sa.func.nullif(sa.cast(col(side), sa.String), _NOTHING)


def _rows(columns: Sequence[Any], criteria: AuditFilter, _: Choices) -> AnySelect:
    return audit_search.build_query(criteria, _conditions(criteria), *columns)


def _conditions(criteria: AuditFilter) -> list[sa.ColumnElement[bool]]:
    # All known record kinds: the kinds present in the store are not queried here.
    return audit_search.build_conditions(criteria, audit_search.RECORD_KINDS)


def _count(session: ScopedSession, criteria: AuditFilter) -> int:
    found = audit_search.build_query(criteria, _conditions(criteria), col(AuditEntry.id)).order_by(None)
    return int(session.execute(sa.select(sa.func.count()).select_from(found.subquery())).scalar_one())


AUDIT = ExportKind(
    name="audit",
    title="Audit entries",
    noun=("entry", "entries"),
    roles=("admin",),
    filter=AuditFilter,
    parts=(
        printed_columns(
            ("id", ID, col(AuditEntry.id)),
            ("created_at", INSTANT, col(AuditEntry.created_at)),
            ("created_on", DAY, col(AuditEntry.created_at)),
        ),
        text_column("actor", col(AuditEntry.actor), width=34),
        text_column("action", col(AuditEntry.action), width=24),
        text_column("subject", col(AuditEntry.subject), width=46),
        text_column("before", _print_json(AuditEntry.before), width=60),
        text_column("after", _print_json(AuditEntry.after), width=60),
        printed_columns(
            ("chain", COUNT, col(AuditEntry.chain)),
            ("position", COUNT, col(AuditEntry.position)),
            ("hash", WORD, col(AuditEntry.hash)),
        ),
    ),
    rows=_rows,
    count=_count,
    listed={
        "at": ("created_at",),
        "who": ("actor",),
        "action": ("action",),
        "kind": ("subject",),
        "facts": ("before", "after"),
        "about": ("subject",),
        "position": ("chain", "position"),
    },
)
