"""Uploaded files: inspected for their true type, sanitised, stored with their owner, read by code (contract L4)."""

import dataclasses
import hashlib
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn
from uuid import UUID

import puremagic
import sqlalchemy as sa
from PIL import Image, ImageOps
from pydantic import WithJsonSchema
from sqlmodel import col
from typing_extensions import TypedDict

from core import clock, ids
from core.covers.claims.lines import MEDICAL_REPORT
from core.errors import InvalidInput, NotAllowed, NotFound, Unauthorized, WrongMediaType
from core.services.audit import log as audit
from core.services.files import likeness
from core.services.files import links as file_links
from core.services.files.likeness import Likeness, find_likeness
from core.services.lists.records import Link
from core.services.people.staff import Person
from core.store.access import Owner, ScopedSession
from core.store.operations import blob_storage
from core.store.schema.tables import AuditEntry, UploadedFile

MAX_PIXELS: Final = 40_000_000
ACCEPTED: Final = "a JPEG, PNG, WebP or PDF file"
_ESCAPED_NAME: Final = re.compile(rb"#([0-9a-fA-F]{2})")
_UNBOUNDED_FILTER: Final = re.compile(rb"/LZW(Decode)?[\s/\]>%]|/Filter(\s|%[^\r\n]*[\r\n])*\d")
_BOMBS: Final = (Image.DecompressionBombError, Image.DecompressionBombWarning)


@dataclass(frozen=True, slots=True)
class InspectedFile:
    """The result of an inspection: true type, matching suffixes, and sanitised content."""

    content_type: str
    suffixes: tuple[str, ...]
    content: bytes


@dataclass(frozen=True, slots=True)
class _FileType:
    suffixes: tuple[str, ...]
    sanitise: Callable[[bytes, str], bytes]


def inspect(content: bytes, field: str) -> InspectedFile:
    """Inspect a file and return it as it will be stored; `field` names it in errors.

    WrongMediaType for an unsupported type, InvalidInput for a supported type that is broken, locked or too large to
    open.
    """
    if not content:
        _refuse(field, "must not be empty")
    content_type = _detect_type(content)
    if content_type is None:
        detail = [{"field": field, "message": f"must be {ACCEPTED}"}]
        raise WrongMediaType(f"{field} must be {ACCEPTED}", detail=detail)
    file_type = _FILE_TYPES[content_type]
    return InspectedFile(content_type, file_type.suffixes, file_type.sanitise(content, field))


def _detect_type(content: bytes) -> str | None:
    try:
        matches = puremagic.magic_string(content)
    except (puremagic.PureError, ValueError):
        return None
    return next((match.mime_type for match in matches if match.mime_type in _FILE_TYPES), None)


def _make_image_sanitiser(image_format: str, modes: tuple[str, ...], **options: Any) -> Callable[[bytes, str], bytes]:
    """Return a sanitiser that re-encodes the image, so that only its pixels remain."""

    def sanitise(content: bytes, field: str) -> bytes:
        try:
            with Image.open(io.BytesIO(content), formats=[image_format]) as image:
                if image.width * image.height > MAX_PIXELS:
                    raise Image.DecompressionBombError
                return _reencode(image, image_format, modes, options)
        except _BOMBS:
            _refuse(field, f"must have at most {MAX_PIXELS:,} pixels")
        except Exception:  # a decoder of hostile bytes may fail in any way
            _refuse(field, "must be a picture that can be opened")

    return sanitise


def _reencode(image: Image.Image, image_format: str, modes: tuple[str, ...], options: Mapping[str, Any]) -> bytes:
    image.load()
    ImageOps.exif_transpose(image, in_place=True)
    # `info` holds comments, location and colour profiles; keep only what the pixels need.
    image.info = {name: value for name, value in image.info.items() if name == "transparency"}
    converted = image if image.mode in modes else image.convert(modes[-1])
    output = io.BytesIO()
    converted.save(output, image_format, **options)
    return output.getvalue()


def _check_pdf(content: bytes, field: str) -> bytes:
    """Return the PDF unchanged, after a parser has opened it."""
    if _has_unbounded_filter(content):
        _refuse(field, "must be a PDF whose objects are not packed with LZW")
    # Few processes ever open a PDF: the parser takes as long to load as a command may.
    from core.services.files import pdf_reading  # noqa: PLC0415

    pages = pdf_reading.count_pages(content)
    if pages is None:
        _refuse(field, "must not be protected by a password")
    if not pages:
        _refuse(field, "must be a PDF that can be opened")
    return content


def _has_unbounded_filter(content: bytes) -> bool:
    """Return True for object streams under LZW, for which the parser has no memory limit.

    No writer of object streams uses LZW. A filter given by indirect reference may be LZW, so it counts too.
    """
    unescaped = _ESCAPED_NAME.sub(lambda code: bytes([int(code[1], 16)]), content)
    return b"/XRef" in unescaped and _UNBOUNDED_FILTER.search(unescaped) is not None


def _refuse(field: str, message: str) -> NoReturn:
    raise InvalidInput.for_field(field, message)


_FILE_TYPES: Final[Mapping[str, _FileType]] = {
    "image/jpeg": _FileType((".jpg", ".jpeg"), _make_image_sanitiser("JPEG", ("L", "RGB"), quality=90)),
    "image/png": _FileType((".png",), _make_image_sanitiser("PNG", ("1", "L", "LA", "I;16", "P", "RGB", "RGBA"))),
    "image/webp": _FileType((".webp",), _make_image_sanitiser("WEBP", ("RGB", "RGBA"), quality=90)),
    "application/pdf": _FileType((".pdf",), _check_pdf),
}
MEDIA_TYPES: Final = tuple(_FILE_TYPES)


MAX_BYTES: Final = 10 * 1024 * 1024
OPENING_ROLES: Final = ("claims", "operations", "supervisor")
_CLAIMS_ROLES: Final = ("claims", "supervisor")
_REASON_LASTS: Final = timedelta(hours=1)
_UNKNOWN: Final = "File not found"


class FileRecord(TypedDict):
    """An uploaded file; hash and size are of the stored file."""

    file_url: Link
    file_name: str
    content_type: Annotated[str, WithJsonSchema({"type": "string", "enum": list(MEDIA_TYPES)})]
    size: int
    sha256: Annotated[str, WithJsonSchema({"type": "string", "pattern": "^[0-9a-f]{64}$"})]


@dataclass(frozen=True, kw_only=True, slots=True)
class ReceivedFile:
    """A file as received in a form field; its code is generated at once, so that its URL is known."""

    field: str
    file_name: str
    content: bytes
    code: str = dataclasses.field(default_factory=ids.new_code)

    @property
    def url(self) -> str:
        """The URL of the file once stored."""
        return file_links.build_url(self.code)

    @property
    def sha256(self) -> str:
        """The hash of the received content."""
        return hashlib.sha256(self.content).hexdigest()


@dataclass(kw_only=True, slots=True)
class StoredFile:
    """A file stored on disk; `is_recorded` is True once a database row references it."""

    field: str
    code: str
    file_name: str
    content_type: str
    size: int
    sha256: str
    sent_sha256: str
    likeness: Likeness = dataclasses.field(default_factory=Likeness)
    is_recorded: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ServableFile:
    """A file that can be served."""

    path: Path
    file_name: str
    content_type: str


@contextmanager
def store_files(received: Iterable[ReceivedFile]) -> Iterator[list[StoredFile]]:
    """Inspect files and store them on disk, before the transaction that records them.

    Files that no row references in the end, because the request was refused or replayed, are removed again. A crash
    leaves a file without a row, never a row without its file.
    """
    stored_files: list[StoredFile] = []
    try:
        for one in received:
            stored_files.append(_store(one))
        yield stored_files
    finally:
        for file in stored_files:
            if not file.is_recorded:
                blob_storage.remove(file.code)


def _store(received: ReceivedFile) -> StoredFile:
    inspected = inspect(received.content, received.field)
    blob_storage.put(received.code, inspected.content)
    return StoredFile(
        field=received.field,
        code=received.code,
        file_name=blob_storage.shown_name(received.file_name, inspected.suffixes),
        content_type=inspected.content_type,
        size=len(inspected.content),
        sha256=hashlib.sha256(inspected.content).hexdigest(),
        sent_sha256=received.sha256,
        likeness=find_likeness(inspected.content, inspected.content_type),
    )


def record(
    session: ScopedSession, file: StoredFile, owner: Owner, *, actor: str, claim_id: UUID | None = None
) -> FileRecord:
    """Insert the row of a stored file; call it after everything that may refuse the request."""
    facts = {name: getattr(file, name) for name in ("content_type", "size", "sha256")}
    row = UploadedFile(
        **facts,
        distributor_id=owner.distributor_id,
        is_live=owner.is_live,
        code=file.code,
        file_name=file.file_name,
        sent_sha256=file.sent_sha256,
        claim_id=claim_id,
        field=file.field[:40] if claim_id else None,
        picture_hash=file.likeness.picture_hash,
        created_at=clock.now(),
    )
    session.insert(row)
    likeness.record(session, file.code, file.likeness)
    file.is_recorded = True
    audit.write(session, actor=actor, action="file uploaded", subject=_subject(file.code), after=facts)
    return {
        "file_url": file_links.build_url(file.code),
        "file_name": file.file_name,
        "content_type": file.content_type,
        "size": file.size,
        "sha256": file.sha256,
    }


def get_file(session: ScopedSession, code: str) -> ServableFile:
    """Return a file of the session's scope; NotFound if it is out of scope or missing on disk."""
    if not ids.is_code(code):
        raise NotFound(_UNKNOWN)
    row = session.execute(
        sa.select(col(UploadedFile.file_name), col(UploadedFile.content_type)).where(col(UploadedFile.code) == code)
    ).one_or_none()
    if row is None or not blob_storage.path_of(code).is_file():
        raise NotFound(_UNKNOWN)
    return ServableFile(path=blob_storage.path_of(code), file_name=row.file_name, content_type=row.content_type)


def open_file(session: ScopedSession, code: str, person: Person | None) -> ServableFile:
    """Return a file for a staff member; audited, because it may be a medical document (contract A3).

    NotAllowed for the paper of a claim without working claims, and for a medical report without a reason that this
    person gave on the claim's page within the hour.
    """
    if person is None:
        raise Unauthorized("Sign in first")
    person.require_role(*OPENING_ROLES, otherwise="Your role does not open files")
    file = get_file(session, code)
    _require_reason(session, code, person)
    audit.write(session, actor=person.actor, action="file opened", subject=_subject(code))
    return file


def _require_reason(session: ScopedSession, code: str, person: Person) -> None:
    columns = (col(UploadedFile.claim_id), col(UploadedFile.field))
    claim_id, field = session.execute(sa.select(*columns).where(col(UploadedFile.code) == code)).one()
    if claim_id is None:
        return
    person.require_role(*_CLAIMS_ROLES, otherwise="The papers of a claim are opened by those who work claims")
    given = sa.select(col(AuditEntry.after)).where(
        col(AuditEntry.subject) == audit.subject_of("claim", claim_id),
        col(AuditEntry.action) == audit.REVEALED,
        col(AuditEntry.actor) == person.actor,
        col(AuditEntry.created_at) > clock.now() - _REASON_LASTS,
    )
    reasons = session.execute(given).scalars() if field == MEDICAL_REPORT else ()
    if field == MEDICAL_REPORT and not any(str((each or {}).get("field")).endswith(f".{field}") for each in reasons):
        raise NotAllowed("A medical report is opened for a reason: give it on the page of the claim")


def _subject(code: str) -> str:
    return f"file {code}"
