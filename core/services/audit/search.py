"""Search of the audit log: pages over millions of entries, single entries, and the filter choices.

Work is bounded: matches are counted up to 10,000, and text is searched only in the newest 50,000 entries that match the
other filters; results say so.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import UTCDateTime, col

from core import clock
from core.errors import NotFound
from core.services import filters
from core.services.audit.selection import AuditSelection
from core.services.paging import Paging
from core.services.windows import EARLIEST
from core.store.access.scope import AnySelect, ScopedSession
from core.store.expressions import matches
from core.store.schema.tables import ApiKey, AuditEntry, AuditHead, Distributor, Staff

MOST: Final = 10_000
DEEPEST: Final = 50_000
# The kinds of records that can be searched by id.
KINDS: Final = (
    *("policy", "purchase", "renewal", "claim", "customer", "product", "distributor", "insurer"),
    *("staff", "key", "export", "file", "statement", "backup"),
)
_KEY = "key "
_SUBJECT = col(AuditEntry.subject)


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One entry; `who` is the actor's display name, `kind` and `about` the kind and id of its record."""

    id: UUID
    created_at: datetime
    actor: str
    who: str
    action: str
    kind: str
    about: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    chain: int
    position: int
    hash: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """One page of entries; `total` is exact unless there are `more`, `deepest` is the limit of a text search."""

    rows: Sequence[Entry]
    total: int
    more: bool = False
    deepest: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """Choices of the filters: actors with display names, actions, and kinds of records."""

    actors: Mapping[str, str]
    actions: Sequence[str]
    kinds: Sequence[str]


def page(session: ScopedSession, wanted: AuditSelection, paging: Paging, terms: Terms) -> Found:
    """Return one page of a selection, newest first."""
    if wanted == AuditSelection():
        counted = sa.select(sa.func.coalesce(sa.func.sum(col(AuditHead.position)), 0))
        ids = _page_of(session, matching(wanted, [], col(AuditEntry.id)), paging)
        return Found(rows=_entries(session, ids), total=int(session.execute(counted).scalar_one()))
    if wanted.q and not is_id(wanted.q):
        return _by_text(session, wanted, paging, terms)
    found = _matching(session, wanted, terms)
    counted = sa.select(sa.func.count()).select_from(found.order_by(None).limit(MOST + 1).subquery())
    total = session.execute(counted).scalar_one()
    if total <= MOST:
        # Few matches: filter by the best index, then sort. A scan in time order could read far more entries.
        few = found.order_by(None).limit(MOST).subquery()
        found = sa.select(few.c.id).order_by(few.c.created_at.desc(), few.c.id.desc())
    ids = _page_of(session, found, paging)
    return Found(rows=_entries(session, ids), total=min(total, MOST), more=total > MOST)


def _page_of(session: ScopedSession, found: AnySelect, paging: Paging) -> list[UUID]:
    return list(session.execute(found.offset(paging.offset).limit(paging.limit)).scalars())


def _by_text(session: ScopedSession, wanted: AuditSelection, paging: Paging, terms: Terms) -> Found:
    """Return a page of a text search, which runs once for both the page and the count."""
    ids = list(session.execute(_matching(session, wanted, terms).limit(MOST + 1)).scalars())
    rows = _entries(session, ids[:MOST][paging.offset : paging.offset + paging.limit])
    return Found(rows=rows, total=min(len(ids), MOST), more=len(ids) > MOST, deepest=DEEPEST)


def _matching(session: ScopedSession, wanted: AuditSelection, terms: Terms) -> AnySelect:
    """Build the query of matching ids and times, newest first."""
    found = conditions(wanted, sorted({*KINDS, *terms.kinds}))
    if wanted.kind and not wanted.id and session.connection().dialect.name == "sqlite":
        # SQLite's LIKE ignores case and cannot use the index; a range can.
        found.append(sa.and_(f"{wanted.kind} " <= _SUBJECT, f"{wanted.kind}!" > _SUBJECT))
    return matching(wanted, found, col(AuditEntry.id), col(AuditEntry.created_at))


def matching(wanted: AuditSelection, found: Sequence[sa.ColumnElement[bool]], *columns: Any) -> AnySelect:
    """Build a query of the entries that meet the conditions, newest first; text is searched in the newest only."""
    newest = (col(AuditEntry.created_at).desc(), col(AuditEntry.id).desc())
    if not wanted.q or is_id(wanted.q):
        whole: AnySelect = sa.select(*columns).select_from(AuditEntry).where(*found)
        return whole.order_by(*newest)
    # Bounded by the instant of the oldest entry searched: the index scan stops as soon as the page is full.
    instants = sa.select(col(AuditEntry.created_at)).where(*found).order_by(*newest)
    first = sa.literal(clock.lagos_midnight(EARLIEST), UTCDateTime())
    deepest = sa.func.coalesce(instants.limit(1).offset(DEEPEST - 1).scalar_subquery(), first)
    within: AnySelect = sa.select(*columns).select_from(AuditEntry).where(*found, _text(wanted.q))
    return within.where(col(AuditEntry.created_at) >= deepest).order_by(*newest)


def conditions(wanted: AuditSelection, kinds: Sequence[str]) -> list[sa.ColumnElement[bool]]:
    """Return the conditions of a selection except its text; an id without a kind is searched in these kinds."""
    found = list(wanted.span.on(col(AuditEntry.created_at)))
    if wanted.who:
        found.append(col(AuditEntry.actor).in_(wanted.who))
    if wanted.action:
        found.append(col(AuditEntry.action).in_(wanted.action))
    for sought in (wanted.id, wanted.q if is_id(wanted.q) else ""):
        if sought:
            of = [wanted.kind] if wanted.kind else kinds
            found.append(_SUBJECT.in_([f"{kind} {sought.lower()}" for kind in of]))
    if wanted.kind and not wanted.id:
        found.append(_SUBJECT.startswith(f"{wanted.kind} ", autoescape=True))
    return found


def _text(sought: str) -> sa.ColumnElement[bool]:
    facts = [sa.func.coalesce(sa.cast(col(side), sa.String), "") for side in (AuditEntry.before, AuditEntry.after)]
    parts = (col(AuditEntry.actor), col(AuditEntry.action), _SUBJECT, *facts)
    text = reduce(lambda whole, part: whole + "\n" + part, parts)
    # JSON stores non-ASCII characters as \uXXXX and escapes quotes, so the escaped text is searched too.
    patterns = {filters.containing(each) for each in (sought, json.dumps(sought)[1:-1])}
    return sa.or_(*(matches(text, sa.literal(pattern)) for pattern in sorted(patterns)))


def is_id(text: str) -> bool:
    """Return True for a text that is a UUID of 36 characters."""
    try:
        return len(text) == 36 and bool(UUID(text))
    except ValueError:
        return False


def one(session: ScopedSession, entry_id: UUID) -> Entry:
    """Return one entry; NotFound for an unknown id."""
    found = _entries(session, [entry_id])
    if not found:
        raise NotFound("There is no such entry")
    return found[0]


def _entries(session: ScopedSession, ids: Sequence[UUID]) -> list[Entry]:
    """Load entries by id, newest first."""
    query = sa.select(AuditEntry).where(col(AuditEntry.id).in_(ids))
    newest = (col(AuditEntry.created_at).desc(), col(AuditEntry.id).desc())
    rows: list[AuditEntry] = list(session.execute(query.order_by(*newest)).scalars())
    names = known_as(session, {row.actor for row in rows})
    return [_entry(row, names) for row in rows]


def _entry(row: AuditEntry, names: Mapping[str, str]) -> Entry:
    kind, _, about = row.subject.partition(" ")
    return Entry(
        id=row.id,
        created_at=row.created_at,
        actor=row.actor,
        who=names[row.actor],
        action=row.action,
        kind=kind,
        about=about,
        before=row.before,
        after=row.after,
        chain=row.chain,
        position=row.position,
        hash=row.hash,
    )


def known_as(session: ScopedSession, actors: set[str]) -> dict[str, str]:
    """Return the display names of actors: staff by e-mail, an API key by its distributor and name."""
    keys = _names_of_keys(session, actors)
    return {actor: keys.get(actor, actor.removeprefix("staff ")) for actor in actors}


def _names_of_keys(session: ScopedSession, actors: set[str]) -> dict[str, str]:
    ids = [UUID(actor.removeprefix(_KEY)) for actor in actors if actor.startswith(_KEY) and is_id(actor[len(_KEY) :])]
    return _keys(session, col(ApiKey.id).in_(ids)) if ids else {}


def _keys(session: ScopedSession, *conditions: sa.ColumnElement[bool]) -> dict[str, str]:
    """Return the display names of API keys by actor."""
    rows = session.execute(
        sa.select(col(ApiKey.id), col(ApiKey.name), col(ApiKey.hint), col(Distributor.business_name))
        .join(Distributor, col(Distributor.id) == col(ApiKey.distributor_id))
        .where(*conditions)
        .order_by(sa.func.lower(col(Distributor.business_name)), col(ApiKey.name))
    )
    return {f"{_KEY}{row.id}": f"{row.business_name}, key {row.name} {row.hint}" for row in rows}


def terms(session: ScopedSession) -> Terms:
    """Load the filter choices: all possible actors, all actions in the log, and the kinds of their records."""
    staff = session.execute(sa.select(col(Staff.email)).order_by(col(Staff.email))).scalars()
    actions = _actions(session)
    return Terms(
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
