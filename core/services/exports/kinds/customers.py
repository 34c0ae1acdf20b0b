"""Export of customers: contact data and purchases."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.services.customers import customers
from core.services.customers.selection import CustomerSelection
from core.services.exports.column_parts import ending, few, printed, text
from core.services.exports.columns import COUNT, DATE, DAY, FLAG, ID, MOMENT, MONEY
from core.services.exports.exports import ExportKind, Parameter, Told
from core.services.exports.parameters import DISTRIBUTOR, FROM, TO
from core.services.sales.choices import Choices
from core.store.access.scope import AnySelect, ScopedSession
from core.store.schema.tables import Customer, Purchase, Renewal


def _bought(what: Any) -> Any:
    mine = (col(Purchase.customer_id) == col(Customer.id), col(Purchase.deleted_at).is_(None))
    return sa.select(what).where(*mine).correlate(Customer).scalar_subquery()


def _renewed(what: Any) -> Any:
    mine = (col(Renewal.customer_id) == col(Customer.id), col(Renewal.status), col(Renewal.deleted_at).is_(None))
    return sa.select(what).where(*mine).correlate(Customer).scalar_subquery()


def _sum(table: Any) -> Any:
    return sa.cast(sa.func.coalesce(sa.func.sum(col(table.total_minor)), 0), sa.BigInteger)


def _distributor(told: Told, given: list[str]) -> list[str]:
    return [told.names.names["distributor"].get(UUID(given[0]), "")]


def _rows(columns: Sequence[Any], selection: CustomerSelection, _: Choices) -> AnySelect:
    return (
        sa.select(*columns)
        .select_from(Customer)
        .where(*customers.conditions_of(selection.wanted))
        .order_by(col(Customer.created_at).desc(), col(Customer.id).desc())
    )


def _count(session: ScopedSession, selection: CustomerSelection) -> int:
    counted = sa.select(sa.func.count()).select_from(Customer).where(*customers.conditions_of(selection.wanted))
    return int(session.execute(counted).scalar_one())


CUSTOMERS = ExportKind(
    name="customers",
    title="Customers",
    noun=("customer", "customers"),
    roles=("operations", "claims"),
    parameters=(
        Parameter(name="q", title="Find", says="Any part of the name, e-mail or phone."),
        FROM,
        TO,
        DISTRIBUTOR,
        Parameter(name="active", title="Active", says="true or false.", words={"true": "yes", "false": "no"}),
        Parameter(name="force", title="Cover", says="yes for who has a policy in force, no for who has none."),
    ),
    read=CustomerSelection.read,
    parts=(
        printed(
            ("id", ID, col(Customer.id)),
            ("created_at", MOMENT, col(Customer.created_at)),
            ("created_on", DAY, col(Customer.created_at)),
        ),
        text("title", col(Customer.title), width=8),
        text("first_name", col(Customer.first_name)),
        text("last_name", col(Customer.last_name)),
        text("email", col(Customer.email), width=30),
        text("phone_number", col(Customer.phone_number)),
        text("gender", col(Customer.gender), width=10),
        text("date_of_birth", col(Customer.date_of_birth), shape=DATE),
        text("address", col(Customer.address), width=34),
        text("city", col(Customer.city)),
        text("state_of_residence", col(Customer.state_of_residence)),
        text("country", col(Customer.country)),
        printed(
            ("active", FLAG, col(Customer.active)),
            ("is_kyc_complete", FLAG, col(Customer.is_kyc_complete)),
            ("purchases", COUNT, _bought(sa.func.count())),
            ("premium", MONEY, _bought(_sum(Purchase)) + _renewed(_sum(Renewal))),
            ("last_purchase_on", DAY, _bought(sa.func.max(col(Purchase.created_at)))),
        ),
        few(["distributor"], [col(Customer.distributor_id)], _distributor),
        ending(),
    ),
    rows=_rows,
    count=_count,
)
