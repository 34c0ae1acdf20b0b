"""Policies: how they are found, as records and rows of the list, their state, and their endorsements (contract S21)."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, Final, Literal, cast
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import UTCDateTime, col

from core import clock, money
from core.covers import registry
from core.covers.cover import Cover
from core.errors import InvalidInput
from core.services.catalogue import products as catalogue_products
from core.services.lists import listing, records
from core.services.lists.dimensions import Choices, load_choices
from core.services.lists.filters import declaration
from core.services.lists.filters.declaration import Ids, of
from core.services.lists.filters.fields import Condition, Flag
from core.services.lists.listing import Column, Listing, Order, Row, by_time
from core.services.lists.paging import Page, Paging, fetch_newest
from core.services.lists.records import (
    ChangeRecord,
    EndorsementRecord,
    FullPolicyRecord,
    ListedPolicyRecord,
    PolicyRecord,
    ProductRecord,
)
from core.services.lists.spreadsheets import DAY, FLAG, ID, INSTANT, MONEY, STATE, TEXT
from core.services.lists.windows import Span
from core.services.people.four_eyes import Parties
from core.services.sales import filter as sales_filter
from core.services.sales import page_locator
from core.services.sales.filter import SalesFilter, resolve_customer
from core.states.policies import STAGES, PolicyAction, PolicyStage
from core.store.access import AnyRow, AnySelect, ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import (
    Customer,
    Distributor,
    EndorsementNotice,
    Policy,
    PolicyEndorsement,
    Product,
    Provider,
    Purchase,
    Staff,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Endorsement:
    """One endorsement with its changes, who made it, and who told the insurer of it, if anybody has."""

    id: UUID
    number: int
    effective_on: date
    changes: Sequence[Mapping[str, str]]
    reason: str
    requested_by: str
    premium_minor: int
    made_by: str
    made_at: datetime
    told_by: str | None
    told_at: datetime | None
    told_how: str | None

    @property
    def days_back(self) -> int:
        """By how many days it holds before the day on which it was made."""
        return (clock.to_lagos_day(self.made_at) - self.effective_on).days


@dataclass(frozen=True, kw_only=True, slots=True)
class UntoldEndorsement:
    """An endorsement that nobody has told the insurer of."""

    policy_id: UUID
    policy_number: str | None
    holder: str
    provider: str
    number: int
    fields: Sequence[str]
    effective_on: date
    made_at: datetime


_MAKER, _TELLER = sa.orm.aliased(Staff), sa.orm.aliased(Staff)


def list_endorsements(session: ScopedSession, policy_id: UUID) -> list[Endorsement]:
    """Return the endorsements of a policy, oldest first."""
    query: AnySelect = (
        sa.select(
            PolicyEndorsement,
            EndorsementNotice,
            col(_MAKER.name).label("maker"),
            col(_TELLER.name).label("teller"),
        )
        .join(_MAKER, col(_MAKER.id) == col(PolicyEndorsement.made_by))
        .outerjoin(EndorsementNotice, col(EndorsementNotice.endorsement_id) == col(PolicyEndorsement.id))
        .outerjoin(_TELLER, col(_TELLER.id) == col(EndorsementNotice.told_by))
        .where(col(PolicyEndorsement.policy_id) == policy_id)
        .order_by(col(PolicyEndorsement.number))
    )
    return [_build(row) for row in session.execute(query)]


def _build(row: Any) -> Endorsement:
    made, notice = row.PolicyEndorsement, row.EndorsementNotice
    return build_row(
        Endorsement,
        made,
        made_by=row.maker,
        made_at=made.created_at,
        told_by=row.teller,
        told_at=notice.created_at if notice else None,
        told_how=notice.note if notice else None,
    )


# The fields of an endorsement that change a contact.
_CONTACTS: Final = (("email", ("email",)), ("phone", ("phone_number", "phone")))


def find_rows(session: ScopedSession, policy_id: UUID) -> list[PolicyEndorsement]:
    """Return the rows of a policy's endorsements, oldest first, for other services to read."""
    query = sa.select(PolicyEndorsement).where(col(PolicyEndorsement.policy_id) == policy_id)
    return list(session.execute(query.order_by(col(PolicyEndorsement.number))).scalars())


def load_holders(session: ScopedSession, policy: Policy) -> Parties:
    """Return the customer and the policyholder, to whom a refund goes back, with contacts that were endorsed away."""
    customer = session.get_one(Customer, policy.customer_id)
    endorsed = [change for row in find_rows(session, policy.id) for change in row.changes]
    former = {name: {change["before"] for change in endorsed if change["field"] in names} for name, names in _CONTACTS}
    emails = {policy.email, customer.email, *former["email"]}
    return Parties(
        emails=frozenset(email.lower() for email in emails if email),
        phones=frozenset(filter(None, (policy.phone, customer.phone_number, *former["phone"]))),
    )


def apply(data: Mapping[str, Any], rows: Sequence[PolicyEndorsement]) -> dict[str, Any]:
    """Return submitted data with what these endorsements changed."""
    return {**data, **{change["field"]: change["after"] for row in rows for change in row.changes}}


def get_insured_for_claim(session: ScopedSession, policy: Policy, happened_on: date) -> dict[str, Any]:
    """Return the insured data as it stood before a loss: what was endorsed on its day or later does not count."""
    rows = find_rows(session, policy.id)
    return apply(policy.submitted, [row for row in rows if clock.to_lagos_day(row.created_at) < happened_on])


NAMES: Final = frozenset({"first_name", "last_name"})
PHONES: Final = frozenset({"phone", "phone_number"})


def changes_any(row: PolicyEndorsement, fields: Collection[str]) -> bool:
    """True for an endorsement of one of these fields, as by which the holder has another name and is paid by it."""
    return any(change["field"] in fields for change in row.changes)


def list_untold(session: ScopedSession, *, limit: int) -> tuple[list[UntoldEndorsement], int]:
    """Return endorsements that no insurer was told of, oldest first, and the number of all."""
    total = session.execute(sa.select(sa.func.count()).select_from(_untold().subquery())).scalar_one()
    rows = session.execute(_untold().order_by(col(PolicyEndorsement.created_at)).limit(limit))
    return [_build_untold(row) for row in rows], total


def _untold() -> AnySelect:
    columns = (Policy.policy_number, Policy.first_name, Policy.last_name, Provider.company_name)
    return (
        sa.select(PolicyEndorsement, *(col(column) for column in columns))
        .join(Policy, col(Policy.id) == col(PolicyEndorsement.policy_id))
        .join(Provider, col(Provider.id) == col(Policy.provider_id))
        .outerjoin(EndorsementNotice, col(EndorsementNotice.endorsement_id) == col(PolicyEndorsement.id))
        .where(col(EndorsementNotice.endorsement_id).is_(None), col(Policy.deleted_at).is_(None))
    )


def _build_untold(row: Any) -> UntoldEndorsement:
    made = row.PolicyEndorsement
    return UntoldEndorsement(
        policy_id=made.policy_id,
        policy_number=row.policy_number,
        holder=f"{row.first_name} {row.last_name}",
        provider=row.company_name,
        number=made.number,
        fields=[change["field"] for change in made.changes],
        effective_on=made.effective_on,
        made_at=made.created_at,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class PolicyState:
    """A policy's stage, the version that a command must name, and the allowed actions."""

    stage: PolicyStage
    version: int
    actions: tuple[PolicyAction, ...]


def get_state(session: ScopedSession, policy_id: UUID) -> PolicyState:
    """Return the state of one policy; NotFound if unknown in this scope."""
    query = (
        sa.select(Policy, col(Product.renewable))
        .join(Product, col(Product.id) == col(Policy.product_id))
        .where(col(Policy.id) == policy_id, col(Policy.deleted_at).is_(None))
    )
    row = session.find_row(query, otherwise="Policy not found")
    stage = get_stage(row.Policy)
    actions = tuple(each for each in STAGES[stage].actions if each is not PolicyAction.RENEW or row.renewable)
    return PolicyState(stage=stage, version=row.Policy.version, actions=actions)


def get_stage(policy: Any) -> PolicyStage:
    """Return the current stage of a policy row."""
    now = clock.now()
    if policy.cancelled_at is not None or policy.declined_at is not None:
        return PolicyStage.CANCELLED if policy.cancelled_at is not None else PolicyStage.DECLINED
    if not policy.activated:
        return PolicyStage.PENDING
    if policy.expiration_at is not None and policy.expiration_at <= now:
        return PolicyStage.EXPIRED
    is_ahead = policy.start_at is not None and policy.start_at > clock.latest_start()
    return PolicyStage.NOT_STARTED if is_ahead else PolicyStage.IN_FORCE


# The filters of policies, among them one text whose form decides which indexed column is searched (contract P6).


class PolicyFilter(SalesFilter, on=(Policy,)):
    """Filter of the list of policies; `status` true means in force now (contract P5)."""

    category_ids: Ids = SalesFilter.redeclare("category_ids", place="none")
    distributor_ids: Ids = SalesFilter.redeclare("distributor_ids", api="distributor_id", place="none")
    find: str | None = sales_filter.find_by_policy(
        Policy.id, api="search", help="A policy number, plate, customer name, e-mail or phone."
    )
    status: bool | None = of(
        Flag,
        label="Cover",
        column=lambda _: declaration.in_force(),
        address="force",
        api="status",
        options={"yes": "In force or about to start", "no": "Neither in force nor about to start"},
        help="yes or no.",
    )
    customer_type: Literal["principal", "beneficiary"] | None = SalesFilter.redeclare(
        "customer_type", address="role", api="customer_type"
    )
    expiring: Span = SalesFilter.redeclare("expiring", address="expires_from expires_to", place="none")


# Policies: reading, filtering, and their API records.

UNFILTERED = PolicyFilter()
LISTED_PRODUCT_FIELDS = ("name", "description", "id", "inspectable", "is_dynamic_pricing", "claimable")


def build_record(row: Any, cover: Cover[Any] | None) -> PolicyRecord:
    """A policy as its record, nothing embedded."""
    return records.build_policy(
        row, status=STAGES[get_stage(row)].status, echo=cover.echo_field if cover else "payload"
    )


def list_policies(
    session: ScopedSession, criteria: SalesFilter = UNFILTERED, paging: Paging = Paging()
) -> Page[ListedPolicyRecord]:
    """Return a page of policies in list form, newest first, with the exact total (contract P2)."""
    criteria = resolve_customer(session, criteria)

    def load(ids: list[UUID]) -> list[ListedPolicyRecord]:
        products = catalogue_products.get_catalogue(session).records
        rows = session.execute(_build_query(col(Policy.id).in_(ids)))
        return [_build_list_record(row, products[row.Policy.product_id, row.Policy.is_live]) for row in rows]

    if not criteria.of_catalogue:
        return fetch_newest(session, Policy, _build_id_query(criteria), paging, load, searched=criteria.scans)
    # Policies have the creation time of their purchase, so the purchases' day counts locate the page.
    location = page_locator.locate_page(session, criteria, paging)
    query = _build_id_query(replace(criteria, created=location.span))
    return fetch_newest(session, Policy, query, paging, load, total=location.total, offset=location.offset)


def _build_id_query(criteria: SalesFilter) -> AnySelect:
    return sa.select(col(Policy.id)).where(*build_conditions(criteria))


def get_policy(session: ScopedSession, policy_id: UUID) -> FullPolicyRecord:
    """Return one policy with all that belongs to it, endorsements too; NotFound if unknown in this scope."""
    row = session.find_row(
        _build_query(col(Policy.id) == policy_id, col(Policy.deleted_at).is_(None)), otherwise="Policy not found"
    )
    product = catalogue_products.get_catalogue(session).records[row.Policy.product_id, row.Policy.is_live]
    embedded = {
        "provider": product["provider"],
        "purchase": records.build_purchase(row.Purchase, row.Policy.id),
        "product": product,
        "endorsements": [_build_endorsement(made) for made in find_rows(session, policy_id)],
    }
    return cast(FullPolicyRecord, {**_build_list_record(row, product), **embedded})


def _build_endorsement(made: PolicyEndorsement) -> EndorsementRecord:
    return {
        "number": made.number,
        "effective_date": made.effective_on.isoformat(),
        "changes": cast(list[ChangeRecord], made.changes),
        "premium": money.to_wire(made.premium_minor),
        "created_at": clock.to_wire(made.created_at) or "",
    }


def get_for_update(session: ScopedSession, policy_id: UUID) -> Policy:
    """Return the row of one policy locked for update, with its current values; NotFound if unknown in this scope."""
    return _load_row(session, sa.select(Policy).where(col(Policy.id) == policy_id).with_for_update())


def get_row(session: ScopedSession, policy_id: UUID) -> Policy:
    """Return the row of one policy for other services to read; NotFound if unknown in this scope."""
    return _load_row(session, sa.select(Policy).where(col(Policy.id) == policy_id))


# An act on several policies at once.
MOST_AT_ONCE: Final = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class BulkResult:
    """The number of policies that something was done with, and of those left out by reason."""

    done: int
    left_out: Mapping[str, int]


def choose_several(policy_ids: Iterable[UUID]) -> list[UUID]:
    """Return the ids, each once; InvalidInput for none or too many."""
    chosen = list(dict.fromkeys(policy_ids))
    if not 0 < len(chosen) <= MOST_AT_ONCE:
        raise InvalidInput.for_field("policies", f"choose between 1 and {MOST_AT_ONCE} policies")
    return chosen


def act_on_each(policy_ids: Iterable[UUID], act: Callable[[UUID], str | None]) -> BulkResult:
    """Do the same with each of some policies; `act` returns why it leaves one out, before it has changed anything."""
    reasons = [act(policy_id) for policy_id in policy_ids]
    return BulkResult(done=reasons.count(None), left_out=Counter(reason for reason in reasons if reason))


def _load_row(session: ScopedSession, query: sa.Select[Policy]) -> Policy:
    query = query.where(col(Policy.deleted_at).is_(None)).execution_options(populate_existing=True)
    return session.find_scalar(query, otherwise="Policy not found")


def build_conditions(criteria: SalesFilter) -> list[sa.ColumnElement[bool]]:
    """Build the SQL conditions of a filter on policies."""
    return [*criteria.conditions(Policy), col(Policy.deleted_at).is_(None)]


def _build_query(*conditions: sa.ColumnElement[bool]) -> AnySelect:
    return (
        sa.select(Policy, Customer, Purchase, col(Distributor.business_name))
        .join(Customer, col(Customer.id) == col(Policy.customer_id))
        .join(Purchase, col(Purchase.id) == col(Policy.purchase_id))
        .join(Distributor, col(Distributor.id) == col(Policy.distributor_id))
        .where(*conditions)
    )


def _build_list_record(row: AnyRow, product: ProductRecord) -> ListedPolicyRecord:
    record = {
        **build_record(row.Policy, registry.get_cover(product["prefix"], product["route_name"])),
        "customer": records.build_customer(row.Customer),
        "product": records.pick_fields(product, *LISTED_PRODUCT_FIELDS),
        "distributor": {"id": str(row.Policy.distributor_id), "business_name": row.business_name},
        "provider": records.pick_fields(product["provider"], "id", "company_name"),
        "purchase": {"id": str(row.Purchase.id), "total": money.to_wire(row.Purchase.total_minor)},
        "inspection": None,
    }
    return cast(ListedPolicyRecord, record)


# The policies table of the desk: one page of rows, and the number of all.

# As long as the list of what is due shows it.
_LAPSED_DAYS = 30
_SOLD, _ENDS = col(Policy.created_at), col(Policy.expiration_at)


def _build_turn() -> Any:
    """Build the place of a policy among the records of one person; one that has just lapsed can still be renewed."""
    stage, since = declaration.policy_stage(), sa.bindparam(None, callable_=_lapsed_since, type_=UTCDateTime())
    renewable = sa.select(col(Product.id)).where(col(Product.renewable))
    lapsed = (stage == str(PolicyStage.EXPIRED)) & (since <= _ENDS) & col(Policy.product_id).in_(renewable)
    return sa.case(
        (stage == str(PolicyStage.PENDING), 0),
        ((stage == str(PolicyStage.IN_FORCE)) | lapsed, 1),
        (stage == str(PolicyStage.NOT_STARTED), 2),
        else_=3,
    )


def _lapsed_since() -> datetime:
    return clock.midnight(clock.add_days(clock.today(), -_LAPSED_DAYS))


_ROLE = sa.case(
    (col(Policy.buyer_id) == col(Policy.customer_id), sa.literal_column("'principal'", sa.String)),
    else_=sa.literal_column("'beneficiary'", sa.String),
)
# A policy without an end, which awaits its insurer, counts as the one that ends last.
_BY_END = (
    Order("ends", "Ends soonest first", (_ENDS.asc().nulls_last(), _SOLD, col(Policy.id))),
    Order(
        *("ends-back", "Ends latest first", (_ENDS.desc().nulls_first(), _SOLD.desc(), col(Policy.id).desc())),
        is_descending=True,
    ),
)
# What somebody has to do something about: pending first, then by the end what has just lapsed or is in force, then what
# is over. It is for the policies of one person, and slow for those of all.
_TO_DO = (_build_turn(), _ENDS.asc().nulls_last(), _SOLD.desc(), col(Policy.id).desc())


def _join(columns: Sequence[Any]) -> AnySelect:
    return sa.select(*columns).select_from(Policy).join(Purchase, col(Purchase.id) == col(Policy.purchase_id))


def _count(session: ScopedSession, criteria: "PolicyFilter") -> int:
    return session.count_rows(Policy, *build_search_conditions(criteria, load_choices(session)))


POLICIES: Listing[PolicyFilter] = Listing(
    name="policies",
    title="Policies",
    noun=("policy", "policies"),
    roles=("operations", "claims"),
    filter=PolicyFilter,
    key=col(Policy.id),
    usual=("number", "state", "customer", "phone", "plate", "product", "ends", "provider"),
    columns={
        "id": Column("Reference", ID, col(Policy.id)),
        "sold": Column("Sold", INSTANT, col(Policy.created_at), machine="created_at", orders=by_time(Policy)),
        "sold_on": Column("Sold on", DAY, col(Policy.created_at), machine="created_on"),
        "number": listing.policy_number(empty="No number yet", width=165)["policy"],
        "state": Column("State", STATE, declaration.policy_stage()),
        "starts": Column("Starts", DAY, col(Policy.start_at), machine="starts_on"),
        "ends": Column("Ends", DAY, col(Policy.expiration_at), machine="expires_on", orders=_BY_END),
        "activated_on": Column("Activated", DAY, col(Policy.activation_at)),
        "cancelled_on": Column("Cancelled", DAY, col(Policy.cancelled_at)),
        "declined_on": Column("Declined", DAY, col(Policy.declined_at)),
        "total": Column("Premium at sale", MONEY, col(Purchase.total_minor)),
        "sum_insured": Column("Sum insured", MONEY, col(Policy.sum_insured_minor)),
        **listing.sale_names(Policy),
        **listing.customer_columns(),
        "role": Column(
            *("Role", STATE, _ROLE),
            machine="customer_role",
            words={"principal": "Principal", "beneficiary": "Beneficiary"},
        ),
        "plate": Column("Plate", TEXT, col(Policy.plate_key), width=85),
        "device_serial_number": Column("Device", TEXT, col(Policy.device_serial_number), width=130),
        "provider_policy_id": Column("Insurer's reference", TEXT, col(Policy.provider_policy_id), width=130),
        "submitted_to_provider": Column("Sent to the insurer", FLAG, col(Policy.submitted_to_provider)),
        **listing.mode_column(),
        **listing.payment_columns(Policy),
        "purchase_id": Column("Purchase", ID, col(Policy.purchase_id)),
    },
    rows=lambda columns, criteria, names: _join(columns).where(*build_search_conditions(criteria, names)),
    count=_count,
    summed=col(Purchase.total_minor),
    sum_title="Premium at sale",
    join=_join,
)


def search_policies(
    session: ScopedSession,
    criteria: PolicyFilter,
    names: Choices,
    *,
    shown: Sequence[str] = (),
    order: str = "newest",
    paging: Paging,
) -> Page[Row]:
    """Return a page of the policies of a filter, with the exact total."""
    conditions = build_search_conditions(criteria, names)
    keys = _TO_DO if order == "to-do" else POLICIES.orders[order].keys
    found = sa.select(col(Policy.id)).where(*conditions)
    return POLICIES.find_page(session, found, names, keys, shown=shown, paging=paging, searched=criteria.scans)


def find_among(session: ScopedSession, found: Any, most: int) -> list[UUID] | None:
    """Return the ids that a query of `sales.filter` finds, newest first; None if there are more than `most`."""
    query = sa.select(col(Policy.created_at), col(Policy.id)).where(
        col(Policy.id).in_(found), col(Policy.deleted_at).is_(None)
    )
    rows = session.execute(query.limit(most + 1)).all()
    return [row.id for row in sorted(rows, reverse=True)] if len(rows) <= most else None


def read_policies(session: ScopedSession, ids_: Sequence[UUID], names: Choices, shown: Sequence[str]) -> list[Row]:
    """Return these policies, newest first."""
    keys = POLICIES.orders["newest"].keys
    return POLICIES.read_rows(session, ids_, names, keys, shown=shown) if ids_ else []


def build_search_conditions(criteria: PolicyFilter, names: Choices) -> list[Condition]:
    """Build the SQL conditions of a filter; insurers are replaced by their products, which the counting index has."""
    if not criteria.provider_ids:
        return build_conditions(criteria)
    insurer_products = {key for key, provider in names.provider_of.items() if provider in criteria.provider_ids}
    product_ids = insurer_products.intersection(criteria.product_ids or insurer_products)
    narrowed = build_conditions(replace(criteria, provider_ids=(), product_ids=()))
    return [col(Policy.product_id).in_(sorted(product_ids)), *narrowed]
