"""The filters of renewals, and of the policies that are due for renewal."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.lists.filters.declaration import Filter, Ids, of
from core.services.lists.filters.field import Condition
from core.services.lists.filters.fields import Flag, Member, Text, Word
from core.services.lists.windows import Span
from core.services.renewals import calls
from core.services.renewals.calls import OUTCOMES
from core.services.sales import filter as sales_filter
from core.services.sales.filter import SalesFilter
from core.store.schema.tables import Policy, Renewal, RenewalCall

NOT_CALLED, AGAIN, NOBODY = "none", "again", "nobody"
CALLS: Final[Mapping[str, str]] = {NOT_CALLED: "Not called yet", AGAIN: "To call again by today", **OUTCOMES}


def _is_called(_: Any, word: str) -> Condition:
    if word == NOT_CALLED:
        return sa.not_(calls.is_latest_call())
    if word == AGAIN:
        return calls.is_latest_call(col(RenewalCall.call_again_on) <= clock.today())
    return calls.is_latest_call(col(RenewalCall.outcome) == word)


def _is_owned(_: Any, owner: UUID | str) -> Condition:
    if owner == NOBODY:
        return sa.not_(calls.is_latest_call())
    return calls.is_latest_call(col(RenewalCall.owner_id) == owner)


def _is_of_policies(column: Any, text: str) -> Condition:
    return col(column).in_(sales_filter.select_policies(Policy.id, text))


def _find(column: Any) -> Any:
    """Declare the search in the policies that a column names."""
    return of(
        Text(
            label="Find",
            column=lambda _, text: _is_of_policies(column, text),
            address="find",
            help="A part of a policy number, plate, name or phone, or an e-mail.",
            check=sales_filter.normalise_text,
            placeholder="Policy number, plate, customer name, e-mail or phone",
            longest=sales_filter.MAX_LENGTH,
            searches=True,
            place="search",
        )
    )


class RenewalFilter(SalesFilter, on=(Renewal,)):
    """Filter of the list of renewals; `status` true means that it took effect (contract P5)."""

    find: str | None = _find(Renewal.policy_id)
    product_ids: Ids = SalesFilter.redeclare("product_ids", api="product_id")
    customer_email: str | None = SalesFilter.redeclare("customer_email", place="grid")
    request_sources: tuple[str, ...] = SalesFilter.redeclare("request_sources", place="grid")
    expiring: Span = SalesFilter.redeclare("expiring", address="expires_from expires_to", months_ahead=120)
    status: bool | None = of(
        Flag(
            label="Status",
            column="status",
            address="status",
            api="status",
            options={"true": "Took effect", "false": "Failed or reversed"},
            words={"true": "took effect", "false": "failed or reversed"},
            help="true for renewals that took effect, false for failed ones.",
            anything="Any status",
        )
    )


class DueFilter(Filter, on=(Policy,)):
    """Filter of the policies that are due for renewal, whatever the days until they end."""

    find: str | None = _find(Policy.id)
    provider_ids: Ids = SalesFilter.redeclare("provider_ids")
    product_ids: Ids = SalesFilter.redeclare("product_ids")
    distributor_ids: Ids = SalesFilter.redeclare("distributor_ids")
    customer_ids: Ids = SalesFilter.redeclare("customer_ids")
    call: str | None = of(
        Word(label="Last call", column=_is_called, address="call", options=CALLS, anything="Called or not")
    )
    owner: UUID | str | None = of(
        Member(label="Owner", column=_is_owned, address="owned_by", also=(NOBODY,), what="person", anything="Anybody")
    )
