"""Open submissions for the desk: the list of the policies that wait for their insurer, with state and target."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.errors import InvalidInput, StateForbids
from core.services.audit import log as audit
from core.services.insurers import connections
from core.services.insurers.insurers import Health, load_healths, name_health
from core.services.lists import listing
from core.services.lists.dimensions import Choices, load_choices
from core.services.lists.filters import declaration
from core.services.lists.filters.declaration import Filter, Ids, of
from core.services.lists.filters.fields import Condition, Flag, Member, Word, members_of
from core.services.lists.listing import Column, Context, Derived, Listing
from core.services.lists.listing import Order as ListOrder
from core.services.lists.paging import Page, Paging
from core.services.lists.spreadsheets import COUNT, ID, INSTANT, MONEY, STATE, TEXT, WORD
from core.services.people import staff
from core.services.people.staff import Person
from core.services.policies import policies
from core.services.sales import filter as sales_filter
from core.settings import settings
from core.states.policies import OPEN, AnswerStatus, PolicyStage, SubmissionState
from core.store.access import AnySelect, Owner, ScopedSession
from core.store.expressions import sum_of
from core.store.schema.tables import InsurerConnection, Policy, Provider, Staff, Submission, SubmissionOwner

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


def _is_late(_: Any) -> Condition:
    since, now = col(Submission.created_at), clock.now()
    answerable = sa.and_(since <= now - ANSWERED_WITHIN, connections.is_connected())
    return sa.or_(since <= now - TOLD_WITHIN, answerable)


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
    submission = session.find_scalar(query, otherwise="Nothing was noted for the insurer of this policy")
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
        session.insert(SubmissionOwner(policy_id=key, owner_id=to, **Owner.of(submission).columns))
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
_IS_TRIED_LATER: Final = {"Queued", "Deciding", "Trying again"}
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
_BACKWARDS: Final = {"newest", "next-back", "tries-back"}
ORDERS: Mapping[Order, ListOrder] = {
    name: ListOrder(name, label, keys, is_descending=name in _BACKWARDS) for name, label, keys in _EVERY
}


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

    @property
    def standing(self) -> str:
        """Its state with its insurer, in one sentence."""
        tried = (self.attempts, self.last_error, self.next_try_at)
        return _describe_standing(self.stage, self.situation, self.connection, *tried)

    @property
    def time_to_target(self) -> str:
        """Time to its target, or since: "20 h left", "4 days over"."""
        return _describe_target(self.due_at)


def _describe_standing(
    stage: str, situation: Situation, connection: Health, attempts: int, error: str | None, next_try_at: datetime | None
) -> str:
    if connection == "Delegated":
        return "Tell the insurer by hand" if stage != PolicyStage.PENDING else "Ask the insurer, then activate"
    if situation == "Set aside":
        return ". ".join(filter(None, ("Set aside: needs you", error)))
    if situation == "Being sent":
        return f"Being sent, try {attempts}"
    later = f", next {clock.format_lagos(next_try_at, '%H:%M')}" if next_try_at and situation in _IS_TRIED_LATER else ""
    # What is done about it comes before the insurer's words, whose end a narrow list cuts off.
    tried = f"{attempts} {'try' if attempts == 1 else 'tries'}{later}{f': {error}' if error else ''}"
    if connection in ("Failing", "Paused", "Checking"):
        return f"Connection failing, {tried}"
    if situation == "Trying again":
        return f"Not taken yet, {tried}"
    return f"{'The insurer decides' if situation == 'Deciding' else 'To be sent'}{later}"


def _describe_target(due_at: datetime) -> str:
    left = due_at - clock.now()
    return f"{format_age(-left)} over" if left <= timedelta() else f"{format_age(left)} left"


def format_age(age: timedelta) -> str:
    """Format a time in its largest useful unit: "5 min", "3 h", "12 days"."""
    minutes = int(age.total_seconds() // 60)
    if minutes < 60:
        return f"{max(minutes, 0)} min"
    hours = minutes // 60
    return f"{hours} h" if hours < 48 else f"{hours // 24:,} days"


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
    healths, owners_by_policy = load_healths(session), load_names(session, list(policies))
    rows = [_build_row(row, policies[row.policy_id], names, healths[row.provider_id]) for row in submissions]
    return [replace(row, owner=owners_by_policy.get(row.id)) for row in rows]


def sum_premium(session: ScopedSession, criteria: SubmissionFilter = EVERYTHING) -> int:
    """Return the premium of the policies of all open submissions of a selection, in kobo."""
    query = (
        sa.select(sum_of(col(Policy.genius_price_minor)))
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
        next_try_at=submission.next_try_at if situation in _IS_TRIED_LATER else None,
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


def _work_out_standing(context: Context, segment: str, *values: Any) -> str:
    submission, (stage, *tried), connection = values[:4], values[4:8], values[8:]
    situation = _work_out_situation(context, segment, *submission)
    health = name_health(*connection) if _is_segment_connected(context, segment) else "Delegated"
    return _describe_standing(stage, situation, health, *tried)


def _work_out_target(context: Context, segment: str, created_at: datetime) -> str:
    return "past" if _find_target(context, segment, created_at) <= clock.now() else "within"


def _work_out_time_to_target(context: Context, segment: str, created_at: datetime) -> str:
    return _describe_target(_find_target(context, segment, created_at))


def _find_target(context: Context, segment: str, created_at: datetime) -> datetime:
    return created_at + (ANSWERED_WITHIN if _is_segment_connected(context, segment) else TOLD_WITHIN)


def _rows(columns: Sequence[Any], criteria: SubmissionFilter, _: Choices) -> AnySelect:
    return (
        sa.select(*columns)
        .select_from(Submission)
        .join(Policy, col(Policy.id) == col(Submission.policy_id))
        .join(Provider, col(Provider.id) == col(Submission.provider_id))
        .outerjoin(InsurerConnection, col(InsurerConnection.provider_id) == col(Submission.provider_id))
        .outerjoin(SubmissionOwner, col(SubmissionOwner.policy_id) == col(Submission.policy_id))
        .outerjoin(Staff, col(Staff.id) == col(SubmissionOwner.owner_id))
        .where(col(Submission.state).in_(OPEN), *criteria.conditions(Submission))
    )


_SITUATION: Final = tuple(col(getattr(Submission, name)) for name in ("state", "leased_until", "failures", "answer"))
_TRIED: Final = (declaration.policy_stage(), _TRIES, col(Submission.last_error), _NEXT)
_CONNECTION: Final = (
    *(col(getattr(InsurerConnection, name)) for name in ("last_success_at", "last_failure_at", "rests_until")),
    # Nothing was sent yet to an insurer whose connection has no record.
    sa.func.coalesce(col(InsurerConnection.failures), 0),
)
WAITING: Listing[SubmissionFilter] = Listing(
    name="awaiting",
    title="Awaiting insurer",
    noun=("policy", "policies"),
    roles=ROLES,
    filter=SubmissionFilter,
    key=_KEY,
    usual=("holder", "product", "state", "age", "target", "owner", "insurer", "cover"),
    usual_order="oldest",
    row_type=OpenSubmission,
    columns={
        "id": Column("Reference", ID, _KEY, machine="policy_id"),
        "holder": replace(listing.customer_columns()["customer"], of="holder", width=125),
        "product": Column("Product", WORD, listing.name_of_sale(Policy, 2), width=160),
        "state": Column(
            "State",
            WORD,
            Derived((col(Provider.segment), *_SITUATION, *_TRIED, *_CONNECTION), _work_out_standing, is_cached=False),
            of="standing",
            machine="standing",
            for_machines=False,
            width=300,
        ),
        "submission_state": Column(
            *("Submission", WORD, Derived((col(Provider.segment), *_SITUATION), _work_out_situation, is_cached=False)),
            machine="state",
        ),
        "age": Column(
            *("Waiting, days", COUNT),
            Derived((_CREATED_AT,), lambda _, since: (clock.now() - since).days, is_cached=False),
            of="created_at",
            machine="age_days",
            orders=(ORDERS["oldest"], ORDERS["newest"]),
        ),
        "target": Column(
            *("Target", WORD, Derived((col(Provider.segment), _CREATED_AT), _work_out_time_to_target, is_cached=False)),
            of="time_to_target",
            machine="time_to_target",
            for_machines=False,
            says="Connected insurers should answer within a day; the others have to be told within seven.",
        ),
        "is_past_target": Column(
            *(
                "Past its target",
                WORD,
                Derived((col(Provider.segment), _CREATED_AT), _work_out_target, is_cached=False),
            ),
            machine="target",
        ),
        "owner": Column("Owner", TEXT, col(Staff.name), width=110),
        "insurer": Column(
            "Insurer", WORD, listing.name_of_sale(Policy, 1), of="provider", machine="provider", width=165
        ),
        "said": Column(
            *("Last answer", TEXT, col(Submission.last_error)), of="last_error", machine="last_answer", width=230
        ),
        "attempts": Column("Tries", COUNT, _TRIES, machine="tries", orders=(ORDERS["tries-back"], ORDERS["tries"])),
        "next": Column(
            *("Next try", INSTANT, _NEXT),
            of="next_try_at",
            machine="next_try_at",
            orders=(ORDERS["next"], ORDERS["next-back"]),
        ),
        "cover": Column("Cover", STATE, declaration.policy_stage(), of="stage", machine="stage"),
        "distributor": Column("Distributor", WORD, listing.name_of_sale(Policy, 0), width=130),
        "number": replace(listing.policy_number(width=165)["policy"], of="policy_number"),
        "since": Column(
            *("Since", INSTANT, _CREATED_AT),
            of="created_at",
            machine="created_at",
            orders=(ORDERS["oldest"], ORDERS["newest"]),
        ),
        "premium": Column("Premium", MONEY, col(Policy.genius_price_minor)),
        **listing.mode_column(),
    },
    rows=_rows,
    count=lambda session, criteria: session.count_rows(
        Submission, col(Submission.state).in_(OPEN), *criteria.conditions(Submission)
    ),
    summed=col(Policy.genius_price_minor),
    sum_title="Premium",
)
