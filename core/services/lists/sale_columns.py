"""The columns that every list of sold terms has: money and its split, customer, product and distributor, payment."""

from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core.services.lists.column_parts import concatenate
from core.services.lists.columns import Column, Order
from core.services.lists.spreadsheets.columns import MONEY, PHONE, SIGNED_MONEY, TEXT, WORD
from core.store.schema.tables import Policy, Refund

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
        "email": Column("E-mail", TEXT, col(Policy.email), machine="customer_email", width=190),
        "phone": Column("Phone", PHONE, col(Policy.phone), machine="customer_phone", width=120),
    }


def payment_columns(entity: Any) -> dict[str, Column]:
    """Return the columns of how a sale came in and was paid."""
    return {
        "source": Column("Source", WORD, col(entity.request_source), machine="request_source", words=SOURCES, width=80),
        "payment_option": Column("Payment option", WORD, col(entity.payment_option), width=110),
        "payment_channel": Column("Payment channel", WORD, col(entity.payment_channel), width=110),
    }
