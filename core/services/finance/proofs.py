"""Money checks of `coverdesk check`: movements equal their source rows, and their sums the roll-ups."""

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core import money
from core.store.access import ScopedSession
from core.store.expressions import lagos_day
from core.store.schema.tables import Adjustment, DaybookLine, Movement, Purchase, Refund, Renewal

_AMOUNTS = ("total_minor", "mca_profit_minor", "distributor_profit_minor")
_VERBS = {"purchase": "sold", "renewal": "renewed", "refund": "refunded", "adjustment": "adjusted"}
_SOURCES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "purchase": (Purchase, (col(Purchase.deleted_at).is_(None),)),
    "renewal": (Renewal, (col(Renewal.deleted_at).is_(None), col(Renewal.status))),
    "refund": (Refund, ()),
    "adjustment": (Adjustment, ()),
}


def find_movement_faults(session: ScopedSession) -> Iterator[str]:
    """Movements whose shares do not make their premium, or that are not the rows behind them."""
    shares = (
        col(Movement.provider_share_minor) + col(Movement.mca_profit_minor) + col(Movement.distributor_profit_minor)
    )
    uneven = sa.select(sa.func.count()).select_from(Movement).where(col(Movement.total_minor) != shares)
    if wrong := session.execute(uneven).scalar_one():
        yield f"{wrong:,} movements whose shares do not make their premium"
    for kind, (entity, conditions) in _SOURCES.items():
        sign = -1 if kind == "refund" else 1
        listed = session.execute(_sums(Movement, 1).where(col(Movement.kind) == kind)).one()
        stored = session.execute(_sums(entity, sign).where(*conditions)).one()
        if tuple(listed) != tuple(stored):
            yield f"the movements of kind {kind} do not have the number and sums of their rows"


def find_adjustment_faults(session: ScopedSession) -> Iterator[str]:
    """Corrections that change a movement by more than itself, and those of a correction (contract K10)."""
    sums = [_whole(col(getattr(Adjustment, name))).label(name) for name in _AMOUNTS]
    made = sa.select(col(Adjustment.corrects_id), *sums).group_by(col(Adjustment.corrects_id)).subquery()
    query = sa.select(Movement, *(made.c[name].label(f"by_{name}") for name in _AMOUNTS)).join(
        made, made.c.corrects_id == col(Movement.id)
    )
    for row in session.execute(query):
        movement, by = row.Movement, money.format_naira(row.by_total_minor)
        if movement.kind == "adjustment":
            yield f"adjustment {movement.id} is adjusted itself, by {by}"
            continue
        sign = -1 if movement.total_minor < 0 else 1
        left = [sign * (getattr(movement, name) + getattr(row, f"by_{name}")) for name in _AMOUNTS]
        if not 0 <= left[0] <= 2 * abs(movement.total_minor):
            of = money.format_naira(movement.total_minor)
            yield f"the adjustments of {movement.kind} {movement.id} change its premium of {of} by {by}"
        if min(left[1:]) < 0 or sum(left[1:]) > left[0]:
            yield f"the adjustments of {movement.kind} {movement.id} leave commissions beyond its premium, by {by}"


def find_rollup_faults(session: ScopedSession) -> Iterator[str]:
    """Days on which the movements of a distributor and mode do not sum to the daybook."""
    moment = lagos_day(col(Movement.created_at))
    keys = (col(Movement.is_live), col(Movement.distributor_id), moment)
    written = sa.select(*keys, *_of(Movement, 1)).select_from(Movement).group_by(*keys)
    book = (col(DaybookLine.is_live), col(DaybookLine.distributor_id), col(DaybookLine.day))
    sums = [_net(part) for part in ("", "_mca", "_distributor")]
    number = sum(
        (col(getattr(DaybookLine, name)) for name in ("renewed", "refunds", "adjustments")), col(DaybookLine.sold)
    )
    kept = sa.select(*book, _whole(number), *map(_whole, sums)).where(col(DaybookLine.grain) == "day").group_by(*book)
    days = set()
    for missing in (sa.except_(written, kept), sa.except_(kept, written)):
        days |= {row[2] for row in session.execute(missing) if any(row[3:])}
    yield from (f"the movements of {day} do not have the sums of the daybook" for day in sorted(days))


def _sums(entity: Any, sign: int) -> Any:
    return sa.select(*_of(entity, sign)).select_from(entity)


def _of(entity: Any, sign: int) -> list[Any]:
    amounts = [sign * col(getattr(entity, name)) for name in _AMOUNTS]
    return [sa.func.count(), *map(_whole, amounts)]


def _whole(value: Any) -> Any:
    return sa.cast(sa.func.coalesce(sa.func.sum(value), 0), sa.BigInteger)


def _net(part: str) -> Any:
    """Build the net sum of one share from a roll-up line, with the signs of movements."""
    amounts = {verb: col(getattr(DaybookLine, f"{verb}{part}_minor")) for verb in _VERBS.values()}
    return amounts["sold"] + amounts["renewed"] - amounts["refunded"] + amounts["adjusted"]
