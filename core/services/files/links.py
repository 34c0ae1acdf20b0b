"""Links to our own files: built, recognised, and refused if they point to another owner's file (contract S15)."""

import posixpath
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import SplitResult, unquote, urlsplit
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import ids
from core.covers.request import Request
from core.errors import FieldFault, InvalidInput
from core.settings import settings
from core.store.access.scope import ScopedSession
from core.store.schema.tables import UploadedFile

_FOLDERS: Final = ("/v1/files", "/files")
_PORTS: Final = {"http": 80, "https": 443}
NOT_YOURS: Final = "must be a file that you uploaded in this mode"


@dataclass(frozen=True, kw_only=True, slots=True)
class Owner:
    """The owner of a file: distributor and mode."""

    distributor_id: UUID
    is_live: bool


def address(code: str) -> str:
    """Return the URL where a distributor downloads a file with its key."""
    return f"{settings().base_url}/v1/files/{code}"


def desk_path(link: str) -> str | None:
    """Return the path where staff open the file of one of our links; None for an external link."""
    code = code_in(link)
    return f"/files/{code}" if code else None


def code_in(link: str) -> str | None:
    """Return the file code of a link to our own files, however it is spelt; None for an external link."""
    if "/" not in link:
        return None
    try:
        parts, ours = urlsplit(link), urlsplit(settings().base_url)
        same_host = _host(parts) == _host(ours)
    except ValueError:
        return None
    folder, _, code = posixpath.normpath(unquote(parts.path)).rpartition("/")
    return code if same_host and folder.removeprefix(ours.path) in _FOLDERS else None


def kept_code(link: str | None) -> str:
    """Return the file code of a stored link; our base URL may have been another one then."""
    folder, _, code = urlsplit(link or "").path.rpartition("/")
    return code if folder.endswith(_FOLDERS) and ids.is_code(code) else ""


def _host(parts: SplitResult) -> tuple[str | None, int | None]:
    return parts.hostname, parts.port or _PORTS.get(parts.scheme)


def codes_of(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields that link to our own files, with the file code of each."""
    texts = {name: value for name, value in values.items() if isinstance(value, str)}
    return {name: code for name, value in texts.items() if (code := code_in(value))}


def refuse_foreign(session: ScopedSession, request: Request, owner: Owner) -> None:
    """Raise InvalidInput naming every link to a file of ours that this owner did not upload (contract S15)."""
    linked = codes_of(dict(request))
    known = owned(session, set(linked.values()), owner)
    faults = [FieldFault(name, NOT_YOURS) for name, code in linked.items() if code not in known]
    if faults:
        raise InvalidInput(faults)


def owned(session: ScopedSession, codes: Set[str], owner: Owner) -> frozenset[str]:
    """Return those of the codes that this owner uploaded."""
    written_by_us = {code for code in codes if ids.is_code(code)}
    if not written_by_us:
        return frozenset()
    found = session.execute(
        sa.select(col(UploadedFile.code)).where(
            col(UploadedFile.code).in_(written_by_us),
            col(UploadedFile.distributor_id) == owner.distributor_id,
            col(UploadedFile.is_live) == owner.is_live,
        )
    )
    return frozenset(found.scalars())
