"""A reconciliation: one file compared with a month of ours, and every difference kept, all or nothing (contract F6)."""

import hashlib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, Final, Literal
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock, ids, reference
from core.covers import fields, request
from core.covers.request import Request
from core.errors import InvalidInput, NotAllowed, StateForbids
from core.money import format_naira, to_minor
from core.services.audit import log as audit
from core.services.finance import parties
from core.services.finance.parties import Party
from core.services.finance.reconciling import matching, table_files
from core.services.finance.reconciling.matching import Entry, Found
from core.services.finance.reconciling.table_files import TableFile
from core.services.lists.windows import Window
from core.services.people.staff import Person
from core.services.transfers import reference_key
from core.states.finance import DifferenceState
from core.store.access import ScopedSession
from core.store.schema.tables import Difference, FileMapping, Reconciliation

_BANK_KEY = "bank"
_BANK_SUBJECT: Final = "bank file"
# By number, transaction, result and amount a difference is the same in a newer file.
_Sign = tuple[str, str, str, int]
_STILL_EXPLAINED: Final = (DifferenceState.EXPLAINED, DifferenceState.WRITE_OFF_ASKED, DifferenceState.WRITTEN_OFF)


class ReconciliationInput(Request):
    """Input: whose file of which month, which column means what, and what counts as equal."""

    kind: Literal["insurer", "bank"]
    month: fields.Day
    file_name: Annotated[str, Field(min_length=1, max_length=200)]
    columns: dict[str, str]
    amount_is: Literal["gross", "net"] = "net"
    tolerance: fields.Naira = Decimal(1)
    timing_days: Annotated[int, Field(ge=0, le=31)] = 5


def run(
    session: ScopedSession,
    typed: Mapping[str, Any],
    content: bytes,
    *,
    by: Person,
    provider_id: UUID | None = None,
) -> UUID:
    """Compare a file with our records of a month, keep every difference, and return the id of the reconciliation.

    InvalidInput names what is wrong with the file, by row; nothing is kept then. The mapping is remembered.
    """
    require_finance(by)
    given: ReconciliationInput = request.validate(ReconciliationInput, typed)
    window = _window(session, given, provider_id)
    digest = hashlib.sha256(content).hexdigest()
    _refuse_again(session, given, provider_id, digest)
    file = table_files.read(given.file_name, content)
    theirs = table_files.read_entries(file, given.kind, given.columns)
    ours = _ours(session, given, provider_id, window)
    within = [entry for entry in ours if entry.on is None or window.start <= entry.on < window.end]
    if not within:
        raise StateForbids(f"There is nothing of ours in {given.month:%B %Y} to compare with")
    subject = audit.subject_of("provider", provider_id) if provider_id else _BANK_SUBJECT
    with audit.keep_refusal(actor=by.actor, action="reconciliation", subject=subject, file=given.file_name):
        tolerance, most = _bound_tolerance(given, by)
    found = matching.match(ours, theirs, window=window, tolerance_minor=tolerance, timing_days=given.timing_days)
    found = matching.bound_tolerated(found, most)
    row = _build(given, provider_id, digest, within, theirs, found, tolerance_minor=tolerance, by=by)
    explained = _list_explained(session, row)
    session.insert(row)
    for each in found:
        if each.result != matching.MATCHED:
            difference = _difference(row, each)
            session.insert(_explain_as_before(difference, explained.get(_sign_of(difference))))
    _remember(session, given, provider_id, tolerance, by)
    _note(session, row, found, by)
    return row.id


def _bound_tolerance(given: ReconciliationInput, by: Person) -> tuple[int, int]:
    """Return in kobo what counts as equal in a row, and what may pass in the file; InvalidInput above the bound."""
    tolerance = to_minor(given.tolerance)
    row, file = (reference.get_finance_limit(name, by.roles) for name in ("tolerance_row", "tolerance_file"))
    if tolerance > row:
        admins = format_naira(reference.get_finance_limit("tolerance_row", ("admin",)))
        above = "" if "admin" in by.roles else f", or {admins} for an admin"
        more = "a larger difference is explained, or written off by two people"
        raise InvalidInput.for_field("tolerance", f"must be at most {format_naira(row)} a row{above}: {more}")
    return tolerance, file


def read_heading(name: str, content: bytes) -> TableFile:
    """Read a file for its heading; the same refusals as `run`."""
    return table_files.read(name, content)


def get_mapping(session: ScopedSession, provider_id: UUID | None) -> FileMapping | None:
    """Return the mapping that was used last for an insurer's files, or for the bank's."""
    return session.get(FileMapping, _key(provider_id))


def require_finance(by: Person) -> None:
    """NotAllowed for whoever is not of finance."""
    if not by.has_role("finance"):
        raise NotAllowed("Only finance reconciles")


def _key(provider_id: UUID | None) -> str:
    return str(provider_id) if provider_id else _BANK_KEY


def _window(session: ScopedSession, given: ReconciliationInput, provider_id: UUID | None) -> Window:
    if session.scope.is_live is not True:
        raise StateForbids("Live records only are reconciled")
    if (given.kind == "insurer") != (provider_id is not None):
        raise InvalidInput.for_field("insurer", "must be given for the file of an insurer, and for no other")
    if provider_id:
        parties.get_name(session, Party("provider", provider_id))
    month = given.month.replace(day=1)
    if clock.lagos_midnight(clock.add_months(month, 1)) > clock.now():
        raise StateForbids(f"{month:%B %Y} is not over yet: a whole month is reconciled")
    return Window(month, clock.add_months(month, 1))


def _refuse_again(session: ScopedSession, given: ReconciliationInput, provider_id: UUID | None, digest: str) -> None:
    query = sa.select(col(Reconciliation.id)).where(
        col(Reconciliation.sha256) == digest,
        col(Reconciliation.month) == given.month.replace(day=1),
        col(Reconciliation.provider_id) == provider_id if provider_id else col(Reconciliation.provider_id).is_(None),
    )
    if session.execute(query).first() is not None:
        raise StateForbids("This very file was reconciled with this month already")


def _ours(
    session: ScopedSession, given: ReconciliationInput, provider_id: UUID | None, window: Window
) -> Sequence[Entry]:
    """Our entries of the month and of the days around it, by which timing is told from what is missing."""
    wide = Window(
        clock.add_days(window.start, -given.timing_days - 1), clock.add_days(window.end, given.timing_days + 1)
    )
    if provider_id is None:
        return matching.list_payments(session, wide)
    by_transaction = bool(given.columns.get("transaction"))
    return matching.list_movements(session, provider_id, wide, amount_is=given.amount_is, by_transaction=by_transaction)


def _build(
    given: ReconciliationInput,
    provider_id: UUID | None,
    digest: str,
    ours: Sequence[Entry],
    theirs: Sequence[Entry],
    found: Sequence[Found],
    *,
    tolerance_minor: int,
    by: Person,
) -> Reconciliation:
    matched = [each for each in found if each.result == matching.MATCHED]
    passed = [abs(each.difference_minor) for each in matched if each.difference_minor]
    return Reconciliation(
        id=ids.new(),
        kind=given.kind,
        provider_id=provider_id,
        month=given.month.replace(day=1),
        file_name=given.file_name,
        sha256=digest,
        columns={meaning: name for meaning, name in given.columns.items() if name},
        amount_is=given.amount_is,
        tolerance_minor=tolerance_minor,
        timing_days=given.timing_days,
        ours_rows=len(ours),
        theirs_rows=len(theirs),
        matched_rows=sum(len(each.group.theirs) for each in matched),
        ours_minor=sum(entry.amount_minor for entry in ours),
        theirs_minor=sum(entry.amount_minor for entry in theirs),
        tolerated_minor=sum(each.difference_minor for each in matched),
        passed_rows=len(passed),
        passed_minor=sum(passed),
        made_by=by.id,
        made_at=clock.now(),
    )


def _difference(row: Reconciliation, found: Found) -> Difference:
    group = found.group
    return Difference(
        id=ids.new(),
        reconciliation_id=row.id,
        result=found.result,
        policy_number=group.label,
        kind=group.transaction,
        ours_minor=group.ours_minor,
        theirs_minor=group.theirs_minor,
        difference_minor=found.difference_minor,
        detail=found.detail,
        rows=[int(entry.subject) for entry in group.theirs],
        subjects=[entry.subject for entry in group.ours],
        changed_at=row.made_at,
    )


def _list_explained(session: ScopedSession, row: Reconciliation) -> Mapping[_Sign, Difference]:
    """The explained differences of the newest file of the same party and month, which this one supersedes."""
    newest = (
        sa.select(col(Reconciliation.id))
        .where(
            col(Reconciliation.month) == row.month,
            col(Reconciliation.provider_id).is_not_distinct_from(row.provider_id),
        )
        .order_by(col(Reconciliation.made_at).desc(), col(Reconciliation.id).desc())
        .limit(1)
    )
    query = sa.select(Difference).where(
        col(Difference.reconciliation_id) == newest.scalar_subquery(), col(Difference.state).in_(_STILL_EXPLAINED)
    )
    return {_sign_of(each): each for each in session.execute(query).scalars()}


def _sign_of(row: Difference) -> _Sign:
    return reference_key(row.policy_number), row.kind, row.result, row.difference_minor


def _explain_as_before(row: Difference, before: Difference | None) -> Difference:
    """Keep what was said of the same difference; what was written off is asked for again, by two people."""
    if before is not None:
        row.state, row.owner_id = DifferenceState.EXPLAINED, before.owner_id
        row.cause, row.note = before.cause, before.note
    return row


def _remember(
    session: ScopedSession, given: ReconciliationInput, provider_id: UUID | None, tolerance: int, by: Person
) -> None:
    held = session.get(FileMapping, _key(provider_id)) or FileMapping(
        key=_key(provider_id),
        kind=given.kind,
        provider_id=provider_id,
        columns={},
        amount_is="",
        tolerance_minor=0,
        timing_days=0,
        changed_by=by.id,
        changed_at=clock.now(),
    )
    held.columns, held.amount_is = dict(given.columns), given.amount_is
    held.tolerance_minor, held.timing_days = tolerance, given.timing_days
    held.changed_by, held.changed_at = by.id, clock.now()
    session.add(held)


def _note(session: ScopedSession, row: Reconciliation, found: Sequence[Found], by: Person) -> None:
    after = {
        "file": row.file_name,
        "sha256": row.sha256,
        "month": f"{row.month:%Y-%m}",
        "rows": row.theirs_rows,
        "differences": sum(each.result != matching.MATCHED for each in found),
    }
    subject = audit.subject_of("reconciliation", row.id)
    audit.write(session, actor=by.actor, action="file reconciled", subject=subject, after=after)
