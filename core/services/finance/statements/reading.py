"""Statements as they were frozen: lists, one of them, its lines, and its files."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.errors import NotFound
from core.services.finance import parties
from core.services.finance.parties import Party
from core.services.finance.statements import files as statement_files
from core.services.finance.statements import paid_lines
from core.services.finance.statements.files import Paper
from core.services.finance.statements.paid_lines import PaidLine
from core.states.finance import SEEN, StatementState
from core.store.access import AnySelect, ScopedSession, WireId
from core.store.schema.tables import Staff, Statement, StatementLine, StatementStep

_TITLES = {"distributor": "Commission statement", "provider": "Account current"}
_SERIES = {"distributor": "CS", "provider": "AC"}
_BATCH = 2_000
# From when on a distributor sees a statement.
# As columns and not as records, of which a session would keep each; without those that no file has, and ids as text.
_UNPRINTED = {"statement_id", "account", "released_by"}
IDS = ("movement_id", "product_id", "other_id")


def _printed(name: str) -> Any:
    column = col(getattr(StatementLine, name))
    return sa.type_coerce(column, WireId()).label(name) if name in IDS else column


_PRINTED = tuple(_printed(name) for name in StatementLine.model_fields if name not in _UNPRINTED)
_AMOUNTS = (
    *("opening_minor", "premium_minor", "earned_minor", "clawback_minor", "adjusted_minor", "vat_minor"),
    *("withheld_minor", "paid_minor", "closing_minor"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class StatementRow:
    """One statement with the people who worked on it."""

    id: UUID
    party: Party
    paper: Paper
    note: str | None
    prepared_by: UUID
    preparer: str
    prepared_at: datetime
    approver: str | None
    approved_at: datetime | None
    sender: str | None
    sent_at: datetime | None
    reverses_id: UUID | None


class StepRow(NamedTuple):
    """One step of a statement: what it became, by whom, when, and the note."""

    name: str
    person: str
    at: datetime
    note: str | None


def number_of(row: Statement) -> str:
    """Return the number as it is printed, such as CS-0007."""
    return f"{_SERIES[row.account]}-{row.number:04d}"


def paper_of(row: Statement, *, reverses: str | None = None, payments: tuple[PaidLine, ...] = ()) -> Paper:
    """Return what a statement prints beside its lines."""
    return Paper(
        title=_TITLES[row.account],
        number=number_of(row),
        account=row.account,
        party=str(row.facts.get("party", "")),
        month=row.month,
        **{name: getattr(row, name) for name in _AMOUNTS},
        lines=row.lines,
        sha256=row.sha256,
        state=row.state,
        facts=row.facts,
        reverses=reverses,
        payments=payments,
    )


def batches_of(session: ScopedSession, statement_id: UUID) -> Iterator[Sequence[Any]]:
    """Yield the lines of a statement in their order, some thousand at a time; ids are text."""
    after = 0
    while True:
        query = (
            sa.select(*_PRINTED)
            .where(col(StatementLine.statement_id) == statement_id, col(StatementLine.position) > after)
            .order_by(col(StatementLine.position))
            .limit(_BATCH)
        )
        rows = session.execute(query).all()
        if not rows:
            return
        after = rows[-1].position
        yield rows


def csv_of(session: ScopedSession, row: Statement) -> Iterator[bytes]:
    """Yield the CSV of a statement, whose hash it carries."""
    paper = paper_of(row, payments=paid_lines.list_printed(session, row.id))
    yield from statement_files.csv_chunks(paper, batches_of(session, row.id))


def get_last(session: ScopedSession, party: Party) -> Statement | None:
    """Return the newest statement of a party that is not void."""
    query = (
        sa.select(Statement)
        .where(party.owns(Statement), col(Statement.state) != StatementState.VOID, col(Statement.reverses_id).is_(None))
        .order_by(col(Statement.month).desc())
        .limit(1)
    )
    found: Statement | None = session.execute(query).scalar_one_or_none()
    return found


def get_reversal(session: ScopedSession, statement_id: UUID) -> Statement | None:
    """Return the statement that reverses another one, unless it was given up."""
    query = sa.select(Statement).where(
        col(Statement.reverses_id) == statement_id, col(Statement.state) != StatementState.VOID
    )
    found: Statement | None = session.execute(query).scalar_one_or_none()
    return found


def get_for_update(session: ScopedSession, statement_id: UUID) -> Statement:
    """Return a statement and hold it until the transaction ends; NotFound for one that does not exist."""
    query = sa.select(Statement).where(col(Statement.id) == statement_id, *_mine(session)).with_for_update()
    found: Statement | None = session.execute(query).scalar_one_or_none()
    if found is None:
        raise NotFound("There is no such statement")
    return found


def get_statement(session: ScopedSession, statement_id: UUID) -> StatementRow:
    """Return one statement; NotFound for one that does not exist, or is not the caller's."""
    found = session.execute(_query(session).where(col(Statement.id) == statement_id)).one_or_none()
    if found is None:
        raise NotFound("There is no such statement")
    return _build(session, found)


def list_statements(session: ScopedSession, *, month: date | None = None) -> list[StatementRow]:
    """List statements of a month, or of all, the newest month first; a distributor gets its own that were sent."""
    query = _query(session)
    if month is not None:
        query = query.where(col(Statement.month) == month)
    order = (col(Statement.month).desc(), col(Statement.account), col(Statement.prepared_at).desc())
    return [_build(session, row) for row in session.execute(query.order_by(*order, col(Statement.id)))]


def list_steps(session: ScopedSession, statement_id: UUID) -> list[StepRow]:
    """List what was done with a statement, its preparation first."""
    maker = (
        sa.select(sa.literal(StatementState.PREPARED), col(Staff.name), col(Statement.prepared_at), col(Statement.note))
        .join(Staff, col(Staff.id) == col(Statement.prepared_by))
        .where(col(Statement.id) == statement_id)
    )
    later = (
        sa.select(*(col(getattr(StatementStep, name)) for name in ("state", "made_at", "note")), col(Staff.name))
        .join(Staff, col(Staff.id) == col(StatementStep.staff_id))
        .where(col(StatementStep.statement_id) == statement_id)
        .order_by(col(StatementStep.position))
    )
    steps = [StepRow(*row) for row in session.execute(maker)]
    for row in session.execute(later):
        is_settled = bool(steps) and steps[-1].name == StatementState.DISPUTED and row.state == StatementState.SENT
        steps.append(StepRow("Dispute settled" if is_settled else row.state, row.name, row.made_at, row.note))
    return steps


def sum_lines(session: ScopedSession, statement_id: UUID) -> tuple[int, int, int]:
    """Return the sums of premium, commission and net of all lines of a statement, in kobo."""
    names = ("premium_minor", "commission_minor", "net_minor")
    sums = [sa.func.coalesce(sa.func.sum(col(getattr(StatementLine, name))), 0) for name in names]
    query: Any = sa.select(*sums).where(col(StatementLine.statement_id) == statement_id)
    premium, commission, net = session.execute(query).one()
    return int(premium), int(commission), int(net)


def list_of_policy(session: ScopedSession, movement_ids: Sequence[UUID]) -> list[tuple[UUID, str, str, date]]:
    """List the statements that hold some movements: id, number, party and month."""
    query = (
        sa.select(Statement)
        .join(StatementLine, col(StatementLine.statement_id) == col(Statement.id))
        .where(col(StatementLine.movement_id).in_(movement_ids), col(StatementLine.released_by).is_(None))
        .order_by(col(Statement.month), col(Statement.account))
    )
    found = {row.id: row for row in session.execute(query).scalars()}
    return [(row.id, number_of(row), str(row.facts["party"]), row.month) for row in found.values()]


def _mine(session: ScopedSession) -> list[sa.ColumnElement[bool]]:
    """The statements that a session may see: a distributor its own, once they were sent; the desk all, in live."""
    scope = session.scope
    if scope.distributor_id is None:
        return [] if scope.is_live is not False else [sa.false()]
    is_seen = col(Statement.state).in_(SEEN)
    mine = col(Statement.distributor_id) == scope.distributor_id
    return [mine, is_seen, col(Statement.sent_at).is_not(None)] if scope.is_live else [sa.false()]


def _query(session: ScopedSession) -> AnySelect:
    people = {name: sa.orm.aliased(Staff) for name in ("prepared_by", "approved_by", "sent_by")}
    query: AnySelect = sa.select(Statement, *(col(person.name).label(name) for name, person in people.items()))
    for name, person in people.items():
        query = query.outerjoin(person, col(person.id) == col(getattr(Statement, name)))
    return query.where(*_mine(session))


def _build(session: ScopedSession, found: Any) -> StatementRow:
    row: Statement = found.Statement
    reversed_ = session.get(Statement, row.reverses_id) if row.reverses_id else None
    return StatementRow(
        id=row.id,
        party=parties.party_of(row),
        paper=paper_of(
            row,
            reverses=number_of(reversed_) if reversed_ else None,
            payments=paid_lines.list_printed(session, row.id),
        ),
        note=row.note,
        prepared_by=row.prepared_by,
        preparer=found.prepared_by,
        prepared_at=row.prepared_at,
        approver=found.approved_by,
        approved_at=row.approved_at,
        sender=found.sent_by,
        sent_at=row.sent_at,
        reverses_id=row.reverses_id,
    )
