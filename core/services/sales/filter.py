"""Filters of sales: what can be asked of a purchase, renewal or policy, and what a search text means."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any, Final, Literal, TypeVar
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.orm import aliased
from sqlmodel import col

from core import ids
from core.covers import request_parts
from core.errors import InvalidInput
from core.services.customers.customers import PHONE, begins_like_phone, has_digits, has_words, list_beginnings
from core.services.lists.columns import SOURCES
from core.services.lists.filters import declaration
from core.services.lists.filters.declaration import Filter, Ids, of
from core.services.lists.filters.fields import (
    Condition,
    Days,
    Member,
    Members,
    Naira,
    Text,
    Texts,
    Word,
    Words,
    members_of,
)
from core.services.lists.windows import Span
from core.services.people.personal import list_spellings
from core.states.policies import PolicyStage
from core.store import policy_numbers
from core.store.access import AnySelect, Query, ScopedSession
from core.store.schema.tables import (
    Customer,
    DaybookLine,
    Policy,
    PolicyEndorsement,
    Product,
    Purchase,
    Refund,
    Renewal,
)

Kind = Literal["id", "e-mail", "phone", "policy number", "plate", "name"]
# What stands on the policy itself.
ON_POLICY: Final[tuple[Kind, ...]] = ("policy number", "plate")
MIN_LENGTH, MAX_LENGTH = 2, 100
# Shorter parts are in nearly every number: those are compared whole.
_SHORTEST_PART: Final = 3


def detect_kinds(text: str) -> tuple[Kind, ...]:
    """Return what a search text may be; each kind has its own index, only a name searches all customers.

    "0803 123 4567" -> phone or number, "ABC-123-XY" -> number or plate, "ngozi okafor" -> name or plate, "GQA" or
    "ACC/AR" -> name, number or plate.
    """
    if _looks_like_id(text):
        return ("id",)
    if "@" in text:
        return ("e-mail",)
    if re.fullmatch(PHONE, text):
        return ("phone", "policy number")
    has_digit = any(map(str.isdigit, text))
    # A policy number has words of at most four letters: a longer one is a name, and the index of numbers is not asked.
    may_be_number = has_digit or re.fullmatch(r"[A-Za-z]{3,4}|\S*/\S*", text)
    exact: tuple[Kind, ...] = ("policy number", "plate") if may_be_number else ("plate",)
    # A company name may contain digits: "24 Hours Motors".
    may_be_name = not has_digit or re.search(r"(?<!\S)[^\W\d_]{4,}(?!\S)", text)
    return ("name", *exact) if may_be_name else exact


def normalise_text(text: str | None) -> str:
    """Return a search text with normalised spaces; InvalidInput if it is too short or too long."""
    bare = " ".join((text or "").split())
    if bare and not (MIN_LENGTH <= len(bare) <= MAX_LENGTH and bare.isprintable()):
        raise InvalidInput.for_field("find", f"must have {MIN_LENGTH} to {MAX_LENGTH} characters")
    return bare


def select_policies(column: Any, text: str) -> Any:
    """Return the query of a column of the policies that a text finds, by any of the kinds that it may be."""
    bare = normalise_text(text)
    found = select_by_kind(bare, detect_kinds(bare))
    return found if column is Policy.id else sa.select(col(column)).where(col(Policy.id).in_(found)).correlate(None)


def select_by_kind(text: str, kinds: Sequence[Kind]) -> Any:
    """Return the query of the ids of the policies that a normalised text finds by some of its kinds."""
    # One query for each condition: with OR, the planner may scan all policies in sort order. Not correlated: the list
    # that is narrowed may read policies and customers itself. Ids alone, as the indexes of parts hold them.
    found = (query for kind in kinds for query in _QUERIES[kind](text))
    return sa.union_all(*(query.correlate(None) for query in found))


def _select(condition: Condition) -> AnySelect:
    return sa.select(col(Policy.id)).where(condition)


def _by_id(text: str) -> Iterator[AnySelect]:
    key = ids.parse(text.lower())
    yield _select(sa.or_(*(col(column) == key for column in (Policy.id, Policy.purchase_id, Policy.customer_id))))


def _by_email(text: str) -> Iterator[AnySelect]:
    # A customer is identified by the e-mail, so these are all policies with it (contract S2).
    key = request_parts.fold_email(text)
    yield _select(_is_of_customer(sa.select(col(Customer.id)).where(col(Customer.email_key) == key)))
    yield _select_endorsed(col(PolicyEndorsement.email_key) == key)


def _by_name(text: str) -> Iterator[AnySelect]:
    yield _select(_is_of_customer(declaration.walk(Customer.name_key, has_words(col(Customer.name_key), text))))
    named = col(PolicyEndorsement.name_key)
    yield _select_endorsed(sa.and_(named > "", has_words(named, text)))


def _select_endorsed(condition: Condition) -> AnySelect:
    # What was endorsed is said on the policy and not on the customer (contract S21).
    return sa.select(col(PolicyEndorsement.policy_id)).where(condition)


def _by_phone(text: str) -> Iterator[AnySelect]:
    # Each apart: by an OR SQLite may read all rows of the mode, and to compare one text with several takes longer.
    column = col(Policy.phone)
    yield _select(column.in_(list_spellings(text)))
    if begins_like_phone(text):
        yield from (declaration.look_up(Policy.phone, begins) for begins in list_beginnings(column, text))
    else:
        yield declaration.walk(Policy.phone, has_digits(column, text))


def _is_of_customer(customers: AnySelect) -> Condition:
    return col(Policy.customer_id).in_(customers.correlate(None))


def _by_number(text: str) -> Iterator[AnySelect]:
    key, column = policy_numbers.key(text), col(Policy.number_key)
    yield _select(column == key)
    if len(key) >= _SHORTEST_PART:
        # A whole number is often a part of later ones: then it alone is meant.
        other: Any = aliased(Policy)
        is_whole = sa.select(other.id).where(other.number_key == key).correlate(None).exists()
        yield declaration.walk(Policy.number_key, sa.and_(sa.not_(is_whole), _has_part_of_number(column, key)))


def _has_part_of_number(column: Any, key: str) -> Condition:
    """Build the condition of a part; "HQ4967" is also written "HQ/4967" or "HQ-4967"."""
    groups = re.findall(r"[A-Z]+|\d+", key)
    if not key.isalnum() or len(groups) < 2:
        return declaration.has_part(column, key)
    without_marks = sa.func.replace(sa.func.replace(column, "/", ""), "-", "")
    # The first condition is quicker, and leaves few rows to the second.
    return sa.and_(sa.type_coerce(column, sa.String).like(f"%{'%'.join(groups)}%"), without_marks.like(f"%{key}%"))


def _by_plate(text: str) -> Iterator[AnySelect]:
    key, column = request_parts.normalise_registration(text), col(Policy.plate_key)
    # Letters alone are nearly always a name.
    is_part = len(key) >= _SHORTEST_PART and (any(map(str.isdigit, key)) or len(key) == _SHORTEST_PART)
    has_part = declaration.has_part(column, key)
    yield declaration.walk(Policy.plate_key, has_part) if is_part else _select(column == key)


_QUERIES: Final[Mapping[Kind, Callable[[str], Iterator[AnySelect]]]] = {
    "id": _by_id,
    "e-mail": _by_email,
    "phone": _by_phone,
    "policy number": _by_number,
    "plate": _by_plate,
    "name": _by_name,
}


def _looks_like_id(text: str) -> bool:
    try:
        ids.parse(text.lower())
    except InvalidInput:
        return False
    return True


# The filters of sales: what purchases, renewals and policies share, and the list of purchases (contract P4-P6).

PAYMENT_STATES = {"paid": "Paid", "part": "Part refunded", "refunded": "Refunded"}


def _has_email(table: Any, email: Any) -> Condition:
    return col(table.customer_id).in_(sa.select(col(Customer.id)).where(col(Customer.email_key) == email))


def _has_role(_: Any, role: str) -> Condition:
    own = col(Policy.buyer_id) == col(Policy.customer_id)
    return own if role == "principal" else sa.not_(own)


def _find(table: Any, text: str) -> Condition:
    purchase = col(Purchase.id) if table is Purchase else col(table.purchase_id)
    return purchase.in_(select_policies(Policy.purchase_id, text))


def find_by_policy(column: Any) -> Any:
    """Declare the search of a list whose records belong to the policies that a column names."""
    return of(
        Text(
            label="Find",
            column=lambda _, text: col(column).in_(select_policies(Policy.id, text)),
            address="find",
            help="A part of a policy number, plate, name or phone, or an e-mail.",
            check=normalise_text,
            placeholder="Number, plate, name, e-mail or phone",
            longest=MAX_LENGTH,
            searches=True,
            place="search",
        )
    )


def payment_state() -> Any:
    """Return the payment state of a purchase whose refund is joined, as `_has_payment_state` finds it."""
    back = sa.func.coalesce(col(Refund.total_minor), 0)
    paid, part, refunded = (sa.literal_column(f"'{word}'", sa.String) for word in PAYMENT_STATES.values())
    return sa.case((back == 0, paid), (col(Purchase.total_minor) > back, part), else_=refunded)


def _has_payment_state(_: Any, states: tuple[str, ...]) -> Condition:
    # Refunds of renewals are not those of the purchase; a refund of nothing gave nothing back.
    given_back = (col(Refund.renewal_id).is_(None), col(Refund.total_minor) > 0)
    touched = sa.select(col(Refund.purchase_id)).where(*given_back).correlate(None)
    bought: Any = aliased(Purchase)
    whole = (
        sa.select(col(Refund.purchase_id))
        .join(bought, bought.id == col(Refund.purchase_id))
        .where(*given_back, col(Refund.total_minor) >= bought.total_minor)
        .correlate(None)
    )
    key = col(Purchase.id)
    conditions = {
        "paid": key.not_in(touched),
        "part": sa.and_(key.in_(touched), key.not_in(whole)),
        "refunded": key.in_(whole),
    }
    return sa.or_(*(conditions[state] for state in states))


class SalesFilter(Filter, on=(Purchase, Renewal, Policy)):
    """Filter of purchases, renewals or policies alike, as the dashboard has it."""

    JOINED = (Policy,)

    created: Span = of(Days(column="created_at", address="from to", api="start_date end_date", place="none"))
    provider_ids: Ids = of(members_of("provider", through=Product.provider_id, api="provider_id"))
    category_ids: Ids = of(members_of("category", through=Product.product_category_id))
    product_ids: Ids = of(members_of("product"))
    distributor_ids: Ids = of(members_of("distributor"))
    customer_email: str | None = of(
        Text(
            label="E-mail",
            column=_has_email,
            bound_as=sa.String(),
            normalise=request_parts.fold_email,
            address="email",
            api="customer_email",
            help="E-mail of the customer.",
            what="address",
            screen="Customer e-mail",
            placeholder="name@example.com",
            place="none",
        )
    )
    request_sources: tuple[str, ...] = of(
        Texts(
            label="Source",
            column="request_source",
            address="source",
            options=SOURCES,
            help="Where sales came from: api, desk, ...",
            screen="Request source",
            anything="All sources",
            place="none",
        )
    )
    customer_id: UUID | None = of(Member(column="customer_id", api="customer_id"))
    customer_ids: Ids = of(Members(column="customer_id"))
    expiring: Span = of(
        Days(
            label="Expires",
            column=Policy.expiration_at,
            dated=True,
            api="expired_start_date expired_end_date",
            help="expiry",
            screen="Policy ends",
        )
    )
    customer_type: Literal["principal", "beneficiary"] | None = of(
        Word(
            label="Customer is",
            column=_has_role,
            joins=Policy,
            options={"principal": "Principal", "beneficiary": "Beneficiary"},
            unlimited="all",
            help="principal or beneficiary.",
        )
    )

    def days(self) -> tuple[date | None, date | None]:
        """Return the first and the last day of the time of sale, both included."""
        field: Days = self.FIELDS["created"]  # type: ignore[assignment]
        return field.days(self.created)

    @property
    def concerns_policy(self) -> bool:
        """True when a condition reads the policy joined to the record."""
        return self.joins(Policy)

    @property
    def of_catalogue(self) -> bool:
        """True when nothing but time, products and distributors narrows the sales, so that a roll-up can answer."""
        return self.is_answered_by(DaybookLine)


class PurchaseFilter(SalesFilter, on=(Purchase,)):
    """Filter of the list of purchases."""

    find: str | None = of(
        Text(
            label="Find",
            column=_find,
            address="find",
            api="search",
            help="A part of a policy number, plate, name or phone, an e-mail or the id of a record.",
            check=normalise_text,
            placeholder="Number, plate, name, e-mail, phone or reference",
            longest=MAX_LENGTH,
            searches=True,
            place="search",
        )
    )
    stages: tuple[str, ...] = of(
        Words(
            label="Policy state",
            column=lambda _, stages: declaration.policy_stage().in_(stages),
            joins=Policy,
            address="policy",
            options={str(stage): str(stage) for stage in PolicyStage},
            help="The state of the policy now.",
            anything="Any state",
        )
    )
    payment_states: tuple[str, ...] = of(
        Words(
            label="Payment",
            column=_has_payment_state,
            address="payment",
            options=PAYMENT_STATES,
            help="paid, part (some was refunded) or refunded; may be repeated.",
            anything="Any payment",
        )
    )

    customer_email: str | None = SalesFilter.redeclare("customer_email", place="grid")
    request_sources: tuple[str, ...] = SalesFilter.redeclare("request_sources", place="grid")
    customer_type: Literal["principal", "beneficiary"] | None = SalesFilter.redeclare(
        "customer_type", api="customer_type"
    )
    premium_from: Decimal | None = of(
        Naira(
            label="Premium from",
            column="total_minor",
            address="premium_from",
            bound="least",
            help="Smallest premium in naira, included.",
        )
    )
    premium_to: Decimal | None = of(
        Naira(
            label="Premium to",
            column="total_minor",
            address="premium_to",
            bound="most",
            help="Largest premium in naira, included.",
        )
    )


# SQL conditions of a sales filter on purchases and their policies.

S = TypeVar("S", bound=SalesFilter)
_NOBODY: Final = UUID(int=0)
_CUSTOMER_BY_EMAIL = Query(
    sa.select(col(Customer.id)).where(col(Customer.email_key) == sa.bindparam("email", type_=sa.String()))
)


def build_conditions(criteria: SalesFilter) -> list[Condition]:
    """Return the conditions of a filter on purchases and their policies."""
    return [*criteria.conditions(Purchase), col(Purchase.deleted_at).is_(None)]


def apply_criteria(query: AnySelect, criteria: SalesFilter) -> AnySelect:
    """Narrow a query to the purchases of a filter; joins the policy only where a condition reads it."""
    query = query.select_from(Purchase)
    if criteria.concerns_policy:
        query = query.join(Policy, col(Policy.purchase_id) == col(Purchase.id))
    return query.where(*build_conditions(criteria))


def resolve_customer(session: ScopedSession, criteria: S) -> S:
    """Return the same filter with the customer's id instead of the e-mail, unless several customers have it.

    With the e-mail alone the query planner would scan all purchases in order, for nothing where nobody has it.
    """
    if not criteria.customer_email or criteria.customer_id:
        return criteria
    customers = [row[0] for row in _CUSTOMER_BY_EMAIL.rows(session, email=criteria.customer_email.lower())]
    if len(customers) > 1:
        return criteria
    return replace(criteria, customer_email=None, customer_id=customers[0] if customers else _NOBODY)
