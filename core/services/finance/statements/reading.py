"""Statements as they were frozen: lists, one of them, its lines and files, a month at a glance, answers of the API."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Final, Literal, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from pydantic import WithJsonSchema
from sqlmodel import col
from typing_extensions import TypedDict

from core import clock, money
from core.services.finance import parties
from core.services.finance.parties import Party
from core.services.finance.statements import files as statement_files
from core.services.finance.statements.files import PaidLine, Paper
from core.services.lists.dimensions import Choices
from core.services.lists.filters.declaration import Filter, Ids, of
from core.services.lists.filters.fields import members_of, month_of, states_of
from core.services.lists.listing import Column, Derived, Listing, Order, mode_column
from core.services.lists.paging import Page, Paging
from core.services.lists.records import Id, Moment
from core.services.lists.spreadsheets import COUNT, DATE, ID, INSTANT, SIGNED_MONEY, STATE, TEXT, WORD
from core.services.lists.windows import Window, find_first_month
from core.states.finance import SEEN, StatementState
from core.store.access import AnySelect, ScopedSession, WireId
from core.store.expressions import sum_of
from core.store.rows import build_row
from core.store.schema.tables import Movement, Staff, Statement, StatementLine, StatementPayment, StatementStep

_TITLES = {"distributor": "Commission statement", "provider": "Account current"}
_SERIES = {"distributor": "CS", "provider": "AC"}
_ACCOUNTS = {series: account for account, series in _SERIES.items()}
_NUMBER = re.compile(r"(CS|AC)[- ]?0*([0-9]{1,9})", re.IGNORECASE)
_BATCH = 2_000
# Neither void nor the reversal of another one.
IS_VALID = (col(Statement.state) != StatementState.VOID, col(Statement.reverses_id).is_(None))
# As columns and not as records, of which a session would keep each; without those that no file has, and ids as text.
_UNPRINTED = {"statement_id", "account", "released_by"}
IDS = ("movement_id", "product_id", "other_id")


def _printed(name: str) -> Any:
    column = col(getattr(StatementLine, name))
    return sa.type_coerce(column, WireId()).label(name) if name in IDS else column


_PRINTED = tuple(_printed(name) for name in StatementLine.model_fields if name not in _UNPRINTED)


@dataclass(frozen=True, kw_only=True, slots=True)
class StatementRow:
    """One statement; its paper has the single payments where it was read alone, not in a list."""

    id: UUID
    party: Party
    paper: Paper
    note: str | None
    prepared_by: UUID
    sent_at: datetime | None
    reverses_id: UUID | None


class StepRow(NamedTuple):
    """One step of a statement: what it became, by whom, when, and the note."""

    name: str
    person: str
    at: datetime
    note: str | None


def number_of(row: Statement) -> str:
    """Return the number as it is printed, such as CS-0007."""
    return print_number(row.account, row.number)


def print_number(account: str, number: int) -> str:
    """Return a number of an account as it is printed."""
    return f"{_SERIES[account]}-{number:04d}"


def match_number(text: str) -> tuple[sa.ColumnElement[bool], ...]:
    """Return the conditions of the number that a text is, such as "CS-0007" or "ac 7"; nothing for any other text."""
    found = _NUMBER.fullmatch(text)
    if not found:
        return ()
    return (col(Statement.account) == _ACCOUNTS[found[1].upper()], col(Statement.number) == int(found[2]))


def paper_of(row: Statement, *, reverses: str | None = None, payments: tuple[PaidLine, ...] = ()) -> Paper:
    """Return what a statement prints beside its lines."""
    return build_row(
        Paper,
        row,
        title=_TITLES[row.account],
        number=number_of(row),
        party=str(row.facts.get("party", "")),
        reverses=reverses,
        payments=payments,
    )


def batches_of(session: ScopedSession, statement_id: UUID) -> Iterator[Sequence[Any]]:
    """Yield the lines of a statement in their order, some thousand at a time; ids are text."""
    return read_lines(session, StatementLine, _PRINTED, col(StatementLine.statement_id) == statement_id)


def read_lines(session: ScopedSession, entity: Any, columns: Sequence[Any], owned: Any) -> Iterator[Sequence[Any]]:
    """Yield columns of the lines of one paper by their positions, some thousand at a time."""
    after, position = 0, col(entity.position)
    query = sa.select(*columns).where(owned).order_by(position).limit(_BATCH)
    while rows := session.execute(query.where(position > after)).all():
        after = rows[-1].position
        yield rows


def list_printed(session: ScopedSession, statement_id: UUID) -> tuple[PaidLine, ...]:
    """Return the payments of a statement as it printed them."""
    query = (
        sa.select(StatementPayment)
        .where(col(StatementPayment.statement_id) == statement_id)
        .order_by(col(StatementPayment.position))
    )
    return tuple(build_row(PaidLine, row) for row in session.execute(query).scalars())


def csv_of(session: ScopedSession, row: Statement) -> Iterator[bytes]:
    """Yield the CSV of a statement, whose hash it carries."""
    paper = paper_of(row, payments=list_printed(session, row.id))
    yield from statement_files.csv_chunks(paper, batches_of(session, row.id))


def get_last(session: ScopedSession, party: Party) -> Statement | None:
    """Return the newest statement of a party that is not void."""
    query = sa.select(Statement).where(party.owns(Statement), *IS_VALID).order_by(col(Statement.month).desc()).limit(1)
    found: Statement | None = session.execute(query).scalar_one_or_none()
    return found


def get_reversal(session: ScopedSession, statement_id: UUID) -> Statement | None:
    """Return the statement that reverses another one, unless it was given up."""
    query = sa.select(Statement).where(
        col(Statement.reverses_id) == statement_id, col(Statement.state) != StatementState.VOID
    )
    found: Statement | None = session.execute(query).scalar_one_or_none()
    return found


def get_for_update(session: ScopedSession, statement_id: UUID) -> Statement:
    """Return a statement and hold it, with its party, until the transaction ends; NotFound for an unknown one."""
    which = (col(Statement.id) == statement_id, *_mine(session))
    owner = sa.select(col(Statement.distributor_id), col(Statement.provider_id)).where(*which)
    party = session.find_row(owner, otherwise="There is no such statement")
    parties.lock(session, parties.party_of(party))
    found: Statement = session.execute(sa.select(Statement).where(*which).with_for_update()).scalar_one()
    return found


def get_statement(session: ScopedSession, statement_id: UUID) -> StatementRow:
    """Return one statement; NotFound for one that does not exist, or is not the caller's."""
    query = sa.select(Statement).where(col(Statement.id) == statement_id, *_mine(session))
    row = session.find_scalar(query, otherwise="There is no such statement")
    return _build(row, _load_reversed(session, [row]), list_printed(session, row.id))


def list_statements(session: ScopedSession, *, month: date | None = None) -> list[StatementRow]:
    """List statements of a month, or of all, the newest month first; a distributor gets its own that were sent."""
    return _list(session, _select_listed(session, *([] if month is None else [col(Statement.month) == month])))


def list_numbered(session: ScopedSession, text: str, most: int) -> list[StatementRow]:
    """List at most so many statements of the number that a text is, which each party may have, the newest first."""
    is_meant = match_number(text)
    return _list(session, _select_listed(session, *is_meant).limit(most)) if is_meant else []


def _select_listed(session: ScopedSession, *conditions: sa.ColumnElement[bool]) -> AnySelect:
    order = (col(Statement.month).desc(), col(Statement.account), col(Statement.prepared_at).desc(), col(Statement.id))
    return sa.select(Statement).where(*_mine(session), *conditions).order_by(*order)


def _list(session: ScopedSession, query: AnySelect) -> list[StatementRow]:
    rows = session.execute(query).scalars().all()
    reversed_ = _load_reversed(session, rows)
    return [_build(row, reversed_) for row in rows]


def list_of_distributors(session: ScopedSession, month: date) -> Sequence[Statement]:
    """List the commission statements of a month that are not void."""
    query = sa.select(Statement).where(
        col(Statement.account) == "distributor", col(Statement.month) == month, *IS_VALID
    )
    return session.execute(query.order_by(col(Statement.distributor_id))).scalars().all()


def list_steps(session: ScopedSession, statement_id: UUID) -> list[StepRow]:
    """List what was done with a statement, its preparation first."""
    maker = (
        sa.select(sa.literal(StatementState.PREPARED), col(Staff.name), col(Statement.prepared_at), col(Statement.note))
        .join(Staff, col(Staff.id) == col(Statement.prepared_by))
        .where(col(Statement.id) == statement_id)
    )
    later = (
        sa.select(*(col(getattr(StatementStep, name)) for name in ("state", "made_at", "note")), col(Staff.name))
        .join(Staff, col(Staff.id) == col(StatementStep.staff_id))
        .where(col(StatementStep.statement_id) == statement_id)
        .order_by(col(StatementStep.position))
    )
    steps = [StepRow(*row) for row in session.execute(maker)]
    for row in session.execute(later):
        is_settled = bool(steps) and steps[-1].name == StatementState.DISPUTED and row.state == StatementState.SENT
        steps.append(StepRow("Dispute settled" if is_settled else row.state, row.name, row.made_at, row.note))
    return steps


def sum_lines(session: ScopedSession, statement_id: UUID) -> tuple[int, int, int]:
    """Return the sums of premium, commission and net of all lines of a statement, in kobo."""
    names = ("premium_minor", "commission_minor", "net_minor")
    sums = [sum_of(col(getattr(StatementLine, name))) for name in names]
    query: Any = sa.select(*sums).where(col(StatementLine.statement_id) == statement_id)
    premium, commission, net = session.execute(query).one()
    return int(premium), int(commission), int(net)


def list_of_policy(session: ScopedSession, movement_ids: Sequence[UUID]) -> list[tuple[UUID, str, str, date]]:
    """List the statements that hold some movements: id, number, party and month."""
    query = (
        sa.select(Statement)
        .join(StatementLine, col(StatementLine.statement_id) == col(Statement.id))
        .where(col(StatementLine.movement_id).in_(movement_ids), col(StatementLine.released_by).is_(None))
        .order_by(col(Statement.month), col(Statement.account))
    )
    found = {row.id: row for row in session.execute(query).scalars()}
    return [(row.id, number_of(row), str(row.facts["party"]), row.month) for row in found.values()]


def _mine(session: ScopedSession) -> list[sa.ColumnElement[bool]]:
    """The statements that a session may see: a distributor its own, once they were sent; the desk all, in live."""
    scope = session.scope
    if scope.distributor_id is None:
        return [] if scope.is_live is not False else [sa.false()]
    is_seen = col(Statement.state).in_(SEEN)
    mine = col(Statement.distributor_id) == scope.distributor_id
    return [mine, is_seen, col(Statement.sent_at).is_not(None)] if scope.is_live else [sa.false()]


def _load_reversed(session: ScopedSession, rows: Sequence[Statement]) -> dict[UUID | None, str]:
    """Return the numbers of the statements that some of these reverse, by their ids."""
    ids = [row.reverses_id for row in rows if row.reverses_id]
    query = sa.select(Statement).where(col(Statement.id).in_(ids))
    return {row.id: number_of(row) for row in session.execute(query).scalars()} if ids else {}


def _build(row: Statement, reversed_: Mapping[UUID | None, str], payments: tuple[PaidLine, ...] = ()) -> StatementRow:
    paper = paper_of(row, reverses=reversed_.get(row.reverses_id), payments=payments)
    return build_row(StatementRow, row, party=parties.party_of(row), paper=paper)


class StatementFilter(Filter, on=(Statement,)):
    """Filter of the list of statements."""

    month: str | None = of(month_of)
    states: tuple[str, ...] = of(states_of, StatementState)
    distributor_ids: Ids = of(members_of, "distributor")
    provider_ids: Ids = of(members_of, "provider")


DRAFT = "Draft"
_ACCOUNT_NAMES = {"distributor": "Distributor", "provider": "Insurer"}
_KEY, _ACCOUNT, _NUMBERED = col(Statement.id), col(Statement.account), col(Statement.number)
_PARTY: Final[Any] = col(Statement.facts)["party"].as_string()


def _rows(columns: Sequence[Any], criteria: StatementFilter, _: Choices) -> AnySelect:
    return sa.select(*columns).select_from(Statement).where(*criteria.conditions(Statement))


# Of the statements alone: a draft of the screen is none yet, and its figures change with every sale.
STATEMENTS: Final[Listing[StatementFilter]] = Listing(
    name="statements",
    title="Statements",
    noun=("statement", "statements"),
    roles=("finance",),
    filter=StatementFilter,
    key=_KEY,
    is_live_only=True,
    columns={
        "id": Column("Statement", ID, _KEY),
        "party": Column("Party", TEXT, _PARTY, is_sortable=True),
        "account": Column("Account", WORD, _ACCOUNT, words=_ACCOUNT_NAMES, is_sortable=True),
        "number": Column(
            *("Number", WORD, Derived((_ACCOUNT, _NUMBERED), lambda _, *given: print_number(*given))),
            orders=(
                Order("number", "Number, ascending", (_ACCOUNT, _NUMBERED, _KEY)),
                Order("number-back", "Number, descending", (_ACCOUNT.desc(), _NUMBERED.desc(), _KEY.desc())),
            ),
        ),
        "stated": Column("Month", DATE, sa.cast(col(Statement.month), sa.String), machine="month"),
        "state": Column("State", STATE, col(Statement.state), is_sortable=True),
        "lines": Column("Lines", COUNT, col(Statement.lines), is_sortable=True),
        "opening": Column("Opening", SIGNED_MONEY, col(Statement.opening_minor), is_sortable=True),
        "vat": Column("VAT", SIGNED_MONEY, col(Statement.vat_minor)),
        "withheld": Column("Withholding tax", SIGNED_MONEY, col(Statement.withheld_minor)),
        "paid": Column("Paid", SIGNED_MONEY, col(Statement.paid_minor)),
        "month": Column(
            *("Of the month", SIGNED_MONEY, col(Statement.closing_minor) - col(Statement.opening_minor)),
            machine="change",
            is_sortable=True,
        ),
        "closing": Column(
            *("Closing", SIGNED_MONEY, col(Statement.closing_minor)),
            says="Positive is owed by the platform.",
            is_sortable=True,
        ),
        "prepared_at": Column("Prepared at", INSTANT, col(Statement.prepared_at)),
        "sent_at": Column("Sent at", INSTANT, col(Statement.sent_at)),
        **mode_column(),
    },
    rows=_rows,
    count=lambda session, criteria: session.count_rows(Statement, *criteria.conditions(Statement)),
    summed=col(Statement.closing_minor),
    sum_title="Closing",
    more_orders=(Order("usual", "By account and party", (_ACCOUNT, sa.func.lower(_PARTY), _NUMBERED, _KEY)),),
    usual_order="usual",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class StatementSummary:
    """One account of a month; a draft has no number, and its figures move until it is prepared, without taxes."""

    party: Party
    name: str
    month: date
    state: str
    lines: int
    change_minor: int
    statement_id: UUID | None = None
    number: str | None = None
    opening_minor: int | None = None
    closing_minor: int | None = None
    is_reversal: bool = False

    @property
    def key(self) -> str:
        """Key in the page address: of the statement, or of the party if there is none yet."""
        return str(self.statement_id or f"{self.party.account}.{self.party.id}.{self.month:%Y-%m}")

    @property
    def account_name(self) -> str:
        """The kind of account as people read it."""
        return _ACCOUNT_NAMES[self.party.account]


def list_month(session: ScopedSession, month: date) -> list[StatementSummary]:
    """List every statement of a month, and a draft for each party with movements that has none."""
    return with_drafts(session, month, list_statements(session, month=month))


def with_drafts(session: ScopedSession, month: date, found: Sequence[StatementRow]) -> list[StatementSummary]:
    """Return the statements of a month that were read already, and a draft for each party that has none."""
    stated = {row.party for row in found if row.paper.state != StatementState.VOID and row.reverses_id is None}
    names = dict(parties.list_parties(session))
    drafts = [
        StatementSummary(party=party, name=names[party], month=month, state=DRAFT, lines=lines, change_minor=minor)
        for party, (lines, minor) in _sum_movements(session, month).items()
        if party not in stated
    ]
    rows = [*map(_summarise, found), *drafts]
    return sorted(rows, key=lambda row: (row.party.account, row.name.lower(), row.number or ""))


def list_months(session: ScopedSession) -> list[date]:
    """List the months from the first movement to this one, the newest first."""
    month, months = clock.today().replace(day=1), []
    oldest = find_first_month(session, col(Movement.created_at)) or month
    while month >= oldest:
        months.append(month)
        month = clock.add_months(month, -1)
    return months


def _summarise(row: StatementRow) -> StatementSummary:
    paper = row.paper
    return build_row(
        StatementSummary,
        paper,
        party=row.party,
        name=paper.party,
        change_minor=paper.closing_minor - paper.opening_minor,
        statement_id=row.id,
        is_reversal=row.reverses_id is not None,
    )


def _sum_movements(session: ScopedSession, month: date) -> Mapping[Party, tuple[int, int]]:
    """The number of movements of each party in a month, and its commission or share of them, before taxes."""
    span = Window.of_month(month).span
    found: dict[Party, tuple[int, int]] = {}
    for account, amount in (("distributor", "distributor_profit_minor"), ("provider", "provider_share_minor")):
        owner: Any = col(getattr(Movement, f"{account}_id"))
        query = (
            sa.select(owner, sa.func.count(), sa.func.sum(col(getattr(Movement, amount))))
            .where(*span.on(col(Movement.created_at)))
            .group_by(owner)
        )
        for party_id, lines, minor in session.execute(query):
            found[Party(account, party_id)] = (lines, int(minor))  # type: ignore[arg-type]
    return found


class StatementRecord(TypedDict):
    """One statement: what a month brought, and the balances before and after; negative is owed to the platform."""

    id: Id
    number: str
    month: str
    timezone: Literal["Africa/Lagos"]
    state: Annotated[str, WithJsonSchema({"type": "string", "enum": list(SEEN)})]
    opening_balance: str
    premium: str
    commission_earned: str
    clawbacks: str
    adjustments: str
    vat: str
    withholding_tax: str
    payments: str
    closing_balance: str
    lines: int
    sha256: str
    reverses: str | None
    sent_at: Moment | None


def list_records(session: ScopedSession, paging: Paging) -> Page[StatementRecord]:
    """Return a page of the caller's statements, the newest month first."""
    query = _select_listed(session)
    total = session.execute(sa.select(sa.func.count()).select_from(query.order_by(None).subquery())).scalar_one()
    found = _list(session, query.limit(paging.limit).offset(paging.offset))
    return Page([build(row) for row in found], total)


def get_record(session: ScopedSession, statement_id: UUID) -> StatementRecord:
    """Return one of the caller's statements; NotFound for any other."""
    return build(get_statement(session, statement_id))


def build(row: StatementRow) -> StatementRecord:
    """Return the record of a statement."""
    return _build_record(str(row.id), row.paper, sent_at=clock.to_wire(row.sent_at))


def build_example() -> StatementRecord:
    """Return a statement for the documentation, whose amounts add up."""
    paper = Paper(
        title="Commission statement",
        number="CS-0007",
        account="distributor",
        party="Swift Lenders",
        month=date(2026, 10, 1),
        opening_minor=0,
        premium_minor=0,
        earned_minor=1_250_000,
        clawback_minor=-50_000,
        adjusted_minor=0,
        vat_minor=0,
        withheld_minor=60_000,
        paid_minor=0,
        closing_minor=1_140_000,
        lines=214,
        sha256="9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        state=StatementState.SENT,
        facts={},
    )
    return _build_record("01a1f7c0-3c00-7000-8000-0000000000b1", paper, sent_at="2026-11-03T09:15:00.000Z")


def _build_record(statement_id: str, paper: Paper, *, sent_at: str | None) -> StatementRecord:
    return {
        "id": statement_id,
        "number": paper.number,
        "month": f"{paper.month:%Y-%m}",
        "timezone": "Africa/Lagos",
        "state": paper.state,
        "opening_balance": money.to_wire(paper.opening_minor),
        "premium": money.to_wire(paper.premium_minor),
        "commission_earned": money.to_wire(paper.earned_minor),
        "clawbacks": money.to_wire(paper.clawback_minor),
        "adjustments": money.to_wire(paper.adjusted_minor),
        "vat": money.to_wire(paper.vat_minor),
        "withholding_tax": money.to_wire(paper.withheld_minor),
        "payments": money.to_wire(paper.paid_minor),
        "closing_balance": money.to_wire(paper.closing_minor),
        "lines": paper.lines,
        "sha256": paper.sha256,
        "reverses": paper.reverses,
        "sent_at": sent_at,
    }
