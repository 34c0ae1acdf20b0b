"""The rows of a claims bordereau: every claim open at the end of a month, and those closed in it (contract F5)."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.services.finance.bordereaux.columns import ReportRow
from core.services.lists import records
from core.services.lists.windows import Window
from core.states.claims import DECIDED, ClaimStatus
from core.store.access import ScopedSession
from core.store.schema.tables import Claim, ClaimEvent, ClaimPayment, ClaimReserve, Customer, Policy, Product

_AT_ONCE = 500


def stream(
    session: ScopedSession, provider_id: UUID, window: Window, about: Mapping[str, str]
) -> Iterator[list[ReportRow]]:
    """Yield the rows as they stood at the end of a window, oldest claim first; `about` are the cells of every row."""
    for batch in _batches(session, window, about, col(Claim.provider_id) == provider_id):
        yield [row for _, row in batch]


def load_month(session: ScopedSession, window: Window) -> Mapping[UUID, Sequence[ReportRow]]:
    """Return the rows of a month by their insurer, without the cells that are the same in every row."""
    found: dict[UUID, list[ReportRow]] = {}
    for provider_id, row in chain.from_iterable(_batches(session, window, {})):
        found.setdefault(provider_id, []).append(row)
    return found


def count(session: ScopedSession, provider_id: UUID, window: Window) -> tuple[int, int]:
    """Return how many rows a month has, and what they have incurred in kobo."""
    rows = [row for batch in stream(session, provider_id, window, {}) for row in batch]
    return len(rows), sum(row.amounts["total_incurred"] for row in rows)


def _batches(
    session: ScopedSession, window: Window, about: Mapping[str, str], *conditions: Any
) -> Iterator[list[tuple[UUID, ReportRow]]]:
    """Yield the rows of the claims that meet the conditions, each with its insurer."""
    start, end = clock.lagos_midnight(window.start), clock.lagos_midnight(window.end)
    ids = _list_ids(session, start, end, *conditions)
    for place in range(0, len(ids), _AT_ONCE):
        yield _batch(session, ids[place : place + _AT_ONCE], about, start, end)


def _list_ids(session: ScopedSession, start: datetime, end: datetime, *conditions: Any) -> list[UUID]:
    """The claims that were open at the end, or whose last status then is of the window."""
    place = sa.func.row_number().over(
        partition_by=col(ClaimEvent.claim_id),
        order_by=(col(ClaimEvent.created_at).desc(), col(ClaimEvent.id).desc()),
    )
    last = (
        sa.select(
            col(ClaimEvent.claim_id), col(ClaimEvent.status), col(ClaimEvent.created_at).label("at"), place.label("n")
        )
        .join(Claim, col(Claim.id) == col(ClaimEvent.claim_id))
        .where(*conditions, col(ClaimEvent.created_at) < end)
        .subquery()
    )
    query = (
        sa.select(col(Claim.id))
        .join(last, sa.and_(last.c.claim_id == col(Claim.id), last.c.n == 1))
        .where(
            col(Claim.created_at) < end,
            col(Claim.deleted_at).is_(None),
            sa.or_(last.c.status.not_in(sorted(DECIDED)), last.c.at >= start),
        )
        .order_by(col(Claim.created_at), col(Claim.id))
    )
    return list(session.execute(query).scalars())


def _batch(
    session: ScopedSession, ids: list[UUID], about: Mapping[str, str], start: datetime, end: datetime
) -> list[tuple[UUID, ReportRow]]:
    events = _events(session, ids, end)
    before, during = (_paid(session, ids, *bounds) for bounds in ((None, start), (start, end)))
    reserve, first = _reserves(session, ids, end)
    query = (
        sa.select(Claim, Policy, col(Product.name), Customer)
        .join(Policy, col(Policy.id) == col(Claim.policy_id))
        .join(Product, col(Product.id) == col(Claim.product_id))
        .join(Customer, col(Customer.id) == col(Claim.customer_id))
        .where(col(Claim.id).in_(ids))
        .order_by(col(Claim.created_at), col(Claim.id))
    )
    found = []
    for row in session.execute(query):
        claim_id = row.Claim.id
        paid, earlier, left = (sums.get(claim_id, 0) for sums in (during, before, reserve))
        amounts = {
            "paid_this_month_indemnity": paid,
            "paid_this_month_fees": 0,
            "previously_paid": earlier,
            "reserve": left,
            "total_incurred": paid + earlier + left,
        }
        texts = _texts(row, about, events[claim_id], first.get(claim_id, 0))
        found.append((row.Claim.provider_id, ReportRow(claim_id, texts, amounts)))
    return found


def _texts(row: Any, about: Mapping[str, str], history: list[tuple[str, datetime]], first_minor: int) -> dict[str, str]:
    claim, policy = row.Claim, row.Policy
    seen = next((at for status, at in history if status == ClaimStatus.VIEWED), None)
    return {
        **about,
        "currency": "NGN",
        "product": row.name,
        "certificate_reference": policy.certificate_code or "",
        "policy_number": policy.policy_number or "",
        "claim_reference": records.claim_reference(claim.id),
        "insured": f"{policy.first_name} {policy.last_name}",
        "country": row.Customer.country or "Nigeria",
        # The type alone: what a claimant tells of an illness is for claims officers.
        "loss_description": claim.claim_type,
        # No form asks for it yet.
        "loss_location": "",
        "claimant": f"{claim.claim_owner_first_name} {claim.claim_owner_last_name}",
        "claim_status": history[-1][0],
        "date_of_loss": (claim.incident_date or "")[:10],
        "date_first_advised": str(clock.to_lagos_day(claim.created_at)),
        "date_opened": str(clock.to_lagos_day(claim.created_at)),
        "first_acknowledged": str(clock.to_lagos_day(seen)) if seen else "",
        "first_reserve": money.to_wire(first_minor),
        "claim_id": str(claim.id),
    }


def _events(session: ScopedSession, ids: list[UUID], end: datetime) -> dict[UUID, list[tuple[str, datetime]]]:
    query = (
        sa.select(col(ClaimEvent.claim_id), col(ClaimEvent.status), col(ClaimEvent.created_at))
        .where(col(ClaimEvent.claim_id).in_(ids), col(ClaimEvent.created_at) < end)
        .order_by(col(ClaimEvent.created_at), col(ClaimEvent.id))
    )
    found: dict[UUID, list[tuple[str, datetime]]] = {}
    for claim_id, status, at in session.execute(query):
        found.setdefault(claim_id, []).append((status, at))
    return found


def _paid(session: ScopedSession, ids: list[UUID], start: datetime | None, end: datetime | None) -> dict[UUID, int]:
    bounds = [col(ClaimPayment.created_at) < end, *([col(ClaimPayment.created_at) >= start] if start else [])]
    query = (
        sa.select(col(ClaimPayment.claim_id), sa.func.sum(col(ClaimPayment.amount_minor)))
        .where(col(ClaimPayment.claim_id).in_(ids), *bounds)
        .group_by(col(ClaimPayment.claim_id))
    )
    return {claim_id: int(minor) for claim_id, minor in session.execute(query)}


def _reserves(session: ScopedSession, ids: list[UUID], end: datetime) -> tuple[dict[UUID, int], dict[UUID, int]]:
    """The reserve of each claim at the end, and the first that it had."""
    query = (
        sa.select(col(ClaimReserve.claim_id), col(ClaimReserve.change_minor))
        .where(col(ClaimReserve.claim_id).in_(ids), col(ClaimReserve.created_at) < end)
        .order_by(col(ClaimReserve.created_at), col(ClaimReserve.id))
    )
    left: dict[UUID, int] = {}
    first: dict[UUID, int] = {}
    for claim_id, change in session.execute(query):
        first.setdefault(claim_id, change)
        left[claim_id] = left.get(claim_id, 0) + change
    return left, first
