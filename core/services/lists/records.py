"""The records of the specification: their fields and types as they go over the wire, and how a row becomes one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, cast
from uuid import UUID

import sqlalchemy as sa
from pydantic import ConfigDict, Field, WithJsonSchema
from sqlmodel import col
from typing_extensions import TypedDict

from core.clock import to_wire as at
from core.covers.request_parts import normalise_registration
from core.money import to_wire as naira
from core.settings import settings
from core.states.policies import PolicyStatus
from core.store.access import AnyRow, WireId, WireInstant, WireMode, WireNaira
from core.store.schema.tables import Customer, Policy, Purchase

Id = Annotated[str, WithJsonSchema({"type": "string", "format": "uuid"})]
Moment = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
Day = Annotated[str, WithJsonSchema({"type": "string", "format": "date"})]
Link = Annotated[str, WithJsonSchema({"type": "string", "format": "uri"})]
Mode = Literal["test", "live"]


class Times(TypedDict):
    """The created, updated and deleted times of a record."""

    created_at: Moment
    updated_at: Moment
    deleted_at: Moment | None


class CategoryRecord(Times):
    """A product category."""

    id: Id
    is_live: bool
    name: str


class CountedCategoryRecord(CategoryRecord):
    """A category of the list, with how many of its products the caller may sell."""

    product_count: int


class ProviderNameRecord(TypedDict):
    """An insurer as lists of policies and claims name it."""

    id: Id
    company_name: str


class ProviderRecord(ProviderNameRecord):
    """An insurer; personal numbers show their last four."""

    owner_id: Id | None
    wallet_id: Id | None
    bank_account_id: Id | None
    first_name: str
    last_name: str
    email: str
    phone_number: str
    country: str
    verification_type: str | None
    verification_number: str | None
    bvn_number: str | None
    verification_images: str | None
    business_type: str | None
    claim_email: str | None
    business_email: str | None
    support_email: str | None
    active: bool
    created_at: Moment
    updated_at: Moment


class Benefit(TypedDict):
    """One benefit of a product in full."""

    name: str
    description: str


class PeriodPrices(TypedDict):
    """Prices of a product by period, in naira, to show side by side (contract S18)."""

    monthly: str
    quarterly: str
    biannually: str
    annually: str


class RenewalWindow(TypedDict):
    """The days before and after the end of a term in which it can be renewed."""

    days_before: int
    days_after: int


class ProductMeta(TypedDict, total=False):
    """Facts that only some products have; there may be more than are listed here."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]

    mca_price: PeriodPrices
    minimum_age: int
    premium_frequencies: list[str]
    plan_prices: dict[str, str]
    renewal_window: RenewalWindow
    exclusions: list[str]


class ProductRecord(Times):
    """A product with its current price and commissions."""

    id: Id
    is_live: bool
    name: str
    description: str
    key_benefits: str
    full_benefits: list[Benefit] | str
    meta: ProductMeta
    prefix: Annotated[str, Field(description="With `route_name` where it is bought; empty for some.")]
    route_name: Annotated[str, Field(description="`/products/{prefix}/{route_name}` is where it is bought.")]
    renewable: bool
    claimable: bool
    inspectable: bool
    certificateable: bool
    is_dynamic_pricing: bool
    active: bool
    price: str
    distributor_commission_percentage: str
    mca_commission_percentage: str
    cover_period: str
    how_it_works: str | None
    how_to_claim: str | None
    document: str | None
    product_category_id: Id
    provider_id: Id
    productCategory: NotRequired[CategoryRecord]
    provider: NotRequired[ProviderRecord]


class CustomerRecord(Times):
    """A distributor's customer."""

    id: Id
    app_mode: Mode
    is_live: bool
    first_name: str
    last_name: str
    business_id: Id
    user_id: Id
    email: str
    phone_number: str | None
    country: str | None
    gender: str | None
    title: str | None
    state_of_residence: str | None
    city: str | None
    address: str | None
    date_of_birth: Day | None
    identity_verification: str | None
    verification_type: str | None
    face_image: str | None
    is_kyc_complete: bool
    active: bool
    wallet_id: Id | None


class PurchaseRecord(Times):
    """Money taken for one policy, with its split."""

    id: Id
    customer_id: Id
    product_id: Id
    product_category_id: Id
    distributor_id: Id
    provider_id: Id
    batch_id: Id
    total: str
    mca_profit: str
    distributor_profit: str
    discount_code_id: Id | None
    payment_option: str | None
    payment_channel: str | None
    request_source: str | None
    policy_id: Id | None
    is_live: bool
    customer: NotRequired[CustomerRecord]
    product: NotRequired[ProductRecord]
    productCategory: NotRequired[CategoryRecord]
    provider: NotRequired[ProviderRecord]


StatusOnTheWire = Annotated[str, WithJsonSchema({"type": "string", "enum": list(PolicyStatus)})]


class ChangeRecord(TypedDict):
    """One field that an endorsement changed, by its name in the request of the sale."""

    field: str
    before: str
    after: str


class EndorsementRecord(TypedDict):
    """A change of a sold policy, from its effective date on; those of a policy count from 1 (contract S21)."""

    number: int
    effective_date: Day
    changes: list[ChangeRecord]
    premium: str
    created_at: Moment


class PolicyMeta(TypedDict):
    """The number, the certificate and what was submitted: `requestData` at insurer-d, `payload` at the others."""

    policy_number: str | None
    certificate_url: Link | None
    provider_policy_id: str | None
    payload: NotRequired[dict[str, Any]]
    requestData: NotRequired[dict[str, Any]]
    vehicle_registration_number: NotRequired[str]
    device_serial_number: NotRequired[str]


class PolicyRecord(Times):
    """The cover that a purchase bought; `active` and `status` are derived at the moment of reading (contract S11)."""

    id: Id
    app_mode: Mode
    is_live: bool
    active: bool
    first_name: str
    last_name: str
    email: str
    phone: str | None
    dob: Day | None
    start_date: Moment | None
    activation_date: Moment | None
    expiration_date: Moment | None
    customer_id: Id
    buyer_id: Id
    distributor_id: Id
    product_id: Id
    product_category_id: Id
    provider_id: Id
    purchase_id: Id
    inspection_id: Id | None
    genius_price: str
    market_price: str
    profit: str
    submitted_to_provider: bool
    payment_option: str | None
    payment_channel: str | None
    request_source: str | None
    meta: PolicyMeta
    policy_number: str | None
    status: StatusOnTheWire


class PolicyProductRecord(TypedDict):
    """The product embedded in a policy of a list."""

    id: Id
    name: str
    description: str
    inspectable: bool
    is_dynamic_pricing: bool
    claimable: bool


class DistributorNameRecord(TypedDict):
    """The distributor embedded in a policy."""

    id: Id
    business_name: str


class PurchaseTotalRecord(TypedDict):
    """The purchase embedded in a policy of a list."""

    id: Id
    total: str


class InspectionRecord(TypedDict):
    """An inspection of what is insured; null, as its record lives with the inspector."""

    id: Id


class _PolicyWithCustomer(PolicyRecord):
    customer: CustomerRecord
    distributor: DistributorNameRecord
    inspection: InspectionRecord | None


class ListedPolicyRecord(_PolicyWithCustomer):
    """A policy of a list, with what belongs to it in short."""

    provider: ProviderNameRecord
    purchase: PurchaseTotalRecord
    product: PolicyProductRecord


class FullPolicyRecord(_PolicyWithCustomer):
    """One policy with all that belongs to it."""

    provider: ProviderRecord
    purchase: PurchaseRecord
    product: ProductRecord
    endorsements: list[EndorsementRecord]


class RenewalRecord(Times):
    """One more term of a policy, with the dates before and after (contract R2)."""

    id: Id
    policy_id: Id
    purchase_id: Id
    customer_id: Id
    product_id: Id
    product_category_id: Id
    distributor_id: Id
    provider_id: Id
    status: bool
    total: str
    mca_profit: str
    distributor_profit: str
    previous_expiration_date: Moment
    start_date: Moment
    expiration_date: Moment
    payment_option: str | None
    payment_channel: str | None
    request_source: str | None
    is_live: bool
    customer: NotRequired[CustomerRecord]
    product: NotRequired[ProductRecord]
    productCategory: NotRequired[CategoryRecord]
    provider: NotRequired[ProviderRecord]
    policy: NotRequired[PolicyRecord]


def format_id(value: UUID | None) -> str | None:
    """Return an id as its 36 characters, None for None."""
    return None if value is None else str(value)


def format_percentage(basis_points: int) -> str:
    """Format basis points as a decimal string of percent: 550 -> "5.50"."""
    return naira(basis_points)


def claim_reference(claim_id: UUID) -> str:
    """A claim as people name it: the end of its id, which is the random part of it."""
    return f"C-{claim_id.hex[-8:].upper()}"


def format_mode(is_live: bool) -> Mode:  # noqa: FBT001 - the word for a column's value
    """The word that `app_mode` carries (contract M1)."""
    return "live" if is_live else "test"


def build_times(row: Any) -> Times:
    """Return the created, updated and deleted times of a record."""
    return {
        "created_at": at(row.created_at) or "",
        "updated_at": at(row.updated_at) or "",
        "deleted_at": at(row.deleted_at),
    }


@dataclass(frozen=True, slots=True)
class _Field:
    """One field of a record: its column, how a value is formatted, and the SQL type that formats it in a query."""

    column: str
    format_value: Callable[[Any], Any]
    wire_type: sa.types.TypeEngine[Any] | None = None


def _as_is(value: object) -> Any:
    return value


_TIMES = {name: _Field(name, at, WireInstant()) for name in ("created_at", "updated_at", "deleted_at")}


def _id_fields(*names: str) -> dict[str, _Field]:
    return {name: _Field(name, format_id, WireId()) for name in names}


def _amount_fields(*names: str) -> dict[str, _Field]:
    return {name: _Field(f"{name}_minor", naira, WireNaira()) for name in names}


def _instant_fields(**columns: str) -> dict[str, _Field]:
    return {name: _Field(column, at, WireInstant()) for name, column in columns.items()}


def _stored_fields(*names: str) -> dict[str, _Field]:
    return {name: _Field(name, _as_is) for name in names}


_CUSTOMER: Mapping[str, _Field] = {
    **_id_fields("id"),
    "app_mode": _Field("is_live", format_mode, WireMode()),
    "business_id": _Field("distributor_id", format_id, WireId()),
    **_id_fields("user_id", "wallet_id"),
    **_stored_fields("is_live", "first_name", "last_name", "email", "phone_number", "country", "gender", "title"),
    **_stored_fields(
        "state_of_residence", "city", "address", "date_of_birth", "identity_verification", "verification_type"
    ),
    **_stored_fields("face_image", "is_kyc_complete", "active"),
    **_TIMES,
}
_PURCHASE: Mapping[str, _Field] = {
    **_id_fields("id", "customer_id", "product_id", "product_category_id", "distributor_id", "provider_id", "batch_id"),
    **_amount_fields("total", "mca_profit", "distributor_profit"),
    **_id_fields("discount_code_id"),
    **_stored_fields("payment_option", "payment_channel", "request_source", "is_live"),
    **_TIMES,
}
_POLICY: Mapping[str, _Field] = {
    **_id_fields("id"),
    "app_mode": _Field("is_live", format_mode, WireMode()),
    **_stored_fields("is_live", "first_name", "last_name", "email", "phone", "dob"),
    **_instant_fields(start_date="start_at", activation_date="activation_at", expiration_date="expiration_at"),
    **_id_fields("customer_id", "buyer_id", "distributor_id", "product_id", "product_category_id", "provider_id"),
    **_id_fields("purchase_id", "inspection_id"),
    **_amount_fields("genius_price", "market_price", "profit"),
    **_stored_fields("submitted_to_provider", "payment_option", "payment_channel", "request_source", "policy_number"),
    **_TIMES,
}
_RENEWAL: Mapping[str, _Field] = {
    **_id_fields("id", "policy_id", "purchase_id", "customer_id", "product_id", "product_category_id"),
    **_id_fields("distributor_id", "provider_id"),
    **_stored_fields("status"),
    **_amount_fields("total", "mca_profit", "distributor_profit"),
    **_instant_fields(previous_expiration_date="previous_expiration_at"),
    **_instant_fields(start_date="start_at", expiration_date="expiration_at"),
    **_stored_fields("payment_option", "payment_channel", "request_source", "is_live"),
    **_TIMES,
}
PURCHASE_FIELDS = (*_PURCHASE, "policy_id")
CUSTOMER_FIELDS = tuple(_CUSTOMER)


def build_purchase_columns() -> list[Any]:
    """Return the select columns for the purchase fields, in order; the query must join the policy."""
    return [*_columns(Purchase, _PURCHASE), sa.type_coerce(col(Policy.id), WireId())]


def build_customer_columns() -> list[Any]:
    """Return the select columns for the customer fields, in order."""
    return _columns(Customer, _CUSTOMER)


def _columns(entity: object, fields: Mapping[str, _Field]) -> list[Any]:
    found = [(col(getattr(entity, field.column)), field.wire_type) for field in fields.values()]
    return [sa.type_coerce(column, sent) if sent else column for column, sent in found]


def _record(row: AnyRow, fields: Mapping[str, _Field]) -> dict[str, Any]:
    return {name: field.format_value(getattr(row, field.column)) for name, field in fields.items()}


def build_customer(row: Any) -> CustomerRecord:
    """Return the record of a customer row."""
    return cast(CustomerRecord, _record(row, _CUSTOMER))


def build_purchase(row: Any, policy_id: UUID | None) -> PurchaseRecord:
    """Return the record of a purchase row and its policy id, without embedded records."""
    return cast(PurchaseRecord, {**_record(row, _PURCHASE), "policy_id": format_id(policy_id)})


def build_policy(row: Any, *, status: PolicyStatus, echo: str = "payload") -> PolicyRecord:
    """A policy row as its record, nothing embedded; `echo` names the submitted data inside `meta`."""
    derived = {"active": status is PolicyStatus.ACTIVE, "meta": _policy_meta(row, echo), "status": status}
    return cast(PolicyRecord, {**_record(row, _POLICY), **derived})


def build_renewal(row: Any) -> RenewalRecord:
    """Return the record of a renewal row, nothing embedded."""
    return cast(RenewalRecord, _record(row, _RENEWAL))


def _policy_meta(row: AnyRow, echo: str) -> PolicyMeta:
    meta: dict[str, Any] = {
        echo: row.payload,
        "policy_number": row.policy_number,
        "certificate_url": certificate_url(row.certificate_code),
        "provider_policy_id": row.provider_policy_id,
    }
    if row.plate_key is not None:
        meta["vehicle_registration_number"] = _get_registration(row)
    if row.device_serial_number is not None:
        meta["device_serial_number"] = row.device_serial_number
    return cast(PolicyMeta, meta)


def _get_registration(row: AnyRow) -> str | None:
    """Return the registration number as it was sold; once it was endorsed, the present one without its hyphens."""
    sold: str | None = row.submitted.get("registration_number") or row.submitted.get("vehicle_registration_number")
    is_same = sold is None or normalise_registration(sold) == row.plate_key
    return sold if is_same else str(row.plate_key)


def certificate_url(code: str | None) -> str | None:
    """Return the URL of a certificate: outside /v1, open to whoever has its code (contract S10)."""
    return f"{settings().base_url}/certificates/{code}.pdf" if code else None


def pick_fields(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return some fields of a record, for places that embed less than the whole."""
    return {name: record[name] for name in names}
