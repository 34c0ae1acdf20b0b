"""Example claim and file records, built by the real services so that they stay up to date."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Final
from uuid import UUID

from core.covers import request
from core.services.claims.intake import lodging, new_claims
from core.services.claims.intake.request import CreditLifeClaimRequest
from core.services.claims.lists import records as claim_records
from core.services.claims.lists.shapes import ClaimRecord, StatusTime
from core.services.examples import sale as sale_example
from core.services.files.files import FileRecord

_AT: Final = datetime(2026, 11, 20, 7, 8, tzinfo=UTC)
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
    customer, product, provider, policy = sale_example.build_rows()
    row = lodging.build_initial_claim(
        policy, customer, new_claims.read(request.validate(CreditLifeClaimRequest, _SUBMITTED))
    )
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
