"""Loss ratios on incident basis: what the losses of a window cost, of the premium earned in it (contract C11).

Earned up to a day is what the term has run of its premium: evenly, and for credit life by the sum of the digits, as its
risk falls with the loan; never more than was not refunded. A window earns the difference of its ends, so that windows
side by side add up to the kobo. The export has one line for each product and distributor.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Final, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col
from sqlmodel.sql.sqltypes import UTCDateTime

from core import clock
from core.covers.credit_life import CREDIT_LIFE
from core.services.claims.workflow import payments as claim_payments
from core.services.claims.workflow import reserves as claim_reserves
from core.services.lists import listing
from core.services.lists.dimensions import UNKNOWN, Choices
from core.services.lists.filters.declaration import Filter, of
from core.services.lists.filters.fields import Days
from core.services.lists.listing import Column, Context, Derived, Listing
from core.services.lists.spreadsheets import COUNT, MONEY, TEXT
from core.services.lists.windows import EARLIEST, Span, Window
from core.services.sales.figures import share
from core.store.access import AnySelect, ScopedSession
from core.store.expressions import lagos_day, milliseconds_between
from core.store.schema.tables import Claim, Distributor, Policy, Product, Purchase, Refund, Renewal

LossDimension = Literal["product", "provider", "distributor", "month"]
LOSS_DIMENSIONS: Final[tuple[LossDimension, ...]] = ("product", "provider", "distributor", "month")
_DAY_MS: Final = 86_400_000
_EPOCH: Final = datetime(EARLIEST.year, EARLIEST.month, EARLIEST.day, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class LossFigures:
    """Number of losses, what was paid on them and is outstanding, and the premium earned; in kobo."""

    claims: int = 0
    paid_minor: int = 0
    outstanding_minor: int = 0
    earned_minor: int = 0

    @property
    def incurred_minor(self) -> int:
        """Paid plus outstanding."""
        return self.paid_minor + self.outstanding_minor

    @property
    def ratio(self) -> Decimal | None:
        """Incurred of earned; None where nothing was earned."""
        return share(self.incurred_minor, self.earned_minor)

    def __add__(self, other: "LossFigures") -> "LossFigures":
        return LossFigures(**{each.name: getattr(self, each.name) + getattr(other, each.name) for each in fields(self)})


Key = tuple[UUID, UUID, date]


@dataclass(frozen=True, kw_only=True, slots=True)
class LossTable:
    """Loss figures of a window by product, distributor and first day of the month of the incident."""

    cells: Mapping[Key, LossFigures]

    @property
    def total(self) -> LossFigures:
        """The figures of the whole window."""
        return sum(self.cells.values(), LossFigures())

    def list_lines(self, dimension: LossDimension, choices: Choices) -> list[tuple[str, LossFigures]]:
        """List the named figures of each member of a dimension: months in their order, else the most earned first."""
        found: dict[Any, LossFigures] = {}
        for key, figures in self.cells.items():
            member = _get_member(dimension, key, choices)
            found[member] = found.get(member, LossFigures()) + figures
        if dimension == "month":
            return [(f"{month:%b %Y}", found[month]) for month in sorted(found)]
        names = choices.names[dimension]
        lines = [(names.get(member, UNKNOWN), figures) for member, figures in found.items()]
        return sorted(lines, key=lambda line: (-line[1].earned_minor, -line[1].incurred_minor, line[0]))


def _get_member(dimension: LossDimension, key: Key, choices: Choices) -> Any:
    product_id, distributor_id, month = key
    return month if dimension == "month" else choices.get_member(dimension, product_id, distributor_id)


def build_table(session: ScopedSession, window: Window) -> LossTable:
    """Build the loss figures of a window, as of now: three statements, however many months."""
    edges = list_edges(window)
    cells: dict[Key, LossFigures] = {}
    for query in (build_first_terms_query(edges), build_renewed_terms_query(edges)):
        for product_id, distributor_id, *until in session.execute(query):
            for month, before, after in zip(edges, until, until[1:], strict=False):
                _add(cells, (product_id, distributor_id, month), LossFigures(earned_minor=int(after - before)))
    for row in session.execute(build_losses_query(window).add_columns(_INCIDENT_DAY).group_by(_INCIDENT_DAY)):
        day = date.fromisoformat(str(row[-1])[:10])
        losses = LossFigures(claims=row.claims, paid_minor=int(row.paid), outstanding_minor=int(row.outstanding))
        _add(cells, (row.product_id, row.distributor_id, max(edge for edge in edges if edge <= day)), losses)
    return LossTable(
        cells={(*key[:2], key[2].replace(day=1)): found for key, found in cells.items() if found != LossFigures()}
    )


def _add(cells: dict[Key, LossFigures], key: Key, figures: LossFigures) -> None:
    cells[key] = cells.get(key, LossFigures()) + figures


def list_edges(window: Window) -> list[date]:
    """List the first day of a window, of every further month in it, and the day after it."""
    edges, month = [window.start], clock.add_months(window.start.replace(day=1), 1)
    while month < window.end:
        edges.append(month)
        month = clock.add_months(month, 1)
    return [*edges, window.end]


def _earn_until(term: Any, day: date) -> sa.ColumnElement[int]:
    """Return the premium that a row of terms has earned before a day of Lagos, in whole kobo."""
    at, length, left = _get_ordinal(day), term.end_on - term.start_on, term.end_on - _get_ordinal(day)
    evenly = term.total * (at - term.start_on) // length
    by_digits = term.total - term.total * left * (left + 1) // (length * (length + 1))
    is_reducing = sa.and_(col(Product.prefix) == CREDIT_LIFE.prefix, col(Product.route_name) == CREDIT_LIFE.route)
    earned = sa.case((term.end_on <= at, term.total), (term.start_on >= at, 0), (is_reducing, by_digits), else_=evenly)
    return sa.case((earned > term.kept, term.kept), else_=earned)


def build_first_terms_query(edges: Sequence[date]) -> AnySelect:
    """Build the query of what first terms have earned before each day, by product and distributor."""
    renewed = sa.select(sa.func.min(col(Renewal.previous_expiration_at))).where(
        col(Renewal.policy_id) == col(Policy.id), col(Renewal.status), col(Renewal.deleted_at).is_(None)
    )
    end_at = sa.func.coalesce(renewed.correlate(Policy).scalar_subquery(), col(Policy.expiration_at))
    terms = (
        _select_terms(Policy, end_at, col(Purchase.total_minor))
        .join(Purchase, col(Purchase.id) == col(Policy.purchase_id))
        .outerjoin(Refund, sa.and_(col(Refund.purchase_id) == col(Purchase.id), col(Refund.renewal_id).is_(None)))
        .where(
            col(Policy.activated),
            col(Policy.declined_at).is_(None),
            col(Policy.deleted_at).is_(None),
            col(Policy.expiration_at) > clock.midnight(edges[0]),
            col(Policy.start_at) < clock.midnight(edges[-1]),
        )
    )
    return _sum_earned(terms, edges)


def build_renewed_terms_query(edges: Sequence[date]) -> AnySelect:
    """Like `build_first_terms_query`, for the terms that renewals bought."""
    terms = (
        _select_terms(Renewal, col(Renewal.expiration_at), col(Renewal.total_minor))
        .outerjoin(Refund, col(Refund.renewal_id) == col(Renewal.id))
        .where(
            col(Renewal.status),
            col(Renewal.deleted_at).is_(None),
            col(Renewal.expiration_at) > clock.midnight(edges[0]),
            col(Renewal.start_at) < clock.midnight(edges[-1]),
        )
    )
    return _sum_earned(terms, edges)


def _select_terms(entity: Any, end_at: Any, total: Any) -> AnySelect:
    """Begin the query of terms: first day, the day after the last, premium, and what of it was not refunded."""
    return sa.select(
        col(entity.product_id),
        col(entity.distributor_id),
        _count_days(col(entity.start_at)).label("start_on"),
        _count_days(end_at, is_end=True).label("end_on"),
        total.label("total"),
        (total - sa.func.coalesce(col(Refund.total_minor), 0)).label("kept"),
    ).select_from(entity)


def _sum_earned(terms: AnySelect, edges: Sequence[date]) -> AnySelect:
    # The offset keeps the database from computing the days of a term anew for every edge.
    source = terms.offset(0).subquery()
    term = source.c
    sums = (sa.func.sum(_earn_until(term, day)).label(f"until_{place}") for place, day in enumerate(edges))
    group: tuple[Any, ...] = (col(Product.id).label("product_id"), term.distributor_id)
    return (
        sa.select(*group, *sums).select_from(Product).join(source, term.product_id == col(Product.id)).group_by(*group)
    )


def _count_days(instant: Any, *, is_end: bool = False) -> sa.ColumnElement[int]:
    """Return the day of an instant as an ordinal; a cover that ends within a day holds the whole of it."""
    since = milliseconds_between(sa.literal(_EPOCH, UTCDateTime), instant)
    return sa.type_coerce((since + (_DAY_MS - 1 if is_end else 0)) // _DAY_MS, sa.BigInteger)


def _get_ordinal(day: date) -> int:
    return (day - EARLIEST).days


# An incident without a day counts on the day of its lodging. No bound values: PostgreSQL groups by the same text only.
_INCIDENT_DAY: Final = sa.func.coalesce(
    sa.func.substr(col(Claim.incident_date), sa.literal_column("1"), sa.literal_column("10")),
    sa.cast(lagos_day(col(Claim.created_at)), sa.String),
)


def build_losses_query(window: Window) -> AnySelect:
    """Build the query of the losses of a window by product and distributor: number, paid and outstanding as of now."""
    group = (col(Claim.product_id), col(Claim.distributor_id))
    return (
        sa.select(
            *group,
            sa.func.count().label("claims"),
            sa.func.sum(claim_payments.build_paid_column()).label("paid"),
            sa.func.sum(claim_reserves.build_reserve_column()).label("outstanding"),
        )
        .where(
            col(Claim.deleted_at).is_(None),
            window.start.isoformat() <= _INCIDENT_DAY,
            window.end.isoformat() > _INCIDENT_DAY,
        )
        .group_by(*group)
    )


_FIRST, _RENEWED, _LOSSES = "first_terms", "renewed_terms", "losses"


def _get_sum(source: str, name: str) -> Any:
    """Return a column of one of the sums that `_rows` joins; 0 where it has no line."""
    return sa.func.coalesce(sa.literal_column(f"{source}.{name}", sa.BigInteger), sa.literal_column("0"))


_EARNED: Final = (
    _get_sum(_FIRST, "until_1")
    - _get_sum(_FIRST, "until_0")
    + _get_sum(_RENEWED, "until_1")
    - _get_sum(_RENEWED, "until_0")
)
_CLAIMS, _PAID, _OUTSTANDING = (_get_sum(_LOSSES, name) for name in ("claims", "paid", "outstanding"))
_INCURRED: Final = _PAID + _OUTSTANDING


class LossFilter(Filter, on=(Claim,)):
    """The days of the incidents, and in which the premium was earned."""

    incident: Span = of(Days, column="created_at", address="from to", screen="Incident", help="the incident")


def get_window(criteria: LossFilter) -> Window:
    """Return the days of a selection, everything until today where an end is left open."""
    span = criteria.incident
    start = clock.to_lagos_day(span.start) if span.start else EARLIEST
    return Window(start, clock.to_lagos_day(span.end) if span.end else clock.add_days(clock.today(), 1))


def _rows(columns: Sequence[Any], criteria: LossFilter, _: Choices) -> AnySelect:
    window = get_window(criteria)
    edges = (window.start, window.end)
    query = sa.select(*columns).select_from(Product).join(Distributor, sa.true())
    for name, sums in (
        (_FIRST, build_first_terms_query(edges)),
        (_RENEWED, build_renewed_terms_query(edges)),
        (_LOSSES, build_losses_query(window)),
    ):
        source = sums.subquery(name)
        same = (source.c.product_id == col(Product.id), source.c.distributor_id == col(Distributor.id))
        query = query.outerjoin(source, sa.and_(*same))
    return query.where(sa.or_(_EARNED != 0, _CLAIMS != 0)).order_by(
        *(col(Product.name), col(Product.id), col(Distributor.business_name), col(Distributor.id))
    )


def _count(session: ScopedSession, criteria: LossFilter) -> int:
    table = build_table(session, get_window(criteria))
    return len({key[:2] for key, found in table.cells.items() if found.earned_minor or found.claims})


def _compute_ratio(_: Context, incurred: int, earned: int) -> str | None:
    return f"{Decimal(incurred) / Decimal(earned) * 100:.2f}" if earned else None


def _sale_names() -> dict[str, Column]:
    keys = (col(Product.id), col(Distributor.id))
    return {
        name: replace(column, sql=Derived(keys, column.sql.work_out))
        for name, column in listing.sale_names(Purchase).items()
    }


LOSS_RATIOS: Listing[LossFilter] = Listing(
    name="loss-ratios",
    title="Loss ratios",
    noun=("line", "lines"),
    roles=("claims", "supervisor", "finance"),
    filter=LossFilter,
    columns={
        **_sale_names(),
        "claims": Column("Claims", COUNT, _CLAIMS),
        "paid_amount": Column("Paid", MONEY, _PAID),
        "outstanding_amount": Column("Outstanding", MONEY, _OUTSTANDING),
        "incurred_amount": Column("Incurred", MONEY, _INCURRED),
        "earned_premium": Column("Premium earned", MONEY, _EARNED),
        "loss_ratio_percent": Column(
            "Loss ratio, %", TEXT, Derived((_INCURRED, _EARNED), _compute_ratio, is_cached=False)
        ),
        **listing.mode_column(),
    },
    rows=_rows,
    count=_count,
    summed=_INCURRED,
    sum_title="Incurred",
    usual_order="",
)
