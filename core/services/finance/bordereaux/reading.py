"""Bordereaux as they were issued: lists, one of them, its rows, its files, and which are overdue."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import money
from core.errors import NotFound
from core.services.finance.bordereaux import columns
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Bordereau, BordereauLine, Provider, Staff

KIND_NAMES: Final = {"premium": "Premium", "claims": "Claims"}
_SERIES: Final = {"premium": "BP", "claims": "BC"}
_BATCH: Final = 2_000


@dataclass(frozen=True, kw_only=True, slots=True)
class BordereauRow:
    """One bordereau with its people; totals in kobo by the names of the columns."""

    id: UUID
    provider_id: UUID
    kind: str
    number: str
    month: date
    state: str
    party: str
    rows: int
    totals: dict[str, int]
    sha256: str
    facts: dict[str, Any]
    note: str | None
    issuer: str
    issued_at: datetime
    sender: str | None
    sent_at: datetime | None
    answerer: str | None
    answered_at: datetime | None

    @property
    def main_minor(self) -> int:
        """The sum by which it is listed: gross premium, or what claims have incurred."""
        return self.totals[columns.MAIN[self.kind]]


class Reported(NamedTuple):
    """A bordereau that holds some of a policy."""

    id: UUID
    number: str
    month: date
    state: str


def number_of(kind: str, number: int) -> str:
    """Return the number as it is printed, such as BP-0007."""
    return f"{_SERIES[kind]}-{number:04d}"


def list_bordereaux(session: ScopedSession, *, month: date | None = None) -> list[BordereauRow]:
    """List bordereaux, of a month or all, by insurer and kind."""
    query = _query().order_by(col(Bordereau.month).desc(), col(Provider.company_name), col(Bordereau.kind).desc())
    if month is not None:
        query = query.where(col(Bordereau.month) == month)
    return [_build(row) for row in session.execute(query)]


def get_bordereau(session: ScopedSession, bordereau_id: UUID) -> BordereauRow:
    """Return one bordereau; NotFound for one that does not exist, or in test mode, where there are none."""
    found = session.execute(_query().where(col(Bordereau.id) == bordereau_id)).one_or_none()
    if found is None or session.scope.is_live is False:
        raise NotFound("There is no such bordereau")
    return _build(found)


def list_of_policy(session: ScopedSession, movement_ids: Sequence[UUID]) -> list[Reported]:
    """List the premium bordereaux that report some movements, oldest first."""
    query = (
        sa.select(Bordereau)
        .join(BordereauLine, col(BordereauLine.bordereau_id) == col(Bordereau.id))
        .where(col(BordereauLine.subject_id).in_(movement_ids), col(BordereauLine.kind) == "premium")
        .order_by(col(Bordereau.month))
    )
    found = {row.id: row for row in session.execute(query).scalars()}
    return [Reported(row.id, number_of(row.kind, row.number), row.month, row.state) for row in found.values()]


def count_reported(session: ScopedSession, movement_ids: Sequence[UUID]) -> int:
    """Return how many of some movements a premium bordereau reports."""
    query = (
        sa.select(sa.func.count())
        .select_from(BordereauLine)
        .where(col(BordereauLine.subject_id).in_(movement_ids), col(BordereauLine.kind) == "premium")
    )
    return int(session.execute(query).scalar_one())


def batches_of(session: ScopedSession, bordereau_id: UUID) -> Iterator[list[list[str]]]:
    """Yield the printed cells of a bordereau in their order, some thousand rows at a time."""
    after = 0
    while True:
        query = (
            sa.select(col(BordereauLine.position), col(BordereauLine.cells))
            .where(col(BordereauLine.bordereau_id) == bordereau_id, col(BordereauLine.position) > after)
            .order_by(col(BordereauLine.position))
            .limit(_BATCH)
        )
        rows = session.execute(query).all()
        if not rows:
            return
        after = rows[-1].position
        yield [row.cells for row in rows]


def csv_of(session: ScopedSession, row: Bordereau | BordereauRow) -> Iterator[bytes]:
    """Yield the CSV of a bordereau, whose hash it carries."""
    yield from columns.csv_chunks(row.kind, batches_of(session, row.id), rows=row.rows, totals=row.totals)


def facts_of(row: BordereauRow) -> list[tuple[str, Any]]:
    """Return the selection of a bordereau, its control figures and its hash, as labels and values."""
    return [
        ("Bordereau", f"{KIND_NAMES[row.kind]} {row.number}"),
        ("Insurer", row.party),
        ("Agreement", row.facts["about"]["agreement_number"] or "None on file"),
        ("Month", f"{row.month:%B %Y}"),
        ("Date basis", row.facts["basis"]),
        ("Rows", row.rows),
        *((name.replace("_", " ").capitalize(), float(money.to_naira(minor))) for name, minor in row.totals.items()),
        ("SHA-256 of the CSV", row.sha256),
    ]


def _query() -> AnySelect:
    people = {name: sa.orm.aliased(Staff) for name in ("issued_by", "sent_by", "answered_by")}
    query: AnySelect = sa.select(
        Bordereau, col(Provider.company_name), *(col(person.name).label(name) for name, person in people.items())
    ).join(Provider, col(Provider.id) == col(Bordereau.provider_id))
    for name, person in people.items():
        query = query.outerjoin(person, col(person.id) == col(getattr(Bordereau, name)))
    return query


def _build(found: Any) -> BordereauRow:
    row: Bordereau = found.Bordereau
    names = ("id", "provider_id", "kind", "month", "state", "rows", "totals", "sha256", "facts", "note")
    instants = ("issued_at", "sent_at", "answered_at")
    return BordereauRow(
        **{name: getattr(row, name) for name in (*names, *instants)},
        number=number_of(row.kind, row.number),
        party=found.company_name,
        issuer=found.issued_by,
        sender=found.sent_by,
        answerer=found.answered_by,
    )
