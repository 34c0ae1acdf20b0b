"""Search of sales by one text, whose form decides which indexed columns are searched (contract P6)."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal

import sqlalchemy as sa
from sqlalchemy.orm import aliased
from sqlmodel import col

from core import ids
from core.covers import request_parts
from core.errors import InvalidInput
from core.services.customers.filter import PHONE, has_phone_part, has_words
from core.services.filters import expressions
from core.services.filters.field import Condition
from core.store import policy_numbers
from core.store.access import AnySelect
from core.store.schema.tables import Customer, Policy

Kind = Literal["id", "e-mail", "phone", "policy number", "plate", "name"]
MIN_LENGTH, MAX_LENGTH = 2, 100
# Shorter parts are in nearly every number: those are compared whole.
_SHORTEST_PART: Final = 3


def detect_kinds(text: str) -> tuple[Kind, ...]:
    """Return what a search text may be; each kind has its own index, only a name searches all customers.

    "0803 123 4567" -> phone or number, "ABC-123-XY" -> number or plate, "ngozi okafor" -> name or plate.
    """
    if _is_id(text):
        return ("id",)
    if "@" in text:
        return ("e-mail",)
    if re.fullmatch(PHONE, text):
        return ("phone", "policy number")
    exact: tuple[Kind, ...] = ("policy number", "plate") if any(map(str.isdigit, text)) else ("plate",)
    # A company name may contain digits: "24 Hours Motors".
    may_be_name = exact == ("plate",) or re.search(r"(?<!\S)[^\W\d_]{4,}(?!\S)", text)
    return ("name", *exact) if may_be_name else exact


def normalise(text: str | None) -> str:
    """Return a search text with normalised spaces; InvalidInput if it is too short or too long."""
    bare = " ".join((text or "").split())
    if bare and not (MIN_LENGTH <= len(bare) <= MAX_LENGTH and bare.isprintable()):
        raise InvalidInput.for_field("find", f"must have {MIN_LENGTH} to {MAX_LENGTH} characters")
    return bare


def select_policies(column: Any, text: str) -> Any:
    """Return the query of a column of the policies that a text finds, by any of the kinds that it may be."""
    bare = normalise(text)
    return select_by_kind(column, bare, detect_kinds(bare))


def select_by_kind(column: Any, text: str, kinds: Sequence[Kind]) -> Any:
    """Like `select_policies`, for a normalised text and some of its kinds."""
    # One query per kind: with OR, the planner may scan all policies in sort order. Not correlated: the list that is
    # narrowed may read policies and customers itself.
    found = (sa.select(col(column)).where(_CONDITIONS[kind](text)) for kind in kinds)
    return sa.union_all(*(query.correlate(None) for query in found))


def _has_id(text: str) -> Condition:
    key = ids.parse(text.lower())
    return sa.or_(*(col(column) == key for column in (Policy.id, Policy.purchase_id, Policy.customer_id)))


def _has_email(text: str) -> Condition:
    # A customer is identified by the e-mail, so these are all policies with it (contract S2).
    return _is_of_customer(sa.select(col(Customer.id)).where(col(Customer.email_key) == text.lower()))


def _has_name(text: str) -> Condition:
    return _is_of_customer(sa.select(col(Customer.id)).where(has_words(col(Customer.name_key), text)))


def _is_of_customer(customers: AnySelect) -> Condition:
    return col(Policy.customer_id).in_(customers.correlate(None))


def _has_number(text: str) -> Condition:
    key, column = policy_numbers.key(text), col(Policy.number_key)
    if len(key) < _SHORTEST_PART:
        return column == key
    # A whole number is often a part of later ones: then it alone is meant.
    other: Any = aliased(Policy)
    is_whole = sa.select(other.id).where(other.number_key == key).correlate(None).exists()
    return sa.or_(column == key, sa.and_(sa.not_(is_whole), _has_part_of_number(column, key)))


def _has_part_of_number(column: Any, key: str) -> Condition:
    """Build the condition of a part; "HQ4967" is also written "HQ/4967" or "HQ-4967"."""
    groups = re.findall(r"[A-Z]+|\d+", key)
    if not key.isalnum() or len(groups) < 2:
        return expressions.mentions(column, key)
    without_marks = sa.func.replace(sa.func.replace(column, "/", ""), "-", "")
    # The first condition is quicker, and leaves few rows to the second.
    return sa.and_(sa.type_coerce(column, sa.String).like(f"%{'%'.join(groups)}%"), without_marks.like(f"%{key}%"))


def _has_plate(text: str) -> Condition:
    key, column = request_parts.normalise_registration(text), col(Policy.plate_key)
    # Letters alone are nearly always a name.
    is_part = len(key) >= _SHORTEST_PART and (any(map(str.isdigit, key)) or len(key) == _SHORTEST_PART)
    return sa.and_(column > "", expressions.mentions(column, key)) if is_part else column == key


_CONDITIONS: Final[Mapping[Kind, Callable[[str], Condition]]] = {
    "id": _has_id,
    "e-mail": _has_email,
    "phone": lambda text: has_phone_part(col(Policy.phone), text),
    "policy number": _has_number,
    "plate": _has_plate,
    "name": _has_name,
}


def _is_id(text: str) -> bool:
    try:
        ids.parse(text.lower())
    except InvalidInput:
        return False
    return True
