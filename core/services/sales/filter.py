"""The filters of sales: what purchases, renewals and policies share, and the list of purchases (contract P4-P6)."""

from datetime import date
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.orm import aliased
from sqlmodel import col

from core.services.filters import expressions
from core.services.filters.catalogue import members_of
from core.services.filters.declaration import Filter, Ids, of
from core.services.filters.field import Condition
from core.services.filters.fields import Days, Member, Members, Naira, Text, Texts, Word, Words
from core.services.sales import search_text
from core.services.windows import Span
from core.states.policies import PolicyStage
from core.store.schema.tables import Customer, DaybookLine, Policy, Product, Purchase, Refund, Renewal

PAYMENT_STATES = {"paid": "Paid", "part": "Part refunded", "refunded": "Refunded"}
SOURCES = {"api": "API", "desk": "Desk", "bulk": "Bulk upload"}


def _has_email(table: Any, email: Any) -> Condition:
    return col(table.customer_id).in_(sa.select(col(Customer.id)).where(col(Customer.email_key) == email))


def _has_role(_: Any, role: str) -> Condition:
    own = col(Policy.buyer_id) == col(Policy.customer_id)
    return own if role == "principal" else sa.not_(own)


def _find(_: Any, text: str) -> Condition:
    return col(Purchase.id).in_(search_text.select_policies(Policy.purchase_id, text))


def _has_stage(_: Any, stages: tuple[str, ...]) -> Condition:
    found: Condition = expressions.policy_stage().in_(stages)
    return found


def _has_payment_state(_: Any, states: tuple[str, ...]) -> Condition:
    # Refunds of renewals are not those of the purchase; a refund of nothing gave nothing back.
    given_back = (col(Refund.renewal_id).is_(None), col(Refund.total_minor) > 0)
    touched = sa.select(col(Refund.purchase_id)).where(*given_back).correlate(None)
    bought: Any = aliased(Purchase)
    whole = (
        sa.select(col(Refund.purchase_id))
        .join(bought, bought.id == col(Refund.purchase_id))
        .where(*given_back, col(Refund.total_minor) >= bought.total_minor)
        .correlate(None)
    )
    key = col(Purchase.id)
    conditions = {
        "paid": key.not_in(touched),
        "part": sa.and_(key.in_(touched), key.not_in(whole)),
        "refunded": key.in_(whole),
    }
    return sa.or_(*(conditions[state] for state in states))


class SalesFilter(Filter, on=(Purchase, Renewal, Policy)):
    """Filter of purchases, renewals or policies alike, as the dashboard has it."""

    created: Span = of(Days(column="created_at", address="from to", api="start_date end_date", place="none"))
    provider_ids: Ids = of(members_of("provider", through=Product.provider_id, api="provider_id"))
    category_ids: Ids = of(members_of("category", through=Product.product_category_id))
    product_ids: Ids = of(members_of("product"))
    distributor_ids: Ids = of(members_of("distributor"))
    customer_email: str | None = of(
        Text(
            label="E-mail",
            column=_has_email,
            bound_as=sa.String(),
            normalise=str.lower,
            address="email",
            api="customer_email",
            help="E-mail of the customer.",
            what="address",
            screen="Customer e-mail",
            placeholder="name@example.com",
            place="none",
        )
    )
    request_sources: tuple[str, ...] = of(
        Texts(
            label="Source",
            column="request_source",
            address="source",
            options=SOURCES,
            help="Where sales came from: api, desk, ...",
            screen="Request source",
            anything="All sources",
            place="none",
        )
    )
    customer_id: UUID | None = of(Member(column="customer_id", api="customer_id"))
    customer_ids: Ids = of(Members(column="customer_id"))
    expiring: Span = of(
        Days(
            label="Expires",
            column=Policy.expiration_at,
            dated=True,
            api="expired_start_date expired_end_date",
            help="expiry",
            screen="Policy ends",
        )
    )
    customer_type: Literal["principal", "beneficiary"] | None = of(
        Word(
            label="Customer is",
            column=_has_role,
            joins=Policy,
            options={"principal": "Principal", "beneficiary": "Beneficiary"},
            unlimited="all",
            help="principal or beneficiary.",
        )
    )

    def days(self) -> tuple[date | None, date | None]:
        """Return the first and the last day of the time of sale, both included."""
        field: Days = self.FIELDS["created"]  # type: ignore[assignment]
        return field.days(self.created)

    @property
    def concerns_policy(self) -> bool:
        """True when a condition reads the policy joined to the record."""
        return self.joins(Policy)

    @property
    def of_catalogue(self) -> bool:
        """True when nothing but time, products and distributors narrows the sales, so that a roll-up can answer."""
        return self.is_answered_by(DaybookLine)


class PurchaseFilter(SalesFilter, on=(Purchase,)):
    """Filter of the list of purchases."""

    find: str | None = of(
        Text(
            label="Find",
            column=_find,
            address="find",
            api="search",
            help="A part of a policy number, plate, name or phone, an e-mail or the id of a record.",
            check=search_text.normalise,
            placeholder="Policy number, plate, customer name, e-mail, phone or reference",
            longest=search_text.MAX_LENGTH,
            searches=True,
            place="search",
        )
    )
    stages: tuple[str, ...] = of(
        Words(
            label="Policy state",
            column=_has_stage,
            joins=Policy,
            address="policy",
            options={str(stage): str(stage) for stage in PolicyStage},
            help="The state of the policy now; repeat it for any of several.",
            anything="Any state",
        )
    )
    payment_states: tuple[str, ...] = of(
        Words(
            label="Payment",
            column=_has_payment_state,
            address="payment",
            options=PAYMENT_STATES,
            help="paid, part (some was refunded) or refunded; may be repeated.",
            anything="Any payment",
        )
    )

    customer_email: str | None = SalesFilter.redeclare("customer_email", place="grid")
    request_sources: tuple[str, ...] = SalesFilter.redeclare("request_sources", place="grid")
    customer_type: Literal["principal", "beneficiary"] | None = SalesFilter.redeclare(
        "customer_type", api="customer_type"
    )
    premium_from: Decimal | None = of(
        Naira(
            label="Premium from",
            column="total_minor",
            address="premium_from",
            bound="least",
            help="Smallest premium in naira, included.",
        )
    )
    premium_to: Decimal | None = of(
        Naira(
            label="Premium to",
            column="total_minor",
            address="premium_to",
            bound="most",
            help="Largest premium in naira, included.",
        )
    )
