"""The invariant audit of the whole store: what must hold, each as a count that must be nought."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise

import sqlalchemy as sa
from sqlmodel import col

from core.services import audit, claim_moves
from core.store import daybook, schema, shelving
from core.store.engine import store, wal_is_safe
from core.store.scope import AnySelect, ScopedSession
from core.store.tables import (
    Certificate,
    Claim,
    ClaimEvent,
    KeptAnswer,
    Policy,
    Purchase,
    Refund,
    Renewal,
    Submission,
    UploadedFile,
)


@dataclass(frozen=True, slots=True)
class Invariant:
    """Something that must not be: in words, and the rows that break it."""

    words: str
    breaking: AnySelect


def _parts(entity: type[Purchase] | type[Renewal]) -> sa.ColumnElement[bool]:
    mca, distributor = col(entity.mca_profit_minor), col(entity.distributor_profit_minor)
    return sa.or_(mca < 0, distributor < 0, mca + distributor > col(entity.total_minor))


def _paid() -> sa.ColumnElement[int]:
    """What was ever paid for a policy: its purchase and its renewals."""
    renewed = (
        sa.select(sa.func.coalesce(sa.func.sum(col(Renewal.total_minor)), 0))
        .where(col(Renewal.policy_id) == col(Policy.id))
        .correlate(Policy)
        .scalar_subquery()
    )
    return col(Purchase.total_minor) + renewed


def _refunded() -> sa.Subquery:
    total = sa.func.sum(col(Refund.amount_minor)).label("total")
    return sa.select(col(Refund.policy_id), total).group_by(col(Refund.policy_id)).subquery("refunded")


def _numbered_twice() -> AnySelect:
    keys = (col(Policy.provider_id), col(Policy.number_key))
    return sa.select(*keys).where(keys[1].is_not(None)).group_by(*keys).having(sa.func.count() > 1)


_POLICY_OF = col(Policy.purchase_id) == col(Purchase.id)
_SALES = sa.select(col(Policy.id)).join(Purchase, _POLICY_OF)
_REFUNDED = _refunded()
INVARIANTS = (
    Invariant("purchases whose parts exceed their total", sa.select(col(Purchase.id)).where(_parts(Purchase))),
    Invariant("renewals whose parts exceed their total", sa.select(col(Renewal.id)).where(_parts(Renewal))),
    Invariant(
        "purchases without a policy",
        sa.select(col(Purchase.id)).outerjoin(Policy, _POLICY_OF).where(col(Policy.id).is_(None)),
    ),
    Invariant(
        "policies that differ from their purchase",
        _SALES.where(
            sa.or_(
                col(Policy.distributor_id) != col(Purchase.distributor_id),
                col(Policy.is_live) != col(Purchase.is_live),
                col(Policy.product_id) != col(Purchase.product_id),
                col(Policy.customer_id) != col(Purchase.customer_id),
                col(Policy.genius_price_minor) != col(Purchase.total_minor),
                col(Policy.profit_minor) != col(Purchase.mca_profit_minor),
            )
        ),
    ),
    Invariant("policy numbers that stand twice at one insurer", _numbered_twice()),
    Invariant(
        "active policies without a number or dates",
        sa.select(col(Policy.id)).where(
            col(Policy.activated),
            sa.or_(
                col(Policy.number_key).is_(None), col(Policy.start_at).is_(None), col(Policy.expiration_at).is_(None)
            ),
        ),
    ),
    Invariant(
        "active policies whose certificate is missing",
        sa.select(col(Policy.id))
        .outerjoin(Certificate, col(Certificate.code) == col(Policy.certificate_code))
        .where(col(Policy.activated), col(Certificate.code).is_(None)),
    ),
    Invariant(
        "policies that no submission accounts for",
        sa.select(col(Policy.id))
        .outerjoin(Submission, col(Submission.policy_id) == col(Policy.id))
        .where(col(Submission.policy_id).is_(None)),
    ),
    Invariant(
        "renewals whose dates run backwards",
        sa.select(col(Renewal.id)).where(col(Renewal.expiration_at) <= col(Renewal.start_at)),
    ),
    Invariant(
        "policies refunded by more than was paid",
        _SALES.join(_REFUNDED, _REFUNDED.c.policy_id == col(Policy.id)).where(_REFUNDED.c.total > _paid()),
    ),
    Invariant("answers kept without their work", sa.select(col(KeptAnswer.key)).where(col(KeptAnswer.status) == 0)),
)


def faults(session: ScopedSession) -> list[str]:
    """Everything that does not hold, one line each; empty when all is well.

    The session's scope must be the system's. Reads the whole store: at a million purchases, minutes.
    """
    found = [*_of_the_database(session), *daybook.faults(session.connection())]
    for invariant in INVARIANTS:
        count = session.execute(sa.select(sa.func.count()).select_from(invariant.breaking.subquery())).scalar_one()
        if count:
            found.append(f"{count:,} {invariant.words}")
    return [*found, *_claims(session), *_files(session), *audit.broken_links(session)]


def _of_the_database(session: ScopedSession) -> Iterator[str]:
    if schema.version(store()) != schema.newest():
        yield f"the store stands at version {schema.version(store())}, this release wants {schema.newest()}"
    if not store().is_sqlite:
        return
    if not wal_is_safe():
        yield "this SQLite can corrupt a write-ahead log; the journal is kept in its older, slower form"
    for row in session.connection().exec_driver_sql("PRAGMA integrity_check(5)"):
        if row[0] != "ok":
            yield f"the file is damaged: {row[0]}"
    for row in session.connection().exec_driver_sql("PRAGMA foreign_key_check"):
        yield f"a row of {row[0]} points to nothing in {row[2]}"


def _claims(session: ScopedSession) -> Iterator[str]:
    """Claims whose history is no path of allowed moves, or does not end where the claim stands."""
    rows = session.execute(
        sa.select(col(ClaimEvent.claim_id), col(ClaimEvent.status), col(Claim.claim_status))
        .join(Claim, col(Claim.id) == col(ClaimEvent.claim_id))
        .order_by(col(ClaimEvent.claim_id), col(ClaimEvent.created_at), col(ClaimEvent.id))
    )
    told = set()
    for claim_id, events in groupby(rows, key=lambda row: row.claim_id):
        history = list(events)
        told.add(claim_id)
        statuses = [event.status for event in history]
        if statuses[-1] != history[-1].claim_status:
            yield f"claim {claim_id} stands at {history[-1].claim_status}, its history at {statuses[-1]}"
        for start, to in pairwise(statuses):
            if claim_moves.between(start, to) is None:
                yield f"claim {claim_id} moved from {start} to {to}, which no move allows"
    silent = [row.id for row in session.execute(sa.select(col(Claim.id))) if row.id not in told]
    yield from (f"claim {claim_id} has no history" for claim_id in silent)


def _files(session: ScopedSession) -> Iterator[str]:
    for row in session.execute(sa.select(col(UploadedFile.code), col(UploadedFile.sha256))):
        path = shelving.path_of(row.code)
        if not path.is_file():
            yield f"file {row.code} is missing"
        elif hashlib.sha256(path.read_bytes()).hexdigest() != row.sha256:
            yield f"file {row.code} was changed"
