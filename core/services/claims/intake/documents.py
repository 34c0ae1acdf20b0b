"""The documents of a claim as an officer sees them: what the incident calls for, and what came (contract C2)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from sqlmodel import col

from core.services.claims.intake import requirements
from core.services.claims.workflow import transitions
from core.services.files import links as file_links
from core.store.access.scope import ScopedSession
from core.store.operations import blob_storage
from core.store.schema.tables import Claim, UploadedFile

_OF_A_DEVICE: Final = (
    "front_image",
    "back_image",
    "side_image",
    "police_report",
    "repair_receipt",
    "payment_receipt",
)
_OF_THE_CLAIM: Final = ("claim_invoice_url", "offer_form_url")


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """One paper or picture: whether the incident calls for it, and the file behind it, if there is one.

    `code` is that of a file of ours which can be opened; `link` what was submitted, wherever it leads.
    """

    name: str
    required: bool
    link: str | None = None
    code: str | None = None
    file_name: str | None = None
    content_type: str | None = None
    size: int | None = None

    @property
    def is_medical(self) -> bool:
        """True for what only a reason opens (contract A3)."""
        return self.name == requirements.MEDICAL

    @property
    def missing(self) -> bool:
        """True when it is called for and did not come."""
        return self.required and self.link is None


def of(session: ScopedSession, claim: Claim) -> list[Document]:
    """Every document that a claim has or should have, in the order of the form."""
    links, needed = links_of(claim), transitions.needed_documents(claim)
    codes = {name: file_links.kept_code(link) for name, link in links.items()}
    files = _files(session, codes.values())
    return [
        Document(name=name, required=name in needed, link=link, **files.get(codes[name], {}))
        for name, link in links.items()
        if link or name in needed
    ]


def places_of(claim: Claim) -> Sequence[str]:
    """The documents that this kind of claim can bring."""
    return _OF_A_DEVICE if claim.credit_life_claim_meta is None else requirements.DOCUMENTS


def links_of(claim: Claim) -> Mapping[str, str | None]:
    """Every place for a document, also those that the desk fills, with what stands there."""
    meta = claim.credit_life_claim_meta or claim.gadget_claim_meta or claim.vehicle_claim_meta or {}
    of_claim = {name: getattr(claim, name) for name in _OF_THE_CLAIM}
    return {**{name: meta.get(name) or None for name in places_of(claim)}, **of_claim}


def _files(session: ScopedSession, codes: Collection[str]) -> Mapping[str, dict[str, Any]]:
    """What can be opened of these files; one that is gone from the disk cannot."""
    columns = (col(getattr(UploadedFile, name)) for name in ("code", "file_name", "content_type", "size"))
    rows = session.execute(sa.select(*columns).where(col(UploadedFile.code).in_(codes)))
    return {row.code: row._asdict() for row in rows if blob_storage.path_of(row.code).is_file()}
