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
from core.services.exports.columns import DAY, FLAG, ID, INSTANT, MONEY, WORD
from core.services.exports.exports import ExportKind, Parameter
from core.services.exports.parameters import EXPIRING, OF_SALES
from core.services.policies import search as policy_search
from core.services.policies import states as policy_states
from core.services.policies.selection import PolicySelection
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Policy, Purchase

_ROLE = sa.case(
    (col(Policy.buyer_id) == col(Policy.customer_id), sa.literal_column("'principal'", sa.String)),
    else_=sa.literal_column("'beneficiary'", sa.String),
)


def _conditions(selection: PolicySelection, names: Choices) -> list[sa.ColumnElement[bool]]:
    return policy_search.build_conditions(selection.find, selection.wanted, names)


def _rows(columns: Sequence[Any], selection: PolicySelection, names: Choices) -> AnySelect:
    return (
        sa.select(*columns)
        .select_from(Policy)
        .join(Purchase, col(Purchase.id) == col(Policy.purchase_id))
        .where(*_conditions(selection, names))
        .order_by(col(Policy.created_at).desc(), col(Policy.id).desc())
    )


def _count(session: ScopedSession, selection: PolicySelection) -> int:
    counted = sa.select(sa.func.count()).select_from(Policy).where(*_conditions(selection, load_choices(session)))
    return int(session.execute(counted).scalar_one())


POLICIES = ExportKind(
    name="policies",
    title="Policies",
    noun=("policy", "policies"),
    roles=("operations", "claims"),
    parameters=(
        *OF_SALES,
        Parameter(name="find", title="Find", says="A policy number, plate, customer name, e-mail or phone."),
        Parameter(name="force", title="In force", says="yes or no."),
        Parameter(name="role", title="Customer is", says="principal or beneficiary."),
        *EXPIRING,
    ),
    read=PolicySelection.read,
    parts=(
        printed_columns(
            ("id", ID, col(Policy.id)),
            ("created_at", INSTANT, col(Policy.created_at)),
            ("created_on", DAY, col(Policy.created_at)),
        ),
        text_column("policy_number", col(Policy.policy_number), width=26),
        printed_columns(
            ("state", WORD, policy_states.build_stage_sql()),
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
)
