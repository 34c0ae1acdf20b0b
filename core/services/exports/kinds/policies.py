"""Export of policies: cover, customer, dates and state."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core.services.dimensions import Choices, load_choices
from core.services.exports.column_parts import (
    customer_columns,
    mode_columns,
    printed_columns,
    sale_name_columns,
    text_column,
)
from core.services.exports.exports import ExportKind
from core.services.filters import expressions
from core.services.policies import policies
from core.services.policies.policies import PolicyFilter
from core.services.spreadsheets.columns import DAY, FLAG, ID, INSTANT, MONEY, WORD
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Policy, Purchase

_ROLE = sa.case(
    (col(Policy.buyer_id) == col(Policy.customer_id), sa.literal_column("'principal'", sa.String)),
    else_=sa.literal_column("'beneficiary'", sa.String),
)


def _rows(columns: Sequence[Any], criteria: PolicyFilter, names: Choices) -> AnySelect:
    return (
        sa.select(*columns)
        .select_from(Policy)
        .join(Purchase, col(Purchase.id) == col(Policy.purchase_id))
        .where(*policies.build_search_conditions(criteria, names))
    )


def _count(session: ScopedSession, criteria: PolicyFilter) -> int:
    conditions = policies.build_search_conditions(criteria, load_choices(session))
    counted = sa.select(sa.func.count()).select_from(Policy).where(*conditions)
    return int(session.execute(counted).scalar_one())


POLICIES = ExportKind(
    name="policies",
    title="Policies",
    noun=("policy", "policies"),
    roles=("operations", "claims"),
    filter=PolicyFilter,
    parts=(
        printed_columns(
            ("id", ID, col(Policy.id)),
            ("created_at", INSTANT, col(Policy.created_at)),
            ("created_on", DAY, col(Policy.created_at)),
        ),
        text_column("policy_number", col(Policy.policy_number), width=26),
        printed_columns(
            ("state", WORD, expressions.policy_stage()),
            ("starts_on", DAY, col(Policy.start_at)),
            ("expires_on", DAY, col(Policy.expiration_at)),
            ("activated_on", DAY, col(Policy.activation_at)),
            ("cancelled_on", DAY, col(Policy.cancelled_at)),
            ("declined_on", DAY, col(Policy.declined_at)),
            ("total", MONEY, col(Purchase.total_minor)),
            ("sum_insured", MONEY, col(Policy.sum_insured_minor)),
        ),
        sale_name_columns(Policy),
        customer_columns(),
        printed_columns(("customer_role", WORD, _ROLE)),
        text_column("plate", col(Policy.plate_key)),
        text_column("device_serial_number", col(Policy.device_serial_number)),
        text_column("provider_policy_id", col(Policy.provider_policy_id)),
        printed_columns(("submitted_to_provider", FLAG, col(Policy.submitted_to_provider))),
        mode_columns(
            ("request_source", col(Policy.request_source)),
            ("payment_option", col(Policy.payment_option)),
            ("payment_channel", col(Policy.payment_channel)),
        ),
        printed_columns(("purchase_id", ID, col(Policy.purchase_id))),
    ),
    rows=_rows,
    count=_count,
    summed=col(Purchase.total_minor),
    sum_title="Premium at sale",
    orders=policies.ORDERS,
    listed={
        "number": ("policy_number",),
        "state": ("state",),
        "customer": ("customer_name",),
        "plate": ("plate",),
        "product": ("product",),
        "ends": ("expires_on",),
        "sold": ("created_at",),
        "starts": ("starts_on",),
        "provider": ("provider",),
        "role": ("customer_role",),
        "distributor": ("distributor",),
        "email": ("customer_email",),
    },
)
