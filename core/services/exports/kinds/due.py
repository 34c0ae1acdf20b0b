"""Export of what is due for renewal: a list to call, with what came of the latest call."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core.services.dimensions import Choices
from core.services.exports.column_parts import customer_columns, printed_columns, sale_name_columns, text_column
from core.services.exports.exports import ExportKind
from core.services.renewals import calls, due
from core.services.renewals.calls import OUTCOMES
from core.services.renewals.due import CallListFilter
from core.services.spreadsheets.columns import DATE, DAY, ID, INSTANT, MONEY, WORD
from core.store.access import AnySelect
from core.store.schema.tables import Policy, RenewalCall, Staff

_OUTCOME = sa.case(
    *(
        (col(RenewalCall.outcome) == outcome, sa.literal_column(f"'{label}'", sa.String))
        for outcome, label in OUTCOMES.items()
    )
)

# A call always has its time, but a policy may have no call.
_CALLED_AT = sa.case((col(RenewalCall.id).is_not(None), col(RenewalCall.created_at)))


def _rows(columns: Sequence[Any], criteria: CallListFilter, _: Choices) -> AnySelect:
    return (
        sa.select(*columns)
        .select_from(Policy)
        .outerjoin(RenewalCall, col(RenewalCall.id) == calls.build_latest_call())
        .outerjoin(Staff, col(Staff.id) == col(RenewalCall.owner_id))
        .where(*due.build_call_conditions(criteria))
    )


DUE = ExportKind(
    name="due",
    title="Due for renewal",
    noun=("policy", "policies"),
    roles=("operations",),
    filter=CallListFilter,
    parts=(
        customer_columns(),
        text_column("policy_number", col(Policy.policy_number), width=26),
        printed_columns(
            ("expires_on", DAY, col(Policy.expiration_at)),
            ("last_premium", MONEY, due.build_last_premium()),
        ),
        sale_name_columns(Policy),
        printed_columns(
            ("last_call", WORD, _OUTCOME),
            ("called_at", INSTANT, _CALLED_AT),
            ("call_again_on", DATE, sa.cast(col(RenewalCall.call_again_on), sa.String)),
        ),
        text_column("call_owner", col(Staff.name)),
        text_column("call_note", col(RenewalCall.note), width=40),
        printed_columns(
            ("reminded_at", INSTANT, calls.build_latest_reminder()),
            ("policy_id", ID, col(Policy.id)),
            ("purchase_id", ID, col(Policy.purchase_id)),
        ),
    ),
    rows=_rows,
    count=due.count_calls,
    summed=due.build_last_premium(),
    sum_title="At risk",
    orders=due.ORDERS,
    # What one more term costs, and why there is none, is worked out for the rows of a page.
    listed={
        "customer": ("customer_name",),
        "phone": ("customer_phone",),
        "ends": ("expires_on",),
        "left": (),
        "cover": (),
        "next": (),
        "call": ("last_call", "call_again_on"),
        "reminded": ("reminded_at",),
        "product": ("product",),
        "email": ("customer_email",),
        "policy": ("policy_number",),
        "note": (),
        "owner": ("call_owner",),
        "said": ("call_note",),
        "provider": ("provider",),
        "distributor": ("distributor",),
        "last": ("last_premium",),
    },
    usual_order="soonest",
)
