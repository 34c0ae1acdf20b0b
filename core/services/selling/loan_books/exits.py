"""Exits of loans and snapshots of the live book: what ends, what goes back, and what is missing (contract B3)."""

from collections.abc import Sequence
from datetime import date
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.errors import StateForbids
from core.services.policies import changes, refunds
from core.services.selling.loan_books import judging
from core.services.selling.loan_books.judging import Judged
from core.states.loan_books import RowOutcome
from core.store import policy_numbers
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import LoanBook, LoanBookRow, Policy

_WORDS: Final = {
    "settled_early": "Loan settled early",
    "refinanced": "Loan refinanced",
    "written_off": "Loan written off",
    "cancelled": "Cancelled by the lender",
}


def judge(session: ScopedSession, book: LoanBook, rows: Sequence[Judged]) -> None:
    """Find the policy of each row, judge whether it ends on that day, and what goes back."""
    by_hash, by_number = _load(session, book, rows)
    for row in rows:
        judging.judge_reason(row)
        number = row.facts.get("policy_number")
        policy = by_number.get(policy_numbers.key(number)) if number else by_hash.get(row.risk_hash or "")
        if "MISSING_REQUIRED" in row.found or "MALFORMED_VALUE" in row.found:
            continue
        if policy is None:
            row.found["UNKNOWN_LOAN"] = "no policy of yours has this number"
            continue
        _judge_end(session, row, policy)


def _load(
    session: ScopedSession, book: LoanBook, rows: Sequence[Judged]
) -> tuple[dict[str, Policy], dict[str, Policy]]:
    hashes = [row.risk_hash for row in rows if row.risk_hash]
    keys = [policy_numbers.key(row.facts["policy_number"]) for row in rows if "policy_number" in row.facts]
    query = (
        sa.select(Policy)
        .where(
            col(Policy.distributor_id) == book.distributor_id,
            col(Policy.is_live) == book.is_live,
            col(Policy.product_id) == book.product_id,
            sa.or_(col(Policy.risk_hash).in_(hashes), col(Policy.number_key).in_(keys)),
        )
        .order_by(col(Policy.cancelled_at).is_(None), col(Policy.created_at))
    )
    # Of several policies of one loan the newest that has not ended counts.
    found = list(session.execute(query).scalars())
    return (
        {policy.risk_hash: policy for policy in found if policy.risk_hash},
        {policy.number_key: policy for policy in found if policy.number_key},
    )


def _judge_end(session: ScopedSession, row: Judged, policy: Policy) -> None:
    on = date.fromisoformat(row.facts["exit_date"])
    if policy.cancelled_at is not None or policy.declined_at is not None:
        row.found["ALREADY_ENDED"] = "the policy has ended already"
        return
    starts, ends = policy.start_at, policy.expiration_at
    if (
        starts is None
        or ends is None
        or not clock.to_lagos_day(starts) <= on <= min(clock.today(), clock.to_lagos_day(ends))
    ):
        row.found["EXIT_OUTSIDE_COVER"] = "exit_date must be a day of the cover, today at the latest"
        return
    if ends <= clock.now():
        row.found["ALREADY_ENDED"] = "the cover is over already"
        return
    try:
        found = refunds.compute_cancellation_refunds(session, policy, by_insurer=False, ended_on=on)
    except StateForbids as error:
        row.found["CLAIM_OPEN"] = str(error)
        return
    row.policy_id, row.refund_minor = policy.id, refunds.add_refunds(found).amount_minor


def end(session: ScopedSession, row: LoanBookRow, *, actor: str) -> None:
    """End the policy of a row as of its day; a row that cannot end any more is rejected with why."""
    policy = session.get_one(Policy, row.policy_id)
    try:
        change = changes.cancel(
            session,
            policy.id,
            actor=actor,
            reason=_WORDS[row.facts["exit_reason"]],
            by_insurer=False,
            expected_version=policy.version,
            ended_on=date.fromisoformat(row.facts["exit_date"]),
        )
    except StateForbids as error:
        row.outcome, row.code, row.reason = str(RowOutcome.REJECTED), "ALREADY_ENDED", str(error)[:500]
        return
    row.outcome = str(RowOutcome.ENDED)
    row.premium_minor = change.refund.amount_minor if change.refund else 0


def select_missing(book: LoanBook) -> AnySelect:
    """Return the query of the policies in force whose loan the snapshot does not have."""
    there = sa.exists().where(col(LoanBookRow.book_id) == book.id, col(LoanBookRow.risk_hash) == col(Policy.risk_hash))
    return sa.select(Policy).where(
        col(Policy.distributor_id) == book.distributor_id,
        col(Policy.is_live) == book.is_live,
        col(Policy.product_id) == book.product_id,
        col(Policy.risk_hash).is_not(None),
        col(Policy.activated),
        col(Policy.cancelled_at).is_(None),
        col(Policy.declined_at).is_(None),
        col(Policy.expiration_at) > clock.now(),
        sa.not_(there),
    )


def compare_snapshot(session: ScopedSession, book: LoanBook, uninsured: int) -> dict[str, Any]:
    """Return how many loans of the snapshot have no cover, and how many covered ones it does not have."""
    missing = select_missing(book).subquery()
    query = sa.select(sa.func.count(), sa.func.sum(missing.c.genius_price_minor)).select_from(missing)
    count, minor = session.execute(query).one()
    return {"uninsured": uninsured, "missing": int(count), "missing_premium": money.to_wire(int(minor or 0))}


def list_missing_ids(session: ScopedSession, book: LoanBook, limit: int, offset: int) -> list[UUID]:
    """Return a page of the policies that a snapshot does not have."""
    query = select_missing(book).with_only_columns(col(Policy.id)).order_by(col(Policy.created_at), col(Policy.id))
    return list(session.execute(query.limit(limit).offset(offset)).scalars())
