"""Every table in one place, so that metadata is complete whenever one is used."""

from core.store.schema.admin import AuditEntry, AuditHead, ExportReceipt, KeptAnswer, StoreSecret
from core.store.schema.agreements import Agreement, BankAccount
from core.store.schema.catalogue import Product, ProductBlock, ProductCategory, ProductVersion, RateProposal
from core.store.schema.claims import Claim, ClaimComment, ClaimEvent, ClaimPayment, ClaimQuestion, UploadedFile
from core.store.schema.finance import Adjustment, AdjustmentProposal, Movement
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
from core.store.schema.statements import Statement, StatementLine, TaxRate

__all__ = [
    "Adjustment",
    "AdjustmentProposal",
    "Agreement",
    "ApiKey",
    "AuditEntry",
    "AuditHead",
    "BankAccount",
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
    "Movement",
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
    "Statement",
    "StatementLine",
    "StoreSecret",
    "Submission",
    "TaxRate",
    "UploadedFile",
]
