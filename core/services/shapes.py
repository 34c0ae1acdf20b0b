"""The records of the specification: their fields and types as they go over the wire."""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict


class Times(TypedDict):
    """The times of a record's life."""

    created_at: str
    updated_at: str
    deleted_at: str | None


class CategoryRecord(Times):
    """A product category."""

    id: str
    is_live: bool
    name: str


class CountedCategoryRecord(CategoryRecord):
    """A category of the list, with how many of its products the caller may sell."""

    product_count: int


class ProviderRecord(TypedDict):
    """An insurer; personal numbers show their last four."""

    id: str
    owner_id: str | None
    wallet_id: str | None
    bank_account_id: str | None
    first_name: str
    last_name: str
    email: str
    phone_number: str
    country: str
    company_name: str
    verification_type: str | None
    verification_number: str | None
    bvn_number: str | None
    verification_images: str | None
    business_type: str | None
    claim_email: str | None
    business_email: str | None
    support_email: str | None
    active: bool
    created_at: str
    updated_at: str


class Benefit(TypedDict):
    """One benefit of a product in full."""

    name: str
    description: str


class ProductRecord(Times):
    """A product with its current price and commissions."""

    id: str
    is_live: bool
    name: str
    description: str
    key_benefits: str
    full_benefits: list[Benefit] | str
    meta: dict[str, Any]
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
    product_category_id: str
    provider_id: str
    productCategory: NotRequired[CategoryRecord]
    provider: NotRequired[ProviderRecord]


class CustomerRecord(Times):
    """A distributor's customer."""

    id: str
    app_mode: str
    is_live: bool
    first_name: str
    last_name: str
    business_id: str
    user_id: str
    email: str
    phone_number: str | None
    country: str | None
    gender: str | None
    title: str | None
    state_of_residence: str | None
    city: str | None
    address: str | None
    date_of_birth: str | None
    identity_verification: str | None
    verification_type: str | None
    face_image: str | None
    is_kyc_complete: bool
    active: bool
    wallet_id: str | None


class PurchaseRecord(Times):
    """Money taken for one policy, with its split."""

    id: str
    customer_id: str
    product_id: str
    product_category_id: str
    distributor_id: str
    provider_id: str
    batch_id: str
    total: str
    mca_profit: str
    distributor_profit: str
    discount_code_id: str | None
    payment_option: str | None
    payment_channel: str | None
    request_source: str | None
    policy_id: str | None
    is_live: bool
    customer: NotRequired[CustomerRecord]
    product: NotRequired[ProductRecord]
    productCategory: NotRequired[CategoryRecord]
    provider: NotRequired[ProviderRecord]


PolicyStatus = Literal["pending", "active", "expired", "cancelled", "declined"]


class PolicyRecord(Times):
    """The cover that a purchase bought; `active` and `status` are derived at the moment of reading (contract S11)."""

    id: str
    app_mode: str
    is_live: bool
    active: bool
    first_name: str
    last_name: str
    email: str
    phone: str | None
    dob: str | None
    start_date: str | None
    activation_date: str | None
    expiration_date: str | None
    customer_id: str
    buyer_id: str
    distributor_id: str
    product_id: str
    product_category_id: str
    provider_id: str
    purchase_id: str
    inspection_id: str | None
    genius_price: str
    market_price: str
    profit: str
    submitted_to_provider: bool
    payment_option: str | None
    payment_channel: str | None
    request_source: str | None
    meta: dict[str, Any]
    policy_number: str | None
    status: PolicyStatus
    customer: NotRequired[CustomerRecord]
    provider: NotRequired[dict[str, Any]]
    purchase: NotRequired[dict[str, Any]]
    product: NotRequired[dict[str, Any]]
    distributor: NotRequired[dict[str, Any]]
    inspection: NotRequired[dict[str, Any] | None]


class RenewalRecord(Times):
    """One more term of a policy, with the dates before and after (contract R2)."""

    id: str
    policy_id: str
    purchase_id: str
    customer_id: str
    product_id: str
    product_category_id: str
    distributor_id: str
    provider_id: str
    status: bool
    total: str
    mca_profit: str
    distributor_profit: str
    previous_expiration_date: str
    start_date: str
    expiration_date: str
    payment_option: str | None
    payment_channel: str | None
    request_source: str | None
    is_live: bool
    customer: NotRequired[CustomerRecord]
    product: NotRequired[ProductRecord]
    productCategory: NotRequired[CategoryRecord]
    provider: NotRequired[ProviderRecord]
    policy: NotRequired[PolicyRecord]
