"""Reconciliations: a file compared with a month of ours, all or nothing, and what screens and files show (F6)."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Final, Literal
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock, ids, money, reference
from core.covers import fields, request
from core.covers.request import Request
from core.errors import InvalidInput, NotFound, StateForbids
from core.money import format_naira, to_minor
from core.services.audit import log as audit
from core.services.finance import parties
from core.services.finance.parties import Party
from core.services.finance.reconciling import matching, table_files
from core.services.finance.reconciling.matching import Entry, Found
from core.services.lists.dimensions import Choices
from core.services.lists.filters.declaration import Filter, Ids, of
from core.services.lists.filters.fields import members_of, month_of
from core.services.lists.listing import Column, Derived, Listing, Order, mode_column
from core.services.lists.paging import Paging
from core.services.lists.spreadsheets import (
    COUNT,
    DATE,
    ID,
    INSTANT,
    SIGNED_MONEY,
    TEXT,
    WORD,
    SheetColumn,
    csv_field,
    csv_line,
)
from core.services.lists.windows import Window
from core.services.people.staff import Person, join_names
from core.services.people.transfers import reference_key
from core.states.finance import ENDED, UNEXPLAINED, DifferenceState
from core.store.access import AnySelect, ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import Difference, FileMapping, Provider, Reconciliation, Staff

COLUMNS: Final = (
    *(SheetColumn("result", WORD, 16), SheetColumn("policy_number", TEXT, 26), SheetColumn("transaction", WORD)),
    *(SheetColumn("ours", SIGNED_MONEY), SheetColumn("theirs", SIGNED_MONEY), SheetColumn("difference", SIGNED_MONEY)),
    *(SheetColumn("rows", TEXT), SheetColumn("detail", TEXT, 40), SheetColumn("state", WORD, 16)),
    *(SheetColumn("cause", TEXT, 24), SheetColumn("note", TEXT, 40), SheetColumn("age_days", WORD)),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ReconciliationRow:
    """One reconciliation; amounts in kobo."""

    id: UUID
    kind: str
    provider_id: UUID | None
    party: str
    month: date
    file_name: str
    sha256: str
    columns: dict[str, str]
    amount_is: str
    tolerance_minor: int
    timing_days: int
    ours_rows: int
    theirs_rows: int
    matched_rows: int
    ours_minor: int
    theirs_minor: int
    tolerated_minor: int
    passed_rows: int | None
    passed_minor: int | None
    differences: int
    unexplained: int
    is_superseded: bool
    maker: str
    made_at: datetime

    @property
    def verdict(self) -> str:
        """One sentence on the result."""
        return describe_result(self.is_superseded, self.unexplained, self.differences, self.passed_rows)


def describe_result(is_superseded: int, unexplained: int, differences: int, passed_rows: int | None) -> str:
    """Return a sentence on the result; it says that there are no differences only where there are none at all."""
    if is_superseded:
        return "A newer file counts"
    if unexplained:
        return f"{unexplained} not explained"
    if differences:
        return "All explained"
    return "No differences above the tolerance" if passed_rows else "No differences"


@dataclass(frozen=True, kw_only=True, slots=True)
class DifferenceRow:
    """One difference with its people."""

    id: UUID
    reconciliation_id: UUID
    result: str
    policy_number: str
    kind: str
    ours_minor: int
    theirs_minor: int
    difference_minor: int
    detail: str
    rows: list[int]
    subjects: list[str]
    state: str
    cause: str | None
    note: str | None
    asked_by: UUID | None
    owner: str | None
    decider: str | None
    changed_at: datetime
    made_at: datetime
    is_superseded: bool

    @property
    def age_days(self) -> int:
        """Days since it was found."""
        return (clock.now() - self.made_at).days


def list_reconciliations(session: ScopedSession, *, month: date | None = None) -> list[ReconciliationRow]:
    """List reconciliations, of a month or all, the newest first."""
    query = _query().order_by(col(Reconciliation.made_at).desc(), col(Reconciliation.id).desc())
    if month is not None:
        query = query.where(col(Reconciliation.month) == month)
    return [_build_row(row) for row in session.execute(query)]


def get_reconciliation(session: ScopedSession, reconciliation_id: UUID) -> ReconciliationRow:
    """Return one reconciliation; NotFound for one that does not exist."""
    found = session.execute(_query().where(col(Reconciliation.id) == reconciliation_id)).one_or_none()
    if found is None or session.scope.is_live is False:
        raise NotFound("There is no such reconciliation")
    return _build_row(found)


def is_superseded(session: ScopedSession, reconciliation_id: UUID) -> bool:
    """Return True for a reconciliation after which a newer file of the same party and month was compared."""
    query = sa.select(_newer()).where(col(Reconciliation.id) == reconciliation_id)
    return bool(session.execute(query).scalar())


def sum_results(session: ScopedSession, reconciliation_id: UUID) -> list[tuple[str, int, int]]:
    """Return the number and sum of the differences of each result."""
    query = (
        sa.select(col(Difference.result), sa.func.count(), sa.func.sum(col(Difference.difference_minor)))
        .where(col(Difference.reconciliation_id) == reconciliation_id)
        .group_by(col(Difference.result))
        .order_by(col(Difference.result))
    )
    return [(result, int(number), int(minor)) for result, number, minor in session.execute(query)]


def list_differences(
    session: ScopedSession, reconciliation_id: UUID, paging: Paging | None = None, *, result: str | None = None
) -> list[DifferenceRow]:
    """List differences, the largest first; of one result, and one page, where they are given."""
    query = _differences().where(col(Difference.reconciliation_id) == reconciliation_id)
    if result:
        query = query.where(col(Difference.result) == result)
    size = sa.func.abs(col(Difference.difference_minor))
    query = query.order_by(size.desc(), col(Difference.id))
    if paging:
        query = query.limit(paging.limit).offset(paging.offset)
    return [_build_difference(row) for row in session.execute(query)]


def get_difference(session: ScopedSession, difference_id: UUID) -> DifferenceRow:
    """Return one difference; NotFound for one that does not exist."""
    found = session.execute(_differences().where(col(Difference.id) == difference_id)).one_or_none()
    if found is None or session.scope.is_live is False:
        raise NotFound("There is no such difference")
    return _build_difference(found)


def csv_chunks(rows: Sequence[DifferenceRow], *, tolerated_minor: int) -> Iterator[bytes]:
    """Yield the differences as CSV, what the tolerance let pass, and the total: our balance less theirs."""
    yield csv_line(*(column.name for column in COLUMNS))
    for row in rows:
        amounts = (money.to_wire(minor) for minor in (row.ours_minor, row.theirs_minor, row.difference_minor))
        cells = (
            *(row.result, csv_field(row.policy_number), row.kind, *amounts),
            *(csv_field(" ".join(map(str, row.rows))), csv_field(row.detail), row.state),
            *(csv_field(row.cause), csv_field(row.note), str(row.age_days)),
        )
        yield csv_line(*cells)
    if tolerated_minor:
        yield f"within the tolerance,,,,,{money.to_wire(tolerated_minor)},,,,,,\r\n".encode()
    total = money.to_wire(sum(row.difference_minor for row in rows) + tolerated_minor)
    yield f"total,,,,,{total},,,,,,\r\n".encode()


def _counted(*conditions: Any) -> Any:
    return (
        sa.select(sa.func.count())
        .where(col(Difference.reconciliation_id) == col(Reconciliation.id), *conditions)
        .correlate(Reconciliation)
        .scalar_subquery()
    )


def _newer() -> sa.ColumnElement[bool]:
    """The condition that a newer file of the same party and month was compared."""
    other, mine = sa.orm.aliased(Reconciliation), sa.tuple_(col(Reconciliation.made_at), col(Reconciliation.id))
    return (
        sa.select(col(other.id))
        .where(
            col(other.month) == col(Reconciliation.month),
            col(other.provider_id).is_not_distinct_from(col(Reconciliation.provider_id)),
            sa.tuple_(col(other.made_at), col(other.id)) > mine,
        )
        .correlate(Reconciliation)
        .exists()
    )


_KEY, _MADE, _PARTY = (
    col(Reconciliation.id),
    col(Reconciliation.made_at),
    sa.func.coalesce(Provider.company_name, "Bank"),
)
_RESULT: Final = (sa.case((_newer(), 1), else_=0), _counted(col(Difference.state).in_(UNEXPLAINED)), _counted())


def _query() -> AnySelect:
    query: AnySelect = sa.select(
        Reconciliation,
        _PARTY.label("party"),
        *(
            each.label(name)
            for name, each in zip(("is_superseded", "unexplained", "differences"), _RESULT, strict=True)
        ),
    ).outerjoin(Provider, col(Provider.id) == col(Reconciliation.provider_id))
    return join_names(query, maker=Reconciliation.made_by)


class ReconciliationFilter(Filter, on=(Reconciliation,)):
    """Filter of the list of reconciliations."""

    month: str | None = of(month_of)
    provider_ids: Ids = of(members_of, "provider")


def _rows(columns: Sequence[Any], criteria: ReconciliationFilter, _: Choices) -> AnySelect:
    query = sa.select(*columns).select_from(Reconciliation).join(Staff, col(Staff.id) == col(Reconciliation.made_by))
    joined = query.outerjoin(Provider, col(Provider.id) == col(Reconciliation.provider_id))
    return joined.where(*criteria.conditions(Reconciliation))


RECONCILIATIONS: Final[Listing[ReconciliationFilter]] = Listing(
    name="reconciliations",
    title="Reconciliations",
    noun=("reconciliation", "reconciliations"),
    roles=("finance",),
    filter=ReconciliationFilter,
    key=_KEY,
    is_live_only=True,
    columns={
        "id": Column("Reconciliation", ID, _KEY),
        "party": Column("Party", TEXT, _PARTY, is_sortable=True),
        "month": Column("Month", DATE, sa.cast(col(Reconciliation.month), sa.String), is_sortable=True),
        "file": Column("File", TEXT, col(Reconciliation.file_name), machine="file_name", is_sortable=True),
        "rows": Column("Their rows", COUNT, col(Reconciliation.theirs_rows), machine="their_rows", is_sortable=True),
        "matched": Column("Matched", COUNT, col(Reconciliation.matched_rows), machine="matched_rows", is_sortable=True),
        "verdict": Column(
            "Differences",
            WORD,
            Derived((*_RESULT, col(Reconciliation.passed_rows)), lambda _, *given: describe_result(*given)),
            machine="result",
        ),
        "ours": Column("Ours", SIGNED_MONEY, col(Reconciliation.ours_minor)),
        "theirs": Column("Theirs", SIGNED_MONEY, col(Reconciliation.theirs_minor)),
        "difference": Column(
            "Ours less theirs",
            SIGNED_MONEY,
            col(Reconciliation.ours_minor) - col(Reconciliation.theirs_minor),
            is_sortable=True,
        ),
        "made": Column("Made", INSTANT, _MADE, machine="made_at", is_sortable=True),
        "maker": Column("Made by", TEXT, col(Staff.name), machine="made_by"),
        **mode_column(),
    },
    rows=_rows,
    count=lambda session, criteria: session.count_rows(Reconciliation, *criteria.conditions(Reconciliation)),
    more_orders=(Order("usual", "Newest first", (_MADE.desc(), _KEY.desc())),),
    usual_order="usual",
)


def _build_row(found: Any) -> ReconciliationRow:
    # What was found in a file that a newer one replaces is settled there.
    unexplained = 0 if found.is_superseded else found.unexplained
    return build_row(ReconciliationRow, found.Reconciliation, found, unexplained=unexplained)


def _differences() -> AnySelect:
    query: AnySelect = sa.select(Difference, col(Reconciliation.made_at), _newer().label("is_superseded")).join(
        Reconciliation, col(Reconciliation.id) == col(Difference.reconciliation_id)
    )
    return join_names(query, owner=Difference.owner_id, decider=Difference.decided_by)


def _build_difference(found: Any) -> DifferenceRow:
    return build_row(DifferenceRow, found.Difference, found)


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
    within = [entry for entry in ours if matching.is_within(entry, window)]
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
            if before := explained.get(_sign_of(difference)):
                # What was written off is asked for again, by two people.
                difference.state, difference.owner_id = DifferenceState.EXPLAINED, before.owner_id
                difference.cause, difference.note = before.cause, before.note
            session.insert(difference)
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


def get_mapping(session: ScopedSession, provider_id: UUID | None) -> FileMapping | None:
    """Return the mapping that was used last for an insurer's files, or for the bank's."""
    return session.get(FileMapping, _key(provider_id))


def require_finance(by: Person) -> None:
    """NotAllowed for whoever is not of finance."""
    by.require_role("finance", otherwise="Only finance reconciles")


def _key(provider_id: UUID | None) -> str:
    return str(provider_id) if provider_id else _BANK_KEY


def _window(session: ScopedSession, given: ReconciliationInput, provider_id: UUID | None) -> Window:
    if session.scope.is_live is not True:
        raise StateForbids("Live records only are reconciled")
    if (given.kind == "insurer") != (provider_id is not None):
        raise InvalidInput.for_field("insurer", "must be given for the file of an insurer, and for no other")
    if provider_id:
        parties.get_name(session, Party("provider", provider_id))
    window = Window.of_month(given.month.replace(day=1))
    if not window.is_over:
        raise StateForbids(f"{window.start:%B %Y} is not over yet: a whole month is reconciled")
    return window


def _is_of(provider_id: UUID | None) -> sa.ColumnElement[bool]:
    """The condition that a reconciliation is of an insurer, or of the bank."""
    return col(Reconciliation.provider_id).is_not_distinct_from(provider_id)


def _refuse_again(session: ScopedSession, given: ReconciliationInput, provider_id: UUID | None, digest: str) -> None:
    """Refuse a file that was compared before; the newest may be read in another way, as columns can be mistaken."""
    query: AnySelect = (
        sa.select(Reconciliation)
        .where(col(Reconciliation.sha256) == digest, _is_of(provider_id))
        .where(col(Reconciliation.month) == given.month.replace(day=1))
        .order_by(col(Reconciliation.made_at).desc(), col(Reconciliation.id).desc())
        .limit(1)
    )
    before = session.execute(query).scalars().one_or_none()
    if before is None:
        return
    if is_superseded(session, before.id):
        raise StateForbids("This very file was reconciled with this month already, and a newer one counts since")
    columns = {meaning: name for meaning, name in given.columns.items() if name}
    read_now = (columns, given.amount_is, to_minor(given.tolerance), given.timing_days)
    if read_now == (before.columns, before.amount_is, before.tolerance_minor, before.timing_days):
        raise StateForbids("This very file was reconciled with this month already, with the same columns")


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
        .where(col(Reconciliation.month) == row.month, _is_of(row.provider_id))
        .order_by(col(Reconciliation.made_at).desc(), col(Reconciliation.id).desc())
        .limit(1)
    )
    query = sa.select(Difference).where(
        col(Difference.reconciliation_id) == newest.scalar_subquery(), col(Difference.state).in_(_STILL_EXPLAINED)
    )
    return {_sign_of(each): each for each in session.execute(query).scalars()}


def list_replaced(session: ScopedSession, month: date) -> Iterator[str]:
    """Describe the differences of a month that nobody settled and that a newer file of the party does not have.

    A file is what somebody uploads: the one that took the place of another may leave out what was found in that.
    """
    made = list_reconciliations(session, month=month)
    newest = {row.provider_id: row for row in reversed(made)}
    kept = {party: {_sign_of(each) for each in _load_differences(session, row.id)} for party, row in newest.items()}
    for row in made:
        last = newest[row.provider_id]
        open_ones = [each for each in _load_differences(session, row.id) if each.state not in ENDED]
        lost = [each.difference_minor for each in open_ones if _sign_of(each) not in kept[row.provider_id]]
        if lost:
            number = f"{len(lost):,} {'difference' if len(lost) == 1 else 'differences'}, {format_naira(sum(lost))},"
            verb = "is" if len(lost) == 1 else "are"
            files = f"of {row.file_name} of {row.maker} {verb} not in {last.file_name} of {last.maker}"
            yield f"{row.party}: {number} {files}"


def _load_differences(session: ScopedSession, reconciliation_id: UUID) -> Sequence[Difference]:
    query = sa.select(Difference).where(col(Difference.reconciliation_id) == reconciliation_id)
    return session.execute(query).scalars().all()


def _sign_of(row: Difference) -> _Sign:
    return reference_key(row.policy_number), row.kind, row.result, row.difference_minor


def _remember(
    session: ScopedSession, given: ReconciliationInput, provider_id: UUID | None, tolerance: int, by: Person
) -> None:
    session.merge(
        FileMapping(
            key=_key(provider_id),
            kind=given.kind,
            provider_id=provider_id,
            columns=dict(given.columns),
            amount_is=given.amount_is,
            tolerance_minor=tolerance,
            timing_days=given.timing_days,
            changed_by=by.id,
            changed_at=clock.now(),
        )
    )


def _note(session: ScopedSession, row: Reconciliation, found: Sequence[Found], by: Person) -> None:
    facts = {
        "file": row.file_name,
        "sha256": row.sha256,
        "month": f"{row.month:%Y-%m}",
        "rows": row.theirs_rows,
        "differences": sum(each.result != matching.MATCHED for each in found),
    }
    audit.note(session, "reconciliation", row.id, "file reconciled", actor=by.actor, **facts)
