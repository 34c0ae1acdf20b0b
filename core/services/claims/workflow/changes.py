"""Start and end of every change to a claim: lock the row at its version, then save and audit."""

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
from core.services.claims.lists import records
from core.services.claims.lists.records import ClaimRecord
from core.services.claims.review import officers
from core.services.claims.workflow import approval
from core.services.people import staff
from core.services.people.four_eyes import refuse_own
from core.services.people.staff import Person
from core.states.claims import CLAIMS_ROLES
from core.store.access import ScopedSession
from core.store.schema.columns import Owned
from core.store.schema.tables import Claim

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
    """A claim after a change, and the version that the next change must name."""

    claim: ClaimRecord
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
    claim: Claim = session.find_scalar(query.execution_options(populate_existing=True), otherwise="Claim not found")
    approval.complete(session, claim)
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
    lapsed = approval.follow_change(session, claim, actor=person.actor, at=claim.updated_at)
    approval.follow_policy(session, claim, actor=person.actor)
    after = {name: value for name, value in get_audited_facts(claim).items() if value != before[name]}
    audit.write(
        session,
        actor=person.actor,
        action=action,
        subject=audit.subject_of("claim", claim.id),
        before={name: before[name] for name in after},
        after={**after, **(facts or {}), **({"approval_lapsed": lapsed} if lapsed else {})},
    )
    return ClaimChange(claim=records.get_claim(session, claim.id), version=claim.version)
