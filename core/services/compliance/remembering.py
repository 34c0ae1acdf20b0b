"""Erasures are remembered by ids alone, and applied again to a store that was restored from a backup (contract D2)."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.errors import InvalidInput
from core.services.audit import log as audit
from core.services.compliance import erasing
from core.services.compliance.personal_values import ERASED_DOMAIN
from core.store.access import ScopedSession
from core.store.schema.tables import Customer, Erasure

LIST_NAME: Final = "coverdesk-erasures.json"
_ACTOR: Final = "command line"


def write_list(session: ScopedSession, folder: Path) -> Path | None:
    """Write the list of erasures into a folder, or return None while there are none."""
    if not (entries := remember(session)):
        return None
    path, draft = folder / LIST_NAME, folder / f".{LIST_NAME}"
    draft.write_text(json.dumps(entries, indent=1), encoding="utf-8")
    draft.chmod(0o600)
    return draft.replace(path)


def read_list(path: Path) -> list[dict[str, Any]]:
    """Return the erasures of a list; InvalidInput when the file is none."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        people = [UUID(each) for entry in entries for each in (entry["id"], *entry["customers"])]
        told = {(entry["number"], entry["sha256"], datetime.fromisoformat(entry["decided_at"])) for entry in entries}
    except (OSError, ValueError, TypeError, KeyError):
        raise InvalidInput.for_field(
            "--erasures", f"must be a list of erasures as a backup writes it ({LIST_NAME})"
        ) from None
    return entries if people and told else []


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


def apply_again(session: ScopedSession, remembered: Sequence[Mapping[str, Any]]) -> tuple[int, list[str]]:
    """Erase again, in a restored store, the people of remembered erasures; the number of people, and their files."""
    people = {UUID(each) for entry in remembered for each in entry["customers"]}
    found: list[UUID] = []
    for some in erasing.in_chunks(sorted(people)):
        mine = sa.and_(col(Customer.id).in_(some), sa.not_(col(Customer.email).endswith(f"@{ERASED_DOMAIN}")))
        found += session.execute(sa.select(col(Customer.id)).where(mine)).scalars()
    for entry in remembered:
        session.insert_if_absent(_restored(entry))
    if not found:
        return 0, []
    last = UUID(remembered[-1]["id"])
    done = erasing.erase_people(session, found, last, actor=_ACTOR)
    after = {"people": len(found), "numbers": sorted({entry["number"] for entry in remembered})}
    audit.write(
        session, actor=_ACTOR, action="erasures applied again", subject=audit.subject_of("erasure", last), after=after
    )
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
