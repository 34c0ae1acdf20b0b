"""Renewals as records and as rows of the list, with their totals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.covers import registry
from core.errors import first_of
from core.money import Split
from core.services.catalogue import products
from core.services.lists import listing, records
from core.services.lists.filters.declaration import Filter, Ids, of
from core.services.lists.filters.fields import Condition, Flag, Member, Word
from core.services.lists.listing import Column, Listing, by_amount, by_time
from core.services.lists.paging import Page, Paging, fetch_newest
from core.services.lists.records import ProductRecord, RenewalRecord
from core.services.lists.spreadsheets import DAY, ID, INSTANT, STATE
from core.services.lists.windows import Span
from core.services.policies import policies
from core.services.renewals import calls
from core.services.renewals.calls import OUTCOMES
from core.services.sales import filter as sales_filter
from core.services.sales import totals
from core.services.sales.filter import SalesFilter, resolve_customer
from core.services.sales.totals import OF_RENEWAL, ZERO_TOTALS, group_totals
from core.store.access import AnyRow, AnySelect, ScopedSession
from core.store.expressions import sum_of
from core.store.schema.tables import Customer, Policy, Refund, Renewal, RenewalCall

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


class RenewalFilter(SalesFilter, on=(Renewal,)):
    """Filter of the list of renewals; `status` true means that it took effect (contract P5)."""

    find: str | None = sales_filter.find_by_policy(Renewal.policy_id)
    product_ids: Ids = SalesFilter.redeclare("product_ids", api="product_id")
    customer_email: str | None = SalesFilter.redeclare("customer_email", place="grid")
    request_sources: tuple[str, ...] = SalesFilter.redeclare("request_sources", place="grid")
    expiring: Span = SalesFilter.redeclare("expiring", address="expires_from expires_to", months_ahead=120)
    status: bool | None = of(
        Flag,
        label="Status",
        column="status",
        address="status",
        api="status",
        options={"true": "Took effect", "false": "Failed or reversed"},
        words={"true": "took effect", "false": "failed or reversed"},
        help="true for renewals that took effect, false for failed ones.",
        anything="Any status",
    )


class DueFilter(Filter, on=(Policy,)):
    """Filter of the policies that are due for renewal, whatever the days until they end."""

    find: str | None = sales_filter.find_by_policy(Policy.id)
    provider_ids: Ids = SalesFilter.redeclare("provider_ids")
    product_ids: Ids = SalesFilter.redeclare("product_ids")
    distributor_ids: Ids = SalesFilter.redeclare("distributor_ids")
    customer_ids: Ids = SalesFilter.redeclare("customer_ids")
    call: str | None = of(
        Word,
        label="Last call",
        column=_is_called,
        address="call",
        options=CALLS,
        help=f"What the last call came to: {', '.join(CALLS)}.",
        anything="Called or not",
    )
    owner: UUID | str | None = of(
        Member,
        label="Owner",
        column=_is_owned,
        address="owned_by",
        also=(NOBODY,),
        help=f"Who calls this customer: the id of a person, or {NOBODY}.",
        what="person",
        anything="Anybody",
    )


UNFILTERED = RenewalFilter()


def list_renewals(
    session: ScopedSession, criteria: SalesFilter = UNFILTERED, paging: Paging = Paging()
) -> Page[RenewalRecord]:
    """Return a page of renewals, newest first, with the exact total of the filter (contract P2)."""
    criteria = resolve_customer(session, criteria)
    query = sa.select(col(Renewal.id)).where(*build_conditions(criteria))
    if criteria.concerns_policy:
        query = query.join(Policy, col(Policy.id) == col(Renewal.policy_id))

    def load(ids: list[UUID]) -> list[RenewalRecord]:
        return _load_records(session, _build_query([col(Renewal.id).in_(ids)]))

    return fetch_newest(session, Renewal, query, paging, load)


def get_renewal(session: ScopedSession, renewal_id: UUID) -> RenewalRecord:
    """Return one renewal in full; NotFound if unknown in this scope."""
    conditions = [col(Renewal.id) == renewal_id, col(Renewal.deleted_at).is_(None)]
    return first_of(_load_records(session, _build_query(conditions)), otherwise="Renewal not found")


def build_conditions(criteria: SalesFilter) -> list[sa.ColumnElement[bool]]:
    """Build the SQL conditions of a filter on renewals."""
    return [*criteria.conditions(Renewal), col(Renewal.deleted_at).is_(None)]


def _build_query(conditions: list[sa.ColumnElement[bool]]) -> AnySelect:
    return (
        sa.select(Renewal, Customer, Policy)
        .join(Customer, col(Customer.id) == col(Renewal.customer_id))
        .join(Policy, col(Policy.id) == col(Renewal.policy_id))
        .where(*conditions)
    )


def _load_records(session: ScopedSession, query: AnySelect) -> list[RenewalRecord]:
    rows = session.execute(query).all()
    if not rows:
        return []
    catalogue = products.get_catalogue(session).records
    return [_build_embedded(row, catalogue[row.Renewal.product_id, row.Renewal.is_live]) for row in rows]


def _build_embedded(row: AnyRow, product: ProductRecord) -> RenewalRecord:
    return {
        **records.build_renewal(row.Renewal),
        "customer": records.build_customer(row.Customer),
        "product": product,
        "productCategory": product["productCategory"],
        "provider": product["provider"],
        "policy": policies.build_record(row.Policy, registry.get_cover(product["prefix"], product["route_name"])),
    }


# The renewals table of the desk: one page of rows, and the totals of a filter.

_MEASURES = ("renewed", "renewed_minor", "renewed_mca_minor", "renewed_distributor_minor")


class Sums(NamedTuple):
    """Number of renewals, and their amounts in kobo."""

    renewals: int = 0
    total_minor: int = 0
    mca_minor: int = 0
    distributor_minor: int = 0

    @property
    def money(self) -> Split:
        """The money and how it divides."""
        return Split(self.total_minor, self.mca_minor, self.distributor_minor)

    @property
    def rest_minor(self) -> int:
        """Amount that remains for the insurers, in kobo."""
        return self.money.provider_share_minor


@dataclass(frozen=True, kw_only=True, slots=True)
class RenewalTotal:
    """The sums of a filter: effective renewals, as on the dashboard, and failed or reversed ones."""

    effective: Sums
    failed: Sums

    @property
    def all_rows(self) -> Sums:
        """The sums of all rows, as the table lists and an export adds them up."""
        return Sums(*map(sum, zip(self.effective, self.failed, strict=True)))


def compute_total(session: ScopedSession, criteria: RenewalFilter) -> RenewalTotal:
    """Return count and sums of all renewals of a filter, to the kobo."""
    return RenewalTotal(
        effective=Sums() if criteria.status is False else _sum_effective(session, replace(criteria, status=True)),
        failed=Sums() if criteria.status is True else _sum_rows(session, replace(criteria, status=False)),
    )


def sum_refunds(session: ScopedSession, wanted: RenewalFilter) -> Split:
    """Sum the refunds of the renewals that match a filter, until now."""
    return totals.sum_refunds(session, *build_conditions(wanted), of=Renewal, criteria=wanted)


def _sum_effective(session: ScopedSession, criteria: RenewalFilter) -> Sums:
    """Sum effective renewals, from the daily rollup if it supports the filter: fast at any size."""
    without_status = replace(criteria, status=None)
    if not without_status.of_catalogue:
        return _sum_rows(session, criteria)
    totals = group_totals(session, without_status, measures=_MEASURES).get((), ZERO_TOTALS)
    return Sums(*(getattr(totals, name) for name in _MEASURES))


def _sum_rows(session: ScopedSession, criteria: RenewalFilter) -> Sums:
    amounts = (Renewal.total_minor, Renewal.mca_profit_minor, Renewal.distributor_profit_minor)
    sums = (sum_of(col(amount)) for amount in amounts)
    found = session.execute(_apply_criteria(sa.select(sa.func.count(), *sums), criteria)).one()
    return Sums(*map(int, found))


def _apply_criteria(query: AnySelect, criteria: RenewalFilter) -> AnySelect:
    """Apply a filter to a query on renewals; joins the policy only if a condition reads it."""
    query = query.select_from(Renewal)
    if criteria.concerns_policy:
        query = query.join(Policy, col(Policy.id) == col(Renewal.policy_id))
    return query.where(*build_conditions(criteria))


def _join(columns: Sequence[Any]) -> AnySelect:
    return (
        sa.select(*columns)
        .select_from(Renewal)
        .join(Policy, col(Policy.id) == col(Renewal.policy_id))
        .outerjoin(Refund, OF_RENEWAL)
    )


_STATUS = sa.case(
    (col(Renewal.status), sa.literal_column("'Renewed'", sa.String)), else_=sa.literal_column("'Failed'", sa.String)
)
RENEWALS: Listing[RenewalFilter] = Listing(
    name="renewals",
    title="Renewals",
    noun=("renewal", "renewals"),
    roles=("operations", "finance"),
    filter=RenewalFilter,
    key=col(Renewal.id),
    always=("id", "policy_id", "purchase_id"),
    usual=("customer", "policy", "product", "total", "renewed", "ends", "status"),
    columns={
        "id": Column("Reference", ID, col(Renewal.id)),
        "created_at": Column("Renewed at", INSTANT, col(Renewal.created_at)),
        "renewed": Column("Renewed", DAY, col(Renewal.created_at), machine="created_on", orders=by_time(Renewal)),
        "status": Column("Status", STATE, _STATUS, words={"Renewed": "Took effect", "Failed": "Failed or reversed"}),
        **listing.policy_number(),
        "before": Column("Ended before", DAY, col(Renewal.previous_expiration_at), machine="previous_expires_on"),
        "starts": Column("Term from", DAY, col(Renewal.start_at), machine="starts_on"),
        "ends": Column("Term to", DAY, col(Renewal.expiration_at), machine="expires_on"),
        **listing.money_columns(Renewal, orders=by_amount(Renewal)),
        **listing.refund_columns(),
        **listing.sale_names(Renewal),
        **listing.customer_columns(),
        **listing.mode_column(),
        **listing.payment_columns(Renewal),
        "policy_id": Column("Policy", ID, col(Renewal.policy_id)),
        "purchase_id": Column("Purchase", ID, col(Renewal.purchase_id)),
        "expires": Column("Policy ends now", DAY, col(Policy.expiration_at), machine="policy_expires_on"),
    },
    rows=lambda columns, criteria, _: _join(columns).where(*build_conditions(criteria)),
    count=lambda session, criteria: compute_total(session, criteria).all_rows.renewals,
    summed=col(Renewal.total_minor),
    sum_title="Premium",
    join=_join,
    ids=lambda criteria: _apply_criteria(sa.select(col(Renewal.id)), criteria),
)
