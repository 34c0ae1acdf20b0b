"""Export of customers: contact data and purchases."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.services.customers import customers
from core.services.customers import table as customers_table
from core.services.customers.customers import CustomerFilter
from core.services.dimensions import Choices
from core.services.exports.column_parts import cached_columns, mode_columns, printed_columns, text_column
from core.services.exports.exports import ExportContext, ExportKind
from core.services.filters import expressions
from core.services.spreadsheets.columns import COUNT, DATE, DAY, FLAG, ID, INSTANT, MONEY
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Customer, Policy, Purchase, Renewal


def _aggregate_purchases(what: Any) -> Any:
    mine = (col(Purchase.customer_id) == col(Customer.id), col(Purchase.deleted_at).is_(None))
    return sa.select(what).where(*mine).correlate(Customer).scalar_subquery()


def _aggregate_renewals(what: Any) -> Any:
    mine = (col(Renewal.customer_id) == col(Customer.id), col(Renewal.status), col(Renewal.deleted_at).is_(None))
    return sa.select(what).where(*mine).correlate(Customer).scalar_subquery()


def _count_in_force() -> Any:
    mine = (col(Policy.customer_id) == col(Customer.id), expressions.in_force(), col(Policy.deleted_at).is_(None))
    return sa.select(sa.func.count()).select_from(Policy).where(*mine).correlate(Customer).scalar_subquery()


def _sum(table: Any) -> Any:
    return sa.cast(sa.func.coalesce(sa.func.sum(col(table.total_minor)), 0), sa.BigInteger)


def _get_distributor_name(context: ExportContext, values: list[str]) -> list[str]:
    return [context.names.names["distributor"].get(UUID(values[0]), "")]


def _rows(columns: Sequence[Any], criteria: CustomerFilter, _: Choices) -> AnySelect:
    return sa.select(*columns).select_from(Customer).where(*customers.build_conditions(criteria))


def _count(session: ScopedSession, criteria: CustomerFilter) -> int:
    counted = sa.select(sa.func.count()).select_from(Customer).where(*customers.build_conditions(criteria))
    return int(session.execute(counted).scalar_one())


CUSTOMERS = ExportKind(
    name="customers",
    title="Customers",
    noun=("customer", "customers"),
    roles=("operations", "claims"),
    filter=CustomerFilter,
    parts=(
        printed_columns(
            ("id", ID, col(Customer.id)),
            ("created_at", INSTANT, col(Customer.created_at)),
            ("created_on", DAY, col(Customer.created_at)),
        ),
        text_column("title", col(Customer.title), width=8),
        text_column("first_name", col(Customer.first_name)),
        text_column("last_name", col(Customer.last_name)),
        text_column("email", col(Customer.email), width=30),
        text_column("phone_number", col(Customer.phone_number)),
        text_column("gender", col(Customer.gender), width=10),
        text_column("date_of_birth", col(Customer.date_of_birth), column_type=DATE),
        text_column("address", col(Customer.address), width=34),
        text_column("city", col(Customer.city)),
        text_column("state_of_residence", col(Customer.state_of_residence)),
        text_column("country", col(Customer.country)),
        printed_columns(
            ("active", FLAG, col(Customer.active)),
            ("is_kyc_complete", FLAG, col(Customer.is_kyc_complete)),
            ("purchases", COUNT, _aggregate_purchases(sa.func.count())),
            ("premium", MONEY, _aggregate_purchases(_sum(Purchase)) + _aggregate_renewals(_sum(Renewal))),
            ("last_purchase_on", DAY, _aggregate_purchases(sa.func.max(col(Purchase.created_at)))),
            ("policies_in_force", COUNT, _count_in_force()),
        ),
        cached_columns(["distributor"], [col(Customer.distributor_id)], _get_distributor_name),
        mode_columns(),
    ),
    rows=_rows,
    count=_count,
    orders=customers_table.ORDERS,
    listed={
        "name": ("first_name", "last_name"),
        "email": ("email",),
        "phone": ("phone_number",),
        "distributor": ("distributor",),
        "policies": ("purchases",),
        "force": ("policies_in_force",),
        "premium": ("premium",),
        "last": ("last_purchase_on",),
        "met": ("created_on",),
    },
)
