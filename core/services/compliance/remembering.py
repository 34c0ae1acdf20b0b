"""Erasures are remembered by ids alone, and applied again to a store that was restored from a backup (contract D2)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.errors import InvalidInput, StateForbids
from core.services.audit import log as audit
from core.services.compliance.personal_values import ERASED_DOMAIN
from core.settings import settings
from core.store.access import ScopedSession
from core.store.schema.tables import AuditEntry, Customer, Erasure

LIST_NAME: Final = "coverdesk-erasures.json"


@dataclass(frozen=True, slots=True)
class ErasureList:
    """A list of erasures outside the store, and when it was written: nobody who was erased later is in it."""

    path: Path
    written_at: datetime | None
    entries: Sequence[dict[str, Any]]


def keep_list(session: ScopedSession) -> Path:
    """Write the list of erasures where backups are restored from; call it once an erasure is committed.

    That is the folder of COVERDESK_ERASURES_FOLDER, or else of the newest backup. StateForbids says why it cannot be.
    """
    folder = _find_folder(session)
    if folder is None:
        raise StateForbids("There is no backup yet and COVERDESK_ERASURES_FOLDER is not set")
    try:
        if settings().erasures_folder:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return write_list(session, folder)
    except (OSError, InvalidInput) as error:
        why = error.strerror if isinstance(error, OSError) else "it holds another file of that name"
        raise StateForbids(f"{folder / LIST_NAME} cannot be written: {why}") from None


def write_list(session: ScopedSession, folder: Path) -> Path:
    """Write the list of erasures into a folder; what the list there has already stays in it."""
    path, draft = folder / LIST_NAME, folder / f".{LIST_NAME}.{ids.new().hex}"
    known = read_list(path).entries if path.is_file() else []
    entries = {entry["id"]: entry for entry in (*known, *remember(session))}
    written = {"written_at": clock.to_wire(clock.now()), "erasures": list(entries.values())}
    draft.write_text(json.dumps(written, indent=1), encoding="utf-8")
    draft.chmod(0o600)
    return draft.replace(path)


def read_list(path: Path) -> ErasureList:
    """Return a list of erasures; InvalidInput when the file is none."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        # Until release 0.2.0 a list was its entries alone.
        entries, at = (found, None) if isinstance(found, list) else (found["erasures"], found["written_at"])
        for entry in entries:
            _ = [UUID(each) for each in (entry["id"], *entry["customers"])]
            _ = (entry["number"], entry["sha256"], datetime.fromisoformat(entry["decided_at"]))
        return ErasureList(path, at and datetime.fromisoformat(at), entries)
    except (OSError, ValueError, TypeError, KeyError):
        raise InvalidInput.for_field(
            "--erasures", f"must be a list of erasures as a backup writes it ({LIST_NAME})"
        ) from None


def find_lists(*folders: Path) -> list[ErasureList]:
    """Return the lists of these folders and of COVERDESK_ERASURES_FOLDER, those that exist."""
    own = [Path(settings().erasures_folder)] if settings().erasures_folder else []
    paths = dict.fromkeys((folder / LIST_NAME).resolve() for folder in (*folders, *own))
    return [read_list(path) for path in paths if path.is_file()]


def find_fault(session: ScopedSession) -> str | None:
    """Return what brings somebody back: an erasure that no list outside has, or that a restore left undone; or None."""
    erased = {entry["id"] for entry in remember(session)}
    folder = _find_folder(session)
    try:
        known = {entry["id"]: entry for found in find_lists(*([folder] if folder else [])) for entry in found.entries}
    except InvalidInput:
        known = {}
    if missing := len(erased - known.keys()):
        return f"no list outside the store has {missing:,} of {len(erased):,} erasures: run `coverdesk backup FILE`"
    undone = [entry for each, entry in known.items() if each not in erased]
    if people := _list_unerased(session, undone):
        who = "1 person is" if len(people) == 1 else f"{len(people):,} people are"
        return f"of the list of erasures {who} still in this store: run `coverdesk restore FILE` again"
    return None


def _find_folder(session: ScopedSession) -> Path | None:
    if settings().erasures_folder:
        return Path(settings().erasures_folder)
    query = sa.select(col(AuditEntry.after)).where(col(AuditEntry.action) == audit.BACKED_UP)
    newest = session.execute(query.order_by(col(AuditEntry.created_at).desc()).limit(1)).scalar_one_or_none()
    return Path(newest["folder"]) if newest and newest.get("folder") else None


def remember(session: ScopedSession) -> list[dict[str, Any]]:
    """Return every erasure that was carried out as plain data: ids and counts, nothing of a person."""
    query = sa.select(Erasure).where(col(Erasure.state) == "erased").order_by(col(Erasure.decided_at))
    return [
        {
            "id": str(row.id),
            "number": row.number,
            "record_class": row.record_class,
            "customers": list(row.customers),
            "decided_at": clock.to_wire(row.decided_at),
            "sha256": row.sha256,
        }
        for row in session.execute(query).scalars()
    ]


def _list_unerased(session: ScopedSession, remembered: Sequence[Mapping[str, Any]]) -> list[UUID]:
    """List the people of remembered erasures who stand in this store; a list may be that of several stores."""
    people = {UUID(each) for entry in remembered for each in entry["customers"]}
    if not people:
        return []
    # Imported on first use: a look at what is remembered does without all the tables that hold something of people.
    from core.services.compliance import own_records  # noqa: PLC0415

    there = sa.select(col(Customer.id)).where(sa.not_(col(Customer.email).endswith(f"@{ERASED_DOMAIN}")))
    found: list[UUID] = own_records.load_in(session, there, col(Customer.id), sorted(people))
    return found


def apply_again(session: ScopedSession, remembered: Sequence[Mapping[str, Any]]) -> tuple[int, list[str]]:
    """Erase again, in a restored store, the people of remembered erasures; the number of people, and their files."""
    from core.services.compliance import erasures  # noqa: PLC0415 as above

    found = _list_unerased(session, remembered)
    for entry in remembered:
        session.insert_if_absent(_restored(entry))
    if not found:
        return 0, []
    last = UUID(remembered[-1]["id"])
    done = erasures.erase_people(session, found, last, actor=audit.COMMAND_LINE)
    facts = {"people": len(found), "numbers": sorted({entry["number"] for entry in remembered})}
    audit.note(session, "erasure", last, "erasures applied again", actor=audit.COMMAND_LINE, **facts)
    return len(found), done.files


def _restored(entry: Mapping[str, Any]) -> Erasure:
    """Return a remembered erasure as a row, so that the restored store remembers it as well."""
    return Erasure(
        id=UUID(entry["id"]),
        number=entry["number"],
        record_class=entry["record_class"],
        customers=list(entry["customers"]),
        reason="Applied again after a restore",
        is_restored=True,
        prepared_at=clock.now(),
        state="erased",
        decided_at=datetime.fromisoformat(entry["decided_at"]),
        sha256=entry["sha256"],
    )
