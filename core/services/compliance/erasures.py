"""Erasures: one person prepares what is to be erased, another carries it out, and a certificate remains (contract D2).

Every erasure is remembered by the ids of its records, and applied again to a store that was restored from a backup.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock, ids
from core.covers import request
from core.covers.request import Request
from core.errors import NotFound, StateForbids
from core.services.audit import log as audit
from core.services.compliance import erasing, figures, retention
from core.services.people.four_eyes import Proposals
from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.store.operations import blob_storage
from core.store.schema.tables import DataRequest, Erasure

PERSON: Final = "person"
PROPOSALS: Final = Proposals(Erasure, "erasure", second="somebody else", verb="prepared", role="compliance")


class ReasonInput(Request):
    """Input: why something is erased, or why it is not."""

    reason: Annotated[str, Field(min_length=10, max_length=500)]


@dataclass(frozen=True, kw_only=True, slots=True)
class ErasureRow:
    """One erasure with the names of those who prepared and decided it; `outcome` counts the changed rows by table."""

    id: UUID
    number: str
    record_class: str
    request_id: UUID | None
    customers: Sequence[str]
    before_at: datetime | None
    reason: str
    is_early: bool
    state: str
    prepared_by: UUID | None
    preparer: str | None
    prepared_at: datetime
    decider: str | None
    decided_at: datetime | None
    refusal: str | None
    outcome: Mapping[str, int]
    sha256: str | None


def prepare_for_request(session: ScopedSession, request_id: UUID, *, reason: str, early: bool, by: Person) -> UUID:
    """Prepare the erasure of everybody whom a request for erasure named; nothing is erased yet.

    StateForbids while the identity is unproven, while something stands against it, and before the end of the time
    that the law wants records kept, unless `early` says that this is known.
    """
    figures.require_role(by)
    data_request = session.execute(sa.select(DataRequest).where(col(DataRequest.id) == request_id)).scalar_one_or_none()
    if data_request is None:
        raise NotFound("There is no such request")
    if data_request.kind != "erasure" or data_request.state not in {"received", "acknowledged"}:
        raise StateForbids("Only an open request for erasure is erased")
    if data_request.identity_by is None:
        raise StateForbids("First note how the identity of the person was checked")
    if any(row.state == "open" for row in list_of_request(session, request_id)):
        raise StateForbids("The erasure of this request is prepared already: somebody else carries it out")
    given: ReasonInput = request.validate(ReasonInput, {"reason": reason})
    customers = retention.with_same_email(session, [UUID(each) for each in data_request.customers])
    _refuse_obstacles(session, customers, early=early)
    return _prepare(session, PERSON, customers, by=by, reason=given.reason, request_id=request_id, is_early=early)


def prepare_due(session: ScopedSession, record_class: str, *, by: Person) -> UUID:
    """Prepare the erasure of what a class of records has kept for long enough; StateForbids when nothing is due."""
    figures.require_role(by)
    preview = retention.preview(session, record_class)
    if not preview.count:
        raise StateForbids("Nothing of this class is due")
    reason = f"Kept for {preview.period} after {preview.trigger.lower()}"
    return _prepare(session, record_class, preview.customers, by=by, reason=reason, before_at=preview.before_at)


def _prepare(session: ScopedSession, record_class: str, customers: Sequence[UUID], *, by: Person, **more: Any) -> UUID:
    row = Erasure(
        id=ids.new(),
        number=figures.new_number(session, "ER"),
        record_class=record_class,
        customers=sorted(map(str, customers)),
        prepared_by=by.id,
        prepared_at=clock.now(),
        **more,
    )
    session.insert(row)
    _note(session, row, "erasure prepared", actor=by.actor, people=len(customers), early=row.is_early)
    return row.id


def _refuse_obstacles(session: ScopedSession, customers: Sequence[UUID], *, early: bool) -> None:
    found = retention.find_obstacles(session, customers)
    if found.reasons:
        raise StateForbids(f"This cannot be erased: {'; '.join(found.reasons)}")
    if found.keep_until and found.keep_until > clock.today() and not early:
        raise StateForbids(
            f"The law wants these records kept until {found.keep_until:%-d %B %Y}: refuse the request with the code"
            " “legal obligation”, or say that they are erased early all the same"
        )


def carry_out(session: ScopedSession, erasure_id: UUID, *, by: Person) -> list[str]:
    """Erase what somebody else prepared and return the codes of the files to remove after the commit.

    NotAllowed for who prepared it and who has a password that somebody else has just reset; StateForbids when
    something stands against it by now. Needs the system's scope.
    """
    row = _open(session, erasure_id, by)
    PROPOSALS.require_second(session, row, by)
    customers = [UUID(each) for each in row.customers]
    if customers:
        _refuse_obstacles(session, customers, early=True)
    done = erase(session, row, actor=by.actor)
    certified = {"outcome": dict(done.rows), "sha256": _certify(row, done.rows, by)}
    PROPOSALS.decide(session, row.id, "erased", by=by, **certified)
    counts = {f"rows_{name}": count for name, count in done.rows.items()}
    _note(session, row, "erasure carried out", actor=by.actor, **counts, files=len(done.files))
    _answer_request(session, row, by)
    return done.files


def erase(session: ScopedSession, row: Erasure, *, actor: str) -> erasing.Erased:
    """Erase the records that an erasure names."""
    if row.record_class not in retention.LOGS:
        return erasing.erase_people(session, [UUID(each) for each in row.customers], row.id, actor=actor)
    return erasing.Erased(rows=Counter(retention.delete_log(session, row.record_class, row.before_at)))


def refuse(session: ScopedSession, erasure_id: UUID, *, reason: str, by: Person) -> None:
    """Refuse what somebody else prepared, with the reason."""
    row = _open(session, erasure_id, by)
    PROPOSALS.refuse_maker(row, by)
    given: ReasonInput = request.validate(ReasonInput, {"reason": reason})
    PROPOSALS.decide(session, row.id, "refused", by=by, refusal=given.reason)
    _note(session, row, "erasure refused", actor=by.actor, reason=given.reason)


def take_back(session: ScopedSession, erasure_id: UUID, *, by: Person) -> None:
    """Withdraw one's own preparation; NotAllowed for anybody else, who refuses it instead."""
    row = _open(session, erasure_id, by)
    PROPOSALS.require_maker(row, by)
    PROPOSALS.decide(session, row.id, "withdrawn", by=by)
    _note(session, row, "erasure taken back", actor=by.actor)


def remove_files(codes: Sequence[str]) -> None:
    """Remove the files of erased people; call it once the transaction is committed."""
    for code in codes:
        blob_storage.remove(code)


def list_erasures(session: ScopedSession) -> list[ErasureRow]:
    """List every erasure, the newest first."""
    return _list(session)


def get_erasure(session: ScopedSession, erasure_id: UUID) -> ErasureRow:
    """Return one erasure; NotFound for an unknown id."""
    found = _list(session, col(Erasure.id) == erasure_id)
    if not found:
        raise NotFound("There is no such erasure")
    return found[0]


def list_of_request(session: ScopedSession, request_id: UUID) -> list[ErasureRow]:
    """List the erasures of a request."""
    return _list(session, col(Erasure.request_id) == request_id)


def _answer_request(session: ScopedSession, row: Erasure, by: Person) -> None:
    if row.request_id is None:
        return
    session.execute(
        sa.update(DataRequest)
        .where(col(DataRequest.id) == row.request_id)
        .values(
            state="answered",
            outcome=f"Erased, certificate {row.number}",
            answered_by=by.id,
            answered_at=clock.now(),
            version=DataRequest.version + 1,
        )
        .execution_options(synchronize_session=False)
    )


def _certify(row: Erasure, rows: Mapping[str, int], by: Person) -> str:
    facts = {"number": row.number, "customers": row.customers, "rows": dict(rows), "by": [str(row.prepared_by)]}
    return _hash({**facts, "decided_by": str(by.id), "at": clock.to_wire(clock.now())})


def _hash(facts: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _list(session: ScopedSession, *conditions: Any) -> list[ErasureRow]:
    query = (
        PROPOSALS.select_with_names()
        .where(*conditions)
        .order_by(col(Erasure.prepared_at).desc(), col(Erasure.id).desc())
    )
    names = set(ErasureRow.__dataclass_fields__) - {"preparer", "decider"}
    return [
        ErasureRow(**{name: getattr(row, name) for name in names}, preparer=made_by, decider=decided_by)
        for row, made_by, decided_by in session.execute(query)
    ]


def _open(session: ScopedSession, erasure_id: UUID, by: Person) -> Erasure:
    figures.require_role(by)
    return PROPOSALS.get_open(session, erasure_id)


def _note(session: ScopedSession, row: Erasure, action: str, *, actor: str, **facts: Any) -> None:
    after = {"number": row.number, "record_class": row.record_class, **facts}
    audit.write(session, actor=actor, action=action, subject=audit.subject_of("erasure", row.id), after=after)
