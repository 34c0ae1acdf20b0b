"""Reconciliations and their differences as screens and files show them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.errors import NotFound
from core.services.lists.paging import Paging
from core.services.lists.spreadsheets import SIGNED_MONEY, TEXT, WORD, Column, csv_field
from core.states.finance import UNEXPLAINED
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Difference, Provider, Reconciliation, Staff

COLUMNS: Final = (
    *(Column("result", WORD, 16), Column("policy_number", TEXT, 26), Column("transaction", WORD)),
    *(Column("ours", SIGNED_MONEY), Column("theirs", SIGNED_MONEY), Column("difference", SIGNED_MONEY)),
    *(Column("rows", TEXT), Column("detail", TEXT, 40), Column("state", WORD, 16)),
    *(Column("cause", TEXT, 24), Column("note", TEXT, 40), Column("age_days", WORD)),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ReconciliationRow:
    """One reconciliation; amounts in kobo."""

    id: UUID
    kind: str
    provider_id: UUID | None
    party: str
    month: date
    file_name: str
    sha256: str
    columns: dict[str, str]
    amount_is: str
    tolerance_minor: int
    timing_days: int
    ours_rows: int
    theirs_rows: int
    matched_rows: int
    ours_minor: int
    theirs_minor: int
    tolerated_minor: int
    passed_rows: int | None
    passed_minor: int | None
    differences: int
    unexplained: int
    is_superseded: bool
    maker: str
    made_at: datetime

    @property
    def verdict(self) -> str:
        """One sentence on the result; it says that there are no differences only where there are none at all."""
        if self.is_superseded:
            return "A newer file counts"
        if self.unexplained:
            return f"{self.unexplained} not explained"
        if self.differences:
            return "All explained"
        return "No differences above the tolerance" if self.passed_rows else "No differences"


@dataclass(frozen=True, kw_only=True, slots=True)
class DifferenceRow:
    """One difference with its people."""

    id: UUID
    reconciliation_id: UUID
    result: str
    policy_number: str
    kind: str
    ours_minor: int
    theirs_minor: int
    difference_minor: int
    detail: str
    rows: list[int]
    subjects: list[str]
    state: str
    cause: str | None
    note: str | None
    asked_by: UUID | None
    owner: str | None
    decider: str | None
    changed_at: datetime
    made_at: datetime
    is_superseded: bool

    @property
    def age_days(self) -> int:
        """Days since it was found."""
        return (clock.now() - self.made_at).days


def list_reconciliations(session: ScopedSession, *, month: date | None = None) -> list[ReconciliationRow]:
    """List reconciliations, of a month or all, the newest first."""
    query = _query().order_by(col(Reconciliation.made_at).desc(), col(Reconciliation.id).desc())
    if month is not None:
        query = query.where(col(Reconciliation.month) == month)
    return [_build(row) for row in session.execute(query)]


def get_reconciliation(session: ScopedSession, reconciliation_id: UUID) -> ReconciliationRow:
    """Return one reconciliation; NotFound for one that does not exist."""
    found = session.execute(_query().where(col(Reconciliation.id) == reconciliation_id)).one_or_none()
    if found is None or session.scope.is_live is False:
        raise NotFound("There is no such reconciliation")
    return _build(found)


def is_superseded(session: ScopedSession, reconciliation_id: UUID) -> bool:
    """Return True for a reconciliation after which a newer file of the same party and month was compared."""
    query = sa.select(_newer()).where(col(Reconciliation.id) == reconciliation_id)
    return bool(session.execute(query).scalar())


def sum_results(session: ScopedSession, reconciliation_id: UUID) -> list[tuple[str, int, int]]:
    """Return the number and sum of the differences of each result."""
    query = (
        sa.select(col(Difference.result), sa.func.count(), sa.func.sum(col(Difference.difference_minor)))
        .where(col(Difference.reconciliation_id) == reconciliation_id)
        .group_by(col(Difference.result))
        .order_by(col(Difference.result))
    )
    return [(result, int(number), int(minor)) for result, number, minor in session.execute(query)]


def list_differences(
    session: ScopedSession, reconciliation_id: UUID, paging: Paging | None = None, *, result: str | None = None
) -> list[DifferenceRow]:
    """List differences, the largest first; of one result, and one page, where they are given."""
    query = _differences().where(col(Difference.reconciliation_id) == reconciliation_id)
    if result:
        query = query.where(col(Difference.result) == result)
    size = sa.func.abs(col(Difference.difference_minor))
    query = query.order_by(size.desc(), col(Difference.id))
    if paging:
        query = query.limit(paging.limit).offset(paging.offset)
    return [_build_difference(row) for row in session.execute(query)]


def get_difference(session: ScopedSession, difference_id: UUID) -> DifferenceRow:
    """Return one difference; NotFound for one that does not exist."""
    found = session.execute(_differences().where(col(Difference.id) == difference_id)).one_or_none()
    if found is None or session.scope.is_live is False:
        raise NotFound("There is no such difference")
    return _build_difference(found)


def csv_chunks(rows: Sequence[DifferenceRow], *, tolerated_minor: int) -> Iterator[bytes]:
    """Yield the differences as CSV, what the tolerance let pass, and the total: our balance less theirs."""
    yield (",".join(column.name for column in COLUMNS) + "\r\n").encode()
    for row in rows:
        amounts = (money.to_wire(minor) for minor in (row.ours_minor, row.theirs_minor, row.difference_minor))
        cells = (
            *(row.result, csv_field(row.policy_number), row.kind, *amounts),
            *(csv_field(" ".join(map(str, row.rows))), csv_field(row.detail), row.state),
            *(csv_field(row.cause), csv_field(row.note), str(row.age_days)),
        )
        yield (",".join(cells) + "\r\n").encode()
    if tolerated_minor:
        yield f"within the tolerance,,,,,{money.to_wire(tolerated_minor)},,,,,,\r\n".encode()
    total = money.to_wire(sum(row.difference_minor for row in rows) + tolerated_minor)
    yield f"total,,,,,{total},,,,,,\r\n".encode()


def _counted(*conditions: Any) -> Any:
    return (
        sa.select(sa.func.count())
        .where(col(Difference.reconciliation_id) == col(Reconciliation.id), *conditions)
        .correlate(Reconciliation)
        .scalar_subquery()
    )


def _newer() -> sa.ColumnElement[bool]:
    """The condition that a newer file of the same party and month was compared."""
    other, mine = sa.orm.aliased(Reconciliation), sa.tuple_(col(Reconciliation.made_at), col(Reconciliation.id))
    return (
        sa.select(col(other.id))
        .where(
            col(other.month) == col(Reconciliation.month),
            col(other.provider_id).is_not_distinct_from(col(Reconciliation.provider_id)),
            sa.tuple_(col(other.made_at), col(other.id)) > mine,
        )
        .correlate(Reconciliation)
        .exists()
    )


def _query() -> AnySelect:
    query: AnySelect = (
        sa.select(
            Reconciliation,
            *(col(Provider.company_name), col(Staff.name)),
            _counted().label("differences"),
            _counted(col(Difference.state).in_(UNEXPLAINED)).label("unexplained"),
            _newer().label("is_superseded"),
        )
        .outerjoin(Provider, col(Provider.id) == col(Reconciliation.provider_id))
        .join(Staff, col(Staff.id) == col(Reconciliation.made_by))
    )
    return query


_COPIED: Final = (
    *("id", "kind", "provider_id", "month", "file_name", "sha256", "columns", "amount_is", "tolerance_minor"),
    *("timing_days", "ours_rows", "theirs_rows", "matched_rows", "ours_minor", "theirs_minor", "tolerated_minor"),
    *("made_at", "passed_rows", "passed_minor"),
)


def _build(found: Any) -> ReconciliationRow:
    row: Reconciliation = found.Reconciliation
    return ReconciliationRow(
        **{name: getattr(row, name) for name in _COPIED},
        party=found.company_name or "Bank",
        differences=found.differences,
        # What was found in a file that a newer one replaces is settled there.
        unexplained=0 if found.is_superseded else found.unexplained,
        is_superseded=found.is_superseded,
        maker=found.name,
    )


def _differences() -> AnySelect:
    owner, decider = sa.orm.aliased(Staff), sa.orm.aliased(Staff)
    query: AnySelect = (
        sa.select(
            Difference,
            *(col(Reconciliation.made_at), col(owner.name).label("owner"), col(decider.name).label("decider")),
            _newer().label("is_superseded"),
        )
        .join(Reconciliation, col(Reconciliation.id) == col(Difference.reconciliation_id))
        .outerjoin(owner, col(owner.id) == col(Difference.owner_id))
        .outerjoin(decider, col(decider.id) == col(Difference.decided_by))
    )
    return query


def _build_difference(found: Any) -> DifferenceRow:
    row: Difference = found.Difference
    copied = {name: getattr(row, name) for name in DifferenceRow.__dataclass_fields__ if hasattr(row, name)}
    more = {"owner": found.owner, "decider": found.decider, "is_superseded": found.is_superseded}
    return DifferenceRow(**copied, **more, made_at=found.made_at)
