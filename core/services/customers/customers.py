"""Customers: listed, searched, and found for the form of a new sale (contract P6)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.covers import request_parts
from core.services.customers.buyers import COLUMNS
from core.services.lists import records
from core.services.lists.filters import declaration
from core.services.lists.filters.declaration import Filter, Ids, of
from core.services.lists.filters.fields import Condition, Days, Flag, Text, members_of
from core.services.lists.paging import Page, Paging, fetch_newest
from core.services.lists.records import CustomerRecord
from core.services.lists.windows import Span
from core.services.people.personal import list_spellings
from core.store.access import AnySelect, ScopedSession
from core.store.expressions import NO_DOMAIN, join_lines
from core.store.schema.tables import Customer, CustomerMerge, Policy, Purchase

# The line break prevents matches across two fields: submitted text cannot contain one.
_SEARCHED_TEXT = join_lines(col(Customer.name_key), col(Customer.email_key), col(Customer.phone_number))
# What may be a phone number or a part of one: five digits, or four with which a mobile number begins.
PHONE = r"(?=(?:\D*\d){5}|0[789](?:\D*\d){2})\+?[\d\s()-]+"
_NIGERIA = "234"
_MOBILE = rf"(0|{_NIGERIA})[789][01]"
# What may stand between the digits of a number (`fields.Phone`).
_MARKS = " -().\t"


def has_phone_part(column: Any, text: str) -> Condition:
    """Return the condition that a column of phone numbers has a number or a part of one, as written here or abroad.

    What begins like a number ("0803 123", "+234 803") is its beginning, and is found in the column's index.
    """
    if begins_like_phone(text):
        return sa.or_(column.in_(list_spellings(text)), *list_beginnings(column, text))
    # An index of the column alone is walked, not the rows.
    return sa.and_(column > "", sa.or_(column.in_(list_spellings(text)), has_digits(column, text)))


def has_digits(column: Any, text: str) -> Condition:
    """Return the condition that a phone number has the digits of a text side by side, whatever marks it has.

    A number is kept as it was sent ("+44 7911 123456"). The nought before a part is dialled in its own country alone.
    """
    digits = re.sub(r"\D", "", text).removeprefix("0")
    # The first condition is quicker, and leaves few numbers to the second.
    spread = sa.type_coerce(column, sa.String).like(f"%{'%'.join(digits)}%")
    return sa.and_(spread, _without_marks(column).like(f"%{digits}%"))


def _without_marks(column: Any) -> Any:
    for mark in _MARKS:
        column = sa.func.replace(column, mark, "", type_=sa.String)
    return column


def list_beginnings(column: Any, text: str) -> list[Condition]:
    """Return the conditions, of which one is enough, that a column begins as a text does, written here or abroad."""
    digits = re.sub(r"\D", "", text)
    national = digits.removeprefix(_NIGERIA) if digits.startswith(_NIGERIA) else digits.removeprefix("0")
    is_home = digits.startswith(("0", _NIGERIA))
    if is_home:
        return [_begins(column, each) for each in (f"+{_NIGERIA}{national}", _NIGERIA + national, f"0{national}")]
    # Few numbers are of countries abroad: those that begin with two digits of the code are compared without marks, or
    # with three where Nigeria's code has the same two, as its numbers are many.
    code = digits[: 1 if digits[0] in "17" else 3 if digits.startswith(_NIGERIA[:2]) else 2]
    abroad = sa.and_(_begins(column, f"+{code}"), _without_marks(column).like(f"+{digits}%"))
    return [_begins(column, f"+{digits}"), abroad, _begins(column, digits)]


def begins_like_phone(text: str) -> bool:
    """Return True if a text begins with a + or with the first digits of a mobile number here."""
    return text.startswith("+") or re.match(_MOBILE, re.sub(r"\D", "", text)) is not None


def _begins(column: Any, digits: str) -> Condition:
    """Build the range of the texts that begin with some digits, which an index finds in any collation."""
    stem = digits.rstrip("9")
    if not stem[-1:].isdigit():
        return sa.type_coerce(column, sa.String).like(f"{digits}%")
    return sa.and_(column >= digits, column < f"{stem[:-1]}{int(stem[-1]) + 1}")


def has_words(column: Any, text: str) -> Condition:
    """Return the condition that a name key has every word of a text, or a part of each, in any order."""
    words = (request_parts.fold_text(text) or text.lower()).replace(",", " ").split()
    return sa.and_(*(declaration.has_part(column, word) for word in words or [text.lower()]))


def _has_text(part: str) -> Condition:
    """Return the condition that name, e-mail or phone has a part; an address that nobody has given is no e-mail."""
    found = declaration.has_part(_SEARCHED_TEXT, part)
    if NO_DOMAIN in part:
        return found
    # It is the second of three lines: the part stands in the first, or in the last.
    text = sa.type_coerce(_SEARCHED_TEXT, sa.String)
    beside = (text.like(pattern, escape="\\") for pattern in declaration.list_around(part, NO_DOMAIN))
    return sa.and_(found, sa.or_(text.not_like(f"%{NO_DOMAIN}\n%"), *beside))


def _has_email(part: str) -> Condition:
    found = declaration.has_part(col(Customer.email_key), part)
    return found if NO_DOMAIN in part else sa.and_(found, col(Customer.email_key).not_like(f"%{NO_DOMAIN}"))


def _mentions(_: Any, text: str) -> Condition:
    bare = " ".join(text.split())
    if re.fullmatch(PHONE, bare):
        return sa.or_(_has_text(bare), has_phone_part(col(Customer.phone_number), bare))
    if " " in bare:
        return has_words(col(Customer.name_key), bare)
    folded = request_parts.fold_text(bare)
    if not folded or folded == bare.lower():
        return _has_text(bare.lower())
    # E-mail keys keep their accents.
    return sa.or_(_has_text(folded), _has_email(bare.lower()))


def _has(table: Any, *conditions: Condition) -> sa.Exists:
    mine = (col(table.customer_id) == col(Customer.id), *conditions, col(table.deleted_at).is_(None))
    return sa.select(col(table.id)).where(*mine).exists()


def _is_merged(_: Any) -> Condition:
    return col(Customer.id).in_(sa.select(col(CustomerMerge.merged_id)))


class CustomerFilter(Filter, on=(Customer,)):
    """Filter of the list of customers."""

    search: str | None = of(
        Text,
        label="Find",
        column=_mentions,
        address="q",
        api="search",
        help="Any part of the name, e-mail or phone.",
        placeholder="Any part of a name, e-mail or phone",
        longest=100,
        searches=True,
        place="search",
    )
    created: Span = of(Days, column="created_at", address="from to", api="start_date end_date", screen="Customer since")
    distributor_ids: Ids = of(members_of, "distributor")
    active: bool | None = of(
        Flag,
        label="Active",
        column="active",
        address="active",
        api="active",
        options={"true": "Active", "false": "Not active"},
        words={"true": "yes", "false": "no"},
        help="true or false.",
        place="none",
    )
    insured: bool | None = of(
        Flag,
        label="Cover",
        column=lambda _: _has(Policy, declaration.in_force()),
        address="force",
        options={"yes": "In force or about to start", "no": "None in force or about to start"},
        help="yes for who has a policy in force or about to start, no for who has none.",
        anything="With or without",
    )
    merged: bool | None = of(
        Flag,
        label="Merged",
        column=_is_merged,
        address="merged",
        options={"no": "Without those merged into another", "yes": "Only those merged into another"},
        help="no or yes: records that are part of another one.",
        anything="All records",
    )
    has_purchased: bool | None = of(Flag, column=lambda _: _has(Purchase))


UNFILTERED = CustomerFilter()


def list_customers(
    session: ScopedSession, criteria: CustomerFilter = UNFILTERED, paging: Paging = Paging()
) -> Page[CustomerRecord]:
    """Return a page of customers, newest first, with the exact total of the filter (contract P2)."""
    query = sa.select(col(Customer.id)).where(*build_conditions(criteria))

    def load(ids: list[UUID]) -> list[CustomerRecord]:
        return [
            records.build_customer(row)
            for row in session.execute(sa.select(Customer).where(col(Customer.id).in_(ids))).scalars()
        ]

    return fetch_newest(session, Customer, query, paging, load, searched=criteria.scans)


def get_row(session: ScopedSession, customer_id: UUID, *, for_update: bool = False) -> Customer:
    """Return the row of one customer, locked or not, for the desk; NotFound if unknown in this scope."""
    query = sa.select(Customer).where(col(Customer.id) == customer_id, col(Customer.deleted_at).is_(None))
    return session.find_scalar(
        query.with_for_update() if for_update else query, otherwise="There is no such customer in this mode"
    )


def get_customer(session: ScopedSession, customer_id: UUID) -> CustomerRecord:
    """Return one customer; NotFound if unknown in this scope."""
    query = sa.select(Customer).where(col(Customer.id) == customer_id, col(Customer.deleted_at).is_(None))
    row = session.find_scalar(query, otherwise="Customer not found")
    return records.build_customer(row)


def build_conditions(criteria: CustomerFilter) -> list[Condition]:
    """Build the SQL conditions of a customer filter."""
    return [*criteria.conditions(Customer), col(Customer.deleted_at).is_(None)]


def build_desk_conditions(session: ScopedSession, criteria: CustomerFilter) -> list[Condition]:
    """Build those of `build_conditions` as a large SQLite finds a text's customers of all distributors fastest.

    It looks along narrow indexes. Those of one distributor are fewer, and stand together in an index of theirs.
    """
    is_one = session.scope.distributor_id is not None
    if not criteria.search or is_one or session.connection().dialect.name != "sqlite":
        return build_conditions(criteria)
    found = sa.union_all(*(query.correlate(None) for query in _select_ids(" ".join(criteria.search.split()))))
    return [col(Customer.id).in_(found), *build_conditions(replace(criteria, search=None))]


def _select_ids(text: str) -> Iterator[AnySelect]:
    """Yield queries of the ids that `_mentions` finds, each of which walks one index."""
    if re.fullmatch(PHONE, text):
        column, digits = col(Customer.phone_number), re.sub(r"\D", "", text)
        parts = [_has_text(text)]
        yield declaration.look_up(Customer.phone_number, column.in_(list_spellings(text)))
        if begins_like_phone(text):
            yield from (declaration.look_up(Customer.phone_number, begins) for begins in list_beginnings(column, text))
        else:
            # The phone is the last of the lines.
            spread = f"%\n%\n%{'%'.join(digits.removeprefix('0'))}%"
            parts.append(
                sa.and_(sa.type_coerce(_SEARCHED_TEXT, sa.String).like(spread), has_digits(column, text), column > "")
            )
        yield _walk_texts(sa.or_(*parts))
    elif " " in text:
        yield declaration.walk(Customer.name_key, has_words(col(Customer.name_key), text))
    else:
        folded = request_parts.fold_text(text)
        yield _walk_texts(_has_text(folded or text.lower()))
        if folded and folded != text.lower():
            yield declaration.walk(Customer.email_key, _has_email(text.lower()))


def _walk_texts(condition: Condition) -> AnySelect:
    query = sa.select(col(Customer.id)).where(_SEARCHED_TEXT > "", condition)
    return query.with_hint(Customer, "INDEXED BY ix_customer_text", "sqlite")


MAX_FOUND: Final = 8
_LEAST = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownCustomer:
    """A customer, and the values of a buy request's fields, under every name that an insurer gives them."""

    id: UUID
    name: str
    email: str
    phone: str | None
    values: Mapping[str, str]


def find_known(session: ScopedSession, text: str) -> list[KnownCustomer]:
    """Return the newest customers of the session's distributor and mode that a text finds; none for a short text."""
    bare = " ".join(text.split())
    if len(bare) < _LEAST:
        return []
    conditions = build_conditions(CustomerFilter(search=bare, active=True))
    query = sa.select(Customer).where(*conditions).order_by(col(Customer.created_at).desc()).limit(MAX_FOUND)
    return [_build_known(row) for row in session.execute(query).scalars()]


def get_known(session: ScopedSession, customer_id: UUID) -> KnownCustomer | None:
    """Return one customer of the session's distributor and mode; None if there is none."""
    row = session.execute(sa.select(Customer).where(col(Customer.id) == customer_id)).scalar_one_or_none()
    return _build_known(row) if row else None


def _build_known(row: Any) -> KnownCustomer:
    details = {field: getattr(row, column) for field, column in COLUMNS.items()}
    values = {
        name: str(value)
        for field, value in details.items()
        if value
        for name in request_parts.HOLDER_FIELDS.get(field, (field,))
    }
    return KnownCustomer(
        id=row.id, name=f"{row.first_name} {row.last_name}", email=row.email, phone=row.phone_number, values=values
    )
