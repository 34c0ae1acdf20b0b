"""Adding a document to a lodged claim, or replacing one (contract C2)."""

from typing import Final
from uuid import UUID

from core.errors import InvalidInput, StateForbids
from core.services.claims.intake import documents as claim_documents
from core.services.claims.intake import requirements
from core.services.claims.review import fraud_flags
from core.services.claims.workflow import changes as claim_changes
from core.services.claims.workflow.changes import ClaimChange
from core.services.claims.workflow.clock import DECIDED
from core.services.files import files
from core.services.files.files import Kept
from core.services.files.links import Owner
from core.services.people.staff import Person
from core.store.access.scope import ScopedSession
from core.store.schema.tables import Claim

_METAS: Final = ("credit_life_claim_meta", "gadget_claim_meta", "vehicle_claim_meta")


def attach(session: ScopedSession, claim_id: UUID, kept: Kept, *, person: Person, version: int) -> ClaimChange:
    """Add a stored file to a claim as the document that its field names, replacing an earlier one.

    Raises NotAllowed, NotFound, StaleVersion, StateForbids for a decided claim, and InvalidInput for a document
    that this type of claim does not have. The replaced file stays among the claim's uploads.
    """
    claim = claim_changes.seen(session, claim_id, person=person, version=version)
    if claim.claim_status in DECIDED:
        raise StateForbids(f"A claim that is {claim.claim_status} keeps its documents")
    if kept.field not in claim_documents.places_of(claim):
        raise InvalidInput.one("document", "must be one that this kind of claim has")
    before = claim_changes.facts_of(claim)
    if fraud_flags.was_sent(session, {kept.sent_sha256}, but=claim.id):
        raised = {*claim.flags, "same_file"}
        claim.flags = [name for name in requirements.FLAGS if name in raised]
    owner = Owner(distributor_id=claim.distributor_id, is_live=claim.is_live)
    address = files.record(session, kept, owner, actor=person.actor, claim_id=claim.id)["file_url"]
    _put(claim, kept.field, address)
    said = {"document": kept.field}
    return claim_changes.saved(session, claim, before, person=person, action="claim document added", said=said)


def _put(claim: Claim, name: str, address: str) -> None:
    column = next((column for column in _METAS if getattr(claim, column) is not None), "gadget_claim_meta")
    setattr(claim, column, {**(getattr(claim, column) or {}), name: address})
