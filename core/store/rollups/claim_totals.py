"""Claims by what the views of the queue tell apart, with their money; kept in step on every write."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cache
from typing import Any, Final, NamedTuple
from uuid import UUID

import sqlalchemy as sa

from core.store.access.compiled_write import CompiledWrite, add_up
from core.store.access.scope import AnySelect
from core.store.expressions import select_differences, utc_day
from core.store.schema.claims import Claim, ClaimPayment, ClaimReserve
from core.store.schema.columns import entity_of, table_of
from core.store.schema.rollups import CLAIM_KEYS, CLAIM_MEASURES, NOBODY, NOT_RUNNING, ClaimTotal

PARTS = 16
_COUNTED = frozenset({Claim, ClaimPayment, ClaimReserve})


_CLAIM, _PAYMENT, _RESERVE, _TOTAL = (
    table_of(Claim),
    table_of(ClaimPayment),
    table_of(ClaimReserve),
    table_of(ClaimTotal),
)


class ClaimFacts(NamedTuple):
    """The columns of a claim that decide on which line it stands and what it adds, and the sums of its money."""

    id: UUID
    is_live: bool
    claim_status: str
    assigned_to: UUID | None
    clock_from: datetime
    clock_stopped_at: datetime | None
    deleted_at: datetime | None
    claim_amount_minor: int
    offer_amount_minor: int
    paid_minor: int
    payments: int
    outstanding_minor: int

    @property
    def key(self) -> tuple[bool, str, UUID, date]:
        """The line of the claim."""
        day = NOT_RUNNING if self.clock_stopped_at else self.clock_from.astimezone(UTC).date()
        return self.is_live, self.claim_status, self.assigned_to or NOBODY, day

    @property
    def measures(self) -> dict[str, int]:
        """The measures that the claim adds to its line; a deleted one adds nothing."""
        amounts = (1, self.claim_amount_minor, self.offer_amount_minor, self.paid_minor, self.payments)
        return {} if self.deleted_at else dict(zip(CLAIM_MEASURES, (*amounts, self.outstanding_minor), strict=True))


_COLUMNS = ClaimFacts._fields[:9]


def add_rows(connection: sa.Connection, rows: Iterable[Any], changed: Iterable[Any] = ()) -> None:
    """Enter new claims, payments and changes of reserves, and the difference that changed claims make."""
    new = [row for row in rows if entity_of(row) in _COUNTED]
    claims = {row.id: row for row in changed if isinstance(row, Claim)}
    if not (new or claims):
        return
    created = {row.id for row in new if isinstance(row, Claim)}
    money = [row for row in new if not isinstance(row, Claim)]
    sums: defaultdict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    for after in _load_facts(connection, {*claims, *created, *(row.claim_id for row in money)}):
        # SQLite lets one write at a time in any case.
        part = after.id.int % PARTS if connection.dialect.name == "postgresql" else 0
        sums[*after.key, part].update(after.measures)
        if after.id not in created:
            mine = [row for row in money if row.claim_id == after.id]
            before = _facts_before(after, claims.get(after.id), mine)
            sums[*before.key, part].subtract(before.measures)
    _write(connection, sums)


def add_claims(connection: sa.Connection, claim_ids: Iterable[UUID]) -> None:
    """Enter new claims with their money that were written past the session, in the first part as `rebuild` does."""
    sums: defaultdict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    for facts in _load_facts(connection, claim_ids):
        sums[*facts.key, 0].update(facts.measures)
    _write(connection, sums)


def _load_facts(connection: sa.Connection, claim_ids: Iterable[UUID]) -> list[ClaimFacts]:
    """The claims as they are stored now, with what has been written in this transaction."""
    found = connection.execute(_FACTS, {"claim_ids": list(claim_ids)})
    return [ClaimFacts(*row[:9], *map(int, row[9:])) for row in found]


def _sum_of_claim(table: sa.Table, total: Any) -> Any:
    query = sa.select(sa.func.coalesce(total, 0)).select_from(table).where(table.c.claim_id == _CLAIM.c.id)
    return query.correlate(_CLAIM).scalar_subquery()


# Built once: every write of a claim sends it.
_FACTS: Final = sa.select(
    *(_CLAIM.c[name] for name in _COLUMNS),
    _sum_of_claim(_PAYMENT, sa.func.sum(_PAYMENT.c.amount_minor)),
    _sum_of_claim(_PAYMENT, sa.func.count()),
    _sum_of_claim(_RESERVE, sa.func.sum(_RESERVE.c.change_minor)),
).where(_CLAIM.c.id.in_(sa.bindparam("claim_ids", expanding=True)))


def _facts_before(after: ClaimFacts, claim: Claim | None, money: Sequence[Any]) -> ClaimFacts:
    """The claim before the change that is being flushed, and before these rows of money."""
    states: Any = sa.inspect(claim).attrs if claim else {}
    history = {name: states[name].history.deleted for name in _COLUMNS} if claim else {}
    amounts = [row.amount_minor for row in money if isinstance(row, ClaimPayment)]
    return after._replace(
        **{name: was[0] for name, was in history.items() if was},
        paid_minor=after.paid_minor - sum(amounts),
        payments=after.payments - len(amounts),
        outstanding_minor=after.outstanding_minor
        - sum(row.change_minor for row in money if isinstance(row, ClaimReserve)),
    )


def _write(connection: sa.Connection, sums: Mapping[tuple[Any, ...], Mapping[str, int]]) -> None:
    # In one order, so that transactions that meet here do not hold each other up crosswise.
    changes = sorted((key, measures) for key, measures in sums.items() if any(measures.values()))
    lines = [
        {**dict(zip((*CLAIM_KEYS, "part"), key, strict=True)), **dict.fromkeys(CLAIM_MEASURES, 0), **measures}
        for key, measures in changes
    ]
    if lines:
        _ADDING.run(connection, lines)
    emptied = [line for line in lines if line["claims"] < 0]
    if emptied:
        _DELETING.run(connection, [{name: line[name] for name in (*CLAIM_KEYS, "part")} for line in emptied])


def _deleting(_: Any) -> Any:
    line = [_TOTAL.c[name] == sa.bindparam(name, type_=_TOTAL.c[name].type) for name in (*CLAIM_KEYS, "part")]
    return sa.delete(_TOTAL).where(*line, _TOTAL.c.claims == sa.literal_column("0"))


_ADDING = CompiledWrite(lambda dialect: add_up(dialect.insert(_TOTAL), [*CLAIM_KEYS, "part"], CLAIM_MEASURES))
_DELETING = CompiledWrite(_deleting)


def rebuild(connection: sa.Connection) -> None:
    """Rebuild all lines from the claims, their payments and their reserves."""
    connection.execute(sa.delete(_TOTAL))
    whole = _count_again().add_columns(sa.literal(0, sa.Integer).label("part"))
    connection.execute(sa.insert(_TOTAL).from_select([*CLAIM_KEYS, *CLAIM_MEASURES, "part"], whole))


def list_faults(connection: sa.Connection) -> list[str]:
    """Statuses whose lines and claims differ; empty when they agree."""
    found: set[str] = {status for query in _build_differences() for status in connection.execute(query).scalars()}
    return [f"the totals of claims that are {status} differ from their rows" for status in sorted(found)]


@cache
def _build_differences() -> Sequence[AnySelect]:
    return select_differences(_sum_lines(_TOTAL.c), _count_again(), "claim_status")


def _count_again() -> AnySelect:
    paid = _sum_by_claim(_PAYMENT, paid=sa.func.sum(_PAYMENT.c.amount_minor), payments=sa.func.count())
    reserved = _sum_by_claim(_RESERVE, outstanding=sa.func.sum(_RESERVE.c.change_minor))
    runs = _CLAIM.c.clock_stopped_at.is_(None)
    measures = (
        sa.literal(1, sa.Integer),
        *(_CLAIM.c.claim_amount_minor, _CLAIM.c.offer_amount_minor),
        *(sa.func.coalesce(column, 0) for column in (paid.c.paid, paid.c.payments, reserved.c.outstanding)),
    )
    claims = sa.select(
        *(_CLAIM.c.is_live, _CLAIM.c.claim_status),
        sa.func.coalesce(_CLAIM.c.assigned_to, sa.literal(NOBODY, sa.Uuid())).label("assigned_to"),
        sa.case((runs, utc_day(_CLAIM.c.clock_from)), else_=sa.literal(NOT_RUNNING, sa.Date())).label("clock_day"),
        *(column.label(name) for name, column in zip(CLAIM_MEASURES, measures, strict=True)),
    ).select_from(
        _CLAIM.outerjoin(paid, paid.c.claim_id == _CLAIM.c.id).outerjoin(reserved, reserved.c.claim_id == _CLAIM.c.id)
    )
    return _sum_lines(claims.where(_CLAIM.c.deleted_at.is_(None)).subquery().c)


def _sum_by_claim(table: sa.Table, **sums: Any) -> sa.Subquery:
    columns = (column.label(name) for name, column in sums.items())
    return sa.select(table.c.claim_id, *columns).group_by(table.c.claim_id).subquery()


def _sum_lines(lines: Any) -> AnySelect:
    keys = [lines[name] for name in CLAIM_KEYS]
    sums = [sa.cast(sa.func.sum(lines[name]), sa.BigInteger).label(name) for name in CLAIM_MEASURES]
    # Claims that left a line in another part than the one they came to leave a sum of nothing.
    return sa.select(*keys, *sums).group_by(*keys).having(sa.or_(*(total != 0 for total in sums)))
