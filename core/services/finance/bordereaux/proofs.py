"""Bordereau checks of `coverdesk check`: numbers, months, sums, hashes and completeness (contract F5)."""

from collections.abc import Iterator
from itertools import groupby

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.finance import redactions
from core.services.finance.bordereaux import columns, issuing
from core.services.finance.bordereaux import reading as bordereau_reading
from core.store.access import ScopedSession
from core.store.schema.tables import Bordereau, BordereauLine, Movement

REDACTED_KIND = "bordereau"


def find_bordereau_faults(session: ScopedSession) -> Iterator[str]:
    """Bordereaux that are not their rows, not their hash, out of order, or that leave movements out."""
    query = sa.select(Bordereau).order_by(col(Bordereau.provider_id), col(Bordereau.kind), col(Bordereau.number))
    rows = session.execute(query).scalars().all()
    yield from _line_faults(session)
    for _, found in groupby(rows, key=lambda row: (row.provider_id, row.kind)):
        before: Bordereau | None = None
        for row in found:
            if row.number != (before.number if before else 0) + 1:
                yield f"the numbers of bordereaux have a gap before {_named(row)}"
            if before and clock.add_months(before.month, 1) != row.month:
                yield f"{_named(row)} leaves out a month after the bordereau before"
            yield from _sum_faults(session, row)
            before = row
        if before and before.kind == "premium":
            yield from _left_out(session, before)


def _named(row: Bordereau) -> str:
    return f"bordereau {bordereau_reading.number_of(row.kind, row.number)} of {row.facts.get('party')}"


def _sum_faults(session: ScopedSession, row: Bordereau) -> Iterator[str]:
    sums = (sa.func.count(), sa.func.coalesce(sa.func.sum(col(BordereauLine.amount_minor)), 0))
    rows, minor = session.execute(sa.select(*sums).where(col(BordereauLine.bordereau_id) == row.id)).one()
    if (int(rows), int(minor)) != (row.rows, row.totals.get(columns.MAIN[row.kind])):
        yield f"{_named(row)} does not have the number and sum of its rows"
    digest = issuing.hash_of(session, row)
    if digest != row.sha256 and not redactions.is_redacted(session, REDACTED_KIND, row.id, row.sha256, digest):
        yield f"{_named(row)} is not what its hash says"


def _line_faults(session: ScopedSession) -> Iterator[str]:
    """Premium bordereaux with rows that do not have the premium of their movement."""
    query = (
        sa.select(col(Bordereau.id))
        .join(BordereauLine, col(BordereauLine.bordereau_id) == col(Bordereau.id))
        .outerjoin(Movement, col(Movement.id) == col(BordereauLine.subject_id))
        .where(
            col(Bordereau.kind) == "premium",
            sa.or_(col(Movement.id).is_(None), col(Movement.total_minor) != col(BordereauLine.amount_minor)),
        )
        .distinct()
    )
    for bordereau_id in session.execute(query).scalars().all():
        yield f"{_named(session.get_one(Bordereau, bordereau_id))} has rows that are not their movements"


def _left_out(session: ScopedSession, newest: Bordereau) -> Iterator[str]:
    """Movements of reported months that no bordereau has; those of the last one may still come."""
    reported = sa.exists().where(
        col(BordereauLine.subject_id) == col(Movement.id), col(BordereauLine.kind) == "premium"
    )
    query = (
        sa.select(sa.func.count())
        .select_from(Movement)
        .where(
            col(Movement.provider_id) == newest.provider_id,
            col(Movement.is_live),
            col(Movement.created_at) < clock.lagos_midnight(newest.month),
            ~reported,
        )
    )
    if missing := session.execute(query).scalar_one():
        yield f"{missing:,} movements before the month of {_named(newest)} are in no bordereau"
