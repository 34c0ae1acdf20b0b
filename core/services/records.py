"""How rows become the records of the specification."""

from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID

from core.clock import wire as at
from core.money import wire as naira
from core.services.shapes import CustomerRecord, PolicyRecord, PurchaseRecord, Times
from core.settings import settings


def text(value: UUID | None) -> str | None:
    """An id as its 36 characters, or none."""
    return None if value is None else str(value)


def percentage(basis_points: int) -> str:
    """Basis points as a decimal string of percent: 550 -> "5.50"."""
    return naira(basis_points)


def mode(is_live: bool) -> str:  # noqa: FBT001 - the word for a column's value
    """The word that `app_mode` carries (contract M1)."""
    return "live" if is_live else "test"


def timed(row: Any) -> Times:
    """The times of a record's life."""
    return {
        "created_at": at(row.created_at) or "",
        "updated_at": at(row.updated_at) or "",
        "deleted_at": at(row.deleted_at),
    }


def customer(row: Any) -> CustomerRecord:
    """A customer row as its record."""
    kept = {name: getattr(row, name) for name in _AS_KEPT_CUSTOMER}
    record = {
        "id": str(row.id),
        "app_mode": mode(row.is_live),
        "business_id": str(row.distributor_id),
        "user_id": str(row.user_id),
        "wallet_id": text(row.wallet_id),
        **kept,
        **timed(row),
    }
    return cast(CustomerRecord, record)


_AS_KEPT_CUSTOMER = (
    "is_live",
    "first_name",
    "last_name",
    "email",
    "phone_number",
    "country",
    "gender",
    "title",
    "state_of_residence",
    "city",
    "address",
    "date_of_birth",
    "identity_verification",
    "verification_type",
    "face_image",
    "is_kyc_complete",
    "active",
)


def purchase(row: Any, policy_id: UUID | None) -> PurchaseRecord:
    """A purchase row and the id of its policy as its record, nothing embedded."""
    return {
        "id": str(row.id),
        "customer_id": str(row.customer_id),
        "product_id": str(row.product_id),
        "product_category_id": str(row.product_category_id),
        "distributor_id": str(row.distributor_id),
        "provider_id": str(row.provider_id),
        "batch_id": str(row.batch_id),
        "total": naira(row.total_minor),
        "mca_profit": naira(row.mca_profit_minor),
        "distributor_profit": naira(row.distributor_profit_minor),
        "discount_code_id": text(row.discount_code_id),
        "payment_option": row.payment_option,
        "payment_channel": row.payment_channel,
        "request_source": row.request_source,
        "policy_id": text(policy_id),
        "is_live": row.is_live,
        **timed(row),  # type: ignore[typeddict-item]
    }


def policy(row: Any, *, in_force: bool, echo: str = "payload") -> PolicyRecord:
    """A policy row as its record, nothing embedded; `echo` names the submitted data inside `meta`."""
    return {
        "id": str(row.id),
        "app_mode": mode(row.is_live),
        "is_live": row.is_live,
        "active": in_force,
        "first_name": row.first_name,
        "last_name": row.last_name,
        "email": row.email,
        "phone": row.phone,
        "dob": row.dob,
        "start_date": at(row.start_at),
        "activation_date": at(row.activation_at),
        "expiration_date": at(row.expiration_at),
        "customer_id": str(row.customer_id),
        "buyer_id": str(row.buyer_id),
        "distributor_id": str(row.distributor_id),
        "product_id": str(row.product_id),
        "product_category_id": str(row.product_category_id),
        "provider_id": str(row.provider_id),
        "purchase_id": str(row.purchase_id),
        "inspection_id": text(row.inspection_id),
        "genius_price": naira(row.genius_price_minor),
        "market_price": naira(row.market_price_minor),
        "profit": naira(row.profit_minor),
        "submitted_to_provider": row.submitted_to_provider,
        "payment_option": row.payment_option,
        "payment_channel": row.payment_channel,
        "request_source": row.request_source,
        "meta": _policy_meta(row, echo),
        **timed(row),  # type: ignore[typeddict-item]
    }


def _policy_meta(row: Any, echo: str) -> dict[str, Any]:
    meta: dict[str, Any] = {
        echo: row.payload,
        "policy_number": row.policy_number,
        "certificate_url": certificate_url(row.certificate_code),
        "provider_policy_id": row.provider_policy_id,
    }
    if row.plate_key is not None:
        meta["vehicle_registration_number"] = row.submitted.get("registration_number") or row.submitted.get(
            "vehicle_registration_number"
        )
    if row.device_serial_number is not None:
        meta["device_serial_number"] = row.device_serial_number
    return meta


def certificate_url(code: str | None) -> str | None:
    """The address of a certificate: outside /v1, open to whoever has its code (contract S10)."""
    return f"{settings().base_url}/certificates/{code}.pdf" if code else None


def only(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Some fields of a record, for places that embed less than the whole."""
    return {name: record[name] for name in names}
