"""The text of a search for sales: what it may be, and the policies that it finds."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

import sqlalchemy as sa
from sqlalchemy.orm import aliased
from sqlmodel import col

from core import ids
from core.covers import request_parts
from core.errors import InvalidInput
from core.services.customers.customers import PHONE, begins_like_phone, has_digits, has_words, list_beginnings
from core.services.lists.filters import declaration
from core.services.lists.filters.fields import (
    Condition,
)
from core.services.people.personal import list_spellings
from core.store import policy_numbers
from core.store.access import AnySelect
from core.store.schema.tables import (
    Customer,
    Policy,
    PolicyEndorsement,
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
