"""Every table in one place, so that metadata is complete whenever one is used."""

from core.store.tables_catalogue import Product, ProductBlock, ProductCategory, ProductVersion, RateProposal
from core.store.tables_claims import Claim, ClaimComment, ClaimEvent, ClaimPayment, ClaimQuestion, UploadedFile
from core.store.tables_figures import DaybookLine, DayTotal
from core.store.tables_office import AuditEntry, AuditHead, ExportReceipt, KeptAnswer, StoreSecret
from core.store.tables_parties import (
    ApiKey,
    Customer,
    Distributor,
    OneTimeTicket,
    Provider,
    SignInAttempt,
    Staff,
    StaffSession,
)
from core.store.tables_sales import (
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
    "SignInAttempt",
    "Staff",
    "StaffSession",
    "StoreSecret",
    "Submission",
    "UploadedFile",
]
