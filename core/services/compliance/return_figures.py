"""The figures of a return by its kind and period, and those of a year (contract D4, D5).

No sum is computed here: sales, statements, payments and bordereaux have theirs, and the screens of those show the same.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any, Final, Literal
from uuid import UUID

from sqlalchemy import select
from sqlmodel import col

from core import clock, money
from core.errors import InvalidInput
from core.services.audit import log as audit
from core.services.compliance import breaches, figures, requests
from core.services.finance import movements, parties
from core.services.finance.bordereaux import bordereaux
from core.services.finance.payments import bank_rows
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements.reading import StatementSummary
from core.services.lists.dimensions import load_choices
from core.services.lists.spreadsheets import csv_field, csv_line
from core.services.lists.windows import Span, Window
from core.services.people.staff import Person
from core.services.sales.breakdowns import Breakdown, Slice
from core.services.sales.filter import SalesFilter
from core.services.sales.totals import ZERO_TOTALS, SalesTotals, add_totals, compute_total, group_totals
from core.states.finance import WITH_INSURER, StatementState
from core.store.access import Scope, ScopedSession
from core.store.schema.tables import (
    AuditEntry,
    Breach,
    Claim,
    Customer,
    DataRequest,
    Erasure,
    Policy,
    Purchase,
    Staff,
    UploadedFile,
    WebhookEndpoint,
)

ALL: Final = "All insurers"
# A value is a number of records, kobo, or a word; the names are those under which the audit log keeps it.
Unit = Literal["number", "amount_minor", "state"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ReturnFigure:
    """One figure of a return: a count, an amount in kobo or a word, of one insurer where its group is one.

    One that `is_missing` tells of something that had to be done before the return.
    """

    group: str
    figure: str
    value: int | str
    unit: Unit = "number"
    insurer_id: UUID | None = None
    is_missing: bool = False

    @property
    def name(self) -> tuple[UUID | None, str, str]:
        """The key by which it is found again: by the insurer, which may have another name by then, or the group."""
        return self.insurer_id, "" if self.insurer_id else self.group, self.figure

    @property
    def text(self) -> str:
        """The value for people: "₦1,234.50", "1,204" or the word."""
        if isinstance(self.value, str):
            return self.value
        return money.format_naira(self.value) if self.unit == "amount_minor" else f"{self.value:,}"

    def to_facts(self) -> dict[str, Any]:
        """Return it as the audit log keeps it."""
        kept: dict[str, Any] = {"group": self.group, "figure": self.figure, self.unit: self.value}
        if self.insurer_id:
            kept["insurer_id"] = str(self.insurer_id)
        return kept | ({"is_missing": True} if self.is_missing else {})

    @classmethod
    def from_facts(cls, kept: Mapping[str, Any]) -> "ReturnFigure":
        """Return a figure that the audit log kept."""
        units: tuple[Unit, ...] = ("number", "amount_minor", "state")
        unit = next(each for each in units if each in kept)
        insurer_id = UUID(kept["insurer_id"]) if "insurer_id" in kept else None
        return cls(
            group=kept["group"],
            figure=kept["figure"],
            value=kept[unit],
            unit=unit,
            insurer_id=insurer_id,
            is_missing=kept.get("is_missing", False),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Moved:
    """A figure that is no longer what it was; None where there was none then, or is none now."""

    then: ReturnFigure | None
    now: ReturnFigure | None

    @property
    def figure(self) -> ReturnFigure:
        """The figure as it is now, or as it was if it is gone."""
        found = self.now or self.then
        assert found is not None  # noqa: S101 - `list_moved` has at least one of them
        return found

    @property
    def text(self) -> str:
        """The move in words: "Apex, Purchases: 3 then, 4 now"."""
        then, now = (each.text if each else "none" for each in (self.then, self.now))
        return f"{self.figure.group}, {self.figure.figure}: {then} then, {now} now"


def list_moved(then: Sequence[ReturnFigure], now: Sequence[ReturnFigure]) -> list[Moved]:
    """Return the figures whose values differ, in their order now, and after them those that are gone."""
    before, after = ({row.name: row for row in rows} for rows in (then, now))
    names = [*after, *(name for name in before if name not in after)]
    pairs = [Moved(then=before.get(name), now=after.get(name)) for name in names]
    return [pair for pair in pairs if not (pair.then and pair.now and pair.then.value == pair.now.value)]


def compute(session: ScopedSession, kind: str, window: Window) -> list[ReturnFigure]:
    """Return the figures of a return over the days of its period, of live records whatever the session's mode."""
    with ScopedSession(session.connection(), Scope.staff(is_live=True)) as live:
        return list(_OF_KIND[kind](live, window))


def _compute_brokerage(session: ScopedSession, window: Window) -> Iterator[ReturnFigure]:
    """Yield each figure for every insurer and then for all, so that a person can add up what stands together."""
    shares = sorted(_list_insurers(session, window), key=lambda share: share.name.lower())
    sold = [(each.name, each.totals, each.id) for each in shares]
    if sold:
        sold.append((ALL, add_totals([totals for _, totals, _ in sold]), None))
    for same in zip(*(_list_sales(*each) for each in sold), strict=True):
        yield from same


def _list_insurers(session: ScopedSession, window: Window) -> list[Slice]:
    """Return the totals of the sales of each insurer that sold in a window."""
    criteria = SalesFilter(created=window.span)
    groups = group_totals(session, criteria, "product_id", "distributor_id", "premium_frequency")
    return Breakdown(groups, load_choices(session)).list_shares("provider")


def _list_sales(group: str, totals: SalesTotals, insurer_id: UUID | None) -> Iterator[ReturnFigure]:
    net = totals.net
    counts = {"Purchases": totals.sold, "Renewals": totals.renewed, "Refunds": totals.refunds}
    amounts = {
        "Premium": totals.premium_minor,
        "Given back": -totals.refunded_minor,
        "Adjusted": totals.adjusted_minor,
        "Net premium": net.total_minor,
        "Insurer's share": net.provider_share_minor,
        "Platform commission": net.mca_profit_minor,
        "Distributor commission": net.distributor_profit_minor,
    }
    for figure, number in counts.items():
        yield ReturnFigure(group=group, figure=figure, value=number, insurer_id=insurer_id)
    for figure, minor in amounts.items():
        yield ReturnFigure(group=group, figure=figure, value=minor, unit="amount_minor", insurer_id=insurer_id)


def _compute_client_account(session: ScopedSession, window: Window) -> Iterator[ReturnFigure]:
    """Yield the premium of the quarter, the balances that its last statements close with, and what the bank moved."""
    totals = compute_total(session, SalesFilter(created=window.span))
    first = window.start
    months = [statement_reading.list_month(session, clock.add_months(first, later)) for later in range(3)]
    paid = _sum_payments(session, window)
    if not (any(totals) or any(months) or any(paid.values())):
        return
    premium = {
        "Written": totals.premium_minor,
        "Given back": -totals.refunded_minor,
        "Adjusted": totals.adjusted_minor,
        "Net premium": totals.net.total_minor,
    }
    for group, amounts in {"Premium": premium, "Statements": _sum_closings(months[-1]), "Payments": paid}.items():
        for figure, minor in amounts.items():
            yield ReturnFigure(group=group, figure=figure, value=minor, unit="amount_minor")
        if group == "Statements":
            drafts = {row.party for rows in months for row in rows if row.state == statement_reading.DRAFT}
            yield ReturnFigure(
                group=group, figure="Parties without a statement", value=len(drafts), is_missing=bool(drafts)
            )


def _sum_closings(rows: Iterable[StatementSummary]) -> dict[str, int]:
    """Return what is owed either way at the end of a month, by the valid ones of its statements."""
    owed = dict.fromkeys(("Owed to insurers", "Owed by insurers", "Owed to distributors", "Owed by distributors"), 0)
    for row in rows:
        if row.closing_minor is not None and row.state != StatementState.VOID and not row.is_reversal:
            direction = "to" if row.closing_minor >= 0 else "by"
            owed[f"Owed {direction} {_PARTIES[row.party.account]}"] += abs(row.closing_minor)
    return owed


def _sum_payments(session: ScopedSession, window: Window) -> dict[str, int]:
    """Return what was paid to and received from the parties on the days of a window, less what came back."""
    paid = dict.fromkeys(
        ("Paid to insurers", "Received from insurers", "Paid to distributors", "Received from distributors"), 0
    )
    for row in bank_rows.list_rows(session, since=window.start, before=window.end):
        party, is_out = _PARTIES[row.party.account], row.direction == "out"
        # Positive where money leaves us; what came back of a payment lowers it.
        paid[f"{'Paid to' if is_out else 'Received from'} {party}"] += row.amount_minor if is_out else -row.amount_minor
    return paid


_PARTIES: Final = {"provider": "insurers", "distributor": "distributors"}


def _compute_bordereaux(session: ScopedSession, window: Window) -> Iterator[ReturnFigure]:
    """Yield state, rows and sum of each bordereau of a month, issued or to be issued, and the sums of each kind."""
    issued = {(row.provider_id, row.kind): row for row in bordereaux.list_bordereaux(session, month=window.start)}
    sold = {each.id: each.totals for each in _list_insurers(session, window)}
    summed: dict[str, list[tuple[int, int]]] = {kind: [] for kind in BORDEREAU_FIGURES}
    for insurer_id, name in parties.list_insurers(session):
        of = partial(ReturnFigure, group=name, insurer_id=insurer_id)
        for kind, found in summed.items():
            if row := issued.get((insurer_id, kind)):
                rows, minor = row.rows, row.main_minor
            elif kind == "premium":
                # Those of the month alone, where a draft has what earlier months left unreported, too.
                totals = sold.get(insurer_id, ZERO_TOTALS)
                rows, minor = movements.count(totals), totals.net.total_minor
            else:
                rows, minor = bordereaux.count_draft(session, insurer_id, kind, window.start)
            if row or rows:
                paper, is_missing = BORDEREAU_FIGURES[kind][0], row is None or row.state not in WITH_INSURER
                state = f"{row.number}, {row.state.lower()}" if row else "Not issued"
                yield of(figure=paper, value=state, unit="state", is_missing=is_missing)
                yield from _list_sums(of, kind, rows, minor)
                found.append((rows, minor))
    for kind, found in summed.items():
        if found:
            yield from _list_sums(partial(ReturnFigure, group=ALL), kind, *map(sum, zip(*found, strict=True)))


# What is said of each kind of bordereau: its state, its rows and the sum of its main column.
BORDEREAU_FIGURES: Final[Mapping[str, tuple[str, str, str]]] = {
    "premium": ("Premium bordereau", "Premium rows", "Gross premium"),
    "claims": ("Claims bordereau", "Claims rows", "Claims incurred"),
}


def _list_sums(of: Callable[..., ReturnFigure], kind: str, rows: int, minor: int) -> Iterator[ReturnFigure]:
    _, number, summed = BORDEREAU_FIGURES[kind]
    yield of(figure=number, value=rows)
    yield of(figure=summed, value=minor, unit="amount_minor")


def _compute_year(session: ScopedSession, window: Window) -> Iterator[ReturnFigure]:
    for group, figure, number in count_year(session, window.start.year):
        yield ReturnFigure(group=group, figure=figure, value=number)


_OF_KIND: Final = {
    "brokerage": _compute_brokerage,
    "client_account": _compute_client_account,
    "bordereaux": _compute_bordereaux,
    "data_protection": _compute_year,
}


def print_csv(kind: str, ends_on: date, rows: Iterable[ReturnFigure]) -> bytes:
    """Return figures as CSV, amounts in naira."""
    lines = [csv_line("return", "period_ends_on", "group", "figure", "value")]
    for row in rows:
        value = money.to_wire(int(row.value)) if row.unit == "amount_minor" else csv_field(str(row.value))
        lines.append(csv_line(kind, ends_on.isoformat(), csv_field(row.group), csv_field(row.figure), value))
    return b"".join(lines)


# The figures of a year, for the data protection return and the screen of figures.

_FIRST_YEAR: Final = 2023
_CLASSES: Final[tuple[tuple[str, Any], ...]] = (
    ("Customers", Customer),
    ("Policies", Policy),
    ("Purchases", Purchase),
    ("Claims", Claim),
    ("Uploaded files", UploadedFile),
    ("Staff", Staff),
)


def count_year(session: ScopedSession, year: int) -> list[tuple[str, str, int]]:
    """Return the figures of a year: group, what is counted, and the number. InvalidInput for another year."""
    if not _FIRST_YEAR <= year <= clock.today().year:
        raise InvalidInput.for_field("year", f"must be from {_FIRST_YEAR} to this year")
    span = Window(date(year, 1, 1), date(year + 1, 1, 1)).span
    return [*_held(session, span), *_requests(session, span), *_breaches(session, span), *_disclosures(session, span)]


def write_file(session: ScopedSession, year: int, *, by: Person) -> bytes:
    """Return the figures as CSV and note who took them."""
    figures.require_role(by)
    rows = count_year(session, year)
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\r\n")
    writer.writerow(("year", "group", "figure", "number"))
    writer.writerows((year, *row) for row in rows)
    audit.write(
        session, actor=by.actor, action="yearly figures taken", subject=f"year {year}", after={"rows": len(rows)}
    )
    return target.getvalue().encode()


def _held(session: ScopedSession, span: Span) -> Iterator[tuple[str, str, int]]:
    for group, counted in (("Held at the end of the year", Span(end=span.end)), ("New in the year", span)):
        for label, entity in _CLASSES:
            yield group, label, _count(session, entity, *counted.on(col(entity.created_at)))


def _requests(session: ScopedSession, span: Span) -> Iterator[tuple[str, str, int]]:
    in_year = span.on(col(DataRequest.received_at))
    for kind, label in requests.KINDS.items():
        yield "Requests", label, _count(session, DataRequest, *in_year, col(DataRequest.kind) == kind)
    for state in ("answered", "refused", "withdrawn"):
        yield "Requests", f"Of them {state}", _count(session, DataRequest, *in_year, col(DataRequest.state) == state)
    closed = session.execute(
        select(col(DataRequest.answered_at), col(DataRequest.due_on), col(DataRequest.extended_to)).where(
            *in_year, col(DataRequest.answered_at).is_not(None)
        )
    ).all()
    late = sum(clock.to_lagos_day(row.answered_at) > (row.extended_to or row.due_on) for row in closed)
    yield "Requests", "Of them closed after their last day", late
    done = [col(Erasure.state) == "erased", *span.on(col(Erasure.decided_at))]
    people = session.execute(select(col(Erasure.customers)).where(*done)).scalars().all()
    yield "Erasures", "Carried out", len(people)
    yield "Erasures", "Records of people", sum(map(len, people))


def _breaches(session: ScopedSession, span: Span) -> Iterator[tuple[str, str, int]]:
    rows = breaches.list_breaches(session, *span.on(col(Breach.known_at)))
    yield "Breaches", "Registered", len(rows)
    for risk, label in breaches.RISKS.items():
        yield "Breaches", label, sum(row.risk == risk for row in rows)
    in_time = sum(row.commission_at is not None and row.commission_at <= row.notify_by for row in rows)
    yield "Breaches", "Notified to the Commission in time", in_time
    yield "Breaches", "Notified late", sum(row.commission_at is not None for row in rows) - in_time


def _disclosures(session: ScopedSession, span: Span) -> Iterator[tuple[str, str, int]]:
    at = span.on(col(AuditEntry.created_at))
    for action in breaches.OPENING:
        yield "Disclosures", action.capitalize(), _count(session, AuditEntry, *at, col(AuditEntry.action) == action)
    sent = (col(Policy.submitted_to_provider), *span.on(col(Policy.created_at)))
    yield "Transfers", "Policies submitted to insurers", _count(session, Policy, *sent)
    open_ = (col(WebhookEndpoint.deleted_at).is_(None), *Span(end=span.end).on(col(WebhookEndpoint.created_at)))
    yield "Transfers", "Webhook endpoints of distributors", _count(session, WebhookEndpoint, *open_)


def _count(session: ScopedSession, entity: Any, *conditions: Any) -> int:
    live = [col(entity.is_live)] if "is_live" in entity.model_fields else []
    return session.count_rows(entity, *conditions, *live)
