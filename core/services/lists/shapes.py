"""The records of the specification: their fields and types as they go over the wire."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, WithJsonSchema
from typing_extensions import TypedDict

from core.states.policies import PolicyStatus

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
    prefix: str
    route_name: str
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
