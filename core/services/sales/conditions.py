"""SQL conditions of a sales filter on purchases and their policies."""

from dataclasses import replace
from typing import TypeVar

import sqlalchemy as sa
from sqlmodel import col

from core.services.filters.field import Condition
from core.services.sales.filter import SalesFilter
from core.store.access import AnySelect, Query, ScopedSession
from core.store.schema.tables import Customer, Policy, Purchase

S = TypeVar("S", bound=SalesFilter)
_CUSTOMER_BY_EMAIL = Query(
    sa.select(col(Customer.id)).where(col(Customer.email_key) == sa.bindparam("email", type_=sa.String()))
)


def build_conditions(criteria: SalesFilter) -> list[Condition]:
    """Return the conditions of a filter on purchases and their policies."""
    return [*criteria.conditions(Purchase), col(Purchase.deleted_at).is_(None)]


def apply_criteria(query: AnySelect, criteria: SalesFilter) -> AnySelect:
    """Narrow a query to the purchases of a filter; joins the policy only where a condition reads it."""
    query = query.select_from(Purchase)
    if criteria.concerns_policy:
        query = query.join(Policy, col(Policy.purchase_id) == col(Purchase.id))
    return query.where(*build_conditions(criteria))


def resolve_customer(session: ScopedSession, criteria: S) -> S:
    """Return the same filter with the customer's id instead of the e-mail, when exactly one customer has it.

    With the e-mail alone the query planner would scan all purchases in order.
    """
    if not criteria.customer_email or criteria.customer_id:
        return criteria
    customers = _CUSTOMER_BY_EMAIL.rows(session, email=criteria.customer_email.lower())
    return replace(criteria, customer_email=None, customer_id=customers[0][0]) if len(customers) == 1 else criteria
