"""Every change to a claim: locked at its version, saved, audited; the approval that lapses by it (contract K5)."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, TypeVar
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock, ids, money
from core.errors import FieldFault, InvalidInput, StaleVersion
from core.services.audit import log as audit
from core.services.claims.intake import submitted
from core.services.claims.review import officers
from core.services.claims.workflow import limits as claim_limits
from core.services.claims.workflow import payments as claim_payments
from core.services.files import links as file_links
from core.services.people import approvals, staff, transfers
from core.services.people.approvals import Approval, Subject
from core.services.people.four_eyes import refuse_own
from core.services.people.staff import Person
from core.states.claims import CLAIMS_ROLES, DECIDED
from core.store.access import ScopedSession
from core.store.schema.columns import Owned
from core.store.schema.tables import Claim, UploadedFile

Reason = Annotated[str, Field(min_length=2, max_length=500)]
RowT = TypeVar("RowT", bound=Owned)
_TICK: Final = timedelta(milliseconds=1)
_AUDITED_FIELDS: Final = (
    *("claim_status", "decline_reason", "claim_amount_minor", "repair_estimate_minor", "approved_amount_minor"),
    *("offer_amount_minor", "excess_deduction_amount_minor", "betterment_deduction_amount_minor", "incident_date"),
    *("payment_reference", "assigned_to", "approved_by", "flags", "version"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimChange:
    """The status of a claim after a change, and the version that the next change must name."""

    claim_status: str
    version: int


@dataclass(frozen=True, slots=True)
class Sender:
    """Whoever changes a claim without being of the desk, as the audit log names them."""

    actor: str


def new_row(kind: type[RowT], claim: Claim, **values: Any) -> RowT:
    """Build a row of a claim, with an id of its own, for the distributor and the mode of the claim."""
    owned = {"distributor_id": claim.distributor_id, "is_live": claim.is_live, "claim_id": claim.id}
    return kind(**{"id": ids.new(), **owned, **values})


def require_claims_role(person: Person) -> None:
    """Raise NotAllowed unless the person works claims (contract A1)."""
    person.require_role(*CLAIMS_ROLES, otherwise="Claims are worked by claims officers and supervisors")


def require_supervisor(person: Person, why: str) -> None:
    """NotAllowed, with `why`, for who is no supervisor, and for one whose password somebody else just reset (A2)."""
    person.require_role("supervisor", otherwise=why)
    staff.refuse_resting(person)


@contextmanager
def refusals(claim_id: UUID, act: str, *, person: Person) -> Iterator[None]:
    """Log an act on a claim that its state or a rule on money refuses; what is left out or mistyped is not logged."""
    try:
        with audit.keep_refusal(actor=person.actor, action=f"claim {act}", subject=audit.subject_of("claim", claim_id)):
            yield
    except InvalidInput as error:
        if not any(map(_is_rule_on_money, error.faults)):
            error.kept = None
        raise


def _is_rule_on_money(fault: FieldFault) -> bool:
    """Return True for a reference that cannot be one, an amount that may not be paid, and an estimate without paper."""
    is_left_out = fault.message.startswith(("must be given", "is no part"))
    is_estimate = fault.field == "estimate_document" or "the estimate is above" in fault.message
    return is_estimate or (fault.field in {"amount", "payment_reference"} and not is_left_out)


def get_for_update(session: ScopedSession, claim_id: UUID) -> Claim:
    """Lock and return the current row of a claim (SELECT ... FOR UPDATE); NotFound when it is not in this scope."""
    query = sa.select(Claim).where(col(Claim.id) == claim_id, col(Claim.deleted_at).is_(None)).with_for_update()
    claim = session.find_scalar(query.execution_options(populate_existing=True), otherwise="Claim not found")
    complete_approval(session, claim)
    return claim


def get_version_for_update(session: ScopedSession, claim_id: UUID, *, person: Person, version: int) -> Claim:
    """Lock and return the row of a claim; StaleVersion, with the current version, when it changed (contract C7)."""
    require_claims_role(person)
    return get_seen_for_update(session, claim_id, version=version)


def get_own_refused(session: ScopedSession, claim_id: UUID, *, person: Person, version: int) -> Claim:
    """Like `get_version_for_update`, for a change of what a claim says, of its figures or of who is paid.

    NotAllowed for whoever has an e-mail, phone or account of the claim: what makes it their own is not taken off by
    them, and neither is it raised or handed on (contract K12).
    """
    claim = get_version_for_update(session, claim_id, person=person, version=version)
    with refusals(claim_id, "change", person=person):
        refuse_own(officers.load_parties(session, claim), person)
    return claim


def get_seen_for_update(session: ScopedSession, claim_id: UUID, *, version: int) -> Claim:
    """Like `get_version_for_update`, for a caller that judges by itself who may change the claim."""
    claim = get_for_update(session, claim_id)
    if claim.version != version:
        raise StaleVersion(
            f"This claim was changed by somebody else: it is {claim.claim_status} now, at version {claim.version}",
            detail={"version": claim.version, "claim_status": claim.claim_status},
        )
    return claim


def next_instant(claim: Claim) -> datetime:
    """Return now, or later if needed to follow every earlier change: server clocks may differ."""
    return max(clock.now(), claim.updated_at + _TICK, claim.clock_stopped_at or claim.clock_from)


def get_audited_facts(claim: Claim) -> dict[str, Any]:
    """Return the audited fields of a claim as plain data."""
    return {name.removesuffix("_minor"): _to_plain(name, getattr(claim, name)) for name in _AUDITED_FIELDS}


def _to_plain(name: str, value: Any) -> Any:
    if name.endswith("_minor"):
        return money.to_wire(value)
    return str(value) if isinstance(value, UUID) else value


def save_change(
    session: ScopedSession,
    claim: Claim,
    before: Mapping[str, Any],
    *,
    person: Person | Sender,
    action: str,
    facts: Mapping[str, Any] | None = None,
) -> ClaimChange:
    """Save a change as the next version and write the audit entry.

    `before` are the audited fields before the change; `facts` are added to the entry.
    """
    claim.version += 1
    claim.updated_at = next_instant(claim)
    session.flush()
    lapsed = follow_change(session, claim, actor=person.actor, at=claim.updated_at)
    follow_policy(session, claim, actor=person.actor)
    after = {name: value for name, value in get_audited_facts(claim).items() if value != before[name]}
    audit.write(
        session,
        actor=person.actor,
        action=action,
        subject=audit.subject_of("claim", claim.id),
        before={name: before[name] for name in after},
        after={**after, **(facts or {}), **({"approval_lapsed": lapsed} if lapsed else {})},
    )
    return ClaimChange(claim_status=claim.claim_status, version=claim.version)


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


def record_approval(session: ScopedSession, claim: Claim, *, person: Person, at: datetime) -> None:
    """Write the approval of a claim as it is now, under the authority of who approves it."""
    role = next((each for each in ("supervisor", "admin") if each in person.roles), "claims")
    limit_minor = person.claim_limit_minor if role == approvals.LIMITED_ROLE else None
    subject = build_subject(session, claim)
    approvals.approve(session, subject, staff_id=person.id, role=role, limit_minor=limit_minor, at=at)


def end_by_return(
    session: ScopedSession, claim: Claim, minor: int, *, person: Person, at: datetime
) -> Mapping[str, str]:
    """Let the approval of a claim lapse as this sum in kobo came back: whoever approves it again judges the return.

    It returns what the log says of it: that the approval ended tells the return from one of before there was the rule.
    """
    approval = find_approval(session, claim)
    if approval is not None:
        approvals.lapse(session, approval.id, reason=approvals.CAME_BACK, actor=person.actor, at=at)
    return {"reversed": money.to_wire(minor), "approval": "ended"}


def find_approval(session: ScopedSession, claim: Claim) -> Approval | None:
    """Return the newest approval of a claim; None without one, and once it was taken back by a decline."""
    return None if claim.approved_by is None else approvals.find_latest(session, KIND, claim.id)


def describe_approval_fault(session: ScopedSession, claim: Claim, found: Approval | None) -> str | None:
    """Say why a claim's newest approval does not stand: "the account was changed by R. Adeyemi on 21 Nov 2026"."""
    if claim.approved_by is None:
        return None
    if found is None or found.staff_id != claim.approved_by:
        return approvals.FORGED
    return approvals.describe_fault(session, found, build_subject(session, claim))


def complete_approval(session: ScopedSession, claim: Claim) -> None:
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
        approval = find_approval(session, other)
        if approval is None or approval.lapse is not None:
            continue
        if above := claim_limits.find_above_owed(session, other, is_standing=True):
            _, most = above
            through = f"through claim {submitted.format_reference(claim.id)}"
            reason = f"what is owed was lowered to {money.format_naira(most)} {through}"
            approvals.lapse(session, approval.id, reason=reason, actor=actor, at=claim.updated_at)
            audit.note(session, "claim", other.id, "claim approval lapsed", actor=actor, reason=reason)
