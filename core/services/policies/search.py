"""Policy search from one text box: the form of the text decides which indexed column is searched (contract P6)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import ids
from core.covers import request_parts
from core.errors import InvalidInput
from core.services import filters
from core.services.customers import customers
from core.services.dimensions import Choices
from core.services.filters import SalesFilter
from core.services.paging import Page, Paging
from core.services.policies import numbering, policies
from core.services.policies import states as policy_states
from core.states.policies import PolicyStage
from core.store.access import AnyRow, AnySelect, ScopedSession
from core.store.schema.tables import Customer, Policy

Order = Literal["newest", "oldest", "ends", "ends-back"]
Kind = Literal["id", "e-mail", "phone", "policy number", "plate", "name"]
MIN_LENGTH, MAX_LENGTH = 2, 100
_SOLD, _ENDS = col(Policy.created_at), col(Policy.expiration_at)
# A policy without an end, which awaits its insurer, counts as the one that ends last.
ORDERS: Mapping[Order, tuple[Any, ...]] = {
    "newest": (_SOLD.desc(), col(Policy.id).desc()),
    "oldest": (_SOLD, col(Policy.id)),
    "ends": (_ENDS.asc().nulls_last(), _SOLD, col(Policy.id)),
    "ends-back": (_ENDS.desc().nulls_first(), _SOLD.desc(), col(Policy.id).desc()),
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


def detect_kinds(text: str) -> tuple[Kind, ...]:
    """Return what a search text may be; each kind has its own index, only a name searches all customers.

    "0803 123 4567" -> phone or number, "ABC-123-XY" -> number or plate, "ngozi okafor" -> name or plate.
    """
    if _is_id(text):
        return ("id",)
    if "@" in text:
        return ("e-mail",)
    if re.fullmatch(r"\+?[\d\s()-]{7,}", text):
        return ("phone", "policy number")
    exact: tuple[Kind, ...] = ("policy number", "plate") if any(map(str.isdigit, text)) else ("plate",)
    # A company name may contain digits: "24 Hours Motors".
    may_be_name = exact == ("plate",) or re.search(r"(?<!\S)[^\W\d_]{4,}(?!\S)", text)
    return ("name", *exact) if may_be_name else exact


def normalise_text(text: str | None) -> str:
    """Return a search text with normalised spaces; InvalidInput if it is too short or too long."""
    bare = " ".join((text or "").split())
    if bare and not (MIN_LENGTH <= len(bare) <= MAX_LENGTH and bare.isprintable()):
        raise InvalidInput.for_field("find", f"must have {MIN_LENGTH} to {MAX_LENGTH} characters")
    return bare


def search_policies(
    session: ScopedSession,
    text: str | None,
    criteria: SalesFilter,
    names: Choices,
    *,
    order: Order = "newest",
    paging: Paging,
) -> Page[PolicyRow]:
    """A page of the policies that a text finds within a filter, with the exact total.

    InvalidInput for a text that is too short or too long.
    """
    conditions = build_conditions(text, criteria, names)
    by = ORDERS[order]
    # The page is found by its ids first: the rows that are skipped are wide.
    page_query = sa.select(col(Policy.id)).where(*conditions).order_by(*by).limit(paging.limit).offset(paging.offset)
    ids_, total = _load_page_ids(session, page_query, with_total=bool(normalise_text(text)))
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


def build_conditions(text: str | None, criteria: SalesFilter, names: Choices) -> list[sa.ColumnElement[bool]]:
    """Build the SQL conditions of a search text within a filter; InvalidInput for an invalid text."""
    return [*_build_filter_conditions(criteria, names), *_build_text_condition(text)]


def _build_text_condition(text: str | None) -> list[sa.ColumnElement[bool]]:
    """Build the condition of a search text: any of the kinds it may be; empty for no text."""
    bare = normalise_text(text)
    if not bare:
        return []
    # One query per kind: with OR, the planner may scan all policies in sort order.
    return [col(Policy.id).in_(sa.union_all(*(_QUERIES[kind](bare) for kind in detect_kinds(bare))))]


def _select_ids(condition: sa.ColumnElement[bool]) -> AnySelect:
    return sa.select(col(Policy.id)).where(condition)


def _query_by_email(text: str) -> AnySelect:
    # A customer is identified by the e-mail, so these are all policies with it (contract S2).
    customer_ids = sa.select(col(Customer.id)).where(col(Customer.email_key) == text.lower())
    return _select_ids(col(Policy.customer_id).in_(customer_ids))


def _query_by_name(text: str) -> AnySelect:
    searched = text.replace(",", "")
    # The doubled name contains both orders of first and last name; needed only for several words.
    name = col(Customer.name_key)
    searched_column = name + " " + name if " " in searched else name
    customer_ids = sa.select(col(Customer.id)).where(
        filters.mentions(searched_column, request_parts.fold_text(searched) or searched)
    )
    return _select_ids(col(Policy.customer_id).in_(customer_ids))


def _query_by_phone(text: str) -> AnySelect:
    return _select_ids(col(Policy.phone).in_(customers.list_spellings(text)))


_QUERIES = {
    "id": lambda text: _select_ids(col(Policy.id) == ids.parse(text.lower())),
    "e-mail": _query_by_email,
    "phone": _query_by_phone,
    "policy number": lambda text: _select_ids(col(Policy.number_key) == numbering.key(text)),
    "plate": lambda text: _select_ids(col(Policy.plate_key) == request_parts.normalise_registration(text)),
    "name": _query_by_name,
}


def _is_id(text: str) -> bool:
    try:
        ids.parse(text.lower())
    except InvalidInput:
        return False
    return True


def _build_filter_conditions(criteria: SalesFilter, names: Choices) -> list[sa.ColumnElement[bool]]:
    """Build the conditions of a filter; insurers are replaced by their products, which the counting index has."""
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
