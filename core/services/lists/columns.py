"""A column of a list, declared once.

    "total": Column("Premium", MONEY, col(Purchase.total_minor), orders=BY_AMOUNT),

From that follow its cells and its header on the screen, the orders that the header offers, its values in every file and
its name there (`columns=` of links and of `coverdesk export`), and the cells of a workbook.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlmodel import col

from core.services.lists.dimensions import Choices
from core.services.lists.spreadsheets import EMAIL, MONEY, PHONE, SIGNED_MONEY, TEXT, WORD, ColumnType
from core.store.schema.tables import Policy, Refund

# No list changes the words of another.
_NO_WORDS: Mapping[str, str] = {}


class Context(NamedTuple):
    """Names of products and distributors, and the mode of the records, which values are made of beside their row."""

    names: Choices
    mode: str


@dataclass(frozen=True, slots=True)
class Derived:
    """A value worked out of SQL values by `work_out(context, *values)`; few of them are different if cached."""

    sql: tuple[Any, ...]
    work_out: Callable[..., Any]
    is_cached: bool = True


@dataclass(frozen=True, slots=True)
class Order:
    """An order of a list: its name in addresses, its label, and its sort keys, of which the last is an id."""

    name: str
    label: str
    keys: tuple[Any, ...] = ()
    is_descending: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """One column: label, type, and its value in SQL, which is None for what only a page of rows has.

    `of` is the attribute of a row that is an object of its own, where it has another name than the column. `orders`
    are those of its header, that of the first click first; `is_sortable` makes two. `machine` is its name in files for
    machines, its key unless given; one that is not `for_machines` is in them only when it is asked for. `words` are
    shown for values, `empty` where there is none; `width` is the most that a list takes for it, in pixels.
    """

    label: str
    type: ColumnType
    sql: Any = None
    of: str | Callable[[Any], Any] = ""
    width: int | None = None
    orders: tuple[Order, ...] = ()
    is_sortable: bool = False
    says: str | None = None
    machine: str = ""
    for_machines: bool = True
    words: Mapping[str, str] = field(default_factory=lambda: _NO_WORDS)
    empty: str = ""

    @property
    def sources(self) -> tuple[Any, ...]:
        """The SQL values that its value is made of."""
        return self.sql.sql if isinstance(self.sql, Derived) else (self.sql,)

    @property
    def is_in_files(self) -> bool:
        """True unless only the rows of a page have it."""
        return self.sql is not None


def name_of_sale(entity: Any, place: int) -> Derived:
    """Return the name of the distributor (0), insurer, product or category (3) of a record of a product."""
    keys = (col(entity.product_id), col(entity.distributor_id))
    return Derived(keys, lambda context, *ids: context.names.get_names_of_sale(*ids)[place])


def sale_names(entity: Any) -> dict[str, Column]:
    """Return the columns of the names of a sale, which every list of sales, policies and claims has."""
    labels = {"distributor": "Distributor", "provider": "Insurer", "product": "Product", "category": "Category"}
    return {
        name: Column(label, WORD, name_of_sale(entity, place), width=130)
        for place, (name, label) in enumerate(labels.items())
    }


def mode_column() -> dict[str, Column]:
    """Return the column of the mode, which every list has."""
    return {"mode": Column("Mode", WORD, Derived((), lambda context: context.mode))}


EMPTY_TEXT = sa.literal_column("''", sa.String)


def concatenate(separator: str, *parts: Any) -> Any:
    """Concatenate SQL texts with a separator: faster than sending separate values."""
    separator_sql: Any = sa.literal_column(f"'{separator}'")
    return reduce(lambda done, part: done.op("||")(separator_sql).op("||")(part), parts or (EMPTY_TEXT,))


# The attributes that hold the parts of an amount, by their columns.
SHARES = {"share": "provider_share_minor", "platform": "mca_profit_minor", "seller": "distributor_profit_minor"}
SOURCES = {"api": "API", "desk": "Desk", "bulk": "Bulk upload"}


def by_time(entity: Any) -> tuple[Order, Order]:
    """Return the orders by the time of a record; ids break ties, so that no row appears on two pages."""
    written, key = col(entity.created_at), col(entity.id)
    return (
        Order("newest", "Newest first", (written.desc(), key.desc()), is_descending=True),
        Order("oldest", "Oldest first", (written, key)),
    )


def by_amount(entity: Any, what: str = "premium") -> tuple[Order, Order]:
    """Return the orders by the total of a record."""
    amount, written, key = col(entity.total_minor), col(entity.created_at), col(entity.id)
    return (
        Order("largest", f"Largest {what} first", (amount.desc(), written.desc(), key.desc()), is_descending=True),
        Order("smallest", f"Smallest {what} first", (amount, written, key)),
    )


def money_columns(entity: Any, *, orders: tuple[Order, ...] = (), is_signed: bool = False) -> dict[str, Column]:
    """Return the columns of an amount and its split; signed where it may be negative."""
    total, platform, seller = map(col, (entity.total_minor, entity.mca_profit_minor, entity.distributor_profit_minor))
    money = SIGNED_MONEY if is_signed else MONEY
    return {
        "total": Column("Premium", money, total, orders=orders),
        "share": Column(
            *("Insurer's share", money, total - platform - seller),
            machine="provider_share",
            says="What remains for the insurer.",
        ),
        "platform": Column("Platform", money, platform, machine="mca_profit", says="The platform's commission."),
        "seller": Column(
            "Distributor's", money, seller, machine="distributor_profit", says="The distributor's commission."
        ),
    }


def refund_columns() -> dict[str, Column]:
    """Return the columns of the amount refunded of a sale or renewal and its three parts; 0.00 without a refund."""
    total, platform, seller = (
        sa.func.coalesce(col(amount), 0)
        for amount in (Refund.total_minor, Refund.mca_profit_minor, Refund.distributor_profit_minor)
    )
    return {
        "refunded": Column("Given back", MONEY, total),
        "refunded_provider_share": Column("Given back by the insurer", MONEY, total - platform - seller),
        "refunded_mca_profit": Column("Given back by the platform", MONEY, platform),
        "refunded_distributor_profit": Column("Given back by the distributor", MONEY, seller),
    }


def policy_number(*, empty: str = "", width: int = 140) -> dict[str, Column]:
    """Return the column of the policy's number."""
    return {
        "policy": Column(
            "Policy number", TEXT, col(Policy.policy_number), machine="policy_number", empty=empty, width=width
        )
    }


def customer_columns() -> dict[str, Column]:
    """Return the columns of the policy's customer."""
    name = concatenate(" ", col(Policy.first_name), col(Policy.last_name))
    return {
        "customer": Column("Customer", TEXT, name, machine="customer_name", width=120),
        "email": Column("E-mail", EMAIL, col(Policy.email), machine="customer_email", width=190),
        "phone": Column("Phone", PHONE, col(Policy.phone), machine="customer_phone", width=120),
    }


def payment_columns(entity: Any) -> dict[str, Column]:
    """Return the columns of how a sale came in and was paid."""
    return {
        "source": Column("Source", WORD, col(entity.request_source), machine="request_source", words=SOURCES, width=80),
        "payment_option": Column("Payment option", WORD, col(entity.payment_option), width=110),
        "payment_channel": Column("Payment channel", WORD, col(entity.payment_channel), width=110),
    }
