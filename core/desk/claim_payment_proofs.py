"""Claim payments as every figure and export tells them: one of the checks of `coverdesk check` (contract C10)."""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.services.claims.lists import totals as claim_totals
from core.services.claims.lists.filter import ClaimFilter
from core.services.claims.lists.queue import CLAIM_PAYMENTS, CLAIMS
from core.services.lists import exports
from core.services.lists.exports import Tally
from core.services.lists.listing import Listing
from core.services.lists.windows import Span
from core.services.sales import figures
from core.services.sales.filter import SalesFilter
from core.store.access import Scope, ScopedSession
from core.store.schema.tables import ClaimPayment

Sums = Mapping[str, int]


def find_claim_payment_faults(session: ScopedSession) -> Iterator[str]:
    """Compare the rows of payments with figures and exports, by claim and by day; needs the system's scope.

    The exports are written as they are for people, and their lines are read again.
    """
    for is_live in (True, False):
        with ScopedSession(session.connection(), Scope.staff(is_live=is_live)) as desk:
            yield from _find_differences(session, desk, "live" if is_live else "test")


def _find_differences(session: ScopedSession, desk: ScopedSession, mode: str) -> Iterator[str]:
    by_claim, by_day = _sum_rows(session, is_live=mode == "live")
    of_claims, of_payments = _read_export(desk, CLAIMS), _read_export(desk, CLAIM_PAYMENTS)
    yield from _compare(mode, "claim", by_claim, _sum(of_claims, "id", "paid_amount"), "the export of claims")
    yield from _compare(mode, "claim", by_claim, _sum(of_payments, "claim_id", "amount"), "the export of payments")
    days = _sum(({**row, "day": _to_day(row["created_at"])} for row in of_payments), "day", "amount")
    yield from _compare(mode, "day", by_day, days, "the export of payments")
    shown = figures.sum_claims_paid_by_day(desk, Span(), SalesFilter())
    named = {day.isoformat(): minor for day, minor in shown.items() if minor}
    yield from _compare(mode, "day", by_day, named, "the figures on claims and the dashboard")
    queued = {"all": claim_totals.get_totals(desk, ClaimFilter()).paid_minor}
    yield from _compare(mode, "total", {"all": sum(by_claim.values())}, queued, "the queue")


def _sum_rows(session: ScopedSession, *, is_live: bool) -> tuple[Sums, Sums]:
    """Add up the rows of a mode by claim and by day in Lagos, past every filter."""
    columns = (ClaimPayment.claim_id, ClaimPayment.created_at, ClaimPayment.amount_minor)
    query = sa.select(*map(col, columns)).where(col(ClaimPayment.is_live).is_(is_live))
    by_claim, by_day = Counter[str](), Counter[str]()
    for row in session.execute(query):
        by_claim[str(row.claim_id)] += row.amount_minor
        by_day[clock.to_lagos_day(row.created_at).isoformat()] += row.amount_minor
    return _drop_zeros(by_claim), _drop_zeros(by_day)


def _read_export(desk: ScopedSession, kind: Listing[Any]) -> list[dict[str, str]]:
    lines = b"".join(exports.stream_lines(desk, kind, kind.filter(), Tally())).decode()
    return list(csv.DictReader(io.StringIO(lines, newline="")))


def _sum(rows: Any, name: str, amount: str) -> Sums:
    sums = Counter[str]()
    for row in rows:
        sums[row[name]] += money.to_minor(Decimal(row[amount]))
    return _drop_zeros(sums)


def _drop_zeros(sums: Sums) -> Sums:
    return {name: minor for name, minor in sums.items() if minor}


def _to_day(instant: str) -> str:
    return clock.to_lagos_day(datetime.fromisoformat(instant)).isoformat()


def _compare(mode: str, what: str, rows: Sums, receipt: Sums, where: str) -> Iterator[str]:
    for name in sorted({*rows, *receipt}):
        if rows.get(name, 0) != receipt.get(name, 0):
            paid, stated = (money.format_naira(sums.get(name, 0)) for sums in (rows, receipt))
            yield f"claim payments of the {mode} mode, {what} {name}, are {paid} by their rows and {stated} in {where}"
