"""Policies that are due: the list with its buckets, the customers to call, and reminders by hand or by themselves."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.errors import InvalidInput, NotRenewable
from core.services.audit import log as audit
from core.services.customers import merging
from core.services.lists import listing
from core.services.lists.dimensions import Choices
from core.services.lists.filters.declaration import of
from core.services.lists.filters.fields import Condition, Word
from core.services.lists.listing import Column, Listing, Order
from core.services.lists.paging import Paging
from core.services.lists.spreadsheets import COUNT, DATE, DAY, ID, INSTANT, MONEY, TEXT, WORD
from core.services.lists.windows import Span
from core.services.people.staff import Person
from core.services.policies import certificates, policies
from core.services.policies.policies import BulkResult
from core.services.renewals import automations, calls, renewals
from core.services.renewals.automations import RENEWAL_REMINDERS
from core.services.renewals.calls import Call
from core.services.renewals.records import DueFilter
from core.services.renewals.renewals import NextTerm
from core.store.access import AnyRow, AnySelect, Owner, ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import (
    Customer,
    Policy,
    Product,
    ReminderOptOut,
    Renewal,
    RenewalCall,
    RenewalReminder,
    Staff,
)

UNFILTERED = DueFilter()


class DayRange(NamedTuple):
    """A range of days from today, both ends included, in which a policy of a bucket expires."""

    label: str
    first: int
    last: int


# A policy that expires today counts as due, although its cover ended at the start of the day.
BUCKETS: Final[Mapping[str, DayRange]] = {
    "week": DayRange("0-7 days", 0, 7),
    "month": DayRange("8-30 days", 8, 30),
    "two-months": DayRange("31-60 days", 31, 60),
    "quarter": DayRange("61-90 days", 61, 90),
    "lapsed": DayRange("Lapsed up to 30 days", -30, -1),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Bucket:
    """Policies that expire within a range of days; `expiring` filters any list of policies to the same ones."""

    key: str
    label: str
    expiring: Span
    policies: int
    premium_minor: int


def list_due(session: ScopedSession, today: date, criteria: DueFilter = UNFILTERED) -> Sequence[Bucket]:
    """Return renewable policies by days to expiry, the most urgent first, lapsed ones last.

    Premium at risk is the cost of each policy's last term, in kobo; `criteria` filters as in any list.
    """
    expires, whole_span = col(Policy.expiration_at), get_span(today)
    lines = session.execute(
        sa.select(expires, sa.func.count(), sa.func.sum(build_last_premium()))
        .where(*build_conditions(criteria), *whole_span.on(expires))
        .group_by(expires)
    ).all()
    return [_build_bucket(key, get_span(today, key), lines) for key in BUCKETS]


def get_span(today: date, key: str | None = None) -> Span:
    """Return the span in which the policies of a bucket expire, or those of all buckets."""
    ranges = [BUCKETS[key]] if key else list(BUCKETS.values())
    return _build_span(today, min(days.first for days in ranges), max(days.last for days in ranges))


def build_conditions(criteria: DueFilter = UNFILTERED) -> list[sa.ColumnElement[bool]]:
    """Build the SQL conditions of renewable policies within a filter, whatever their dates."""
    return [
        col(Policy.activated).is_(True),
        col(Policy.cancelled_at).is_(None),
        col(Policy.declined_at).is_(None),
        col(Policy.deleted_at).is_(None),
        col(Policy.product_id).in_(sa.select(col(Product.id)).where(col(Product.renewable))),
        # By product ids, which the index on policies has.
        *criteria.product_conditions(Policy),
    ]


def build_last_premium() -> Any:
    """Build the SQL expression for the price of a policy's current term: its last renewal's, or the purchase's."""
    renewed = (
        sa.select(col(Renewal.total_minor))
        .where(
            col(Renewal.policy_id) == col(Policy.id),
            col(Renewal.expiration_at) == col(Policy.expiration_at),
            col(Renewal.status),
        )
        .correlate(Policy)
        .limit(1)
        .scalar_subquery()
    )
    return sa.func.coalesce(renewed, col(Policy.genius_price_minor))


def _build_bucket(key: str, span: Span, lines: Sequence[Any]) -> Bucket:
    inside = [(count, minor) for expires, count, minor in lines if _contains(span, expires)]
    return Bucket(
        key=key,
        label=BUCKETS[key].label,
        expiring=span,
        policies=sum(count for count, _ in inside),
        premium_minor=sum(int(minor) for _, minor in inside),
    )


def _contains(span: Span, instant: datetime) -> bool:
    assert span.start is not None and span.end is not None, "a bucket has two ends"  # noqa: S101, PT018
    return span.start <= instant < span.end


def _build_span(today: date, first: int, last: int) -> Span:
    return Span(clock.midnight(clock.add_days(today, first)), clock.midnight(clock.add_days(today, last + 1)))


# The table of policies due for renewal: contact, deadline, and the price of the next term.

_EXPIRES_AT = col(Policy.expiration_at)
OPTED_OUT, UNWANTED = "wants no reminders", "does not want to renew"
_NO_REMINDER = sa.case(
    (
        col(Policy.customer_id).in_(sa.select(col(ReminderOptOut.customer_id))),
        sa.literal_column(f"'{OPTED_OUT}'", sa.String),
    ),
    (calls.is_refused(), sa.literal_column(f"'{UNWANTED}'", sa.String)),
)
_BY_END = (
    Order("soonest", "Ends soonest first", (_EXPIRES_AT, col(Policy.created_at), col(Policy.id))),
    Order(
        *("latest", "Ends latest first", (_EXPIRES_AT.desc(), col(Policy.created_at).desc(), col(Policy.id).desc())),
        is_descending=True,
    ),
)
_COLUMNS = (
    *("id", "purchase_id", "policy_number", "first_name", "last_name", "phone", "email"),
    *("product_id", "distributor_id", "expiration_at"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class DueRow:
    """One policy due for renewal; amounts in kobo, days from today, negative once it has lapsed.

    `is_over` is true as soon as cover has ended, which on its last day it mostly has as the day began.
    `next_minor` is what one more term costs today, none when it cannot be renewed today: `refusal` says why, and
    `opens_on` from which day it can.
    `call` is the latest call about this end of a term, `reminded_at` the latest reminder of it; `no_reminder` says
    why the customer gets no more of them.
    """

    id: UUID
    purchase_id: UUID
    policy_number: str | None
    customer: str
    phone: str | None
    email: str
    product: str
    provider: str
    distributor: str
    expiration_at: datetime
    days_left: int
    is_over: bool
    last_minor: int
    next_minor: int | None
    refusal: str | None
    opens_on: date | None
    call: Call | None
    reminded_at: datetime | None
    no_reminder: str | None


def list_due_rows(
    session: ScopedSession,
    bucket: str | None,
    criteria: DueFilter,
    names: Choices,
    *,
    order: str = "soonest",
    paging: Paging,
) -> list[DueRow]:
    """Return one page of the policies of a bucket, or of all, as of today; a page past the end is empty."""
    today = clock.today()
    page_ids = sa.select(col(Policy.id)).where(*build_conditions(criteria), *get_span(today, bucket).on(_EXPIRES_AT))
    keys = DUE.orders[order].keys
    page_ids = page_ids.order_by(*keys).limit(paging.limit).offset(paging.offset)
    columns = [col(getattr(Policy, name)) for name in _COLUMNS]
    query = sa.select(*columns, build_last_premium().label("last_minor"), _NO_REMINDER.label("no_reminder"))
    query = query.where(col(Policy.id).in_(page_ids))
    found = session.execute(query.order_by(*keys)).all()
    terms_by_policy = renewals.get_next_terms(session, [row.id for row in found])
    latest = calls.load_latest(session, [row.id for row in found])
    reminded = load_latest(session, [row.id for row in found])
    return [
        _build_row(row, terms_by_policy[row.id], names, today, latest.get(row.id), reminded.get(row.id))
        for row in found
    ]


def _build_row(
    row: AnyRow,
    next_term: NextTerm | NotRenewable,
    names: Choices,
    today: date,
    call: Call | None,
    reminded_at: datetime | None,
) -> DueRow:
    distributor, provider, product, _ = names.get_names_of_sale(row.product_id, row.distributor_id)
    return build_row(
        DueRow,
        row,
        customer=f"{row.first_name} {row.last_name}",
        product=product,
        provider=provider,
        distributor=distributor,
        is_over=row.expiration_at <= clock.now(),
        days_left=(clock.to_lagos_day(row.expiration_at) - today).days,
        next_minor=None if isinstance(next_term, NotRenewable) else money.to_minor(next_term.price.total),
        refusal=str(next_term) if isinstance(next_term, NotRenewable) else None,
        opens_on=_find_opening(next_term, today),
        call=call,
        reminded_at=reminded_at,
    )


def _find_opening(next_term: NextTerm | NotRenewable, today: date) -> date | None:
    """Return the day from which a policy can be renewed, if that is all that is in its way."""
    opens_on = next_term.detail.get("renewable_from") if isinstance(next_term, NotRenewable) else None
    day = date.fromisoformat(opens_on) if opens_on else None
    return day if day and day > today else None


# The policies that are due for renewal as a list to call: the selection, and the latest call about each.


def _is_in_bucket(_: Any, bucket: str | None) -> Condition:
    return sa.and_(*get_span(clock.today(), bucket).on(col(Policy.expiration_at)))


class CallListFilter(DueFilter, on=(Policy,)):
    """Filter of the call list: that of what is due, and one of its buckets, as of today."""

    bucket: str | None = of(
        Word,
        label="Ends in",
        column=_is_in_bucket,
        address="bucket",
        options={key: days.label for key, days in BUCKETS.items()},
        help=f"When the cover ends: {', '.join(BUCKETS)}.",
    )


def build_call_conditions(criteria: CallListFilter) -> list[Condition]:
    """Return the conditions of the policies that are due, in one bucket or in all of them."""
    return [*build_conditions(criteria), _is_in_bucket(None, criteria.bucket)]


def count_calls(session: ScopedSession, criteria: CallListFilter) -> int:
    """Return the number of policies of a selection."""
    return session.count_rows(Policy, *build_call_conditions(criteria))


def _rows(columns: Sequence[Any], criteria: CallListFilter, _: Choices) -> AnySelect:
    return (
        sa.select(*columns)
        .select_from(Policy)
        .outerjoin(RenewalCall, col(RenewalCall.id) == calls.build_latest_call())
        .outerjoin(Staff, col(Staff.id) == col(RenewalCall.owner_id))
        .where(*build_call_conditions(criteria))
    )


_OUTCOME = sa.case(
    *(
        (col(RenewalCall.outcome) == outcome, sa.literal_column(f"'{label}'", sa.String))
        for outcome, label in calls.OUTCOMES.items()
    )
)
# A call always has its time, but a policy may have no call.
_CALLED_AT = sa.case((col(RenewalCall.id).is_not(None), col(RenewalCall.created_at)))
# What one more term costs, and why there is none, is worked out for the rows of a page.
DUE: Listing[CallListFilter] = Listing(
    name="due",
    title="Due for renewal",
    noun=("policy", "policies"),
    roles=("operations",),
    filter=CallListFilter,
    key=col(Policy.id),
    usual=("customer", "phone", "ends", "cover", "next", "call", "again", "reminded", "product"),
    usual_order="soonest",
    row_type=DueRow,
    columns={
        **listing.customer_columns(),
        "policy": replace(listing.policy_number()["policy"], of="policy_number"),
        "ends": Column("Ends", DAY, _EXPIRES_AT, of="expiration_at", machine="expires_on", orders=_BY_END),
        "left": Column("Days left", COUNT, of="days_left", orders=_BY_END),
        "cover": Column("Cover", TEXT, of="days_left", width=120),
        "next": Column(
            *("Next premium", TEXT),
            of="next_minor",
            width=150,
            says="What a further term costs today, or from which day one can be bought. Why stands in “Not today,"
            " because”, and in the dialog of a call.",
        ),
        "note": Column("Not today, because", TEXT, of="refusal", width=250),
        "last": Column(
            *("Last premium", MONEY, build_last_premium()),
            of="last_minor",
            machine="last_premium",
            says="What the term that ends has cost.",
        ),
        **listing.sale_names(Policy),
        "call": Column("Last call", WORD, _OUTCOME, of=lambda row: row.call and row.call.label, machine="last_call"),
        "called_at": Column("Called", INSTANT, _CALLED_AT, of=lambda row: row.call and row.call.created_at),
        "again": Column(
            *("Call again", DATE, sa.cast(col(RenewalCall.call_again_on), sa.String)),
            of=lambda row: row.call and row.call.call_again_on,
            machine="call_again_on",
        ),
        "owner": Column(
            *("Owner", TEXT, col(Staff.name)),
            of=lambda row: row.call and row.call.owner,
            machine="call_owner",
            width=110,
        ),
        "said": Column(
            *("Note", TEXT, col(RenewalCall.note)),
            of=lambda row: row.call and row.call.note,
            machine="call_note",
            width=200,
        ),
        "reminded": Column("Reminded", INSTANT, calls.build_latest_reminder(), of="reminded_at", machine="reminded_at"),
        "no_reminder": Column("No reminder, because", WORD, _NO_REMINDER, width=170),
        "policy_id": Column("Policy", ID, col(Policy.id), of="id"),
        "purchase_id": Column("Purchase", ID, col(Policy.purchase_id)),
    },
    rows=_rows,
    count=count_calls,
    summed=build_last_premium(),
    sum_title="At risk",
)


TEMPLATE: Final = "renewal reminder"
DAYS_BEFORE: Final = (1, 7, 30, 60)
_ROLES: Final = ("operations",)
TOO_EARLY, ENDED, SENT, TEST, NO_ADDRESS = (
    "too early",
    "ended",
    "reminded already",
    "a test policy",
    "without a usable e-mail address",
)


def get_stage(days_left: int) -> int | None:
    """Return the reminder that is due so many days before the end: the smallest of 60, 30, 7 and 1 that covers them."""
    return next((days for days in DAYS_BEFORE if 0 <= days_left <= days), None)


def remind(session: ScopedSession, policy_ids: Sequence[UUID], *, by: Person) -> BulkResult:
    """Queue the reminder that is due for each of these policies; a policy that cannot have one is left out.

    InvalidInput for none or too many.
    """
    by.require_role(*_ROLES, otherwise="Reminders are sent by operations")
    return remind_each(session, policies.choose_several(policy_ids), actor=by.actor)


def remind_each(session: ScopedSession, policy_ids: Sequence[UUID], *, actor: str) -> BulkResult:
    """Like `remind`, but for whoever was asked already, such as the worker by an admin."""
    terms = renewals.get_next_terms(session, policy_ids)
    return policies.act_on_each(
        policy_ids, lambda key: _remind_one(session, policies.get_for_update(session, key), terms[key], actor)
    )


def _remind_one(session: ScopedSession, policy: Policy, term: NextTerm | NotRenewable, actor: str) -> str | None:
    """Queue one reminder, or return why not."""
    stage = _get_stage_of(policy)
    if not policy.is_live:
        return TEST
    if isinstance(term, NotRenewable):
        return str(term)
    if stage is None or policy.expiration_at is None:
        return ENDED if policy.expiration_at and policy.expiration_at <= clock.now() else TOO_EARLY
    stopped: str | None = session.execute(sa.select(_NO_REMINDER).where(col(Policy.id) == policy.id)).scalar_one()
    return stopped or _queue(session, policy, policy.expiration_at, stage, term, actor)


def _queue(
    session: ScopedSession, policy: Policy, expiration_at: datetime, stage: int, term: NextTerm, actor: str
) -> str | None:
    row = RenewalReminder(
        distributor_id=policy.distributor_id,
        is_live=policy.is_live,
        policy_id=policy.id,
        expiration_at=expiration_at,
        days_before=stage,
        mail_id=policy.id,
    )
    if _is_sent(session, row):
        return SENT
    values = certificates.describe(session, policy)
    values |= {"price": certificates.naira(money.to_minor(term.price.total))}
    try:
        row.mail_id = certificates.queue(session, policy, TEMPLATE, values, by=actor)
    except InvalidInput:
        # Refused before anything is written; the others of a batch are not held up by it.
        return NO_ADDRESS
    session.insert(row)
    return None


def _get_stage_of(policy: Policy) -> int | None:
    if policy.expiration_at is None or policy.expiration_at <= clock.now():
        return None
    return get_stage((clock.to_lagos_day(policy.expiration_at) - clock.today()).days)


def _is_sent(session: ScopedSession, row: RenewalReminder) -> bool:
    """Return True if this reminder, or one closer to the end, was sent."""
    query = sa.select(sa.literal(1)).where(
        col(RenewalReminder.policy_id) == row.policy_id,
        col(RenewalReminder.expiration_at) == row.expiration_at,
        col(RenewalReminder.days_before) <= row.days_before,
    )
    return session.execute(query.limit(1)).first() is not None


def load_latest(session: ScopedSession, policy_ids: Collection[UUID]) -> dict[UUID, datetime]:
    """Return when each policy was last reminded of the end of its current term; others are absent."""
    query = (
        sa.select(col(RenewalReminder.policy_id), sa.func.max(col(RenewalReminder.created_at)).label("at"))
        .join(Policy, col(Policy.id) == col(RenewalReminder.policy_id))
        .where(
            col(RenewalReminder.policy_id).in_(policy_ids),
            col(RenewalReminder.expiration_at) == col(Policy.expiration_at),
        )
        .group_by(col(RenewalReminder.policy_id))
    )
    return {row.policy_id: row.at for row in session.execute(query)}


def list_opted_out(session: ScopedSession, customer_ids: Collection[UUID]) -> set[UUID]:
    """Return those of the customers who want no reminders."""
    query = sa.select(col(ReminderOptOut.customer_id)).where(col(ReminderOptOut.customer_id).in_(customer_ids))
    return set(session.execute(query).scalars())


def set_opt_out(session: ScopedSession, customer_id: UUID, *, is_out: bool, by: Person) -> None:
    """Switch the reminders of a customer off or on; NotFound if unknown in this scope."""
    by.require_role(*_ROLES, otherwise="Reminders are switched by operations")
    customer = session.execute(sa.select(Customer).where(col(Customer.id) == customer_id)).scalar_one_or_none()
    if customer is None or (customer_id in list_opted_out(session, [customer_id])) == is_out:
        return
    if is_out:
        session.insert(ReminderOptOut(**Owner.of(customer).columns, customer_id=customer_id))
        merging.share_opt_out(session, customer_id)
    else:
        everyone = merging.list_linked(session, [customer_id])
        session.execute(sa.delete(ReminderOptOut).where(col(ReminderOptOut.customer_id).in_(everyone)))
    audit.write(
        session,
        actor=by.actor,
        action="reminders switched off" if is_out else "reminders switched on",
        subject=audit.subject_of("customer", customer_id),
    )


# Reminders that go out by themselves: each day every policy whose reminder is due gets it, once (contract R4).

ACTOR: Final = "automatic reminders"
AT_ONCE: Final = policies.MOST_AT_ONCE
_ENDS: Any = col(Policy.expiration_at)
_KEY = col(Policy.id)


def is_due(session: ScopedSession) -> bool:
    """Return True if today's pass is to begin or to go on; takes no locks."""
    return automations.is_due(session, RENEWAL_REMINDERS)


def send_batch(session: ScopedSession) -> int | None:
    """Queue the reminders of the next policies of today's pass; returns how many, None when the pass is over.

    The pass is kept with its row, which is locked: a worker that stops leaves the rest to the next one.
    """
    row = automations.lock_pass(session, RENEWAL_REMINDERS)
    if row is None:
        return None
    after = None if row.after_at is None or row.after_id is None else (row.after_at, row.after_id)
    found = list(session.execute(_select_due(after)))
    sent = remind_each(session, [each.id for each in found], actor=ACTOR).done if found else 0
    is_last = len(found) < AT_ONCE
    automations.advance(row, after=None if is_last else (found[-1].expiration_at, found[-1].id), done=sent)
    session.flush()
    return sent


def count_due(session: ScopedSession) -> int:
    """Return how many policies have a reminder due now that they were not sent; some cannot be renewed any more."""
    return session.count_rows(Policy, *_build_conditions())


def _select_due(after: tuple[datetime, UUID] | None) -> Any:
    query = sa.select(_KEY, _ENDS).where(*_build_conditions())
    if after is not None:
        ends, key = after
        query = query.where(sa.or_(ends < _ENDS, sa.and_(ends == _ENDS, key < _KEY)))
    return query.order_by(_ENDS, _KEY).limit(AT_ONCE)


def _build_conditions() -> list[Any]:
    return [
        *build_conditions(),
        col(Policy.is_live).is_(True),
        clock.now() < _ENDS,
        _NO_REMINDER.is_(None),
        sa.or_(*(_is_unsent(days, first) for days, first in _stages())),
    ]


def _stages() -> Sequence[tuple[int, int]]:
    """Return each reminder with the first number of days before the end that it covers: (1, 0), (7, 2), (30, 8) ..."""
    days = DAYS_BEFORE
    return [(last, before + 1) for before, last in zip((-1, *days), days, strict=False)]


def _is_unsent(days: int, first: int) -> Any:
    """Build the condition that a policy ends in the days of a reminder, and got neither it nor a later one."""
    today = clock.today()
    span = Span(
        clock.lagos_midnight(clock.add_days(today, first)), clock.lagos_midnight(clock.add_days(today, days + 1))
    )
    sent = (
        sa.select(col(RenewalReminder.id))
        .where(
            col(RenewalReminder.policy_id) == _KEY,
            col(RenewalReminder.expiration_at) == _ENDS,
            col(RenewalReminder.days_before) <= days,
        )
        .correlate(Policy)
        .exists()
    )
    return sa.and_(*span.on(_ENDS), sa.not_(sent))
