"""The filters of policies, among them one text whose form decides which indexed column is searched (contract P6)."""

import re
from typing import Any, Literal

import sqlalchemy as sa
from sqlmodel import col

from core import ids
from core.covers import request_parts
from core.errors import InvalidInput
from core.services.customers.filter import list_spellings
from core.services.filters import expressions
from core.services.filters.declaration import Ids, of
from core.services.filters.field import Condition
from core.services.filters.fields import Flag, Text
from core.services.policies import numbering
from core.services.sales.filter import SalesFilter
from core.services.windows import Span
from core.store.access import AnySelect
from core.store.schema.tables import Customer, Policy

Kind = Literal["id", "e-mail", "phone", "policy number", "plate", "name"]
MIN_LENGTH, MAX_LENGTH = 2, 100


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


def _find(_: Any, text: str) -> Condition:
    """Build the condition of a search text: any of the kinds it may be."""
    bare = normalise_text(text)
    # One query per kind: with OR, the planner may scan all policies in sort order.
    return col(Policy.id).in_(sa.union_all(*(_QUERIES[kind](bare) for kind in detect_kinds(bare))))


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
        expressions.mentions(searched_column, request_parts.fold_text(searched) or searched)
    )
    return _select_ids(col(Policy.customer_id).in_(customer_ids))


def _query_by_phone(text: str) -> AnySelect:
    return _select_ids(col(Policy.phone).in_(list_spellings(text)))


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


def _is_in_force(_: Any, value: bool) -> Condition:  # noqa: FBT001 - the value of a filter
    return expressions.in_force() if value else sa.not_(expressions.in_force())


class PolicyFilter(SalesFilter, on=(Policy,)):
    """Filter of the list of policies; `status` true means in force now (contract P5)."""

    category_ids: Ids = SalesFilter.redeclare("category_ids", place="none")
    distributor_ids: Ids = SalesFilter.redeclare("distributor_ids", api="distributor_id", place="none")
    find: str | None = of(
        Text(
            label="Find",
            column=_find,
            address="find",
            help="A policy number, plate, customer name, e-mail or phone.",
            check=normalise_text,
            placeholder="Policy number, plate, customer name, e-mail or phone",
            longest=MAX_LENGTH,
            searches=True,
            place="search",
        )
    )
    status: bool | None = of(
        Flag(
            label="In force",
            column=_is_in_force,
            address="force",
            api="status",
            options={"yes": "In force", "no": "Not in force"},
            help="yes or no.",
        )
    )
    customer_type: Literal["principal", "beneficiary"] | None = SalesFilter.redeclare(
        "customer_type", address="role", api="customer_type"
    )
    expiring: Span = SalesFilter.redeclare("expiring", address="expires_from expires_to", place="none")
