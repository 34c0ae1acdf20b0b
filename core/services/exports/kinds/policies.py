"""Export of policies: cover, customer, dates and state."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core.services.exports.column_parts import customer, ending, places, printed, text
from core.services.exports.columns import DAY, FLAG, ID, MOMENT, MONEY, WORD
from core.services.exports.exports import ExportKind, Parameter
from core.services.exports.parameters import EXPIRING, OF_SALES
from core.services.policies import search as policy_search
from core.services.policies import states as policy_states
from core.services.policies.selection import PolicySelection
from core.services.sales.choices import Choices, choices
from core.store.access.scope import AnySelect, ScopedSession
from core.store.schema.tables import Policy, Purchase

_ROLE = sa.case(
    (col(Policy.buyer_id) == col(Policy.customer_id), sa.literal_column("'principal'", sa.String)),
    else_=sa.literal_column("'beneficiary'", sa.String),
)


def _conditions(selection: PolicySelection, names: Choices) -> list[sa.ColumnElement[bool]]:
    return policy_search.conditions_of(selection.find, selection.wanted, names)


def _rows(columns: Sequence[Any], selection: PolicySelection, names: Choices) -> AnySelect:
    return (
        sa.select(*columns)
        .select_from(Policy)
        .join(Purchase, col(Purchase.id) == col(Policy.purchase_id))
        .where(*_conditions(selection, names))
        .order_by(col(Policy.created_at).desc(), col(Policy.id).desc())
    )


def _count(session: ScopedSession, selection: PolicySelection) -> int:
    counted = sa.select(sa.func.count()).select_from(Policy).where(*_conditions(selection, choices(session)))
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
        printed(
            ("id", ID, col(Policy.id)),
            ("created_at", MOMENT, col(Policy.created_at)),
            ("created_on", DAY, col(Policy.created_at)),
        ),
        text("policy_number", col(Policy.policy_number), width=26),
        printed(
            ("state", WORD, policy_states.stage_in_sql()),
            ("starts_on", DAY, col(Policy.start_at)),
            ("expires_on", DAY, col(Policy.expiration_at)),
            ("activated_on", DAY, col(Policy.activation_at)),
            ("cancelled_on", DAY, col(Policy.cancelled_at)),
            ("declined_on", DAY, col(Policy.declined_at)),
            ("total", MONEY, col(Purchase.total_minor)),
            ("sum_insured", MONEY, col(Policy.sum_insured_minor)),
        ),
        places(Policy),
        customer(),
        printed(("customer_role", WORD, _ROLE)),
        text("plate", col(Policy.plate_key)),
        text("device_serial_number", col(Policy.device_serial_number)),
        text("provider_policy_id", col(Policy.provider_policy_id)),
        printed(("submitted_to_provider", FLAG, col(Policy.submitted_to_provider))),
        ending(
            ("request_source", col(Policy.request_source)),
            ("payment_option", col(Policy.payment_option)),
            ("payment_channel", col(Policy.payment_channel)),
        ),
        printed(("purchase_id", ID, col(Policy.purchase_id))),
    ),
    rows=_rows,
    count=_count,
    summed=col(Purchase.total_minor),
    sum_title="Premium at sale",
)
