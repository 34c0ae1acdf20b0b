"""Adding a document to a lodged claim, or replacing one (contract C2)."""

from uuid import UUID

from core.errors import InvalidInput, StateForbids
from core.services.claims.intake import requirements, submitted
from core.services.claims.review import fraud_flags
from core.services.claims.workflow import changes as claim_changes
from core.services.claims.workflow.changes import ClaimChange
from core.services.files import files
from core.services.files.files import StoredFile
from core.services.files.links import Owner
from core.services.people.staff import Person
from core.states.claims import DECIDED
from core.store.access import ScopedSession


def attach_document(
    session: ScopedSession, claim_id: UUID, file: StoredFile, *, person: Person, version: int
) -> ClaimChange:
    """Add a stored file to a claim as the document that its field names, replacing an earlier one.

    Raises NotAllowed, NotFound, StaleVersion, StateForbids for a decided claim, and InvalidInput for a document
    that this type of claim does not have. The replaced file stays among the claim's uploads.
    """
    claim = claim_changes.get_version_for_update(session, claim_id, person=person, version=version)
    if claim.claim_status in DECIDED:
        raise StateForbids(f"A claim that is {claim.claim_status} keeps its documents")
    if file.field not in submitted.list_document_names(claim):
        raise InvalidInput.for_field("document", "must be one that this kind of claim has")
    before = claim_changes.get_audited_facts(claim)
    if fraud_flags.is_file_reused(session, {file.sent_sha256}, except_claim_id=claim.id):
        flags = {*claim.flags, "same_file"}
        claim.flags = [name for name in requirements.FLAG_DESCRIPTIONS if name in flags]
    owner = Owner(distributor_id=claim.distributor_id, is_live=claim.is_live)
    address = files.record(session, file, owner, actor=person.actor, claim_id=claim.id)["file_url"]
    submitted.set_meta(claim, {file.field: address})
    extra_facts = {"document": file.field}
    return claim_changes.save_change(
        session, claim, before, person=person, action="claim document added", extra_facts=extra_facts
    )
