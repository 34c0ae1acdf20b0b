"""Adding documents to a lodged claim, or replacing them: at the desk, and by its distributor (contract C2, C18)."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.errors import FieldFault, InvalidInput, StateForbids
from core.services.claims.intake import requirements, submitted
from core.services.claims.lists.shapes import ClaimRecord
from core.services.claims.review import fraud_flags
from core.services.claims.workflow import changes as claim_changes
from core.services.claims.workflow.changes import ClaimChange
from core.services.files import files
from core.services.files import links as file_links
from core.services.files.files import StoredFile
from core.services.files.links import Owner
from core.services.people.staff import Person
from core.states.claims import DECIDED
from core.store.access import ScopedSession
from core.store.schema.tables import Claim, UploadedFile


def attach_document(
    session: ScopedSession, claim_id: UUID, file: StoredFile, *, person: Person, version: int
) -> ClaimChange:
    """Add a stored file to a claim as the document that its field names, replacing an earlier one.

    Raises NotAllowed, NotFound, StaleVersion, StateForbids for a decided claim, and InvalidInput for a document
    that this type of claim does not have. The replaced file stays readable as an earlier version.
    """
    claim = claim_changes.get_version_for_update(session, claim_id, person=person, version=version)
    _refuse_decided(claim)
    if file.field not in submitted.list_document_names(claim):
        raise InvalidInput.for_field("document", "must be one that this kind of claim has")
    before = claim_changes.get_audited_facts(claim)
    _flag_reused(session, claim, {file.sent_sha256})
    _keep(session, claim, file, actor=person.actor)
    return claim_changes.save_change(
        session, claim, before, person=person, action="claim document added", extra_facts={"document": file.field}
    )


def attach_over_api(
    session: ScopedSession,
    claim_id: UUID,
    uploads: Sequence[StoredFile],
    links: Mapping[str, str],
    *,
    owner: Owner,
    actor: str,
) -> ClaimRecord:
    """Add documents that the distributor sent: files, or by name the addresses of its uploads; nothing or all of them.

    Raises NotFound, StateForbids for a decided claim, and InvalidInput for a document that this type of claim does
    not have, or that is not an upload of the owner.
    """
    claim = claim_changes.get_for_update(session, claim_id)
    _refuse_decided(claim)
    names = [*(file.field for file in uploads), *links]
    known, codes = submitted.list_document_names(claim), file_links.find_codes(links)
    owned = file_links.list_owned(session, set(codes.values()), owner)
    faults = [FieldFault(name, f"must be one of {', '.join(known)}") for name in names if name not in known]
    faults += [
        FieldFault(name, "must be a file, or the address of one that you uploaded in this mode")
        for name in links
        if codes.get(name) not in owned
    ]
    if faults:
        raise InvalidInput(faults)
    before = claim_changes.get_audited_facts(claim)
    hashes = session.execute(sa.select(col(UploadedFile.sent_sha256)).where(col(UploadedFile.code).in_(codes.values())))
    _flag_reused(session, claim, {*(file.sent_sha256 for file in uploads), *hashes.scalars()})
    for file in uploads:
        _keep(session, claim, file, actor=actor)
    for name, link in links.items():
        submitted.set_meta(claim, {name: link})
        _link(session, claim, codes[name], name)
    facts: dict[str, Any] = {"document": ", ".join(names)}
    change = claim_changes.save_change(
        session, claim, before, person=claim_changes.Sender(actor), action="claim document added", extra_facts=facts
    )
    return change.claim


def _refuse_decided(claim: Claim) -> None:
    if claim.claim_status in DECIDED:
        raise StateForbids(f"A claim that is {claim.claim_status} keeps its documents")


def _flag_reused(session: ScopedSession, claim: Claim, hashes: set[str]) -> None:
    if fraud_flags.is_file_reused(session, hashes, except_claim_id=claim.id):
        flags = {*claim.flags, "same_file"}
        claim.flags = [name for name in requirements.FLAG_DESCRIPTIONS if name in flags]


def _keep(session: ScopedSession, claim: Claim, file: StoredFile, *, actor: str) -> None:
    owner = Owner(distributor_id=claim.distributor_id, is_live=claim.is_live)
    address = files.record(session, file, owner, actor=actor, claim_id=claim.id)["file_url"]
    submitted.set_meta(claim, {file.field: address})


def _link(session: ScopedSession, claim: Claim, code: str, name: str) -> None:
    """Link an earlier upload to the claim; one that is linked already is left."""
    session.execute(
        sa.update(UploadedFile)
        .where(col(UploadedFile.code) == code, col(UploadedFile.claim_id).is_(None))
        .values(claim_id=claim.id, field=name[:40])
        .execution_options(synchronize_session=False)
    )
