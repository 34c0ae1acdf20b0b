"""Start and end of every change to a claim: lock the row at the expected version, save, write the audit entry."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.errors import InvalidInput, NotAllowed, NotFound, StaleVersion
from core.services.audit import log as audit
from core.services.claims.lists import claims
from core.services.claims.lists.shapes import ClaimRecord
from core.services.claims.workflow import approvals as claim_approvals
from core.services.people.staff import Person
from core.states.claims import CLAIMS_ROLES
from core.store.access import ScopedSession
from core.store.schema.tables import Claim

_TICK: Final = timedelta(milliseconds=1)
_AUDITED_FIELDS: Final = (
    "claim_status",
    "decline_reason",
    "claim_amount_minor",
    "repair_estimate_minor",
    "approved_amount_minor",
    "offer_amount_minor",
    "excess_deduction_amount_minor",
    "betterment_deduction_amount_minor",
    "incident_date",
    "payment_reference",
    "assigned_to",
    "approved_by",
    "flags",
    "version",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimChange:
    """A claim after a change, and the version that the next change must name."""

    claim: ClaimRecord
    version: int


@dataclass(frozen=True, slots=True)
class Sender:
    """Whoever changes a claim without being of the desk, as the audit log names them."""

    actor: str


def require_claims_role(person: Person) -> None:
    """Raise NotAllowed unless the person works claims (contract A1)."""
    if not person.has_role(*CLAIMS_ROLES):
        raise NotAllowed("Claims are worked by claims officers and supervisors")


@contextmanager
def refusals(claim_id: UUID, act: str, *, person: Person) -> Iterator[None]:
    """Log an act on a claim that a rule or its state refuses, and one for its payment reference alone.

    What else is wrongly typed is corrected and not logged.
    """
    try:
        with audit.keep_refusal(actor=person.actor, action=f"claim {act}", subject=audit.subject_of("claim", claim_id)):
            yield
    except InvalidInput as error:
        is_reference = {fault.field for fault in error.faults} == {"payment_reference"}
        if not is_reference or error.faults[0].message.startswith("must be given"):
            error.kept = None
        raise


def get_for_update(session: ScopedSession, claim_id: UUID) -> Claim:
    """Lock and return the current row of a claim (SELECT ... FOR UPDATE); NotFound when it is not in this scope."""
    query = sa.select(Claim).where(col(Claim.id) == claim_id, col(Claim.deleted_at).is_(None)).with_for_update()
    claim: Claim | None = session.execute(query.execution_options(populate_existing=True)).scalar_one_or_none()
    if claim is None:
        raise NotFound("Claim not found")
    claim_approvals.complete(session, claim)
    return claim


def get_version_for_update(session: ScopedSession, claim_id: UUID, *, person: Person, version: int) -> Claim:
    """Lock and return the row of a claim; StaleVersion, with the current version, when it changed (contract C7)."""
    require_claims_role(person)
    return get_seen_for_update(session, claim_id, version=version)


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
    extra_facts: Mapping[str, Any] | None = None,
) -> ClaimChange:
    """Save a change as the next version and write the audit entry.

    `before` are the audited fields before the change; extra facts are added to the entry.
    """
    claim.version += 1
    claim.updated_at = next_instant(claim)
    session.flush()
    lapsed = claim_approvals.follow_change(session, claim, actor=person.actor, at=claim.updated_at)
    after = {name: value for name, value in get_audited_facts(claim).items() if value != before[name]}
    audit.write(
        session,
        actor=person.actor,
        action=action,
        subject=audit.subject_of("claim", claim.id),
        before={name: before[name] for name in after},
        after={**after, **(extra_facts or {}), **({"approval_lapsed": lapsed} if lapsed else {})},
    )
    return ClaimChange(claim=claims.get_claim(session, claim.id), version=claim.version)
