"""The policies table of the desk: one page of rows, and the number of all."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import UTCDateTime, col

from core import clock
from core.services.dimensions import Choices
from core.services.filters import expressions
from core.services.filters.field import Condition
from core.services.paging import Page, Paging
from core.services.policies import policies
from core.services.policies import states as policy_states
from core.services.policies.filter import PolicyFilter
from core.states.policies import PolicyStage
from core.store.access import AnyRow, AnySelect, ScopedSession
from core.store.schema.tables import Policy, Product

Order = Literal["newest", "oldest", "ends", "ends-back", "to-do"]
# As long as the list of what is due shows it.
_LAPSED_DAYS = 30
_SOLD, _ENDS = col(Policy.created_at), col(Policy.expiration_at)


def _build_turn() -> Any:
    """Build the place of a policy among the records of one person; one that has just lapsed can still be renewed."""
    stage, since = expressions.policy_stage(), sa.bindparam(None, callable_=_lapsed_since, type_=UTCDateTime())
    renewable = sa.select(col(Product.id)).where(col(Product.renewable))
    lapsed = (stage == str(PolicyStage.EXPIRED)) & (since <= _ENDS) & col(Policy.product_id).in_(renewable)
    return sa.case(
        (stage == str(PolicyStage.PENDING), 0),
        ((stage == str(PolicyStage.IN_FORCE)) | lapsed, 1),
        (stage == str(PolicyStage.NOT_STARTED), 2),
        else_=3,
    )


def _lapsed_since() -> datetime:
    return clock.midnight(clock.add_days(clock.today(), -_LAPSED_DAYS))


# A policy without an end, which awaits its insurer, counts as the one that ends last.
ORDERS: Mapping[Order, tuple[Any, ...]] = {
    "newest": (_SOLD.desc(), col(Policy.id).desc()),
    "oldest": (_SOLD, col(Policy.id)),
    "ends": (_ENDS.asc().nulls_last(), _SOLD, col(Policy.id)),
    "ends-back": (_ENDS.desc().nulls_first(), _SOLD.desc(), col(Policy.id).desc()),
    # What somebody has to do something about: pending first, then by the end what has just lapsed or is in force, then
    # what is over.
    "to-do": (_build_turn(), _ENDS.asc().nulls_last(), _SOLD.desc(), col(Policy.id).desc()),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class PolicyRow:
    """One row of the policies table."""

    id: UUID
    created_at: datetime
    policy_number: str | None
    stage: PolicyStage
    holder: str
    email: str
    registration: str | None
    is_for_beneficiary: bool
    product: str
    provider: str
    distributor: str
    start_at: datetime | None
    expiration_at: datetime | None


def search_policies(
    session: ScopedSession, criteria: PolicyFilter, names: Choices, *, order: Order = "newest", paging: Paging
) -> Page[PolicyRow]:
    """Return a page of the policies of a filter, with the exact total."""
    conditions = build_conditions(criteria, names)
    by = ORDERS[order]
    # The page is found by its ids first: the rows that are skipped are wide.
    page_query = sa.select(col(Policy.id)).where(*conditions).order_by(*by).limit(paging.limit).offset(paging.offset)
    ids_, total = _load_page_ids(session, page_query, with_total=bool(criteria.find))
    if total is None:
        total = session.execute(sa.select(sa.func.count()).select_from(Policy).where(*conditions)).scalar_one()
    query = _build_row_query().where(col(Policy.id).in_(ids_)).order_by(*by)
    return Page([_build_row(row, names) for row in session.execute(query)], total)


def _load_page_ids(session: ScopedSession, page_query: AnySelect, *, with_total: bool) -> tuple[list[UUID], int | None]:
    """Return the ids of a page; with `with_total` also the total, unless the page is past the end.

    A name is searched in all customers, so search and count are one query; without a text, an index counts faster.
    """
    if not with_total:
        return list(session.execute(page_query).scalars()), None
    found = session.execute(page_query.add_columns(sa.func.count().over())).all()
    return [row[0] for row in found], (found[0][1] if found else None)


def build_conditions(criteria: PolicyFilter, names: Choices) -> list[Condition]:
    """Build the SQL conditions of a filter; insurers are replaced by their products, which the counting index has."""
    if not criteria.provider_ids:
        return policies.build_conditions(criteria)
    insurer_products = {key for key, provider in names.provider_of.items() if provider in criteria.provider_ids}
    product_ids = insurer_products.intersection(criteria.product_ids or insurer_products)
    narrowed = policies.build_conditions(replace(criteria, provider_ids=(), product_ids=()))
    return [col(Policy.product_id).in_(sorted(product_ids)), *narrowed]


def _build_row_query() -> AnySelect:
    return sa.select(
        *(col(getattr(Policy, name)) for name in _COLUMNS), col(Policy.buyer_id) != col(Policy.customer_id)
    )


_COLUMNS = (
    "id",
    "created_at",
    "policy_number",
    "first_name",
    "last_name",
    "email",
    "plate_key",
    "product_id",
    "distributor_id",
    "start_at",
    "expiration_at",
    "activated",
    "cancelled_at",
    "declined_at",
)


def _build_row(row: AnyRow, names: Choices) -> PolicyRow:
    distributor, provider, product, _ = names.get_names_of_sale(row.product_id, row.distributor_id)
    return PolicyRow(
        id=row.id,
        created_at=row.created_at,
        policy_number=row.policy_number,
        stage=policy_states.get_stage(row),
        holder=f"{row.first_name} {row.last_name}",
        email=row.email,
        registration=row.plate_key,
        is_for_beneficiary=row[-1],
        product=product,
        provider=provider,
        distributor=distributor,
        start_at=row.start_at,
        expiration_at=row.expiration_at,
    )
