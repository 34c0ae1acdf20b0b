"""Export of loss ratios: one line for each product and distributor with premium earned or losses in the days."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.claims.reports import loss_ratios
from core.services.lists.columns import Column, Context, Derived, mode_column, sale_names
from core.services.lists.dimensions import Choices
from core.services.lists.filters.declaration import Filter, of
from core.services.lists.filters.fields import Days
from core.services.lists.listing import Listing
from core.services.lists.spreadsheets import COUNT, MONEY, TEXT
from core.services.lists.windows import EARLIEST, Span, Window
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Claim, Distributor, Product, Purchase

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

    incident: Span = of(Days(column="created_at", address="from to", screen="Incident", help="the incident"))


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
        (_FIRST, loss_ratios.build_first_terms_query(edges)),
        (_RENEWED, loss_ratios.build_renewed_terms_query(edges)),
        (_LOSSES, loss_ratios.build_losses_query(window)),
    ):
        source = sums.subquery(name)
        same = (source.c.product_id == col(Product.id), source.c.distributor_id == col(Distributor.id))
        query = query.outerjoin(source, sa.and_(*same))
    return query.where(sa.or_(_EARNED != 0, _CLAIMS != 0)).order_by(
        *(col(Product.name), col(Product.id), col(Distributor.business_name), col(Distributor.id))
    )


def _count(session: ScopedSession, criteria: LossFilter) -> int:
    table = loss_ratios.build_table(session, get_window(criteria))
    return len({key[:2] for key, found in table.cells.items() if found.earned_minor or found.claims})


def _compute_ratio(_: Context, incurred: int, earned: int) -> str | None:
    """Return the loss ratio in percent, none where nothing was earned."""
    return f"{Decimal(incurred) / Decimal(earned) * 100:.2f}" if earned else None


def _sale_names() -> dict[str, Column]:
    keys = (col(Product.id), col(Distributor.id))
    return {
        name: replace(column, sql=Derived(keys, column.sql.work_out)) for name, column in sale_names(Purchase).items()
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
        **mode_column(),
    },
    rows=_rows,
    count=_count,
    summed=_INCURRED,
    sum_title="Incurred",
    usual_order="",
)
