"""The list of purchases: its filter, its columns and orders, and the totals of a filter."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.orm import aliased
from sqlmodel import col

from core.covers.pricing import FREQUENCIES
from core.money import Split
from core.services.lists import listing
from core.services.lists.filters import declaration
from core.services.lists.filters.declaration import of
from core.services.lists.filters.fields import Condition, Naira, Words
from core.services.lists.listing import Column, Listing, by_amount, by_time
from core.services.lists.spreadsheets import DAY, ID, INSTANT, STATE, WORD
from core.services.sales import search, totals
from core.services.sales.filter import SalesFilter, apply_criteria, build_conditions, declare_search
from core.services.sales.totals import OF_PURCHASE, SalesTotals
from core.states.policies import PolicyStage
from core.store.access import AnySelect, ScopedSession
from core.store.rollups.daily_rollup import ONCE
from core.store.schema.tables import Policy, Purchase, Refund

PAYMENT_STATES = {"paid": "Paid", "part": "Part refunded", "refunded": "Refunded"}


def _find(table: Any, text: str) -> Condition:
    purchase = col(Purchase.id) if table is Purchase else col(table.purchase_id)
    return purchase.in_(search.select_policies(Policy.purchase_id, text))


def _payment_state() -> Any:
    """Return the payment state of a purchase whose refund is joined, as `_has_payment_state` finds it."""
    back = sa.func.coalesce(col(Refund.total_minor), 0)
    paid, part, refunded = (sa.literal_column(f"'{word}'", sa.String) for word in PAYMENT_STATES.values())
    return sa.case((back == 0, paid), (col(Purchase.total_minor) > back, part), else_=refunded)


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


class PurchaseFilter(SalesFilter, on=(Purchase,)):
    """Filter of the list of purchases."""

    find: str | None = declare_search(
        _find,
        api="search",
        help="A part of a policy number, plate, name or phone, an e-mail or the id of a record.",
        placeholder="Number, plate, name, e-mail, phone or reference",
    )
    stages: tuple[str, ...] = of(
        Words,
        label="Policy state",
        column=lambda _, stages: declaration.policy_stage().in_(stages),
        joins=Policy,
        address="policy",
        options={str(stage): str(stage) for stage in PolicyStage},
        help="The state of the policy now.",
        anything="Any state",
    )
    payment_states: tuple[str, ...] = of(
        Words,
        label="Payment",
        column=_has_payment_state,
        address="payment",
        options=PAYMENT_STATES,
        help="paid, part (some was refunded) or refunded; may be repeated.",
        anything="Any payment",
    )

    customer_email: str | None = SalesFilter.redeclare("customer_email", place="grid")
    request_sources: tuple[str, ...] = SalesFilter.redeclare("request_sources", place="grid")
    customer_type: Literal["principal", "beneficiary"] | None = SalesFilter.redeclare(
        "customer_type", api="customer_type"
    )
    premium_from: Decimal | None = of(
        Naira,
        label="Premium from",
        column="total_minor",
        address="premium_from",
        bound="least",
        help="Smallest premium in naira, included.",
    )
    premium_to: Decimal | None = of(
        Naira,
        label="Premium to",
        column="total_minor",
        address="premium_to",
        bound="most",
        help="Largest premium in naira, included.",
    )


def sum_purchases(session: ScopedSession, criteria: SalesFilter) -> SalesTotals:
    """Return the count and sums of all purchases of a filter; the same figures as on the dashboard."""
    return totals.group_totals(
        session, criteria, measures=("sold", "sold_minor", "sold_mca_minor", "sold_distributor_minor")
    ).get((), totals.ZERO_TOTALS)


def sum_refunds(session: ScopedSession, wanted: SalesFilter) -> Split:
    """Sum the refunds of the purchases that match a filter, until now, without the terms of later renewals."""
    return totals.sum_refunds(session, *build_conditions(wanted), of=Purchase, criteria=wanted)


def _join(columns: Sequence[Any]) -> AnySelect:
    return (
        sa.select(*columns)
        .select_from(Purchase)
        .join(Policy, col(Policy.purchase_id) == col(Purchase.id))
        .outerjoin(Refund, OF_PURCHASE)
    )


PURCHASES: Listing[PurchaseFilter] = Listing(
    name="purchases",
    title="Purchases",
    noun=("purchase", "purchases"),
    roles=("operations", "finance"),
    filter=PurchaseFilter,
    key=col(Purchase.id),
    usual=("customer", "policy", "product", "total", "state", "sold", "distributor"),
    columns={
        "id": Column("Reference", ID, col(Purchase.id)),
        "sold": Column("Sold", INSTANT, col(Purchase.created_at), machine="created_at", orders=by_time(Purchase)),
        "sold_on": Column("Sold on", DAY, col(Purchase.created_at), machine="created_on"),
        **listing.policy_number(),
        **listing.money_columns(Purchase, orders=by_amount(Purchase)),
        **listing.refund_columns(),
        **listing.sale_names(Purchase),
        **listing.customer_columns(),
        **listing.mode_column(),
        **listing.payment_columns(Purchase),
        "frequency": Column(
            *("Paid", WORD, sa.func.coalesce(col(Purchase.premium_frequency), ONCE)),
            machine="premium_frequency",
            words={word: word.capitalize() for word in (ONCE, *FREQUENCIES)},
            width=80,
        ),
        "state": Column("Policy state", STATE, declaration.policy_stage(), machine="policy_state"),
        "payment": Column("Payment", STATE, _payment_state(), machine="payment_state"),
    },
    rows=lambda columns, criteria, _: _join(columns).where(*build_conditions(criteria)),
    count=lambda session, criteria: sum_purchases(session, criteria).sold,
    summed=col(Purchase.total_minor),
    sum_title="Premium",
    join=_join,
    ids=lambda criteria: apply_criteria(sa.select(col(Purchase.id)), criteria),
)
