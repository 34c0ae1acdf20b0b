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
from core.services.customers import phones
from core.services.filters import SalesFilter
from core.services.paging import Page, Paging
from core.services.policies import policies
from core.services.policies import states as policy_states
from core.services.policies.states import Stage
from core.services.sales.choices import Choices
from core.services.selling import numbering
from core.store.access.scope import AnySelect, ScopedSession
from core.store.schema.tables import Customer, Policy

Order = Literal["newest", "oldest", "ends", "ends-back"]
Kind = Literal["id", "e-mail", "phone", "policy number", "plate", "name"]
SHORTEST, LONGEST = 2, 100
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
    stage: Stage
    holder: str
    email: str
    plate: str | None
    beneficiary: bool
    product: str
    provider: str
    distributor: str
    start_at: datetime | None
    expiration_at: datetime | None


def kinds_of(text: str) -> tuple[Kind, ...]:
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
    named = exact == ("plate",) or re.search(r"(?<!\S)[^\W\d_]{4,}(?!\S)", text)
    return ("name", *exact) if named else exact


def tidied(text: str | None) -> str:
    """Return a search text with normalised spaces; InvalidInput if it is too short or too long."""
    bare = " ".join((text or "").split())
    if bare and not (SHORTEST <= len(bare) <= LONGEST and bare.isprintable()):
        raise InvalidInput.one("find", f"must have {SHORTEST} to {LONGEST} characters")
    return bare


def page(
    session: ScopedSession,
    text: str | None,
    wanted: SalesFilter,
    names: Choices,
    *,
    order: Order = "newest",
    paging: Paging,
) -> Page[PolicyRow]:
    """A page of the policies that a text finds within a filter, with the exact total.

    InvalidInput for a text that is too short or too long.
    """
    conditions = conditions_of(text, wanted, names)
    by = ORDERS[order]
    # The page is found by its ids first: the rows that are skipped are wide.
    shown = sa.select(col(Policy.id)).where(*conditions).order_by(*by).limit(paging.limit).offset(paging.offset)
    ids_, total = _page_of(session, shown, counts=bool(tidied(text)))
    if total is None:
        total = session.execute(sa.select(sa.func.count()).select_from(Policy).where(*conditions)).scalar_one()
    query = _columns().where(col(Policy.id).in_(ids_)).order_by(*by)
    return Page([_row(row, names) for row in session.execute(query)], total)


def _page_of(session: ScopedSession, shown: AnySelect, *, counts: bool) -> tuple[list[UUID], int | None]:
    """Return the ids of a page; with `with_total` also the total, unless the page is past the end.

    A name is searched in all customers, so search and count are one query; without a text, an index counts faster.
    """
    if not counts:
        return list(session.execute(shown).scalars()), None
    found = session.execute(shown.add_columns(sa.func.count().over())).all()
    return [row[0] for row in found], (found[0][1] if found else None)


def conditions_of(text: str | None, wanted: SalesFilter, names: Choices) -> list[sa.ColumnElement[bool]]:
    """Build the SQL conditions of a search text within a filter; InvalidInput for an invalid text."""
    return [*_within(wanted, names), *_found(text)]


def _found(text: str | None) -> list[sa.ColumnElement[bool]]:
    """Build the condition of a search text: any of the kinds it may be; empty for no text."""
    bare = tidied(text)
    if not bare:
        return []
    # One query per kind: with OR, the planner may scan all policies in sort order.
    return [col(Policy.id).in_(sa.union_all(*(_BY_KIND[kind](bare) for kind in kinds_of(bare))))]


def _by(condition: sa.ColumnElement[bool]) -> AnySelect:
    return sa.select(col(Policy.id)).where(condition)


def _by_email(text: str) -> AnySelect:
    # A customer is identified by the e-mail, so these are all policies with it (contract S2).
    mine = sa.select(col(Customer.id)).where(col(Customer.email_key) == text.lower())
    return _by(col(Policy.customer_id).in_(mine))


def _by_name(text: str) -> AnySelect:
    sought = text.replace(",", "")
    # The doubled name contains both orders of first and last name; needed only for several words.
    name = col(Customer.name_key)
    whole = name + " " + name if " " in sought else name
    called = sa.select(col(Customer.id)).where(filters.mentions(whole, request_parts.folded(sought) or sought))
    return _by(col(Policy.customer_id).in_(called))


def _by_phone(text: str) -> AnySelect:
    return _by(col(Policy.phone).in_(phones.spellings(text)))


_BY_KIND = {
    "id": lambda text: _by(col(Policy.id) == ids.parse(text.lower())),
    "e-mail": _by_email,
    "phone": _by_phone,
    "policy number": lambda text: _by(col(Policy.number_key) == numbering.key(text)),
    "plate": lambda text: _by(col(Policy.plate_key) == request_parts.plate_key(text)),
    "name": _by_name,
}


def _is_id(text: str) -> bool:
    try:
        ids.parse(text.lower())
    except InvalidInput:
        return False
    return True


def _within(wanted: SalesFilter, names: Choices) -> list[sa.ColumnElement[bool]]:
    """Build the conditions of a filter; insurers are replaced by their products, which the counting index has."""
    if not wanted.provider_ids:
        return policies.conditions_of(wanted)
    theirs = {key for key, provider in names.provider_of.items() if provider in wanted.provider_ids}
    within = theirs.intersection(wanted.product_ids or theirs)
    narrowed = policies.conditions_of(replace(wanted, provider_ids=(), product_ids=()))
    return [col(Policy.product_id).in_(sorted(within)), *narrowed]


def _columns() -> AnySelect:
    return sa.select(*(col(getattr(Policy, name)) for name in _READ), col(Policy.buyer_id) != col(Policy.customer_id))


_READ = (
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


def _row(row: Any, names: Choices) -> PolicyRow:
    distributor, provider, product, _ = names.of_sale(row.product_id, row.distributor_id)
    return PolicyRow(
        id=row.id,
        created_at=row.created_at,
        policy_number=row.policy_number,
        stage=policy_states.stage_of(row),
        holder=f"{row.first_name} {row.last_name}",
        email=row.email,
        plate=row.plate_key,
        beneficiary=row[-1],
        product=product,
        provider=provider,
        distributor=distributor,
        start_at=row.start_at,
        expiration_at=row.expiration_at,
    )
