"""Documents of a claim: required and received (contract C2)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.covers.claims.lines import MEDICAL_REPORT
from core.services.claims.intake import submitted
from core.services.files import links as file_links
from core.store.access import ScopedSession
from core.store.operations import blob_storage
from core.store.schema.tables import Claim, UploadedFile

_DESK_DOCUMENTS: Final = ("claim_invoice_url", "offer_form_url")


@dataclass(frozen=True, kw_only=True, slots=True)
class Version:
    """An earlier file of a document, which another one has replaced."""

    code: str
    file_name: str
    at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """One document of a claim: whether it is required, and its file, if any.

    `code` is that of a stored file that can be opened; `link` is the URL as submitted.
    """

    name: str
    is_required: bool
    link: str | None = None
    code: str | None = None
    file_name: str | None = None
    content_type: str | None = None
    size: int | None = None
    versions: tuple[Version, ...] = ()

    @property
    def is_medical(self) -> bool:
        """True when opening it requires a reason (contract A3)."""
        return self.name == MEDICAL_REPORT

    @property
    def is_missing(self) -> bool:
        """True when it is required and was not received."""
        return self.is_required and self.link is None


def list_documents(session: ScopedSession, claim: Claim) -> list[Document]:
    """List every document that a claim has or requires, in the order of the form."""
    links, needed = get_document_links(claim), submitted.list_required_documents(claim)
    codes = {name: file_links.parse_stored_code(link) for name, link in links.items()}
    files, versions = _files(session, codes.values()), _load_versions(session, claim.id, codes)
    return [
        Document(
            name=name,
            is_required=name in needed,
            link=link,
            versions=tuple(versions.get(name, ())),
            **files.get(codes[name], {}),
        )
        for name, link in links.items()
        if link or name in needed
    ]


def get_document_links(claim: Claim) -> Mapping[str, str | None]:
    """Return the URL of every possible document by name, None where it is absent; includes those added by the desk."""
    meta = submitted.get_meta(claim)
    of_claim = {name: getattr(claim, name) for name in _DESK_DOCUMENTS}
    return {**{name: meta.get(name) or None for name in submitted.list_document_names(claim)}, **of_claim}


def _load_versions(session: ScopedSession, claim_id: UUID, codes: Mapping[str, str]) -> Mapping[str, list[Version]]:
    """Load the files that were replaced, newest first, by document."""
    query = sa.select(UploadedFile).where(col(UploadedFile.claim_id) == claim_id, col(UploadedFile.field).is_not(None))
    found: dict[str, list[Version]] = {}
    for row in session.execute(query.order_by(col(UploadedFile.created_at).desc(), col(UploadedFile.code))).scalars():
        if codes.get(row.field) != row.code and blob_storage.path_of(row.code).is_file():
            found.setdefault(row.field, []).append(Version(code=row.code, file_name=row.file_name, at=row.created_at))
    return found


def _files(session: ScopedSession, codes: Collection[str]) -> Mapping[str, dict[str, Any]]:
    """Load the stored files of these codes; files missing from the disk are left out."""
    columns = (col(getattr(UploadedFile, name)) for name in ("code", "file_name", "content_type", "size"))
    rows = session.execute(sa.select(*columns).where(col(UploadedFile.code).in_(codes)))
    return {row.code: row._asdict() for row in rows if blob_storage.path_of(row.code).is_file()}
