"""Links to our own files: built, recognised, and refused if they point to another owner's file (contract S15)."""

import posixpath
from collections.abc import Mapping, Set
from typing import Any, Final
from urllib.parse import SplitResult, unquote, urlsplit

import sqlalchemy as sa
from sqlmodel import col

from core import ids
from core.covers.request import Request
from core.errors import FieldFault, raise_faults
from core.settings import settings
from core.store.access import Owner, ScopedSession
from core.store.schema import tables

_FOLDERS: Final = ("/v1/files", "/files")
_PORTS: Final = {"http": 80, "https": 443}
NOT_OWN_FILE: Final = "must be a file that you uploaded in this mode"


def build_url(code: str) -> str:
    """Return the URL where a distributor downloads a file with its key."""
    return f"{settings().base_url}/v1/files/{code}"


def build_desk_path(link: str) -> str | None:
    """Return the path where staff open the file of one of our links; None for an external link."""
    code = parse_code(link)
    return f"/files/{code}" if code else None


def parse_code(link: str) -> str | None:
    """Return the file code of a link to our own files, however it is spelt; None for an external link."""
    if "/" not in link:
        return None
    try:
        parts, base = urlsplit(link), urlsplit(settings().base_url)
        same_host = _get_host(parts) == _get_host(base)
    except ValueError:
        return None
    folder, _, code = posixpath.normpath(unquote(parts.path)).rpartition("/")
    return code if same_host and folder.removeprefix(base.path) in _FOLDERS else None


def parse_stored_code(link: str | None) -> str:
    """Return the file code of a stored link; our base URL may have been another one then."""
    folder, _, code = urlsplit(link or "").path.rpartition("/")
    return code if folder.endswith(_FOLDERS) and ids.is_code(code) else ""


def renew_url(session: ScopedSession, link: str, owner: Owner) -> str:
    """Return a stored link under our present base URL if it leads to a file of its owner; any other link as it is."""
    code = parse_stored_code(link)
    return build_url(code) if code in list_owned(session, {code}, owner) else link


def _get_host(parts: SplitResult) -> tuple[str | None, int | None]:
    return parts.hostname, parts.port or _PORTS.get(parts.scheme)


def find_codes(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields that link to our own files, with the file code of each."""
    texts = {name: value for name, value in values.items() if isinstance(value, str)}
    return {name: code for name, value in texts.items() if (code := parse_code(value))}


def require_own_files(session: ScopedSession, request: Request, owner: Owner) -> None:
    """Raise InvalidInput naming every link to a file of ours that this owner did not upload (contract S15)."""
    codes = find_codes(dict(request))
    own_codes = list_owned(session, set(codes.values()), owner)
    faults = [FieldFault(name, NOT_OWN_FILE) for name, code in codes.items() if code not in own_codes]
    raise_faults(faults)


def list_owned(session: ScopedSession, codes: Set[str], owner: Owner) -> frozenset[str]:
    """Return those of the codes that this owner uploaded."""
    valid_codes = {code for code in codes if ids.is_code(code)}
    if not valid_codes:
        return frozenset()
    result = session.execute(
        sa.select(col(tables.UploadedFile.code)).where(
            col(tables.UploadedFile.code).in_(valid_codes), *owner.owns(tables.UploadedFile)
        )
    )
    return frozenset(result.scalars())
