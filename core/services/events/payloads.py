"""The `data` of events, one model for each kind of object: no names, contacts, bank or health data (contract W2)."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from core.states.claims import ClaimStatus

_ID = "01a1f7c0-3c00-7000-8000-0000000000f1"
_AMOUNT = r"^-?[0-9]+\.[0-9]{2}$"


def _id(describes: str) -> Any:
    return Field(description=describes, examples=[_ID], json_schema_extra={"format": "uuid"})


def _instant(describes: str) -> Any:
    return Field(default=None, description=describes, examples=["2026-11-20T00:00:00.000Z"])


def _naira(describes: str) -> Any:
    return Field(default=None, description=describes, pattern=_AMOUNT, examples=["5000.00"])


class Data(BaseModel):
    """Base of the data of events; absent facts are left out."""

    model_config = ConfigDict(extra="forbid")


class PurchaseData(Data):
    """A purchase, by what it bought."""

    purchase_id: str = _id("The purchase.")
    policy_id: str = _id("The policy that it bought.")
    customer_id: str = _id("The customer.")
    product_id: str = _id("The product.")
    provider_id: str = _id("The insurer.")
    total: str | None = _naira("The premium in naira.")
    refund: str | None = _naira("What goes back, in naira.")


class PolicyData(Data):
    """A policy after the change."""

    policy_id: str = _id("The policy.")
    purchase_id: str = _id("The purchase that bought it.")
    customer_id: str = _id("The customer.")
    product_id: str = _id("The product.")
    provider_id: str = _id("The insurer.")
    policy_number: str | None = Field(default=None, examples=["AXA/PA/11/26/HQ/1"])
    start_date: str | None = _instant("Where cover starts.")
    expiration_date: str | None = _instant("Where cover ends.")
    certificate_url: str | None = Field(default=None, examples=["https://desk.example/certificates/abc.pdf"])
    renewal_id: str | None = Field(default=None, description="The renewal that paid for the term.", examples=[_ID])
    total: str | None = _naira("The premium of the term in naira.")
    refund: str | None = _naira("What goes back, in naira.")
    submitted_to_provider: bool | None = Field(default=None, description="True once its insurer knows of it.")
    days: int | None = Field(default=None, description="Days until cover ends.", examples=[30])
    endorsement: int | None = Field(default=None, description="The number of the endorsement.", examples=[1])
    hours: int | None = Field(default=None, description="Hours that the insurer has not answered.", examples=[24])


class CustomerData(Data):
    """A customer; who it is, the API tells."""

    customer_id: str = _id("The customer.")


class ClaimData(Data):
    """A claim after the change."""

    claim_id: str = _id("The claim.")
    policy_id: str = _id("The policy.")
    customer_id: str = _id("The customer.")
    product_id: str = _id("The product.")
    provider_id: str = _id("The insurer.")
    claim_status: str | None = Field(default=None, examples=[ClaimStatus.APPROVED.value])
    decline_reason: str | None = Field(default=None, description="The code of the reason.")
    claim_amount: str | None = _naira("What is claimed.")
    repair_estimate: str | None = _naira("The estimate.")
    approved_amount: str | None = _naira("What was approved.")
    offer_amount: str | None = _naira("What is offered.")
    paid: str | None = _naira("What was paid now.")
    document: str | None = Field(
        default=None, description="The document that was added.", examples=["death_certificate"]
    )
    version: int | None = Field(default=None, description="The version of the claim.", examples=[3])
    days: int | None = Field(default=None, description="Days of the statutory clock that have run.", examples=[45])


class StatementData(Data):
    """A statement of yours; its lines, the API tells."""

    statement_id: str = _id("The statement.")
    number: str = Field(description="Its number, as it is printed.", examples=["CS-0007"])
    month: str = Field(description="The month that it is about.", examples=["2026-10"])
    closing_balance: str = Field(
        description="What we owe you in naira; negative where you owe us.", pattern=_AMOUNT, examples=["45000.00"]
    )
    state: str | None = Field(default=None, examples=["Sent"])


class LoanBookData(Data):
    """A loan book; its rows, the API tells."""

    loan_book_id: str = _id("The loan book.")
    status: str | None = Field(default=None, description="Its status.", examples=["validated"])
    rows: int | None = Field(default=None, description="How many rows are valid, or were carried out.", examples=[9872])
    premium: str | None = _naira("What they come to, in naira.")


class ExportData(Data):
    """A file of the records of one distributor."""

    export_id: str = _id("The export; its receipt at the desk has the same id.")
    kind: str = Field(description="The kind of records.", examples=["purchases"])
    format: str = Field(description="The form of the file.", examples=["csv"])
    rows: int = Field(description="How many records it holds.", examples=[1250])
    total: str | None = _naira("The sum of their amounts in naira, where the kind has one.")
    sha256: str = Field(description="The SHA-256 of the file, in hex.", examples=["9f86d081884c7d65" * 4])


class ProductData(Data):
    """A product of the catalogue."""

    product_id: str = _id("The product.")
    provider_id: str = _id("The insurer.")
    effective_at: str | None = _instant("From when on the rates hold.")
    price: str | None = Field(default=None, description="The list price.", examples=["5000.00"])


class EndpointData(Data):
    """An endpoint of yours."""

    endpoint_id: str = _id("The endpoint.")
    state: str | None = Field(default=None, examples=["failing"])
    reason: str | None = Field(
        default=None, description="Why its state changed.", examples=["The receiver answered 500"]
    )
