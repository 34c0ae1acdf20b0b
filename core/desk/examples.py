"""Example records (a sale, a claim, an endpoint, each event), built by the real services so that they stay up to date.

The rows are instances of the real tables and go through the same functions as stored ones.
"""

from datetime import UTC, datetime
from functools import cache
from types import SimpleNamespace
from typing import Any, Final, cast
from uuid import UUID

from core.covers import credit_life, request
from core.covers.fields import build_example
from core.services.catalogue import products, shipped
from core.services.claims.intake import lodging, new_claims
from core.services.claims.intake.new_claims import CreditLifeClaimRequest
from core.services.claims.lists import records as claim_records
from core.services.claims.lists.records import ClaimRecord, StatusTime
from core.services.events import catalogue
from core.services.events.catalogue import EventType
from core.services.events.feed import VERSION, object_path
from core.services.files.files import FileRecord
from core.services.lists import records
from core.services.lists.records import (
    CategoryRecord,
    CountedCategoryRecord,
    CustomerRecord,
    FullPolicyRecord,
    ListedPolicyRecord,
    PolicyRecord,
    ProductRecord,
    PurchaseRecord,
    RenewalRecord,
)
from core.services.policies import policies
from core.store.schema.tables import (
    Customer,
    Policy,
    Product,
    ProductCategory,
    ProductVersion,
    Provider,
    Purchase,
    Renewal,
)

_OBJECT_ID: Final = "01a1f7c0-3c00-7000-8000-0000000000f1"
EVENT_ID: Final = "01a1f7c0-3c00-7000-8000-0000000000e1"


def build_schema(made: EventType) -> dict[str, Any]:
    """Return the JSON schema of an event's whole body."""
    data = made.data.model_json_schema()
    definitions = data.pop("$defs", {})
    text: dict[str, Any] = {"type": "string"}
    fields: dict[str, Any] = {
        "id": {**text, "format": "uuid"},
        "type": {"const": made.name},
        "timestamp": {**text, "format": "date-time"},
        "mode": {"enum": ["live", "test"]},
        "version": {"const": VERSION},
        "sequence": {"type": "integer", "minimum": 1},
        "object": {
            "type": "object",
            "properties": {"type": {"const": made.object}, "id": {**text, "format": "uuid"}, "url": text},
            "required": ["type", "id", "url"],
            "additionalProperties": False,
        },
        "data": data,
        "previous": {"type": "object", "properties": data["properties"], "additionalProperties": False},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": made.name,
        "description": made.when,
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
        **({"$defs": definitions} if definitions else {}),
    }


def build_sample(made: EventType) -> dict[str, Any]:
    """Return an event of this type with the example of every field that has one."""
    data = {name: field.examples[0] for name, field in made.data.model_fields.items() if field.examples}
    return {
        "id": EVENT_ID,
        "type": made.name,
        "timestamp": "2026-11-20T08:30:00.000Z",
        "mode": "test",
        "version": VERSION,
        "sequence": 1,
        "object": {
            "type": made.object,
            "id": _OBJECT_ID,
            "url": f"https://desk.example{object_path(made.object, _OBJECT_ID)}",
        },
        "data": data,
        "previous": {},
    }


_AT = datetime(2026, 11, 20, 7, 8, tzinfo=UTC)
_UNTIL = datetime(2027, 11, 20, tzinfo=UTC)
_PRODUCT_ID = UUID("01900000-0000-7000-8000-000000080101")
DISTRIBUTOR = UUID("01a1f7c0-3c00-7000-8000-0000000000d1")
CUSTOMER = UUID("01a1f7c0-3c00-7000-8000-0000000000c1")
PURCHASE = UUID("01a1f7c0-3c00-7000-8000-0000000000e1")
POLICY = UUID("01a1f7c0-3c00-7000-8000-0000000000f1")
RENEWAL = UUID("01a1f7c0-3c00-7000-8000-0000000000a1")


@cache
def _load_shipped() -> tuple[Product, ProductVersion, ProductCategory, Provider]:
    rows = shipped.build_rows()
    product = next(row for row in rows if isinstance(row, Product) and row.id == _PRODUCT_ID)
    version = next(row for row in rows if isinstance(row, ProductVersion) and row.product_id == _PRODUCT_ID)
    category = next(row for row in rows if isinstance(row, ProductCategory) and row.id == product.product_category_id)
    provider = next(row for row in rows if isinstance(row, Provider) and row.id == product.provider_id)
    return product, version, category, provider


def build_product() -> ProductRecord:
    """Return a credit life product of the shipped catalogue."""
    return products.build_product(*_load_shipped(), is_live=False)


def build_category() -> CategoryRecord:
    """Return the product's category."""
    return products.build_category(_load_shipped()[2], is_live=False)


def counted_category() -> CountedCategoryRecord:
    """Its category as the list has it."""
    return {**build_category(), "product_count": 3}


def build_customer() -> CustomerRecord:
    """Return the customer."""
    return records.build_customer(_build_customer_row())


def _build_customer_row() -> Customer:
    return Customer(
        id=CUSTOMER,
        distributor_id=DISTRIBUTOR,
        is_live=False,
        email="ngozi.okafor@example.com",
        email_key="ngozi.okafor@example.com",
        name_key="ngozi okafor",
        first_name="Ngozi",
        last_name="Okafor",
        phone_number="08031234567",
        gender="Female",
        date_of_birth="1990-04-12",
        user_id=CUSTOMER,
        created_at=_AT,
        updated_at=_AT,
    )


def _build_purchase_row() -> Purchase:
    _, version, category, provider = _load_shipped()
    return Purchase(
        id=PURCHASE,
        distributor_id=DISTRIBUTOR,
        is_live=False,
        customer_id=CUSTOMER,
        product_id=_PRODUCT_ID,
        product_version_id=version.id,
        product_category_id=category.id,
        provider_id=provider.id,
        batch_id=PURCHASE,
        total_minor=57_500,
        mca_profit_minor=5_750,
        distributor_profit_minor=1_438,
        payment_option="wallet",
        payment_channel="api",
        request_source="api",
        created_at=_AT,
        updated_at=_AT,
    )


def build_purchase() -> PurchaseRecord:
    """Return the purchase."""
    return {
        **records.build_purchase(_build_purchase_row(), POLICY),
        "customer": build_customer(),
        "product": build_product(),
        "productCategory": build_category(),
        "provider": build_product()["provider"],
    }


def build_policy() -> PolicyRecord:
    """The cover that it bought, nothing embedded."""
    return {**policies.build_record(_build_policy_row(), None), "active": True, "status": "active"}


def build_listed_policy() -> ListedPolicyRecord:
    """Return the policy as lists have it, with what belongs to it in short."""
    product = build_product()
    embedded = {
        "customer": build_customer(),
        "distributor": {"id": str(DISTRIBUTOR), "business_name": "Swift Lenders"},
        "inspection": None,
        "provider": records.pick_fields(product["provider"], "id", "company_name"),
        "purchase": records.pick_fields(build_purchase(), "id", "total"),
        "product": records.pick_fields(product, *policies.LISTED_PRODUCT_FIELDS),
    }
    return cast(ListedPolicyRecord, {**build_policy(), **embedded})


def build_full_policy() -> FullPolicyRecord:
    """Return the policy with all that belongs to it."""
    purchase = records.build_purchase(_build_purchase_row(), POLICY)
    product = build_product()
    embedded = {"provider": product["provider"], "purchase": purchase, "product": product, "endorsements": []}
    return cast(FullPolicyRecord, {**build_listed_policy(), **embedded})


def _build_policy_row() -> Policy:
    purchase_row = _build_purchase_row()
    return Policy(
        id=POLICY,
        purchase_id=PURCHASE,
        buyer_id=CUSTOMER,
        first_name="Ngozi",
        last_name="Okafor",
        email="ngozi.okafor@example.com",
        phone="08031234567",
        dob="1990-04-12",
        start_at=_AT.replace(hour=0, minute=0),
        activation_at=_AT.replace(hour=0, minute=0),
        expiration_at=_UNTIL,
        activated=True,
        submitted_to_provider=True,
        policy_number="GQA20260000001",
        certificate_code="vucaqgdumbkyy253yr3a3ihswu",
        market_price_minor=57_500,
        genius_price_minor=57_500,
        profit_minor=5_750,
        payload={"borrower_first_name": "Ngozi", "loan_amount": "100000.00", "loan_tenure": 12},
        **_copy_fields(purchase_row),
    )


def build_rows() -> tuple[Customer, Product, Provider, Policy]:
    """Return the rows that a claim on the policy embeds."""
    row, _, _, insurer = _load_shipped()
    return _build_customer_row(), row, insurer, _build_policy_row()


def build_renewal() -> RenewalRecord:
    """Return a renewal of the policy."""
    purchase_row = _build_purchase_row()
    row = Renewal(
        id=RENEWAL,
        policy_id=POLICY,
        purchase_id=PURCHASE,
        product_version_id=purchase_row.product_version_id,
        total_minor=purchase_row.total_minor,
        mca_profit_minor=purchase_row.mca_profit_minor,
        distributor_profit_minor=purchase_row.distributor_profit_minor,
        previous_expiration_at=_UNTIL,
        start_at=_UNTIL,
        expiration_at=_UNTIL.replace(year=2028),
        **_copy_fields(purchase_row),
    )
    return {
        **records.build_renewal(row),
        "customer": build_customer(),
        "product": build_product(),
        "productCategory": build_category(),
        "provider": build_product()["provider"],
        "policy": build_policy(),
    }


def _copy_fields(row: Purchase) -> dict[str, Any]:
    names = (
        *("distributor_id", "is_live", "customer_id", "product_id", "product_category_id", "provider_id"),
        *("payment_option", "payment_channel", "request_source", "created_at", "updated_at"),
    )
    return {name: getattr(row, name) for name in names}


def build_price() -> dict[str, Any]:
    """Build the example price of a policy, with its steps."""
    rates = products.rates_of(*_load_shipped()[:2])
    request = credit_life.CreditLifePriceRequest.model_validate(build_example(credit_life.CreditLifePriceRequest))
    result = credit_life.compute_price(request.loan_amount, request.loan_tenure, request.benefit_coverage, rates)
    return {"price": float(result.total), "explain": result.explain}


_FILE: Final = "https://coverdesk.example/v1/files/vucaqgdumbkyy253yr3a3ihswu"
_SUBMITTED: Final = {
    "policy_number": "GQA20260000001",
    "incident_type": "Loss of job",
    "accidental": "false",
    "loan_offer_date": "2026-08-01",
    "loan_repayment_date": "2027-08-01",
    "loan_amount": "100000.00",
    "pending_repayment_amount": "75000.00",
    "incident_date": "2026-11-18",
    "loan_offer_letter": _FILE,
    "employment_termination_letter": _FILE,
}


def build_claim() -> ClaimRecord:
    """Return a newly lodged claim on the example policy."""
    customer, product, provider, policy = build_rows()
    row = lodging.build_initial_claim(policy, new_claims.read(request.validate(CreditLifeClaimRequest, _SUBMITTED)))
    row.id = UUID("01a1f7c0-3c00-7000-8000-0000000000a1")
    row.created_at = row.updated_at = _AT
    embedded = SimpleNamespace(Claim=row, Customer=customer, Product=product, Provider=provider, Policy=policy)
    line = StatusTime(name=row.claim_status, time_stamp=claim_records.format_time_stamp(_AT))
    return claim_records.build_record(embedded, [line], [])


def build_file() -> FileRecord:
    """Return an uploaded file."""
    return {
        "file_url": _FILE,
        "file_name": "offer-letter.pdf",
        "content_type": "application/pdf",
        "size": 48_213,
        "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    }


ENDPOINT_ID: Final = "01a1f7c0-3c00-7000-8000-0000000000e2"
# No secret of anybody: 32 bytes of zeros.
SECRET: Final = "whsec_" + "A" * 43 + "="
_EVENT_AT: Final = "2026-11-20T07:08:00.000Z"
_TYPE: Final = catalogue.BY_NAME["purchase.created"]


def build_event() -> dict[str, Any]:
    """Return a sample event."""
    return build_sample(_TYPE)


def build_event_type() -> dict[str, Any]:
    """Return one declared type as it is answered."""
    return describe(_TYPE)


def describe(made: catalogue.EventType) -> dict[str, Any]:
    """Return a type with what makes it, the JSON schema of its body, and a sample."""
    return {
        "type": made.name,
        "object": made.object,
        "when": made.when,
        "schema": build_schema(made),
        "sample": build_sample(made),
    }


def build_endpoint() -> dict[str, Any]:
    """Return an active endpoint."""
    return {
        "id": ENDPOINT_ID,
        "url": "https://hooks.example.com/coverdesk",
        "description": "Claims of our back office",
        "events": ["claim.*"],
        "format": "standard",
        "signature_header": "x-signature",
        "state": "active",
        "last_error": None,
        "last_success_at": _EVENT_AT,
        "last_failure_at": None,
        "failing_since": None,
        "disabled_at": None,
        "old_secret_until": None,
        "created_at": _EVENT_AT,
        "held": 0,
        "mode": "test",
    }


def build_delivery() -> dict[str, Any]:
    """Return a delivery that was taken at once."""
    return {
        "id": "01a1f7c0-3c00-7000-8000-0000000000d1",
        "endpoint_id": ENDPOINT_ID,
        "event_id": EVENT_ID,
        "event_type": "claim.lodged",
        "state": "sent",
        "attempts": 1,
        "status": 200,
        "last_error": None,
        "is_replay": False,
        "next_try_at": None,
        "delivered_at": _EVENT_AT,
        "created_at": _EVENT_AT,
    }


def build_ping() -> dict[str, Any]:
    """Return the answer to a ping."""
    delivery = {**build_delivery(), "event_type": "endpoint.ping"}
    return {"delivery": delivery, "answer": "thanks", "endpoint": build_endpoint()}
