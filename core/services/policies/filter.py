"""The filters of policies, among them one text whose form decides which indexed column is searched (contract P6)."""

from typing import Any, Literal

import sqlalchemy as sa
from sqlmodel import col

from core.services.filters import expressions
from core.services.filters.declaration import Ids, of
from core.services.filters.field import Condition
from core.services.filters.fields import Flag, Text
from core.services.sales import search_text
from core.services.sales.filter import SalesFilter
from core.services.windows import Span
from core.store.schema.tables import Policy


def _find(_: Any, text: str) -> Condition:
    """Build the condition of a search text."""
    return col(Policy.id).in_(search_text.select_policies(Policy.id, text))


def _is_in_force(_: Any, value: bool) -> Condition:  # noqa: FBT001 - the value of a filter
    return expressions.in_force() if value else sa.not_(expressions.in_force())


class PolicyFilter(SalesFilter, on=(Policy,)):
    """Filter of the list of policies; `status` true means in force now (contract P5)."""

    category_ids: Ids = SalesFilter.redeclare("category_ids", place="none")
    distributor_ids: Ids = SalesFilter.redeclare("distributor_ids", api="distributor_id", place="none")
    find: str | None = of(
        Text(
            label="Find",
            column=_find,
            address="find",
            api="search",
            help="A policy number, plate, customer name, e-mail or phone.",
            check=search_text.normalise,
            placeholder="Policy number, plate, customer name, e-mail or phone",
            longest=search_text.MAX_LENGTH,
            searches=True,
            place="search",
        )
    )
    status: bool | None = of(
        Flag(
            label="In force",
            column=_is_in_force,
            address="force",
            api="status",
            options={"yes": "In force", "no": "Not in force"},
            help="yes or no.",
        )
    )
    customer_type: Literal["principal", "beneficiary"] | None = SalesFilter.redeclare(
        "customer_type", address="role", api="customer_type"
    )
    expiring: Span = SalesFilter.redeclare("expiring", address="expires_from expires_to", place="none")
