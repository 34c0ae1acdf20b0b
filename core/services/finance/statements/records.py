"""Statements as a distributor reads them over the API: its own, once they were sent (contract F3)."""

from datetime import date
from typing import Annotated, Literal
from uuid import UUID

from pydantic import WithJsonSchema
from typing_extensions import TypedDict

from core import clock, money
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements.files import Paper
from core.services.finance.statements.reading import StatementRow
from core.services.lists.paging import Page, Paging
from core.services.lists.shapes import Id, Moment
from core.states.finance import SEEN, StatementState
from core.store.access import ScopedSession


class StatementRecord(TypedDict):
    """One statement: what a month brought, and the balances before and after; negative is owed to the platform."""

    id: Id
    number: str
    month: str
    timezone: Literal["Africa/Lagos"]
    state: Annotated[str, WithJsonSchema({"type": "string", "enum": list(SEEN)})]
    opening_balance: str
    premium: str
    commission_earned: str
    clawbacks: str
    adjustments: str
    vat: str
    withholding_tax: str
    payments: str
    closing_balance: str
    lines: int
    sha256: str
    reverses: str | None
    sent_at: Moment | None


def list_records(session: ScopedSession, paging: Paging) -> Page[StatementRecord]:
    """Return a page of the caller's statements, the newest month first."""
    found = statement_reading.list_statements(session)
    return Page([build(row) for row in found[paging.offset : paging.offset + paging.limit]], len(found))


def get_record(session: ScopedSession, statement_id: UUID) -> StatementRecord:
    """Return one of the caller's statements; NotFound for any other."""
    return build(statement_reading.get_statement(session, statement_id))


def build(row: StatementRow) -> StatementRecord:
    """Return the record of a statement."""
    return _build_record(str(row.id), row.paper, sent_at=clock.to_wire(row.sent_at))


def build_example() -> StatementRecord:
    """Return a statement for the documentation, whose amounts add up."""
    paper = Paper(
        title="Commission statement",
        number="CS-0007",
        account="distributor",
        party="Swift Lenders",
        month=date(2026, 10, 1),
        opening_minor=0,
        premium_minor=0,
        earned_minor=1_250_000,
        clawback_minor=-50_000,
        adjusted_minor=0,
        vat_minor=0,
        withheld_minor=60_000,
        paid_minor=0,
        closing_minor=1_140_000,
        lines=214,
        sha256="9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        state=StatementState.SENT,
        facts={},
    )
    return _build_record("01a1f7c0-3c00-7000-8000-0000000000b1", paper, sent_at="2026-11-03T09:15:00.000Z")


def _build_record(statement_id: str, paper: Paper, *, sent_at: str | None) -> StatementRecord:
    return {
        "id": statement_id,
        "number": paper.number,
        "month": f"{paper.month:%Y-%m}",
        "timezone": "Africa/Lagos",
        "state": paper.state,
        "opening_balance": money.to_wire(paper.opening_minor),
        "premium": money.to_wire(paper.premium_minor),
        "commission_earned": money.to_wire(paper.earned_minor),
        "clawbacks": money.to_wire(paper.clawback_minor),
        "adjustments": money.to_wire(paper.adjusted_minor),
        "vat": money.to_wire(paper.vat_minor),
        "withholding_tax": money.to_wire(paper.withheld_minor),
        "payments": money.to_wire(paper.paid_minor),
        "closing_balance": money.to_wire(paper.closing_minor),
        "lines": paper.lines,
        "sha256": paper.sha256,
        "reverses": paper.reverses,
        "sent_at": sent_at,
    }
