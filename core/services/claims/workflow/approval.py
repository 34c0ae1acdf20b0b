"""Approvals of claims: what each is of, its record, and its lapse once that is changed (contract K5)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlmodel import col

from core import money
from core.services.audit import log as audit
from core.services.claims.intake import submitted
from core.services.claims.workflow import limits as claim_limits
from core.services.claims.workflow import payments as claim_payments
from core.services.files import links as file_links
from core.services.people import approvals, transfers
from core.services.people.approvals import Approval, Subject
from core.services.people.staff import Person
from core.states.claims import DECIDED
from core.store.access import ScopedSession
from core.store.schema.tables import Claim, UploadedFile

KIND: Final = "claim"
_ACCOUNT: Final = ("account_number", "account_name", "bank_name", "bank_code")
_CLAIMANT: Final = ("", "_first_name", "_last_name", "_email", "_phone_number")


def build_subject(session: ScopedSession, claim: Claim) -> Subject:
    """Return what an approval of this claim is of: amount, payee and account, incident, claimant, estimate, papers."""
    meta, amounts = submitted.get_meta(claim), submitted.list_amounts(claim)
    papers = {name: meta.get(name) for name in _list_papers(claim) if meta.get(name)}
    known = {*papers, *amounts, *_ACCOUNT, *_list_papers(claim), submitted.SIGNED_DISCHARGE, "claimant_relation"}
    claimant = [getattr(claim, f"claim_owner{name}") for name in _CLAIMANT]
    parts: dict[str, Any] = {
        **_list_payee_parts(session, claim),
        "the incident": [claim.incident_date, *sorted((k, v) for k, v in meta.items() if k not in known)],
        "the amount claimed": dict(amounts),
        "the claimant": [*claimant, meta.get("claimant_relation")],
        "the estimate": claim.repair_estimate_minor,
        **_list_paper_parts(session, papers),
    }
    return Subject(kind=KIND, id=claim.id, amount_minor=claim.approved_amount_minor, parts=parts)


def _list_papers(claim: Claim) -> list[str]:
    """Return the names of the papers of the claimant; the signed discharge comes after the approval by its nature."""
    return [name for name in submitted.list_document_names(claim) if name != submitted.SIGNED_DISCHARGE]


def _list_payee_parts(session: ScopedSession, claim: Claim) -> dict[str, Any]:
    row = claim_payments.find_other_payee(session, claim)
    if row is not None:
        return {"the payee": row.name, "the account": [row.bank_name, transfers.open_account(row.sealed)]}
    meta, number = submitted.get_meta(claim), claim_payments.find_submitted_number(claim)
    return {"the payee": meta.get("account_name"), "the account": [meta.get("bank_name"), number]}


def _list_paper_parts(session: ScopedSession, papers: Mapping[str, Any]) -> dict[str, Any]:
    """Return each paper by the hash of its content, or by its address where it is no file of ours."""
    codes = {name: file_links.parse_stored_code(link) for name, link in papers.items()}
    query = sa.select(col(UploadedFile.code), col(UploadedFile.sha256)).where(
        col(UploadedFile.code).in_(codes.values())
    )
    hashes = {row.code: row.sha256 for row in session.execute(query)}
    return {f"the {name.replace('_', ' ')}": hashes.get(codes[name], link) for name, link in papers.items()}


def record(session: ScopedSession, claim: Claim, *, person: Person, at: datetime) -> None:
    """Write the approval of a claim as it is now, under the authority of who approves it."""
    role = next((each for each in ("supervisor", "admin") if each in person.roles), "claims")
    limit_minor = person.claim_limit_minor if role == approvals.LIMITED_ROLE else None
    subject = build_subject(session, claim)
    approvals.approve(session, subject, staff_id=person.id, role=role, limit_minor=limit_minor, at=at)


def find(session: ScopedSession, claim: Claim) -> Approval | None:
    """Return the newest approval of a claim; None without one, and once it was taken back by a decline."""
    return None if claim.approved_by is None else approvals.find_latest(session, KIND, claim.id)


def describe_fault(session: ScopedSession, claim: Claim, found: Approval | None) -> str | None:
    """Say why a claim's newest approval does not stand: "the account was changed by R. Adeyemi on 21 Nov 2026"."""
    if claim.approved_by is None:
        return None
    if found is None or found.staff_id != claim.approved_by:
        return approvals.FORGED
    return approvals.describe_fault(session, found, build_subject(session, claim))


def complete(session: ScopedSession, claim: Claim) -> None:
    """Freeze the facts of an approval from before there were any, as the claim is about to change."""
    if claim.approved_by is not None and claim.claim_status not in DECIDED:
        approvals.complete(session, KIND, claim.id, lambda: build_subject(session, claim))


def follow_change(session: ScopedSession, claim: Claim, *, actor: str, at: datetime) -> str | None:
    """Let the approval lapse if the claim is not what was approved; return what was changed, None where nothing was."""
    if claim.approved_by is None or claim.claim_status in DECIDED:
        return None
    changed = approvals.follow_change(session, build_subject(session, claim), actor=actor, at=at)
    return approvals.describe_changed(changed) if changed else None


def follow_policy(session: ScopedSession, claim: Claim, *, actor: str) -> None:
    """Let each approval of a policy lapse that is above what is owed since one of its claims changed (contract K5)."""
    query = sa.select(Claim).where(
        col(Claim.policy_id) == claim.policy_id,
        col(Claim.id) != claim.id,
        col(Claim.approved_by).is_not(None),
        col(Claim.claim_status).not_in(sorted(DECIDED)),
        col(Claim.deleted_at).is_(None),
    )
    for other in session.execute(query).scalars().all():
        approval = find(session, other)
        if approval is None or approval.lapse is not None:
            continue
        if above := claim_limits.find_above_owed(session, other, is_standing=True):
            _, most = above
            through = f"through claim {submitted.format_reference(claim.id)}"
            reason = f"what is owed was lowered to {money.format_naira(most)} {through}"
            approvals.lapse(session, approval.id, reason=reason, actor=actor, at=claim.updated_at)
            audit.note(session, "claim", other.id, "claim approval lapsed", actor=actor, reason=reason)
