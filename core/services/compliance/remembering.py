"""Erasures are remembered by ids alone, and applied again to a store that was restored from a backup (contract D2)."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.errors import StateForbids
from core.services.audit import log as audit
from core.services.compliance import erasing
from core.services.compliance.personal_values import ERASED_DOMAIN
from core.store.access import ScopedSession
from core.store.schema.tables import Customer, Erasure, Staff

_ACTOR: Final = "command line"


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
    if not found:
        return 0, []
    row = _restored(session, found, remembered)
    done = erasing.erase_people(session, found, row)
    subject = audit.subject_of("erasure", row)
    after = {"people": len(found), "numbers": sorted(entry["number"] for entry in remembered)}
    audit.write(session, actor=_ACTOR, action="erasures applied again", subject=subject, after=after)
    return len(found), done.files


def _restored(session: ScopedSession, found: Sequence[UUID], remembered: Sequence[Mapping[str, Any]]) -> UUID:
    """Return the erasure that redactions of a restored store belong to; two people of it decided then."""
    known: UUID | None = session.execute(sa.select(col(Erasure.id)).where(col(Erasure.state) == "erased").limit(1)).scalar()
    if known is not None:
        return known
    people = session.execute(sa.select(col(Staff.id)).order_by(col(Staff.created_at)).limit(2)).scalars().all()
    if len(people) < 2:
        raise StateForbids("A store with fewer than two people of staff has no erasures to apply")
    first = remembered[0]
    row = Erasure(
        id=UUID(first["id"]),
        number=first["number"],
        record_class=first["record_class"],
        customers=sorted(map(str, found)),
        reason="Applied again after a restore",
        prepared_by=people[0],
        prepared_at=clock.now(),
        state="erased",
        decided_by=people[1],
        decided_at=clock.now(),
        sha256=hashlib.sha256(json.dumps([entry["number"] for entry in remembered]).encode()).hexdigest(),
    )
    session.insert(row)
    return row.id
