"""The customers table of the desk: contact data and purchase totals."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.services.customers import customers
from core.services.customers.customers import CustomerFilter
from core.services.lists import listing
from core.services.lists.dimensions import UNKNOWN, Choices
from core.services.lists.filters import declaration
from core.services.lists.listing import Column, Derived, Listing, Order, Row, by_time
from core.services.lists.paging import Page, Paging
from core.services.lists.spreadsheets import COUNT, DATE, DAY, EMAIL, FLAG, ID, INSTANT, MONEY, PHONE, TEXT, WORD
from core.store.access import AnySelect, ScopedSession
from core.store.expressions import sum_of
from core.store.schema.tables import Customer, Policy, Purchase, Renewal


class PurchaseTotals(NamedTuple):
    """Purchase totals of a customer: policies, those in force, premium with renewals in kobo, last purchase."""

    policies: int = 0
    in_force: int = 0
    premium_minor: int = 0
    last_at: datetime | None = None


def _of_customer(entity: Any, what: Any, *conditions: Any) -> Any:
    mine = (col(entity.customer_id) == col(Customer.id), col(entity.deleted_at).is_(None), *conditions)
    return sa.select(what).select_from(entity).where(*mine).correlate(Customer).scalar_subquery()


def _sum_total(entity: Any) -> Any:
    return sa.cast(sum_of(col(entity.total_minor)), sa.BigInteger)


def _join(columns: Sequence[Any]) -> AnySelect:
    return sa.select(*columns).select_from(Customer)


def _count(session: ScopedSession, criteria: CustomerFilter) -> int:
    counted = sa.select(sa.func.count()).select_from(Customer).where(*customers.build_conditions(criteria))
    return int(session.execute(counted).scalar_one())


_CREATED_AT, _NAME, _ID = col(Customer.created_at), col(Customer.name_key), col(Customer.id)
# The index that a search reads holds the names too.
_BY_NAME = (
    Order("name", "Names from A to Z", (_NAME, _CREATED_AT, _ID)),
    Order("name-back", "Names from Z to A", (_NAME.desc(), _CREATED_AT.desc(), _ID.desc()), is_descending=True),
)
_PREMIUM = _of_customer(Purchase, _sum_total(Purchase)) + _of_customer(
    Renewal, _sum_total(Renewal), col(Renewal.status)
)
_POLICIES = _of_customer(Purchase, sa.func.count())


def _by_figure(figure: Any, key: str, what: str) -> tuple[Order, Order]:
    """Return the orders by a figure of the customer's sales; the newest customer first among equals."""
    return (
        Order(f"most-{key}", f"Most {what} first", (figure.desc(), _CREATED_AT.desc(), _ID.desc()), is_descending=True),
        Order(f"least-{key}", f"Least {what} first", (figure, _CREATED_AT.desc(), _ID.desc())),
    )


CUSTOMERS: Listing[CustomerFilter] = Listing(
    name="customers",
    title="Customers",
    noun=("customer", "customers"),
    roles=("operations", "claims"),
    filter=CustomerFilter,
    key=_ID,
    usual=("name", "email", "phone", "distributor", "policies", "force", "premium", "met"),
    columns={
        "id": Column("Reference", ID, _ID),
        "created_at": Column("Created", INSTANT, _CREATED_AT),
        "met": Column("Customer since", DAY, _CREATED_AT, machine="created_on", orders=by_time(Customer)),
        "name": Column(
            *("Name", TEXT, listing.concatenate(" ", col(Customer.first_name), col(Customer.last_name))),
            orders=_BY_NAME,
            for_machines=False,
            width=175,
        ),
        "title": Column("Title", TEXT, col(Customer.title)),
        "first_name": Column("First name", TEXT, col(Customer.first_name), width=120),
        "last_name": Column("Last name", TEXT, col(Customer.last_name), width=120),
        "email": Column("E-mail", EMAIL, col(Customer.email), width=180),
        "phone": Column("Phone", PHONE, col(Customer.phone_number), machine="phone_number", width=120),
        "gender": Column("Gender", TEXT, col(Customer.gender)),
        "date_of_birth": Column("Born", DATE, col(Customer.date_of_birth)),
        "address": Column("Address", TEXT, col(Customer.address), width=190),
        "city": Column("City", TEXT, col(Customer.city), width=110),
        "state_of_residence": Column("State", TEXT, col(Customer.state_of_residence), width=110),
        "country": Column("Country", TEXT, col(Customer.country), width=110),
        "active": Column("Active", FLAG, col(Customer.active)),
        "is_kyc_complete": Column("Identity checked", FLAG, col(Customer.is_kyc_complete)),
        "policies": Column(
            *("Policies", COUNT, _POLICIES),
            machine="purchases",
            orders=_by_figure(_POLICIES, "policies", "policies"),
        ),
        "premium": Column(
            *("Premium", MONEY, _PREMIUM),
            says="All purchases, and the renewals that took effect.",
            orders=_by_figure(_PREMIUM, "premium", "premium"),
        ),
        "last": Column(
            *("Last purchase", DAY, _of_customer(Purchase, sa.func.max(col(Purchase.created_at)))),
            machine="last_purchase_on",
        ),
        "force": Column(
            *("In force or about to start", COUNT, _of_customer(Policy, sa.func.count(), declaration.in_force())),
            machine="policies_in_force",
        ),
        "distributor": Column(
            *("Distributor", WORD),
            Derived(
                (col(Customer.distributor_id),),
                lambda context, key: context.names.names["distributor"].get(key, UNKNOWN),
            ),
            width=130,
        ),
        **listing.mode_column(),
    },
    rows=lambda columns, criteria, _: _join(columns).where(*customers.build_conditions(criteria)),
    count=_count,
    join=_join,
)


def list_customers(
    session: ScopedSession,
    criteria: CustomerFilter,
    names: Choices,
    *,
    shown: Sequence[str] = (),
    order: str = "newest",
    paging: Paging,
) -> Page[Row]:
    """Return a page of the customers that match a filter, with the exact total."""
    keys = CUSTOMERS.orders[order].keys
    found = sa.select(_ID).where(*customers.build_desk_conditions(session, criteria))
    return CUSTOMERS.find_page(session, found, names, keys, shown=shown, paging=paging, searched=criteria.scans)


def sum_purchases(session: ScopedSession, customer_ids: Sequence[UUID]) -> dict[UUID, PurchaseTotals]:
    """Return the purchase totals of these customers; each id is in the result."""
    sales = _sum_by_customer(
        session,
        Purchase,
        customer_ids,
        sa.func.count().label("policies"),
        sa.func.sum(col(Purchase.total_minor)).label("minor"),
        sa.func.max(col(Purchase.created_at)).label("last_at"),
    )
    renewed = sa.func.sum(col(Renewal.total_minor)).label("minor")
    renewals = _sum_by_customer(session, Renewal, customer_ids, renewed, where=col(Renewal.status))
    covered = sa.func.count().label("policies")
    in_force = _sum_by_customer(session, Policy, customer_ids, covered, where=declaration.in_force())

    def build_totals(key: UUID) -> PurchaseTotals:
        sale, again, cover = sales.get(key), renewals.get(key), in_force.get(key)
        return PurchaseTotals(
            policies=sale.policies if sale else 0,
            in_force=cover.policies if cover else 0,
            premium_minor=int(sale.minor if sale else 0) + int(again.minor if again else 0),
            last_at=sale.last_at if sale else None,
        )

    return {key: build_totals(key) for key in customer_ids}


def add_totals(parts: Iterable[PurchaseTotals]) -> PurchaseTotals:
    """Add up the totals of several records of one person."""
    found = list(parts)
    return PurchaseTotals(
        policies=sum(part.policies for part in found),
        in_force=sum(part.in_force for part in found),
        premium_minor=sum(part.premium_minor for part in found),
        last_at=max((part.last_at for part in found if part.last_at), default=None),
    )


def _sum_by_customer(
    session: ScopedSession, entity: Any, customer_ids: Sequence[UUID], *sums: Any, where: Any = None
) -> dict[UUID, Any]:
    key = col(entity.customer_id)
    query = sa.select(key, *sums).where(key.in_(customer_ids), col(entity.deleted_at).is_(None)).group_by(key)
    rows = session.execute(query if where is None else query.where(where))
    return {row.customer_id: row for row in rows}
