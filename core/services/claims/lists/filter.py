"""The filters of claims, in the queue, the API and exports (contract P4, P6, C9)."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, Literal, Self, get_args
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.covers import request_parts
from core.covers.claims.lines import LINES
from core.errors import InvalidInput
from core.services.claims.intake.submitted import CLAIM_STATUSES, CREDIT_LIFE, DECLINE_REASONS
from core.services.claims.workflow.clock import NEAR_DEADLINE, STATUTORY_PERIOD
from core.services.customers.customers import has_phone_part, has_words
from core.services.lists.filters import declaration
from core.services.lists.filters.declaration import Filter, Ids, of
from core.services.lists.filters.fields import (
    Address,
    Condition,
    Days,
    Member,
    Naira,
    Text,
    Texts,
    Word,
    Words,
    members_of,
)
from core.services.lists.windows import Span
from core.services.people.personal import build_phone_key
from core.services.people.transfers import reference_key
from core.services.sales import search as sales_search
from core.states.claims import CLAIMS_ROLES, CLOSED, DECIDED, AskedRole, ClaimStatus
from core.store.access import AnySelect
from core.store.expressions import last_digits, phone_key
from core.store.schema.tables import (
    Approval,
    ApprovalLapse,
    Claim,
    ClaimPayment,
    ClaimReferral,
    Customer,
    Staff,
    Transfer,
)

# A claim's short reference, as formatted in `requirements`, or the beginning of one.
_REFERENCE: Final = re.compile(r"[Cc]-[0-9a-fA-F]{4,8}")
_digits: Final = last_digits(col(Claim.id))
Deadline = Literal["near", "overdue"]
Stage = Literal["open", "unsettled", "near", "overdue", "waiting", "referred", "lapsed", "to_pay"]


def build_stage_condition(stage: Stage) -> Condition:
    """Return the condition of a stage (contract C9).

    `open`: not decided. `unsettled`: neither declined nor settled. `waiting`: open, with the clock stopped for the
    claimant. `referred`: a prepared decision waits for a supervisor. `lapsed`: open, with an approval that does not
    stand any more. `to_pay`: an accepted offer. `overdue`: clock running, more than 60 days elapsed. `near`: clock
    running, at most 7 days left or overdue.
    """
    if stage != "near" and stage != "overdue":  # noqa: PLR1714 - the types of both are told apart by this form
        return _STAGES[stage]()
    latest, clock_from = compute_latest_start(stage), col(Claim.clock_from)
    return sa.and_(
        col(Claim.clock_stopped_at).is_(None), clock_from <= latest if stage == "near" else clock_from < latest
    )


def compute_latest_start(stage: Deadline) -> datetime:
    """Return the instant until which a clock that is near its deadline now began, or before which an overdue one."""
    return clock.now() - (STATUTORY_PERIOD - NEAR_DEADLINE if stage == "near" else STATUTORY_PERIOD)


def build_referral_condition(*asks_roles: AskedRole) -> Condition:
    """Return the condition of a claim that waits for one of these roles to decide or pay."""
    query = sa.select(col(ClaimReferral.claim_id)).where(
        col(ClaimReferral.closed_at).is_(None), col(ClaimReferral.asks_role).in_(asks_roles)
    )
    return col(Claim.id).in_(query)


def _build_lapsed_condition() -> Condition:
    """Return the condition of an open claim whose approval has lapsed, or whose approver's account is disabled."""
    newer = sa.orm.aliased(Approval)
    is_replaced = sa.exists().where(
        col(newer.subject_id) == col(Approval.subject_id), col(newer.approved_at) > col(Approval.approved_at)
    )
    lapsed = (
        sa.select(col(Approval.subject_id))
        .join(ApprovalLapse, col(ApprovalLapse.approval_id) == col(Approval.id))
        .where(sa.not_(is_replaced))
    )
    left = sa.select(col(Staff.id)).where(col(Staff.disabled_at).is_not(None))
    is_lapsed = sa.or_(col(Claim.id).in_(lapsed), col(Claim.approved_by).in_(left))
    return sa.and_(IS_OPEN, col(Claim.approved_by).is_not(None), is_lapsed)


# As the partial index of unsettled claims has it: a bound value would not match, so the statuses are spelled out.
_IS_UNSETTLED: Final = col(Claim.claim_status).not_in([sa.literal_column(f"'{status}'") for status in sorted(CLOSED)])
IS_OPEN: Final = sa.and_(_IS_UNSETTLED, col(Claim.claim_status).not_in(sorted(DECIDED)))


def build_search_condition(_: Any, text: str, policy_ids: Sequence[UUID] | None = None) -> Condition:
    """Return the condition of a text, whose form decides which indexed columns are searched.

    An id or the beginning of a reference; else a payment reference in full, or a part of a policy number, plate, phone,
    name or e-mail. Who has the policies with such a number or plate already says so.
    """
    bare = " ".join(text.split())
    if _REFERENCE.fullmatch(bare):
        digits = bare[2:].lower()
        # No hexadecimal digit follows g.
        found = sa.select(col(Claim.id)).where(_digits >= digits, _digits < f"{digits}g")
        return col(Claim.id).in_(found.correlate(None))
    kinds = sales_search.detect_kinds(bare)
    if kinds == ("id",):
        return col(Claim.id) == ids.parse(bare.lower())
    # One query per kind: with OR all claims are walked. Not correlated: it is claims that they narrow.
    return col(Claim.id).in_(
        sa.union_all(*(query.correlate(None) for query in _build_searches(bare, kinds, policy_ids)))
    )


def _build_searches(
    text: str, kinds: Sequence[sales_search.Kind], policy_ids: Sequence[UUID] | None
) -> Iterator[AnySelect]:
    if of_policy := [kind for kind in kinds if kind in sales_search.ON_POLICY]:
        found = sales_search.select_by_kind(text, of_policy) if policy_ids is None else policy_ids
        yield sa.select(col(Claim.id)).where(col(Claim.policy_id).in_(found))
    yield (
        sa.select(col(ClaimPayment.claim_id))
        .join(Transfer, col(Transfer.id) == col(ClaimPayment.transfer_id))
        .where(col(Transfer.reference_key) == reference_key(text))
    )
    if "phone" in kinds:
        yield sa.select(col(Claim.id)).where(has_phone_part(col(Claim.claim_owner_phone_number), text))
    if "e-mail" in kinds:
        is_mentioned = declaration.mentions(col(Claim.claim_owner_email), text)
        yield sa.select(col(Claim.id)).where(is_mentioned, col(Claim.deleted_at).is_(None))
    if "name" in kinds:
        is_named = has_words(col(Claim.claim_owner_name_key), text)
        yield sa.select(col(Claim.id)).where(is_named, col(Claim.deleted_at).is_(None))


def _is_of_incident(_: Any, span: Span) -> Condition:
    # The day is stored as ISO text, and sorts like a date.
    return sa.and_(*Span(*map(_format_incident, span.ends)).on(col(Claim.incident_date)))  # type: ignore[arg-type]


def _format_incident(instant: datetime | None) -> str | None:
    if instant is None:
        return None
    return instant.date().isoformat() if instant == clock.midnight(instant.date()) else instant.isoformat()


def _is_decided(_: Any, span: Span) -> Condition:
    return sa.and_(~IS_OPEN, *span.on(col(Claim.clock_stopped_at)))


def _is_owned_by(_: Any, text: str) -> Condition:
    name = col(Claim.claim_owner_first_name) + " " + col(Claim.claim_owner_last_name)
    pattern = declaration.containing(text)
    return sa.or_(*(sa.func.lower(part).like(pattern, escape="\\") for part in (col(Claim.claim_owner), name)))


def equals_ignoring_case(column: Any, text: str) -> Condition:
    """Return the condition that a column has a text in any case."""
    # SQLite's lower() handles only ASCII, so a name with accents is also compared unchanged.
    return sa.or_(sa.func.lower(column) == text.lower(), col(column) == text)


def _build_customer_condition(condition: Condition) -> Condition:
    return col(Claim.customer_id).in_(sa.select(col(Customer.id)).where(condition))


_STAGES: Final[Mapping[str, Callable[[], Condition]]] = {
    "open": lambda: IS_OPEN,
    "unsettled": lambda: _IS_UNSETTLED,
    "to_pay": lambda: sa.and_(_IS_UNSETTLED, col(Claim.claim_status) == ClaimStatus.OFFER_ACCEPTED),
    "referred": lambda: build_referral_condition(AskedRole.SUPERVISOR),
    "lapsed": _build_lapsed_condition,
    "waiting": lambda: sa.and_(col(Claim.clock_stopped_at).is_not(None), IS_OPEN),
}


View = Literal["mine", "unassigned", "referred", "lapsed", "to_pay", "near", "waiting", "open", "all"]
VIEWS: Final[Mapping[View, Stage | None]] = {
    "mine": "unsettled",
    "unassigned": "unsettled",
    "referred": "referred",
    "lapsed": "lapsed",
    "to_pay": "to_pay",
    "near": "near",
    "waiting": "waiting",
    "open": "open",
    "all": None,
}
# Views of one officer's claims or of nobody's: whose they are is no choice there.
ASSIGNED_VIEWS: Final = ("mine", "unassigned")
NOBODY: Final = "nobody"
_ME: Final = "me"
_TYPES: Final = {title: title for title in (CREDIT_LIFE, *(line.title for line in LINES))}


def build_left_condition(officer: Any) -> Condition:
    """Return the condition of work whose `officer` can open it no more: the account is disabled, or lost the role."""
    roles = sa.cast(col(Staff.roles), sa.String)
    works = sa.or_(*(roles.like(f'%"{role}"%') for role in ("admin", *CLAIMS_ROLES)))
    left = sa.select(col(Staff.id)).where(sa.or_(col(Staff.disabled_at).is_not(None), sa.not_(works)))
    found: Condition = officer.in_(left)
    return found


def _is_in_view(_: Any, view: View) -> Condition:
    stage, officer = VIEWS[view], col(Claim.assigned_to)
    in_stage = build_stage_condition(stage) if stage else sa.true()
    if view != "unassigned":
        return in_stage
    return sa.and_(in_stage, sa.or_(officer.is_(None), build_left_condition(officer)))


def _is_assigned(_: Any, officer: UUID | str) -> Condition:
    return col(Claim.assigned_to).is_(None) if officer == NOBODY else col(Claim.assigned_to) == officer


def _person(name: str, label: str, on_claim: Any, on_customer: Any, **more: Any) -> Any:
    equals = more.pop("equals", equals_ignoring_case)

    def is_named(_: Any, text: Any) -> Condition:
        return sa.or_(equals(on_claim, text), _build_customer_condition(equals(on_customer, text)))

    return Text(
        label=label,
        column=is_named,
        address=name,
        help="The claimant's or the customer's, in full.",
        place="more",
        **{"api": name, "what": "name", **more},
    )


def _amount(name: str, label: str, screen: str, column: str) -> Naira:
    api = column.removesuffix("_minor")
    exactly = "In naira, exactly."
    return Naira(label=label, screen=screen, column=column, address=name, api=api, help=exactly, place="more")


class ClaimFilter(Filter, on=(Claim,)):
    """Filter of the list of claims; amounts in naira.

    `assigned` is an officer, `nobody`, or in an address `me` for who reads it, whose claims the view `mine` shows.
    """

    view: View | None = of(
        Word,
        label="View",
        column=_is_in_view,
        address="view",
        options=dict.fromkeys(VIEWS, ""),
        help=f"A view of the queue: {', '.join(VIEWS)}.",
        place="none",
    )
    search: str | None = of(
        Text,
        label="Find",
        column=build_search_condition,
        address="q",
        help="A claim's id or reference, a payment reference, or a part of a policy number, plate, phone or name.",
        placeholder="Number, name, phone, e-mail or reference",
        searches=True,
        place="search",
    )
    statuses: tuple[str, ...] = of(
        Words,
        label="Status",
        column="claim_status",
        address="status",
        api="status",
        options={str(status): str(status) for status in CLAIM_STATUSES},
        help="A status.",
        anything="Any status",
    )
    claim_types: tuple[str, ...] = of(
        Texts,
        label="Type",
        column=lambda _, types: sa.or_(*(equals_ignoring_case(Claim.claim_type, each) for each in types)),
        address="type",
        api="claim_type",
        options=_TYPES,
        help="A type of claim.",
        anything="Any type",
    )
    assigned: UUID | str | None = of(
        Member,
        label="Assigned to",
        names="staff",
        column=_is_assigned,
        address="assigned",
        also=(NOBODY,),
        help="E-mail or id of an officer, or nobody.",
        what="officer",
        anything="Anybody",
    )
    created: Span = of(
        Days, column="created_at", address="from to", api="start_date end_date", screen="Lodged", place="more"
    )
    incident: Span = of(
        Days,
        label="Incident",
        column=_is_of_incident,
        dated=True,
        address="incident_from incident_to",
        api="incident_start_date incident_end_date",
        help="the incident",
        place="more",
    )
    decided: Span = of(
        Days,
        label="Decided",
        column=_is_decided,
        address="decided_from decided_to",
        help="the decision",
        place="more",
    )
    decline_reasons: tuple[str, ...] = of(
        Words,
        label="Decline reason",
        column="decline_reason",
        address="reason",
        options={reason: reason.capitalize() for reason in DECLINE_REASONS},
        help="Why it was declined; may be repeated.",
        anything="Any reason",
        place="more",
    )
    distributor_ids: Ids = of(members_of, "distributor", anything="Any distributor", place="more")
    first_name: str | None = of(_person, "first_name", "First name", Claim.claim_owner_first_name, Customer.first_name)
    last_name: str | None = of(_person, "last_name", "Last name", Claim.claim_owner_last_name, Customer.last_name)
    phone_number: str | None = of(
        _person,
        *("phone", "Phone", Claim.claim_owner_phone_number, Customer.phone_number),
        api="phone_number",
        what="number",
        may_begin_with_plus=True,
        # One number is one however it is written.
        normalise=build_phone_key,
        equals=lambda column, key: phone_key(column) == key,
    )
    customer_email: str | None = of(
        Text,
        label="E-mail",
        column=lambda _, email: _build_customer_condition(col(Customer.email_key) == email),
        normalise=request_parts.fold_email,
        address="email",
        api="customer_email",
        help="The customer's, in full.",
        what="address",
        place="more",
    )
    claim_owner: str | None = of(
        Text,
        label="Owner",
        column=_is_owned_by,
        address="owner",
        api="claim_owner",
        help="Any part of the owner's role or name.",
        screen="Claim owner",
        place="more",
    )
    claim_amount: Decimal | None = of(_amount, "amount", "Amount claimed", "Claimed, ₦", "claim_amount_minor")
    offer_amount: Decimal | None = of(_amount, "offer", "Offer", "Offered, ₦", "offer_amount_minor")
    repair_estimate: Decimal | None = of(
        _amount, "estimate", "Repair estimate", "Repair estimate, ₦", "repair_estimate_minor"
    )
    stage: Stage | None = of(
        Word, column=lambda _, stage: build_stage_condition(stage), options=dict.fromkeys(get_args(Stage), "")
    )
    customer_id: UUID | None = of(Member, column="customer_id", api="customer_id")
    policy_id: UUID | None = of(Member, column="policy_id")

    @classmethod
    def read(cls, address: Address, *, me: UUID | None = None) -> Self:
        """Like `Filter.read`; `me` is the officer who reads."""
        view = [text.strip().casefold() for text in address.get("view", ())]
        assigned = [text for text in address.get("assigned", ()) if text.strip()] or ([_ME] if view == ["mine"] else [])
        if view == ["unassigned"]:
            assigned = []
        if [text.strip() for text in assigned] == [_ME]:
            if me is None:
                raise InvalidInput.for_field("assigned", "must be an officer's id here, as nobody reads this")
            assigned = [str(me)]
        return super().read({**address, "assigned": assigned})


def build_conditions(criteria: ClaimFilter) -> list[Condition]:
    """Return the conditions of a filter on claims."""
    return [col(Claim.deleted_at).is_(None), *criteria.conditions(Claim)]
