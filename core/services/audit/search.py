"""Search of the audit log: pages over millions of entries, single entries, and the filter choices.

Work is bounded: matches are counted up to 10,000, and text is searched only in the newest 50,000 entries that match the
other filters; results say so.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import UTCDateTime, col

from core import clock
from core.errors import first_of
from core.services.audit import log as audit
from core.services.lists.dimensions import Choices
from core.services.lists.filters import declaration
from core.services.lists.filters.declaration import Filter, of
from core.services.lists.filters.fields import Condition, Days, Text, Texts
from core.services.lists.listing import Column, Listing
from core.services.lists.paging import Paging
from core.services.lists.spreadsheets import COUNT, DAY, ID, INSTANT, TEXT
from core.services.lists.windows import EARLIEST, Span
from core.store.access import AnySelect, ScopedSession
from core.store.expressions import matches, sum_of
from core.store.rows import build_row
from core.store.schema.tables import ApiKey, AuditEntry, AuditHead, Distributor, Staff


class AuditFilter(Filter, on=(AuditEntry,)):
    """Filter of audit entries; kind and id of a record and any text are conditions of the search itself."""

    q: str | None = of(
        Text,
        label="Find",
        address="q",
        help="Any text of an entry.",
        placeholder="Any text of an entry",
        longest=100,
        searches=True,
        place="search",
    )
    who: tuple[str, ...] = of(
        Texts,
        label="Who",
        column="actor",
        address="who",
        help="An actor as the log names it; may be repeated.",
        anything="Everybody",
    )
    action: tuple[str, ...] = of(
        Texts,
        label="What",
        column="action",
        address="action",
        help="What was done; may be repeated.",
        anything="Every action",
    )
    kind: str | None = of(Text, label="Kind of record", address="kind", help="Such as policy, claim or product.")
    id: str | None = of(
        Text,
        label="Id of the record",
        address="id",
        help="The id of the record.",
        longest=100,
    )
    created: Span = of(Days, column="created_at", address="from to")


MAX_COUNTED: Final = 10_000
MAX_SEARCHED: Final = 50_000
# The kinds of records that can be searched by id.
RECORD_KINDS: Final = (
    *("policy", "purchase", "renewal", "claim", "customer", "product", "distributor", "insurer"),
    *("staff", "key", "export", "file", "statement", "payment", "payout", "bordereau", "backup"),
    *("reconciliation", "difference", "month", "batch", "loan_book", "tax_rate"),
)
_KEY_PREFIX = "key "
_SUBJECT = col(AuditEntry.subject)


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One entry; `kind` and `record_id` name the record that was changed.

    A screen also has `record`, its name in words, and the names of `people` whose ids are among the facts; a price of
    a product that is `priced_in_percent` is percent of what is insured.
    """

    id: UUID
    created_at: datetime
    actor: str
    actor_name: str
    action: str
    kind: str
    record_id: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    chain: int
    position: int
    hash: str
    record: str = ""
    priced_in_percent: bool = False
    people: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchResult:
    """One page of entries; `total` is exact unless there are `more`, `deepest` is the limit of a text search."""

    entries: Sequence[Entry]
    total: int
    has_more: bool = False
    deepest: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchChoices:
    """Choices of the filters: actors with display names, actions, and kinds of records."""

    actors: Mapping[str, str]
    actions: Sequence[str]
    kinds: Sequence[str]


def search_entries(
    session: ScopedSession, criteria: AuditFilter, paging: Paging, choices: SearchChoices
) -> SearchResult:
    """Return one page of a selection, newest first."""
    if criteria == AuditFilter():
        counted = sa.select(sum_of(col(AuditHead.position)))
        ids = _load_page_ids(session, build_query(criteria, [], col(AuditEntry.id)), paging)
        return SearchResult(entries=_entries(session, ids), total=int(session.execute(counted).scalar_one()))
    if criteria.q and not is_id(criteria.q):
        return _search_text(session, criteria, paging, choices)
    query = _build_id_query(session, criteria, choices)
    counted = sa.select(sa.func.count()).select_from(query.order_by(None).limit(MAX_COUNTED + 1).subquery())
    total = session.execute(counted).scalar_one()
    if total <= MAX_COUNTED:
        # Few matches: filter by the best index, then sort. A scan in time order could read far more entries.
        few = query.order_by(None).limit(MAX_COUNTED).subquery()
        query = sa.select(few.c.id).order_by(few.c.created_at.desc(), few.c.id.desc())
    ids = _load_page_ids(session, query, paging)
    return SearchResult(entries=_entries(session, ids), total=min(total, MAX_COUNTED), has_more=total > MAX_COUNTED)


def _load_page_ids(session: ScopedSession, query: AnySelect, paging: Paging) -> list[UUID]:
    return list(session.execute(query.offset(paging.offset).limit(paging.limit)).scalars())


def _search_text(session: ScopedSession, criteria: AuditFilter, paging: Paging, choices: SearchChoices) -> SearchResult:
    """Return a page of a text search, which runs once for both the page and the count."""
    ids = list(session.execute(_build_id_query(session, criteria, choices).limit(MAX_COUNTED + 1)).scalars())
    rows = _entries(session, ids[:MAX_COUNTED][paging.offset : paging.offset + paging.limit])
    return SearchResult(
        entries=rows, total=min(len(ids), MAX_COUNTED), has_more=len(ids) > MAX_COUNTED, deepest=MAX_SEARCHED
    )


def _build_id_query(session: ScopedSession, criteria: AuditFilter, choices: SearchChoices) -> AnySelect:
    """Build the query of matching ids and times, newest first."""
    clauses = build_conditions(criteria, sorted({*RECORD_KINDS, *choices.kinds}))
    if criteria.kind and not criteria.id and session.connection().dialect.name == "sqlite":
        # SQLite's LIKE ignores case and cannot use the index; a range can.
        clauses.append(sa.and_(f"{criteria.kind} " <= _SUBJECT, f"{criteria.kind}!" > _SUBJECT))
    return build_query(criteria, clauses, col(AuditEntry.id), col(AuditEntry.created_at))


def build_query(criteria: AuditFilter, clauses: Sequence[Condition], *columns: Any) -> AnySelect:
    """Build a query of the entries that meet the conditions, newest first; text is searched in the newest only."""
    newest = (col(AuditEntry.created_at).desc(), col(AuditEntry.id).desc())
    if not criteria.q or is_id(criteria.q):
        whole: AnySelect = sa.select(*columns).select_from(AuditEntry).where(*clauses)
        return whole.order_by(*newest)
    # Bounded by the instant of the oldest entry searched: the index scan stops as soon as the page is full.
    instants = sa.select(col(AuditEntry.created_at)).where(*clauses).order_by(*newest)
    first = sa.literal(clock.lagos_midnight(EARLIEST), UTCDateTime())
    deepest = sa.func.coalesce(instants.limit(1).offset(MAX_SEARCHED - 1).scalar_subquery(), first)
    within: AnySelect = sa.select(*columns).select_from(AuditEntry).where(*clauses, _build_text_condition(criteria.q))
    return within.where(col(AuditEntry.created_at) >= deepest).order_by(*newest)


def build_conditions(criteria: AuditFilter, kinds: Sequence[str]) -> list[Condition]:
    """Return the conditions of a filter except its text; an id without a kind is searched in these kinds."""
    clauses = criteria.conditions(AuditEntry)
    for record_id in (criteria.id, criteria.q if is_id(criteria.q) else None):
        if record_id:
            of = [criteria.kind] if criteria.kind else kinds
            clauses.append(_SUBJECT.in_([f"{kind} {record_id.lower()}" for kind in of]))
    if criteria.kind and not criteria.id:
        clauses.append(_SUBJECT.startswith(f"{criteria.kind} ", autoescape=True))
    return clauses


def _build_text_condition(searched_text: str) -> Condition:
    facts = [sa.func.coalesce(sa.cast(col(side), sa.String), "") for side in (AuditEntry.before, AuditEntry.after)]
    parts = (col(AuditEntry.actor), col(AuditEntry.action), _SUBJECT, *facts)
    text = reduce(lambda whole, part: whole + "\n" + part, parts)
    # JSON stores non-ASCII characters as \uXXXX and escapes quotes, so the escaped text is searched too.
    patterns = {declaration.containing(each) for each in (searched_text, json.dumps(searched_text)[1:-1])}
    return sa.or_(*(matches(text, sa.literal(pattern)) for pattern in sorted(patterns)))


def is_id(text: str | None) -> bool:
    """Return True for a text that is a UUID of 36 characters."""
    try:
        return text is not None and len(text) == 36 and bool(UUID(text))
    except ValueError:
        return False


def get_entry(session: ScopedSession, entry_id: UUID) -> Entry:
    """Return one entry; NotFound for an unknown id."""
    return first_of(_entries(session, [entry_id]), otherwise="There is no such entry")


def _entries(session: ScopedSession, ids: Sequence[UUID]) -> list[Entry]:
    """Load entries by id, newest first."""
    query = sa.select(AuditEntry).where(col(AuditEntry.id).in_(ids))
    newest = (col(AuditEntry.created_at).desc(), col(AuditEntry.id).desc())
    rows: list[AuditEntry] = list(session.execute(query.order_by(*newest)).scalars())
    names = get_actor_names(session, {row.actor for row in rows})
    return [_entry(row, names) for row in rows]


def _entry(row: AuditEntry, names: Mapping[str, str]) -> Entry:
    kind, _, about = row.subject.partition(" ")
    return build_row(Entry, row, actor_name=names[row.actor], kind=kind, record_id=about)


def get_actor_names(session: ScopedSession, actors: set[str]) -> dict[str, str]:
    """Return the display names of actors: staff by e-mail, an API key by its distributor and name."""
    keys = _get_key_names(session, actors)
    return {actor: keys.get(actor, actor.removeprefix("staff ")) for actor in actors}


def _get_key_names(session: ScopedSession, actors: set[str]) -> dict[str, str]:
    ids = [
        UUID(actor.removeprefix(_KEY_PREFIX))
        for actor in actors
        if actor.startswith(_KEY_PREFIX) and is_id(actor[len(_KEY_PREFIX) :])
    ]
    return _keys(session, col(ApiKey.id).in_(ids)) if ids else {}


def _keys(session: ScopedSession, *conditions: Condition) -> dict[str, str]:
    """Return the display names of API keys by actor."""
    rows = session.execute(
        sa.select(col(ApiKey.id), col(ApiKey.name), col(ApiKey.hint), col(Distributor.business_name))
        .join(Distributor, col(Distributor.id) == col(ApiKey.distributor_id))
        .where(*conditions)
        .order_by(sa.func.lower(col(Distributor.business_name)), col(ApiKey.name))
    )
    return {f"{_KEY_PREFIX}{row.id}": f"{row.business_name}, key {row.name} {row.hint}" for row in rows}


def load_choices(session: ScopedSession) -> SearchChoices:
    """Load the filter choices: all possible actors, all actions in the log, and the kinds of their records."""
    staff = session.execute(sa.select(col(Staff.email)).order_by(col(Staff.email))).scalars()
    actions = _actions(session)
    return SearchChoices(
        actors={**{f"staff {email}": email for email in staff}, **_keys(session)},
        actions=list(actions),
        kinds=sorted({subject.partition(" ")[0] for subject in actions.values()}),
    )


def _actions(session: ScopedSession) -> dict[str, str]:
    """Return every action with the subject of one entry, by a loose index scan instead of reading every entry."""
    found: dict[str, str] = {}
    query = sa.select(col(AuditEntry.action), col(AuditEntry.subject)).order_by(col(AuditEntry.action)).limit(1)
    row = session.execute(query).one_or_none()
    while row is not None:
        found[row.action] = row.subject
        row = session.execute(query.where(col(AuditEntry.action) > row.action)).one_or_none()
    return found


def _print_json(side: object) -> Any:
    return sa.func.nullif(sa.cast(col(side), sa.String), "null")


def _rows(columns: Sequence[Any], criteria: AuditFilter, _: Choices) -> AnySelect:
    # All known record kinds: the kinds present in the store are not queried here.
    return build_query(criteria, build_conditions(criteria, RECORD_KINDS), *columns)


def _count(session: ScopedSession, criteria: AuditFilter) -> int:
    conditions = build_conditions(criteria, RECORD_KINDS)
    found = build_query(criteria, conditions, col(AuditEntry.id)).order_by(None)
    return int(session.execute(sa.select(sa.func.count()).select_from(found.subquery())).scalar_one())


AUDIT: Listing[AuditFilter] = Listing(
    name="audit",
    title="Audit entries",
    noun=("entry", "entries"),
    roles=("admin",),
    filter=AuditFilter,
    key=col(AuditEntry.id),
    usual=("at", "who", "action", "kind", "facts"),
    row_type=Entry,
    columns={
        "id": Column("Reference", ID, col(AuditEntry.id)),
        "at": Column("When", INSTANT, col(AuditEntry.created_at), of="created_at", machine="created_at"),
        "day": Column("Day", DAY, col(AuditEntry.created_at), of="created_at", machine="created_on"),
        "who": Column("Who", TEXT, col(AuditEntry.actor), of="actor_name", machine="actor", width=185),
        "action": Column("What", TEXT, col(AuditEntry.action), width=145),
        "kind": Column("Record", TEXT, _SUBJECT, machine="subject", width=75),
        "about": Column("Its id", TEXT, of="record_id", width=270),
        "before": Column("Before", TEXT, _print_json(AuditEntry.before), width=330),
        "facts": Column("Facts", TEXT, _print_json(AuditEntry.after), of="after", machine="after", width=330),
        "chain": Column("Chain", COUNT, col(AuditEntry.chain)),
        "position": Column("Place in the chain", COUNT, col(AuditEntry.position)),
        "hash": Column("Hash", TEXT, col(AuditEntry.hash), width=130),
    },
    rows=_rows,
    count=_count,
    usual_order="",
)


def list_restores(session: ScopedSession, *, since: datetime, until: datetime | None = None) -> list[str]:
    """Describe each time that a backup took the store's place: what was written after it was made is not in the log."""
    query = sa.select(AuditEntry).where(
        col(AuditEntry.created_at) >= since,
        *([col(AuditEntry.created_at) < until] if until else []),
        col(AuditEntry.action) == audit.RESTORED,
    )
    return [
        f"restored on {clock.format_day(clock.to_lagos_day(entry.created_at))} by the {entry.actor},"
        f" as it was at {(entry.after or {}).get('made_at', 'an unknown time')}"
        for entry in session.execute(query.order_by(col(AuditEntry.created_at))).scalars()
    ]
