"""Setting the payee of a claim: one person sets it, another pays (contract C10)."""

from typing import Any
from uuid import UUID

from core import seal
from core.covers import request
from core.errors import NotAllowed, StateForbids
from core.services import transfers
from core.services.claims.workflow import changes as claim_changes
from core.services.claims.workflow import payees, referrals
from core.services.claims.workflow.changes import ClaimChange
from core.services.claims.workflow.inputs import PayeeInput
from core.services.claims.workflow.payees import Payee
from core.services.people.staff import Person
from core.states.claims import DECIDED, ClaimStatus
from core.store.access import ScopedSession


def set_payee(
    session: ScopedSession,
    claim_id: UUID,
    *,
    name: str,
    bank_name: str,
    account_number: str,
    reason: str,
    person: Person,
    version: int,
) -> ClaimChange:
    """Set who is paid, with a reason; whoever sets it does not pay it.

    StateForbids once the claim is decided, NotAllowed for an officer once the offer was accepted, InvalidInput names
    what is wrong.
    """
    typed = {"payee": name, "payee_bank": bank_name, "payee_account": account_number, "payee_reason": reason}
    given: PayeeInput = request.validate(PayeeInput, typed)
    with claim_changes.refusals(claim_id, "set the payee", person=person):
        claim = claim_changes.get_version_for_update(session, claim_id, person=person, version=version)
        if claim.claim_status in DECIDED:
            raise StateForbids(f"A claim that is {claim.claim_status} keeps its payee")
        if claim.claim_status == ClaimStatus.OFFER_ACCEPTED and not person.has_role("supervisor"):
            raise NotAllowed("Once an offer was accepted, a supervisor changes the payee")
    before, at = claim_changes.get_audited_facts(claim), claim_changes.next_instant(claim)
    hint = given.payee_account[-4:]
    if (referral := referrals.find_open(session, claim.id)) and referral.is_for_finance:
        # Finance pays whom the supervisor has seen: another payee is handed over anew.
        referrals.close(session, claim, person=person, at=at)
    payees.insert(
        session,
        claim,
        Payee(name=given.payee, bank_name=given.payee_bank, hint=hint, reason=given.payee_reason, set_by=person.id),
        number=given.payee_account,
        at=at,
    )
    claim.account_key = transfers.build_account_key(given.payee_account)
    facts: dict[str, Any] = {"payee": given.payee, "payee_account": seal.mask(given.payee_account)}
    facts["payee_reason"] = given.payee_reason
    return claim_changes.save_change(session, claim, before, person=person, action="claim payee set", extra_facts=facts)
