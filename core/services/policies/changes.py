"""Changes of a policy after its sale: activation, decline and cancellation, checked for version (contract S8, S10)."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from core import clock
from core.covers import pricing, registry
from core.covers.cover import Cover
from core.covers.refunds import Refund
from core.covers.request import has_control_characters, refuse_unless
from core.errors import InvalidInput, NotAllowed, StaleVersion, StateForbids
from core.services.audit import log as audit
from core.services.catalogue import for_sale
from core.services.catalogue.for_sale import ProductForSale
from core.services.lists.records import PolicyRecord
from core.services.people import four_eyes
from core.services.policies import issuing, policies, refunds
from core.states.policies import PolicyAction, SubmissionState
from core.store import policy_numbers
from core.store.access import ScopedSession
from core.store.policy_numbers import Series
from core.store.schema.tables import AuditEntry, Policy, Product, Purchase

MAX_NUMBER_LENGTH, LONGEST_WORD = 60, 200
# As the log has the acts by which a policy is put in force.
ISSUED: Final = ("policy activated", "policy issued by hand")
_CANCELLED: Final = "policy cancelled"


@dataclass(frozen=True, kw_only=True, slots=True)
class Activation:
    """Input of an activation: the policy number, given or drawn, and the cover, which may begin in the past."""

    policy_number: str
    is_drawn: bool
    start_at: datetime
    expiration_at: datetime
    days_back: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PolicyChange:
    """A policy after a change, its new version, and the refund."""

    policy: PolicyRecord
    version: int
    refund: Refund | None = None


def activate(  # noqa: PLR0913 - all that may be given by hand, and where the insurer answered
    session: ScopedSession,
    policy_id: UUID,
    *,
    actor: str,
    expected_version: int,
    insurer_accepted: str | bool = False,
    policy_number: str | None = None,
    start_on: date | None = None,
    expiration_on: date | None = None,
    host: str | None = None,
) -> PolicyChange:
    """Put a pending policy in force, with the insurer's number and dates where it gave them (contract S20).

    What is missing is set as `preview_activation` says. `insurer_accepted` is true when the insurer's connection said
    so, at `host`, or how somebody at the desk knows it; otherwise the policy is issued by hand and still waits for its
    insurer.
    InvalidInput for a number that is taken and for dates beyond the premium.
    """
    policy = get_for_update(session, policy_id, expected_version, PolicyAction.ACTIVATE)
    sale, cover = _get_sale(session, policy)
    start_at, expiration_at = _compute_term(policy, cover, sale, start_on=start_on, expiration_on=expiration_on)
    if policy.activation_at is None or start_on is not None:
        policy.activation_at = start_at
    policy.start_at, policy.expiration_at = start_at, expiration_at
    _set_number(session, policy, sale, policy_number)
    policy.activated = True
    accepted = _accept(session, policy, how=insurer_accepted)
    certificate = issuing.build_certificate(policy, start_at=start_at, expiration_at=expiration_at, at=clock.now())
    after = {
        "policy_number": policy.policy_number,
        "start_date": clock.to_wire(start_at),
        "expiration_date": clock.to_wire(expiration_at),
        "backdated_days": _days_back(start_at) or None,
        "insurer_accepted": accepted,
        **({"host": host} if host else {}),
    }
    action = ISSUED[0] if accepted else ISSUED[1]
    change = _save_change(session, policy, cover, actor=actor, action=action, after=after)
    session.insert(certificate)
    return change


def _accept(session: ScopedSession, policy: Policy, *, how: str | bool) -> str | bool:
    """Close the submission of a policy that its insurer accepted; return how that is known, False where it did not."""
    note = _clean_text(how, "insurer_accepted", most=LONGEST_WORD) if isinstance(how, str) else None
    if not (note or how):
        return False
    policy.submitted_to_provider = True
    issuing.settle_submission(session, policy.id, SubmissionState.ACCEPTED, note=note)
    return note or how


def find_issued_at_desk(session: ScopedSession, policy: Policy) -> date | None:
    """Return the day in Lagos on which the staff put a policy in force; None where its insurer or its sale did."""
    subject = audit.subject_of("policy", policy.id)
    return load_issued_at_desk(session, col(AuditEntry.subject) == subject).get(subject)


def load_issued_at_desk(session: ScopedSession, *conditions: sa.ColumnElement[bool]) -> dict[str, date]:
    """Return the days on which the staff put policies in force, by the subjects that the audit log names them by."""
    query = sa.select(col(AuditEntry.subject), sa.func.max(col(AuditEntry.created_at)).label("at")).where(
        col(AuditEntry.action).in_(ISSUED), col(AuditEntry.actor).startswith("staff "), *conditions
    )
    found = session.execute(query.group_by(col(AuditEntry.subject)))
    return {row.subject: clock.to_lagos_day(row.at) for row in found}


def find_refunded_from(session: ScopedSession, policy: Policy) -> date | None:
    """Return from which day on the premium of a loan that was said to be over went back; None where none was."""
    if policy.cancelled_at is None:
        return None
    subject = audit.subject_of("policy", policy.id)
    return load_refunded_from(session, col(AuditEntry.subject) == subject).get(subject)


def load_refunded_from(session: ScopedSession, *conditions: sa.ColumnElement[bool]) -> dict[str, date]:
    """Return the days on which loans were said to be over, by the subjects that the log names their policies by."""
    ended_on = col(AuditEntry.after)["ended_on"].as_string()
    query = sa.select(col(AuditEntry.subject), ended_on.label("day")).where(
        col(AuditEntry.action) == _CANCELLED, ended_on.is_not(None), *conditions
    )
    return {row.subject: date.fromisoformat(row.day) for row in session.execute(query)}


def preview_activation(
    session: ScopedSession,
    policy_id: UUID,
    *,
    policy_number: str | None = None,
    start_on: date | None = None,
    expiration_on: date | None = None,
) -> Activation:
    """Return what activating would set now, by the rules of the activation; writes nothing.

    Blanks are filled with the next number of the series, the planned start or today, and the end of the paid term.
    """
    policy = policies.get_row(session, policy_id)
    _require_action(session, policy, PolicyAction.ACTIVATE)
    sale, cover = _get_sale(session, policy)
    start_at, expiration_at = _compute_term(policy, cover, sale, start_on=start_on, expiration_on=expiration_on)
    given = (policy_number or "").strip()
    return Activation(
        policy_number=given or policy_numbers.get_upcoming(session, _series(policy, sale)),
        is_drawn=not given,
        start_at=start_at,
        expiration_at=expiration_at,
        days_back=_days_back(start_at),
    )


def decline(
    session: ScopedSession,
    policy_id: UUID,
    *,
    actor: str,
    reason: str,
    expected_version: int,
    host: str | None = None,
) -> PolicyChange:
    """End a pending policy that the insurer does not want; the whole premium and every commission go back. `host` is
    where the insurer said so by its connection.

    StateForbids, with the claims in its detail, while a claim on the policy is open or when one was paid. NotAllowed
    for somebody on the staff whose own the policy is.
    """
    reason_text = _check_reason(reason)
    policy = get_for_update(session, policy_id, expected_version, PolicyAction.DECLINE)
    _refuse_own(session, policy, actor)
    _, cover = _get_sale(session, policy)
    refund = refunds.record_refund(
        session, policy, refunds.compute_declined_refunds(session, policy), reason=reason_text, actor=actor
    )
    policy.declined_at = clock.now()
    issuing.settle_submission(session, policy.id, SubmissionState.DECLINED, note=reason_text)
    after = {"reason": reason_text, "refund": f"{refund.price.total:.2f}", **({"host": host} if host else {})}
    return _save_change(session, policy, cover, actor=actor, action="policy declined", after=after, refund=refund)


def cancel(
    session: ScopedSession,
    policy_id: UUID,
    *,
    actor: str,
    reason: str,
    by_insurer: bool,
    expected_version: int,
    ended_on: date | None = None,
) -> PolicyChange:
    """End a policy today and note what goes back of each term: `by_insurer` pro rata, otherwise nine tenths of that.

    What goes back of a loan that ended before, on `ended_on`, is counted from there.

    StateForbids, with the claims in its detail, while a claim on the policy is open. NotAllowed `by_insurer` for
    somebody on the staff whose own the policy is.
    """
    reason_text = _check_reason(reason)
    policy = get_for_update(session, policy_id, expected_version, PolicyAction.CANCEL)
    if by_insurer:
        _refuse_own(session, policy, actor)
    _, cover = _get_sale(session, policy)
    found = refunds.compute_cancellation_refunds(session, policy, by_insurer=by_insurer, ended_on=ended_on)
    refund = refunds.record_refund(session, policy, found, reason=reason_text, actor=actor)
    policy.cancelled_at = clock.now()
    issuing.settle_submission(
        session, policy.id, SubmissionState.WITHDRAWN, note="Cancelled before the insurer took it"
    )
    after = {
        "reason": reason_text,
        "by_insurer": by_insurer,
        "refund": f"{refund.price.total:.2f}",
        "method": refund.method,
        "ended_on": ended_on.isoformat() if ended_on else None,
    }
    return _save_change(session, policy, cover, actor=actor, action=_CANCELLED, after=after, refund=refund)


def preview_refund(session: ScopedSession, policy_id: UUID, *, by_insurer: bool) -> Refund:
    """Return the refund of a cancellation today, by the same calculation; nothing is written."""
    policy = policies.get_row(session, policy_id)
    _require_action(session, policy, PolicyAction.CANCEL)
    return refunds.add_refunds(refunds.compute_cancellation_refunds(session, policy, by_insurer=by_insurer))


def decline_preview(session: ScopedSession, policy_id: UUID) -> Refund:
    """The same for declining it today: the whole premium."""
    policy = policies.get_row(session, policy_id)
    _require_action(session, policy, PolicyAction.DECLINE)
    return refunds.add_refunds(refunds.compute_declined_refunds(session, policy))


def _refuse_own(session: ScopedSession, policy: Policy, actor: str) -> None:
    """NotAllowed for staff who say that the insurer ends a policy of their own: more goes back (contract K12)."""
    subject = audit.subject_of("policy", policy.id)
    with audit.keep_refusal(actor=actor, action="policy ended by its insurer", subject=subject):
        if actor in {
            f"staff {person.email}" for person in four_eyes.list_staff(session, policies.load_holders(session, policy))
        }:
            raise NotAllowed("It has your own e-mail or phone: somebody else notes that the insurer ends it")


def get_for_update(session: ScopedSession, policy_id: UUID, expected_version: int, action: PolicyAction) -> Policy:
    """Return the row locked for update; StaleVersion if it changed, StateForbids if its stage forbids the action."""
    policy = policies.get_for_update(session, policy_id)
    if policy.version != expected_version:
        raise StaleVersion(detail={"version": policy.version})
    _require_action(session, policy, action)
    return policy


def _require_action(session: ScopedSession, policy: Policy, action: PolicyAction) -> None:
    state = policies.get_state(session, policy.id)
    if action not in state.actions:
        text = f"A policy that is {state.stage.lower()} cannot be {action.past_tense}"
        raise StateForbids(text, detail={"stage": state.stage})


def _get_sale(session: ScopedSession, policy: Policy) -> tuple[ProductForSale, Cover[Any] | None]:
    product = session.get_one(Product, policy.product_id)
    purchase = session.get_one(Purchase, policy.purchase_id)
    sale = for_sale.get_as_sold(session, purchase.product_version_id)
    return sale, registry.get_cover(product.prefix, product.route_name)


def _compute_term(
    policy: Policy, cover: Cover[Any] | None, sale: ProductForSale, *, start_on: date | None, expiration_on: date | None
) -> tuple[datetime, datetime]:
    """Return the first and last instant of cover; never longer than the premium paid for (contract S4, S8)."""
    planned_on = clock.to_lagos_day(policy.start_at) if policy.start_at else None
    first_on = start_on or planned_on or clock.today()
    last_on = _get_paid_until(policy, cover, sale, first_on)
    end_on = expiration_on or last_on
    pricing.refuse_far_start("start_on", sale.rates.meta, start_on)
    refuse_unless(
        [
            (end_on > first_on, "expiration_on", f"must be after the start, {first_on}"),
            (end_on <= last_on, "expiration_on", f"must be {last_on} at the latest: no premium, no cover"),
            (
                end_on > clock.today() or end_on <= first_on,
                "start_on",
                f"must be later: cover would be over on {end_on}",
            ),
        ]
    )
    return clock.midnight(first_on), clock.midnight(end_on)


def _get_paid_until(policy: Policy, cover: Cover[Any] | None, sale: ProductForSale, first_on: date) -> date:
    if cover is None:
        return clock.add_months(first_on, sale.rates.cover_months)
    end_on = cover.next_term(policy.submitted, sale.rates, first_on).expiration_on
    return end_on or clock.add_months(first_on, sale.rates.cover_months)


def _set_number(session: ScopedSession, policy: Policy, sale: ProductForSale, requested: str | None) -> None:
    number = (requested or "").strip()
    refuse_unless(
        [
            (len(number) <= MAX_NUMBER_LENGTH, "policy_number", f"must have at most {MAX_NUMBER_LENGTH} characters"),
            (not has_control_characters(number), "policy_number", "must not contain control characters"),
        ]
    )
    if number:
        # A test policy may be given a number in the live style, which no live policy may get then.
        for is_live in (True, False):
            series = policy_numbers.series(sale.provider_segment, sale.number_series, is_live=is_live)
            policy_numbers.skip(session, series, number)
    policy.policy_number = number or policy_numbers.take(session, _series(policy, sale))[0]
    policy.number_key = policy_numbers.key(policy.policy_number)
    try:
        session.flush()
    except IntegrityError:
        # Numbers are unique per insurer, across distributors and modes that this session cannot see.
        raise InvalidInput.for_field("policy_number", "is the number of another policy of this insurer") from None


def _series(policy: Policy, sale: ProductForSale) -> Series:
    return policy_numbers.series(sale.provider_segment, sale.number_series, is_live=policy.is_live)


def _days_back(start_at: datetime) -> int:
    """By how many days cover would begin in the past."""
    return max(0, (clock.today() - clock.to_lagos_day(start_at)).days)


def _check_reason(reason: str) -> str:
    return _clean_text(reason, "reason", most=500)


def _clean_text(text: str, field: str, *, most: int) -> str:
    words = " ".join(text.split())
    refuse_unless([(2 <= len(words) <= most, field, f"must be given, in 2 to {most} characters")])
    return words


def _save_change(
    session: ScopedSession,
    policy: Policy,
    cover: Cover[Any] | None,
    *,
    actor: str,
    action: str,
    after: dict[str, Any],
    refund: Refund | None = None,
) -> PolicyChange:
    before = {"version": policy.version}
    policy.version += 1
    policy.updated_at = clock.now()
    session.flush()
    subject = audit.subject_of("policy", policy.id)
    audit.write(session, actor=actor, action=action, subject=subject, before=before, after=after)
    return PolicyChange(policy=policies.build_record(policy, cover), version=policy.version, refund=refund)
