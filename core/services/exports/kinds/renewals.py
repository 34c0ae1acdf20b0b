"""Export of renewals, paid and failed."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core.services.dimensions import Choices
from core.services.exports.column_parts import (
    LISTED_SALE,
    customer_columns,
    mode_columns,
    money_columns,
    printed_columns,
    refund_columns,
    sale_name_columns,
    text_column,
)
from core.services.exports.exports import ExportKind
from core.services.renewals import records
from core.services.renewals.filter import RenewalFilter
from core.services.sales.totals import OF_RENEWAL
from core.services.spreadsheets.columns import DAY, ID, INSTANT, WORD
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Policy, Refund, Renewal

_STATUS = sa.case(
    (col(Renewal.status), sa.literal_column("'Renewed'", sa.String)), else_=sa.literal_column("'Failed'", sa.String)
)


def _rows(columns: Sequence[Any], criteria: RenewalFilter, _: Choices) -> AnySelect:
    return (
        sa.select(*columns)
        .select_from(Renewal)
        .join(Policy, col(Policy.id) == col(Renewal.policy_id))
        .outerjoin(Refund, OF_RENEWAL)
        .where(*records.build_conditions(criteria))
    )


def _count(session: ScopedSession, criteria: RenewalFilter) -> int:
    return records.compute_total(session, criteria).all_rows.renewals


RENEWALS = ExportKind(
    name="renewals",
    title="Renewals",
    noun=("renewal", "renewals"),
    roles=("operations", "finance"),
    filter=RenewalFilter,
    parts=(
        printed_columns(
            ("id", ID, col(Renewal.id)),
            ("created_at", INSTANT, col(Renewal.created_at)),
            ("created_on", DAY, col(Renewal.created_at)),
            ("status", WORD, _STATUS),
        ),
        text_column("policy_number", col(Policy.policy_number), width=26),
        printed_columns(
            ("previous_expires_on", DAY, col(Renewal.previous_expiration_at)),
            ("starts_on", DAY, col(Renewal.start_at)),
            ("expires_on", DAY, col(Renewal.expiration_at)),
            *money_columns(Renewal),
            *refund_columns(),
        ),
        sale_name_columns(Renewal),
        customer_columns(),
        mode_columns(
            ("request_source", col(Renewal.request_source)),
            ("payment_option", col(Renewal.payment_option)),
            ("payment_channel", col(Renewal.payment_channel)),
        ),
        printed_columns(("policy_id", ID, col(Renewal.policy_id)), ("purchase_id", ID, col(Renewal.purchase_id))),
        printed_columns(("policy_expires_on", DAY, col(Policy.expiration_at))),
    ),
    rows=_rows,
    count=_count,
    summed=col(Renewal.total_minor),
    sum_title="Premium",
    orders=records.ORDERS,
    listed={
        "renewed": ("created_on",),
        **LISTED_SALE,
        "source": ("request_source",),
        "ends": ("expires_on",),
        "status": ("status",),
        "starts": ("starts_on",),
        "before": ("previous_expires_on",),
        "expires": ("policy_expires_on",),
    },
)
