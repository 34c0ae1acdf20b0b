"""Movements: every purchase, renewal, refund and adjustment as one signed row of money, and their filter (contract F1).

Their totals are those of the dashboard, read from the same roll-ups; `coverdesk check` compares them with the rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.money import Split
from core.services.lists import listing
from core.services.lists.dimensions import Choices
from core.services.lists.filters.declaration import of
from core.services.lists.filters.fields import Condition, Words
from core.services.lists.listing import Column, Listing, by_time
from core.services.lists.paging import Paging
from core.services.lists.spreadsheets import DAY, ID, INSTANT, WORD
from core.services.lists.windows import Span, Window
from core.services.sales.filter import SalesFilter
from core.services.sales.purchases import PurchaseFilter
from core.services.sales.search import select_policies
from core.services.sales.totals import ZERO_TOTALS, SalesTotals, group_totals
from core.store.access import AnySelect, ScopedSession
from core.store.expressions import sum_of
from core.store.rows import build_row
from core.store.schema.finance import MOVEMENT_KINDS
from core.store.schema.sales import UNUSUAL
from core.store.schema.tables import Adjustment, Movement, Policy, Refund, Renewal

_FRESH_DAYS, _LATE_DAYS = 7, 14
_MOST_FOUND = 1_000
# A policy that its insurer has neither taken nor declined.
UNANSWERED = (
    col(Policy.activated).is_(False),
    col(Policy.cancelled_at).is_(None),
    col(Policy.declined_at).is_(None),
    col(Policy.deleted_at).is_(None),
)


class Unplaced(NamedTuple):
    """Policies that await their insurer and their premium in kobo, each 0 to 7, 8 to 14 and over 14 days old."""

    numbers: tuple[int, ...]
    minors: tuple[int, ...]

    @property
    def policies(self) -> int:
        """The number of policies of every age."""
        return sum(self.numbers)

    @property
    def total_minor(self) -> int:
        """The premium of every age."""
        return sum(self.minors)


def compute_unplaced(session: ScopedSession, criteria: SalesFilter, *conditions: Condition) -> Unplaced:
    """Return what is unplaced now, narrowed further by conditions on policies; the times of the filter do not count."""
    sold = col(Policy.created_at)
    # A sale of today is 0 days old: one that is 7 days old was sold on the seventh day before today.
    fresh, waiting = (clock.lagos_midnight(clock.add_days(clock.today(), -days)) for days in (_FRESH_DAYS, _LATE_DAYS))
    ages = (sold >= fresh, sa.and_(sold < fresh, sold >= waiting), sold < waiting)
    sums = [sum_of(sa.case((age, value), else_=0)) for value in (1, col(Policy.genius_price_minor)) for age in ages]
    query = sa.select(*sums).where(
        *criteria.anytime().conditions(Policy),
        # As the index of unusual policies says it, so that it is used.
        sa.text(UNUSUAL),
        *UNANSWERED,
        *conditions,
    )
    found = tuple(map(int, session.execute(query).one()))
    return Unplaced(found[: len(ages)], found[len(ages) :])


KIND_NAMES = {kind: kind.capitalize() for kind in MOVEMENT_KINDS}


class MovementFilter(SalesFilter, on=(Movement,)):
    """Filter of the list of movements."""

    find: str | None = PurchaseFilter.redeclare("find", api="")
    customer_email: str | None = SalesFilter.redeclare("customer_email", place="grid")
    chosen_kinds: tuple[str, ...] = of(
        Words,
        label="Kind",
        column="kind",
        address="kind",
        options=KIND_NAMES,
        words=KIND_NAMES,
        help=f"{', '.join(KIND_NAMES)}.",
        anything="All kinds",
    )

    @property
    def kinds(self) -> tuple[str, ...]:
        """The chosen kinds, all of them when none is chosen."""
        return self.chosen_kinds or MOVEMENT_KINDS

    @property
    def of_every_kind(self) -> "MovementFilter":
        """The same filter without the kinds, as it narrows sales."""
        return replace(self, chosen_kinds=())


_MOMENT = col(Movement.created_at)
_COUNTS = {"purchase": "sold", "renewal": "renewed", "refund": "refunds", "adjustment": "adjustments"}
VERBS = {"purchase": "sold", "renewal": "renewed", "refund": "refunded", "adjustment": "adjusted"}


@dataclass(frozen=True, kw_only=True, slots=True)
class MovementRow:
    """One movement as a table row; amounts in kobo, negative where money goes back."""

    id: UUID
    kind: str
    created_at: datetime
    policy_id: UUID
    purchase_id: UUID
    renewal_id: UUID | None
    policy_number: str | None
    customer: str
    email: str
    distributor: str
    provider: str
    product: str
    category: str
    total_minor: int
    provider_share_minor: int
    mca_profit_minor: int
    distributor_profit_minor: int

    @property
    def kind_label(self) -> str:
        """The kind as people read it."""
        return KIND_NAMES[self.kind]

    @property
    def parts(self) -> Split:
        """The premium and its three shares."""
        return Split(self.total_minor, self.mca_profit_minor, self.distributor_profit_minor)


def compute_totals(session: ScopedSession, criteria: MovementFilter) -> SalesTotals:
    """Return the counts and sums of a selection by kind; kinds that are not chosen are zero."""
    if (found := _find_ids(session, criteria)) is not None:
        return _sum_found(session, [*replace(criteria, find=None).conditions(Movement), col(Movement.id).in_(found)])
    verbs = [VERBS[kind] for kind in criteria.kinds]
    measures = [_COUNTS[kind] for kind in criteria.kinds]
    measures += [f"{verb}{part}_minor" for verb in verbs for part in ("", "_mca", "_distributor")]
    return group_totals(session, criteria.of_every_kind, measures=measures).get((), ZERO_TOTALS)


def _find_ids(session: ScopedSession, criteria: MovementFilter) -> Sequence[UUID] | None:
    """Return the ids of the movements of the policies that the search finds; None without one, and of many policies.

    By these ids the view is read by the keys of its tables. By a subquery it is walked whole, which is quick enough
    for a page of the many movements that a short text finds.
    """
    if not criteria.find:
        return None
    wanted = select_policies(Policy.id, criteria.find)
    policies = sa.select(col(Policy.id), col(Policy.purchase_id)).where(col(Policy.id).in_(wanted))
    sold = {row.id: row.purchase_id for row in session.execute(policies.limit(_MOST_FOUND + 1))}
    if len(sold) > _MOST_FOUND:
        return None
    later = (sa.select(col(table.id)).where(col(table.policy_id).in_(sold)) for table in (Renewal, Refund, Adjustment))
    return [*sold.values(), *session.execute(sa.union_all(*later)).scalars()]


def _sum_found(session: ScopedSession, conditions: Sequence[Condition]) -> SalesTotals:
    amounts = (Movement.total_minor, Movement.mca_profit_minor, Movement.distributor_profit_minor)
    query = sa.select(col(Movement.kind), sa.func.count(), *(sum_of(col(amount)) for amount in amounts))
    totals = {}
    for kind, number, *sums in session.execute(query.where(*conditions).group_by(col(Movement.kind))):
        totals[_COUNTS[kind]] = number
        # What was given back is positive among totals, and negative as a movement.
        sign = -1 if kind == "refund" else 1
        parts = zip(("", "_mca", "_distributor"), sums, strict=True)
        totals |= {f"{VERBS[kind]}{part}_minor": sign * int(minor) for part, minor in parts}
    return SalesTotals(**totals)


def count(totals: SalesTotals) -> int:
    """Return the number of movements of these totals."""
    return sum(getattr(totals, name) for name in _COUNTS.values())


def list_rows(
    session: ScopedSession,
    criteria: MovementFilter,
    names: Choices,
    *,
    order: str = "newest",
    paging: Paging,
) -> list[MovementRow]:
    """Return one page of movements; a page past the end is empty."""
    located = _locate(session, criteria, paging, is_newest_first=order == "newest")
    if located is None:
        return []
    span, offset = located
    narrowed = criteria.anytime()
    found = _find_ids(session, criteria)
    conditions = (
        narrowed.conditions(Movement)
        if found is None
        else [*replace(narrowed, find=None).conditions(Movement), col(Movement.id).in_(found)]
    )
    query = (
        sa.select(Movement)
        .where(*conditions, *span.on(_MOMENT))
        .order_by(*MOVEMENTS.orders[order].keys)
        .limit(paging.limit)
        .offset(offset)
    )
    return _build_rows(session, list(session.execute(query).scalars()), names)


def get_movement(session: ScopedSession, movement_id: UUID, names: Choices) -> MovementRow:
    """Return one movement; NotFound for one that does not exist in the session's scope."""
    return _build_rows(session, [get_record(session, movement_id)], names)[0]


def get_record(session: ScopedSession, movement_id: UUID) -> Movement:
    """Return the record of a movement; NotFound for one that does not exist in the session's scope."""
    query = sa.select(Movement).where(col(Movement.id) == movement_id)
    return session.find_scalar(query, otherwise="There is no such movement")


def _build_rows(session: ScopedSession, found: Sequence[Movement], names: Choices) -> list[MovementRow]:
    policies = _load_policies(session, [row.policy_id for row in found])
    return [_build_row(row, policies[row.policy_id], names) for row in found]


def _build_row(row: Movement, policy: Any, names: Choices) -> MovementRow:
    distributor, provider, product, category = names.get_names_of_sale(row.product_id, row.distributor_id)
    return build_row(
        MovementRow,
        row,
        policy_number=policy.policy_number,
        customer=f"{policy.first_name} {policy.last_name}",
        email=policy.email,
        distributor=distributor,
        provider=provider,
        product=product,
        category=category,
    )


def _load_policies(session: ScopedSession, policy_ids: Sequence[UUID]) -> dict[UUID, Any]:
    columns = (Policy.id, Policy.policy_number, Policy.first_name, Policy.last_name, Policy.email)
    query = sa.select(*(col(column) for column in columns)).where(col(Policy.id).in_(set(policy_ids)))
    return {row.id: row for row in session.execute(query)}


def _locate(
    session: ScopedSession, criteria: MovementFilter, paging: Paging, *, is_newest_first: bool
) -> tuple[Span, int] | None:
    """Return the days that hold a page and the rows to skip in them, from the roll-ups; None past the end.

    The rows of the days before are then never read, on whatever page. Filters that the roll-ups do not know are
    skipped row by row.
    """
    kinds, criteria = criteria.kinds, criteria.of_every_kind
    if not criteria.of_catalogue:
        return criteria.created, paging.offset
    counts = [_COUNTS[kind] for kind in kinds]
    found: Span = criteria.created
    offset, last = paging.offset, paging.offset + paging.limit - 1
    for key in ("month", "day"):
        grouped = group_totals(session, replace(criteria, created=found), key, measures=counts)
        stretches = sorted(((day, count(sums)) for (day,), sums in grouped.items()), reverse=is_newest_first)
        hit = _find(stretches, offset, last)
        if hit is None:
            return None
        days, offset, last = hit
        found = criteria.created.within(_span_of(days, key))
    return found, offset


def _find(stretches: Sequence[tuple[date, int]], offset: int, last: int) -> tuple[list[date], int, int] | None:
    """Return the stretches that hold the rows from `offset` to `last`, and both numbers within them."""
    days: list[date] = []
    before = skipped = 0
    for day, rows in stretches:
        if before + rows <= offset:
            skipped = before + rows
        elif before <= last:
            days.append(day)
        before += rows
    return (days, offset - skipped, last - skipped) if days else None


def _span_of(days: Sequence[date], grain: str) -> Span:
    end = max(days)
    return Window(min(days), clock.add_months(end, 1) if grain == "month" else clock.add_days(end, 1)).span


def _rows(columns: Sequence[Any], criteria: MovementFilter, _: Choices) -> AnySelect:
    return (
        sa.select(*columns)
        .select_from(Movement)
        .join(Policy, col(Policy.purchase_id) == col(Movement.purchase_id))
        .where(*criteria.conditions(Movement))
    )


_SPLIT = {"total": "total_minor", **listing.SHARES}
MOVEMENTS: Listing[MovementFilter] = Listing(
    name="movements",
    title="Movements",
    noun=("movement", "movements"),
    roles=("operations", "finance"),
    filter=MovementFilter,
    key=col(Movement.id),
    usual=("policy", "kind", "when", "distributor", "total", "share", "platform", "seller"),
    row_type=MovementRow,
    columns={
        "id": Column("Reference", ID, col(Movement.id)),
        "kind": Column("Kind", WORD, col(Movement.kind), words=KIND_NAMES, width=90),
        "when": Column(*("When", INSTANT, _MOMENT), of="created_at", machine="created_at", orders=by_time(Movement)),
        "day": Column("Day", DAY, _MOMENT, of="created_at", machine="created_on"),
        "purchase_id": Column("Purchase", ID, col(Movement.purchase_id)),
        "policy": replace(listing.policy_number(empty="No number yet", width=150)["policy"], of="policy_number"),
        **{
            name: replace(column, of=_SPLIT[name])
            for name, column in listing.money_columns(Movement, is_signed=True).items()
        },
        **listing.sale_names(Movement),
        **listing.customer_columns(),
        **listing.mode_column(),
    },
    rows=_rows,
    count=lambda session, criteria: count(compute_totals(session, criteria)),
    summed=col(Movement.total_minor),
    sum_title="Premium, net",
)
