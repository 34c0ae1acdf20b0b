"""Open submissions for the desk: the queue by pages, the health of each insurer, and the list of the insurers."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.errors import InvalidInput, NotFound, StateForbids
from core.services.audit import log as audit
from core.services.insurers import connections, sending
from core.services.lists.columns import (
    Column,
    Context,
    Derived,
    customer_columns,
    mode_column,
    name_of_sale,
    policy_number,
)
from core.services.lists.columns import Order as ListOrder
from core.services.lists.dimensions import Choices, load_choices
from core.services.lists.filters import declaration
from core.services.lists.filters.declaration import Filter, Ids, of
from core.services.lists.filters.fields import Condition, Flag, Member, Word, members_of
from core.services.lists.listing import Listing
from core.services.lists.paging import Page, Paging
from core.services.lists.spreadsheets import COUNT, ID, INSTANT, MONEY, STATE, TEXT, WORD
from core.services.people import staff
from core.services.people.staff import Person
from core.services.policies import policies
from core.services.sales import filter as sales_filter
from core.services.sales import totals
from core.services.sales.distributors import get_last_year
from core.services.sales.filter import SalesFilter
from core.settings import settings
from core.states.policies import OPEN, AnswerStatus, PolicyStage, SubmissionState
from core.store.access import AnySelect, ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import InsurerConnection, Policy, Product, Provider, Staff, Submission, SubmissionOwner

QueueView = Literal["queued", "deciding", "failing", "dead"]
VIEWS: Final = {"queued": "Queued", "deciding": "Deciding", "failing": "Trying again", "dead": "Set aside"}
ConnectionView = Literal["working", "failing", "none"]
CONNECTIONS: Final = {"working": "Connected", "failing": "Failing", "none": "Delegated"}
NOBODY: Final = "nobody"
# Age targets: a connected insurer answers, any other one is told by hand or by bordereau.
ANSWERED_WITHIN, TOLD_WITHIN = timedelta(days=1), timedelta(days=7)
_IS_QUEUED = col(Submission.state) == SubmissionState.QUEUED
_HAS_FAILED = col(Submission.failures) > 0
_VIEW_CONDITIONS: Final[dict[str, tuple[Condition, ...]]] = {
    "queued": (_IS_QUEUED, sa.not_(_HAS_FAILED), col(Submission.answer).is_(None)),
    "deciding": (_IS_QUEUED, sa.not_(_HAS_FAILED), col(Submission.answer) == AnswerStatus.PENDING),
    "failing": (_IS_QUEUED, _HAS_FAILED),
    "dead": (col(Submission.state) == SubmissionState.DEAD,),
}


def _is_in_view(_: Any, view: str) -> Condition:
    return sa.and_(*_VIEW_CONDITIONS[view])


def _has_connection(_: Any, word: str) -> Condition:
    is_connected = connections.is_connected()
    fails = (
        sa.select(col(InsurerConnection.provider_id))
        .where(
            col(InsurerConnection.provider_id) == col(Submission.provider_id),
            col(InsurerConnection.failures) > 0,
        )
        .exists()
    )
    if word == "none":
        return sa.not_(is_connected)
    return sa.and_(is_connected, fails if word == "failing" else sa.not_(fails))


def _is_owned(_: Any, owner: UUID | str) -> Condition:
    owned = sa.select(col(SubmissionOwner.policy_id))
    if owner == NOBODY:
        return col(Submission.policy_id).not_in(owned)
    return col(Submission.policy_id).in_(owned.where(col(SubmissionOwner.owner_id) == owner))


def _is_late(_: Any, value: bool) -> Condition:  # noqa: FBT001 - the value of a filter
    since, now = col(Submission.created_at), clock.now()
    is_connected = connections.is_connected()
    late = sa.or_(since <= now - TOLD_WITHIN, sa.and_(since <= now - ANSWERED_WITHIN, is_connected))
    return late if value else sa.not_(late)


class SubmissionFilter(Filter, on=(Submission,)):
    """Filter of the list of policies that wait for their insurer; `owner` is a person or `nobody`."""

    find: str | None = sales_filter.find_by_policy(Submission.policy_id)
    provider_ids: Ids = of(members_of, "provider")
    view: QueueView | None = of(
        Word,
        label="State",
        column=_is_in_view,
        address="state",
        options=VIEWS,
        anything="Any state",
        help=f"How far the sending is: {', '.join(VIEWS)}.",
    )
    connection: ConnectionView | None = of(
        Word,
        label="Connection",
        column=_has_connection,
        address="connection",
        options=CONNECTIONS,
        anything="Any connection",
        help=f"Whether its insurer can be reached: {', '.join(CONNECTIONS)}.",
    )
    late: bool | None = of(
        Flag,
        label="Target",
        column=_is_late,
        address="late",
        options={"yes": "Past its target", "no": "Within its target"},
        anything="Past or within",
        help="Whether its insurer should have taken it by now: yes, no.",
    )
    owner: UUID | str | None = of(
        Member,
        label="Owner",
        column=_is_owned,
        address="owned_by",
        also=(NOBODY,),
        what="person",
        anything="Anybody",
        help="Id of who goes on with it, or nobody.",
    )


ROLES = ("operations",)


def list_candidates(session: ScopedSession) -> Mapping[UUID, str]:
    """Return the people who may own a waiting policy, by id, sorted by name."""
    return staff.list_active(session, *ROLES)


def set_owner(session: ScopedSession, policy_id: UUID, *, to: UUID | None, person: Person) -> None:
    """Give a waiting policy to somebody of operations, or to nobody; the same owner again changes nothing.

    NotFound if the policy has no submission, StateForbids if it does not wait any more.
    """
    person.require_role(*ROLES, otherwise="Policies that wait for an insurer are worked by operations")
    if to is not None and to != person.id and to not in list_candidates(session):
        raise InvalidInput.for_field("owner", "must be a colleague of operations")
    query = sa.select(Submission).where(col(Submission.policy_id) == policy_id).with_for_update()
    submission: Submission = session.find_scalar(query, otherwise="Nothing was noted for the insurer of this policy")
    if submission.state not in OPEN:
        raise StateForbids(f"This policy is not waiting for its insurer: it is {submission.state}")
    _write(session, submission, to, person)


def _write(session: ScopedSession, submission: Submission, to: UUID | None, person: Person) -> None:
    key = submission.policy_id
    row = session.get(SubmissionOwner, key)
    before = row.owner_id if row else None
    if before == to:
        return
    if row is None and to is not None:
        of_distributor, is_live = submission.distributor_id, submission.is_live
        session.insert(SubmissionOwner(policy_id=key, owner_id=to, distributor_id=of_distributor, is_live=is_live))
    elif row is not None and to is None:
        session.delete(row)
    elif row is not None and to is not None:
        row.owner_id, row.created_at = to, clock.now()
    session.flush()
    audit.write(
        session,
        actor=person.actor,
        action="owner of a waiting policy set",
        subject=audit.subject_of("policy", key),
        before={"owner_id": str(before) if before else None},
        after={"owner_id": str(to) if to else None},
    )


def load_names(session: ScopedSession, policy_ids: Collection[UUID]) -> dict[UUID, str]:
    """Return the names of the owners of these policies, also of people who have left; unowned ones are absent."""
    query = (
        sa.select(col(SubmissionOwner.policy_id), col(Staff.name))
        .join(Staff, col(Staff.id) == col(SubmissionOwner.owner_id))
        .where(col(SubmissionOwner.policy_id).in_(policy_ids))
    )
    return {row.policy_id: row.name for row in session.execute(query)}


Situation = Literal["Queued", "Being sent", "Deciding", "Trying again", "Set aside", "Not connected"]
Health = Literal["Delegated", "Not used yet", "Working", "Failing", "Paused", "Checking"]
NextAct = Literal["tell", "activate", "send"]
EVERYTHING = SubmissionFilter()
Order = Literal["oldest", "newest", "next", "next-back", "tries", "tries-back"]
_CREATED_AT = col(Submission.created_at)
_NEXT, _TRIES = col(Submission.next_try_at), col(Submission.attempts)
_KEY = col(Submission.policy_id)
_EVERY: tuple[tuple[Order, str, tuple[Any, ...]], ...] = (
    ("oldest", "Longest waiting first", (_CREATED_AT, _KEY)),
    ("newest", "Newest first", (_CREATED_AT.desc(), _KEY.desc())),
    ("next", "Next try first", (_NEXT.is_(None), _NEXT, _CREATED_AT, _KEY)),
    ("next-back", "Next try last", (_NEXT.is_(None), _NEXT.desc(), _CREATED_AT, _KEY)),
    ("tries", "Fewest tries first", (_TRIES, _CREATED_AT, _KEY)),
    ("tries-back", "Most tries first", (_TRIES.desc(), _CREATED_AT, _KEY)),
)
ORDERS: Mapping[Order, ListOrder] = {name: ListOrder(name, label, keys) for name, label, keys in _EVERY}


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenSubmission:
    """One policy that its insurer has not accepted or answered yet."""

    id: UUID
    created_at: datetime
    policy_number: str | None
    stage: PolicyStage
    holder: str
    product: str
    provider: str
    distributor: str
    situation: Situation
    connection: Health
    attempts: int
    last_error: str | None
    next_try_at: datetime | None
    retryable: bool
    due_at: datetime
    owner: str | None = None

    @property
    def next_act(self) -> NextAct | None:
        """The act that operations owes it next; None while it is being sent or waits for its insurer."""
        if self.connection == "Delegated":
            return "tell" if self.stage != PolicyStage.PENDING else "activate"
        waits = self.situation in ("Being sent", "Deciding", "Queued")
        return None if waits and self.connection in ("Working", "Not used yet") else "send" if self.retryable else None

    @property
    def is_overdue(self) -> bool:
        """True when its insurer should have taken it by now."""
        return self.due_at <= clock.now()


@dataclass(frozen=True, kw_only=True, slots=True)
class InsurerHealth:
    """The connection of one insurer in one mode, and what is queued for it."""

    id: UUID
    segment: str
    name: str
    health: Health
    queued: int
    dead: int
    oldest_at: datetime | None
    rests_until: datetime | None
    last_success_at: datetime | None
    last_error: str | None

    @property
    def is_connected(self) -> bool:
        """True if it has a URL, so that policies can be sent."""
        return self.health != "Delegated"


def list_open(
    session: ScopedSession,
    names: Choices,
    criteria: SubmissionFilter = EVERYTHING,
    *,
    order: Order = "oldest",
    paging: Paging,
) -> Page[OpenSubmission]:
    """Return a page of open submissions, with the exact total."""
    conditions = [col(Submission.state).in_(OPEN), *criteria.conditions(Submission)]
    total = session.count_rows(Submission, *conditions)
    query = sa.select(Submission).where(*conditions).order_by(*ORDERS[order].keys)
    return Page(_load(session, names, query.limit(paging.limit).offset(paging.offset)), total)


def get_next_act(session: ScopedSession, policy_id: UUID) -> NextAct | None:
    """Return what is to be done next with a policy that waits; None for nothing, or if it does not wait any more."""
    query = sa.select(Submission).where(col(Submission.state).in_(OPEN), col(Submission.policy_id) == policy_id)
    rows = _load(session, load_choices(session), query)
    return rows[0].next_act if rows else None


def _load(session: ScopedSession, names: Choices, query: AnySelect) -> list[OpenSubmission]:
    submissions = list(session.execute(query).scalars())
    policy_query = sa.select(*(col(getattr(Policy, name)) for name in _POLICY_COLUMNS)).where(
        col(Policy.id).in_([row.policy_id for row in submissions])
    )
    policies = {row.id: row for row in session.execute(policy_query)}
    healths, owners_by_policy = _load_healths(session), load_names(session, list(policies))
    rows = [_build_row(row, policies[row.policy_id], names, healths[row.provider_id]) for row in submissions]
    return [replace(row, owner=owners_by_policy.get(row.id)) for row in rows]


def sum_premium(session: ScopedSession, criteria: SubmissionFilter = EVERYTHING) -> int:
    """Return the premium of the policies of all open submissions of a selection, in kobo."""
    query = (
        sa.select(sa.func.coalesce(sa.func.sum(col(Policy.genius_price_minor)), 0))
        .join(Submission, col(Submission.policy_id) == col(Policy.id))
        .where(col(Submission.state).in_(OPEN), *criteria.conditions(Submission))
    )
    return int(session.execute(query).scalar_one())


_POLICY_COLUMNS = (
    "id",
    "policy_number",
    "first_name",
    "last_name",
    "product_id",
    "distributor_id",
    "start_at",
    "expiration_at",
    "activated",
    "cancelled_at",
    "declined_at",
)


def _list_connected(session: ScopedSession) -> set[UUID]:
    """Return the ids of the insurers with a URL in the session's mode."""
    query = sa.select(col(Provider.id), col(Provider.segment))
    live = bool(session.scope.is_live)
    return {row.id for row in session.execute(query) if settings().insurer_url(row.segment, is_live=live)}


def _load_healths(session: ScopedSession) -> Mapping[UUID, Health]:
    """Return the health of each insurer's connection in the session's mode."""
    connections = {row.provider_id: row for row in session.execute(sa.select(InsurerConnection)).scalars()}
    connected = _list_connected(session)
    every = session.execute(sa.select(col(Provider.id))).scalars()
    return {key: _get_health(connections.get(key)) if key in connected else "Delegated" for key in every}


def _build_row(submission: Submission, policy: Any, names: Choices, connection: Health) -> OpenSubmission:
    distributor, provider, product, _ = names.get_names_of_sale(policy.product_id, policy.distributor_id)
    is_connected = connection != "Delegated"
    situation = get_situation(submission, connected=is_connected)
    return OpenSubmission(
        id=policy.id,
        created_at=submission.created_at,
        policy_number=policy.policy_number,
        stage=policies.get_stage(policy),
        holder=f"{policy.first_name} {policy.last_name}",
        product=product,
        provider=provider,
        distributor=distributor,
        situation=situation,
        connection=connection,
        attempts=submission.attempts,
        last_error=submission.last_error,
        next_try_at=submission.next_try_at if situation in {"Queued", "Deciding", "Trying again"} else None,
        retryable=is_connected and situation != "Being sent",
        due_at=submission.created_at + (ANSWERED_WITHIN if is_connected else TOLD_WITHIN),
    )


def get_situation(submission: Submission, *, connected: bool) -> Situation:
    """Return the state of an open submission as the desk names it."""
    standing = (submission.state, submission.leased_until, submission.failures, submission.answer)
    return _name_situation(*standing, connected=connected)


def _name_situation(
    state: str, leased_until: datetime | None, failures: int, answer: str | None, *, connected: bool
) -> Situation:
    if state == SubmissionState.DEAD:
        return "Set aside"
    if not connected:
        return "Not connected"
    if leased_until is not None and leased_until > clock.now():
        return "Being sent"
    if failures:
        return "Trying again"
    return "Deciding" if answer == AnswerStatus.PENDING else "Queued"


def _is_segment_connected(context: Context, segment: str) -> bool:
    return bool(settings().insurer_url(segment, is_live=context.mode == "live"))


def _work_out_situation(context: Context, segment: str, *standing: Any) -> Situation:
    return _name_situation(*standing, connected=_is_segment_connected(context, segment))


def _work_out_target(context: Context, segment: str, created_at: datetime) -> str:
    within = ANSWERED_WITHIN if _is_segment_connected(context, segment) else TOLD_WITHIN
    return "past" if created_at + within <= clock.now() else "within"


def _rows(columns: Sequence[Any], criteria: SubmissionFilter, _: Choices) -> AnySelect:
    return (
        sa.select(*columns)
        .select_from(Submission)
        .join(Policy, col(Policy.id) == col(Submission.policy_id))
        .join(Provider, col(Provider.id) == col(Submission.provider_id))
        .outerjoin(SubmissionOwner, col(SubmissionOwner.policy_id) == col(Submission.policy_id))
        .outerjoin(Staff, col(Staff.id) == col(SubmissionOwner.owner_id))
        .where(col(Submission.state).in_(OPEN), *criteria.conditions(Submission))
    )


_STANDING: Final = tuple(col(getattr(Submission, name)) for name in ("state", "leased_until", "failures", "answer"))
WAITING: Listing[SubmissionFilter] = Listing(
    name="awaiting",
    title="Awaiting insurer",
    noun=("policy", "policies"),
    roles=ROLES,
    filter=SubmissionFilter,
    key=_KEY,
    usual_order="oldest",
    row_type=OpenSubmission,
    columns={
        "id": Column("Reference", ID, _KEY, machine="policy_id"),
        "holder": replace(customer_columns()["customer"], of="holder"),
        "product": Column("Product", WORD, name_of_sale(Policy, 2)),
        "state": Column(
            *("State", WORD, Derived((col(Provider.segment), *_STANDING), _work_out_situation, is_cached=False)),
            of="situation",
        ),
        "age": Column(
            *("Waiting, days", COUNT),
            Derived((_CREATED_AT,), lambda _, since: (clock.now() - since).days, is_cached=False),
            of="created_at",
            machine="age_days",
            orders=(ORDERS["oldest"], ORDERS["newest"]),
        ),
        "target": Column(
            *("Target", WORD, Derived((col(Provider.segment), _CREATED_AT), _work_out_target, is_cached=False)),
            of="due_at",
            words={"past": "Past its target", "within": "Within its target"},
        ),
        "owner": Column("Owner", TEXT, col(Staff.name)),
        "insurer": Column("Insurer", WORD, name_of_sale(Policy, 1), of="provider", machine="provider"),
        "said": Column("Last answer", TEXT, col(Submission.last_error), of="last_error", machine="last_answer"),
        "attempts": Column("Tries", COUNT, _TRIES, machine="tries", orders=(ORDERS["tries-back"], ORDERS["tries"])),
        "next": Column(
            *("Next try", INSTANT, _NEXT),
            of="next_try_at",
            machine="next_try_at",
            orders=(ORDERS["next"], ORDERS["next-back"]),
        ),
        "cover": Column("Cover", STATE, declaration.policy_stage(), of="stage", machine="stage"),
        "distributor": Column("Distributor", WORD, name_of_sale(Policy, 0)),
        "number": replace(policy_number()["policy"], of="policy_number"),
        "since": Column("Since", INSTANT, _CREATED_AT, of="created_at", machine="created_at"),
        "premium": Column("Premium", MONEY, col(Policy.genius_price_minor)),
        **mode_column(),
    },
    rows=_rows,
    count=lambda session, criteria: session.count_rows(
        Submission, col(Submission.state).in_(OPEN), *criteria.conditions(Submission)
    ),
    summed=col(Policy.genius_price_minor),
    sum_title="Premium",
)


def list_health(session: ScopedSession) -> Sequence[InsurerHealth]:
    """Return every insurer in the session's mode, by name."""
    counts = _count_by_state(session)
    connections = {row.provider_id: row for row in session.execute(sa.select(InsurerConnection)).scalars()}
    query = sa.select(col(Provider.id), col(Provider.segment), col(Provider.company_name))
    connected = _list_connected(session)
    rows = sorted(session.execute(query), key=lambda row: row.company_name.lower())
    return [_build_health(row, connections.get(row.id), counts, connected=row.id in connected) for row in rows]


def _count_by_state(session: ScopedSession) -> Mapping[tuple[UUID, str], Any]:
    columns = (col(Submission.provider_id), col(Submission.state))
    query = sa.select(*columns, sa.func.count().label("policies"), sa.func.min(_CREATED_AT).label("oldest_at"))
    found = session.execute(query.where(col(Submission.state).in_(OPEN)).group_by(*columns))
    return {(row.provider_id, row.state): row for row in found}


def _build_health(
    row: Any, connection: InsurerConnection | None, counts: Mapping[Any, Any], *, connected: bool
) -> InsurerHealth:
    queued, dead = (counts.get((row.id, state)) for state in (SubmissionState.QUEUED, SubmissionState.DEAD))
    resting = connection is not None and sending.is_resting(connection)
    return InsurerHealth(
        id=row.id,
        segment=row.segment,
        name=row.company_name,
        health=_get_health(connection) if connected else "Delegated",
        queued=queued.policies if queued else 0,
        dead=dead.policies if dead else 0,
        oldest_at=min((found.oldest_at for found in (queued, dead) if found), default=None),
        rests_until=connection.rests_until if connection and resting else None,
        last_success_at=connection.last_success_at if connection else None,
        last_error=connection.last_error if connection and connection.failures else None,
    )


def _get_health(connection: InsurerConnection | None) -> Health:
    if connection is None or not (connection.last_success_at or connection.last_failure_at):
        return "Not used yet"
    if sending.is_resting(connection):
        return "Paused"
    if connection.failures >= sending.FAILURES_TO_TRIP:
        return "Checking"
    return "Failing" if connection.failures else "Working"


DELEGATED = "Delegated authority"


@dataclass(frozen=True, kw_only=True, slots=True)
class InsurerRow:
    """One insurer in the session's mode; premium is for the last twelve months.

    `connection` is the host that accepts its policies, never the whole URL, or delegated authority.
    """

    id: UUID
    name: str
    segment: str
    business_type: str | None
    connection: str
    health: InsurerHealth
    products: int
    policies: int
    premium_minor: int
    first_name: str
    last_name: str
    email: str
    phone_number: str
    business_email: str | None
    claim_email: str | None
    support_email: str | None
    updated_at: datetime


def list_insurers(session: ScopedSession) -> list[InsurerRow]:
    """Return every insurer, by name."""
    health = {each.id: each for each in list_health(session)}
    provider_by_product = {
        row.id: row.provider_id for row in session.execute(sa.select(col(Product.id), col(Product.provider_id)))
    }
    policies, premium = _sum_sales(session, provider_by_product)
    rows: Sequence[Provider] = session.execute(sa.select(Provider)).scalars().all()
    return [
        build_row(
            InsurerRow,
            row,
            name=row.company_name,
            connection=get_connection_host(row.segment, is_live=bool(session.scope.is_live)),
            health=health[row.id],
            products=list(provider_by_product.values()).count(row.id),
            policies=policies[row.id],
            premium_minor=premium[row.id],
        )
        for row in sorted(rows, key=lambda row: row.company_name.lower())
    ]


def get_insurer(session: ScopedSession, provider_id: UUID) -> InsurerRow:
    """Return one insurer; NotFound for an unknown id."""
    for row in list_insurers(session):
        if row.id == provider_id:
            return row
    raise NotFound("There is no such insurer")


def get_connection_host(segment: str, *, is_live: bool) -> str:
    """Return the host of an insurer's URL; the rest of the URL may contain credentials."""
    return connections.find_host(segment, is_live=is_live) or DELEGATED


def _sum_sales(session: ScopedSession, provider_by_product: dict[UUID, UUID]) -> tuple[Counter[UUID], Counter[UUID]]:
    policies, premium = Counter[UUID](), Counter[UUID]()
    for (product_id,), sums in totals.group_totals(session, SalesFilter(), "product_id", measures=("sold",)).items():
        policies[provider_by_product[product_id]] += sums.sold
    recent = SalesFilter(created=get_last_year().span)
    for (product_id,), sums in totals.group_totals(
        session, recent, "product_id", measures=("sold_minor", "renewed_minor")
    ).items():
        premium[provider_by_product[product_id]] += sums.premium_minor
    return policies, premium
