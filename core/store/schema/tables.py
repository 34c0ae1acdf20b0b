"""Every table in one place, so that metadata is complete whenever one is used."""

from core.store.schema.admin import (
    AuditEntry,
    AuditHead,
    ExportReceipt,
    KeptAnswer,
    SaleDraft,
    SalesTarget,
    StoreSecret,
)
from core.store.schema.catalogue import Product, ProductBlock, ProductCategory, ProductVersion, RateProposal
from core.store.schema.claims import Claim, ClaimComment, ClaimEvent, ClaimPayment, ClaimQuestion, UploadedFile
from core.store.schema.follow_up import RenewalCall
from core.store.schema.parties import (
    ApiKey,
    Customer,
    Distributor,
    OneTimeTicket,
    Provider,
    SignInAttempt,
    Staff,
    StaffSession,
)
from core.store.schema.rollups import DaybookLine, DayTotal
from core.store.schema.sales import (
    Certificate,
    Inspection,
    InsuredRisk,
    InsurerConnection,
    NumberCounter,
    Policy,
    Purchase,
    Refund,
    Renewal,
    Submission,
)

__all__ = [
    "ApiKey",
    "AuditEntry",
    "AuditHead",
    "Certificate",
    "Claim",
    "ClaimComment",
    "ClaimEvent",
    "ClaimPayment",
    "ClaimQuestion",
    "Customer",
    "DayTotal",
    "DaybookLine",
    "Distributor",
    "ExportReceipt",
    "Inspection",
    "InsuredRisk",
    "InsurerConnection",
    "KeptAnswer",
    "NumberCounter",
    "OneTimeTicket",
    "Policy",
    "Product",
    "ProductBlock",
    "ProductCategory",
    "ProductVersion",
    "Provider",
    "Purchase",
    "RateProposal",
    "Refund",
    "Renewal",
    "RenewalCall",
    "SaleDraft",
    "SalesTarget",
    "SignInAttempt",
    "Staff",
    "StaffSession",
    "StoreSecret",
    "Submission",
    "UploadedFile",
]
