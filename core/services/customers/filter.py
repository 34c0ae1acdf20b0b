"""The filters of customers, among them one text that finds any part of names, e-mail or phone (contract P6)."""

import re
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core.covers import request_parts
from core.services.filters import expressions
from core.services.filters.catalogue import members_of
from core.services.filters.declaration import Filter, Ids, of
from core.services.filters.field import Condition
from core.services.filters.fields import Days, Flag, Text
from core.services.personal import list_spellings
from core.services.windows import Span
from core.store.schema.tables import Customer, CustomerMerge, Policy, Purchase

# The line break prevents matches across two fields: submitted text cannot contain one.
_SEARCHED_TEXT = (
    col(Customer.name_key) + "\n" + col(Customer.email_key) + "\n" + sa.func.coalesce(col(Customer.phone_number), "")
)
# What may be a phone number or a part of one.
PHONE = r"(?=(?:\D*\d){5})\+?[\d\s()-]+"
_NIGERIA = "234"


def has_phone_part(column: Any, text: str) -> Condition:
    """Return the condition that a column of phone numbers has a number or a part of one, as written here or abroad.

    What begins like a number ("0803 123", "+234 803") is its beginning, and is found in the column's index.
    """
    digits = re.sub(r"\D", "", text)
    if text.startswith("+") or digits.startswith(("0", _NIGERIA)):
        national = digits.removeprefix(_NIGERIA) if digits.startswith(_NIGERIA) else digits.removeprefix("0")
        is_home = digits.startswith(("0", _NIGERIA))
        beginnings = (
            (f"+{_NIGERIA}{national}", _NIGERIA + national, f"0{national}") if is_home else (f"+{digits}", digits)
        )
        parts = [_begins(column, each) for each in beginnings]
        return sa.or_(column.in_(list_spellings(text)), *parts)
    return sa.and_(column > "", sa.or_(column.in_(list_spellings(text)), expressions.mentions(column, digits)))


def _begins(column: Any, digits: str) -> Condition:
    """Build the range of the texts that begin with some digits, which an index finds in any collation."""
    stem = digits.rstrip("9")
    if not stem[-1:].isdigit():
        return sa.type_coerce(column, sa.String).like(f"{digits}%")
    return sa.and_(column >= digits, column < f"{stem[:-1]}{int(stem[-1]) + 1}")


def has_words(column: Any, text: str) -> Condition:
    """Return the condition that a name key has every word of a text, or a part of each, in any order."""
    words = (request_parts.fold_text(text) or text.lower()).replace(",", " ").split()
    return sa.and_(*(expressions.mentions_folded(column, word) for word in words or [text]))


def _mentions(_: Any, text: str) -> Condition:
    bare = " ".join(text.split())
    if re.fullmatch(PHONE, bare):
        return sa.or_(expressions.mentions(_SEARCHED_TEXT, bare), has_phone_part(col(Customer.phone_number), bare))
    if " " in bare:
        return has_words(col(Customer.name_key), bare)
    folded = request_parts.fold_text(bare)
    if not folded or folded == bare.lower():
        return expressions.mentions(_SEARCHED_TEXT, bare)
    # E-mail keys keep their accents.
    return sa.or_(expressions.mentions(_SEARCHED_TEXT, folded), expressions.mentions(col(Customer.email_key), bare))


def _has(table: Any, *conditions: Condition) -> sa.Exists:
    mine = (col(table.customer_id) == col(Customer.id), *conditions, col(table.deleted_at).is_(None))
    return sa.select(col(table.id)).where(*mine).exists()


def _is_insured(_: Any, value: bool) -> Condition:  # noqa: FBT001 - the value of a filter
    return _has(Policy, expressions.in_force()) if value else sa.not_(_has(Policy, expressions.in_force()))


def _has_purchased(_: Any, value: bool) -> Condition:  # noqa: FBT001 - the value of a filter
    return _has(Purchase) if value else sa.not_(_has(Purchase))


def _is_merged(_: Any, value: bool) -> Condition:  # noqa: FBT001 - the value of a filter
    merged = sa.select(col(CustomerMerge.merged_id))
    return col(Customer.id).in_(merged) if value else col(Customer.id).not_in(merged)


class CustomerFilter(Filter, on=(Customer,)):
    """Filter of the list of customers."""

    search: str | None = of(
        Text(
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
    )
    created: Span = of(Days(column="created_at", address="from to", api="start_date end_date", screen="Customer since"))
    distributor_ids: Ids = of(members_of("distributor"))
    active: bool | None = of(
        Flag(
            label="Active",
            column="active",
            address="active",
            api="active",
            words={"true": "yes", "false": "no"},
            help="true or false.",
            place="none",
        )
    )
    insured: bool | None = of(
        Flag(
            label="Cover",
            column=_is_insured,
            address="force",
            options={"yes": "In force now", "no": "None in force"},
            help="yes for who has a policy in force, no for who has none.",
            anything="With or without",
        )
    )
    merged: bool | None = of(
        Flag(
            label="Merged",
            column=_is_merged,
            address="merged",
            options={"no": "Without those merged into another", "yes": "Only those merged into another"},
            help="no or yes: records that are part of another one.",
            anything="All records",
        )
    )
    has_purchased: bool | None = of(Flag(column=_has_purchased))
