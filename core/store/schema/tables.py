"""Every table by its name; a module of tables is imported when one of its tables is asked for first.

To declare all of them takes longer than all that a small command does. Whoever needs each of them, to limit, flush or
walk them, asks `metadata`: a foreign key is of no use to SQLAlchemy before the table that it names is declared.
"""

# ruff: noqa: F403 - others import from here
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sa
from sqlmodel import SQLModel

if TYPE_CHECKING:
    from core.store.schema.admin import *
    from core.store.schema.catalogue import *
    from core.store.schema.claims import *
    from core.store.schema.compliance import *
    from core.store.schema.events import *
    from core.store.schema.finance import *
    from core.store.schema.parties import *
    from core.store.schema.rollups import *
    from core.store.schema.sales import *
    from core.store.schema.statements import *

_NAMES: Final = {
    "admin": "AuditEntry AuditHead ExportReceipt Heartbeat KeptAnswer SaleDraft SalesTarget SavedView StartView "
    "StoreSecret ViewWatch",
    "catalogue": "CommissionShare Product ProductBlock ProductCategory ProductVersion RateProposal",
    "claims": "Approval ApprovalLapse Claim ClaimComment ClaimEvent ClaimLetterSent ClaimOverride ClaimPayment "
    "ClaimPaymentFile ClaimQuestion ClaimReferral ClaimReserve ClaimTask FileMark UploadedFile",
    "compliance": "Breach Complaint ComplianceFigure DataRequest Erasure ErasureWindow Filing LegalHold Redaction",
    "events": "Event EventCursor EventFeed Mail MailText WebhookDelivery WebhookEndpoint WebhookTry",
    "finance": "Adjustment AdjustmentProposal Agreement BankAccount CreditNote CreditNotePayment MonthStep Movement "
    "PartyPayment Payment PaymentPayee PaymentSettlement PayoutBatch StatementPayment TermsProposal Transfer",
    "parties": "ApiKey Automation Customer CustomerMerge CustomerNote Distributor EndorsementNotice OneTimeTicket "
    "PolicyEndorsement Provider ReminderOptOut RenewalCall RenewalReminder RoleGrant SignInAttempt Staff "
    "StaffDetail StaffSession SubmissionOwner",
    "rollups": "ClaimTotal DaybookLine DayTotal",
    "sales": "Certificate Inspection InsuredRisk InsurerConnection LoanBook LoanBookFile LoanBookRow NumberCounter "
    "Policy Purchase Refund Renewal Submission",
    "statements": "Bordereau BordereauLine Difference FileMapping Reconciliation Statement StatementLine StatementStep "
    "TaxRate",
}
_MODULES: Final = {name: module for module, names in _NAMES.items() for name in names.split()}


# A checker of types reads the imports above, and not that there is a table of any name.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"there is no table {name}")
        table = globals()[name] = getattr(_load(_MODULES[name]), name)
        return table


def metadata() -> sa.MetaData:
    """Every table, declared."""
    for module in _NAMES:
        _load(module)
    return SQLModel.metadata


def _load(module: str) -> ModuleType:
    return import_module(f"core.store.schema.{module}")
