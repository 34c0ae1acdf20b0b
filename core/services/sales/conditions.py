"""SQL conditions of a sales filter on purchases and their policies."""

from dataclasses import replace

import sqlalchemy as sa
from sqlmodel import col

from core.services import filters
from core.services.filters import SalesFilter
from core.store.access.compiled_query import CompiledQuery
from core.store.access.scope import AnySelect, ScopedSession
from core.store.schema.tables import Customer, Policy, Purchase

_WHO = CompiledQuery(
    sa.select(col(Customer.id)).where(col(Customer.email_key) == sa.bindparam("email", type_=sa.String()))
)


def conditions_of(wanted: SalesFilter) -> list[sa.ColumnElement[bool]]:
    """Return the conditions of a filter on purchases and their policies."""
    return [*filters.on_record(wanted, Purchase), *filters.on_policy(wanted), col(Purchase.deleted_at).is_(None)]


def matching(query: AnySelect, wanted: SalesFilter, conditions: list[sa.ColumnElement[bool]]) -> AnySelect:
    """Apply conditions to a query of purchases; joins the policy only where a condition reads it."""
    query = query.select_from(Purchase)
    if wanted.concerns_policy:
        query = query.join(Policy, col(Policy.purchase_id) == col(Purchase.id))
    return query.where(*conditions)


def by_customer(session: ScopedSession, wanted: SalesFilter) -> SalesFilter:
    """Return the same filter with the customer's id instead of the e-mail, when exactly one customer has it.

    With the e-mail alone the query planner would scan all purchases in order.
    """
    if not wanted.customer_email or wanted.customer_id:
        return wanted
    found = _WHO.rows(session, email=wanted.customer_email.lower())
    return replace(wanted, customer_email=None, customer_id=found[0][0]) if len(found) == 1 else wanted
