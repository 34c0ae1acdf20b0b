"""The actions on a policy from its screen: calls to the services, once per opened dialog (contract S13)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from core import money
from core.covers.endorsements import REGISTRATION
from core.covers.refunds import Refund
from core.errors import DuplicateRisk, InvalidInput, StateForbids
from core.services.people.staff import Person
from core.services.policies import changes, policies
from core.services.policies.changes import Activation, PolicyChange
from core.services.policies.policies import PolicyState
from core.services.renewals import next_terms, renewals
from core.services.renewals.next_terms import NextTerm
from core.services.selling import endorsing
from core.services.selling.buying import Seller
from core.store.access import Scope, ScopedSession, reading
from core.ui.kit import attempts


@dataclass(frozen=True, kw_only=True, slots=True)
class Hand:
    """One attempt to change a policy: the policy, the person, the version, and the idempotency token."""

    policy_id: UUID
    distributor_id: UUID
    is_live: bool
    person: Person
    version: int
    token: str

    @property
    def scope(self) -> Scope:
        """Return the scope of the policy's distributor in its mode."""
        return Scope.of(self.distributor_id, is_live=self.is_live)


def state(hand: Hand) -> PolicyState:
    """Return the current state of the policy, whatever version was on the screen."""
    with reading(hand.scope) as session:
        return policies.get_state(session, hand.policy_id)


def refund(hand: Hand, *, by_insurer: bool) -> Refund:
    """Return the refund due if the policy were cancelled today."""
    with reading(hand.scope) as session:
        return changes.preview_refund(session, hand.policy_id, by_insurer=by_insurer)


def whole_refund(hand: Hand) -> Refund:
    """Return the refund due if the pending policy were declined today."""
    with reading(hand.scope) as session:
        return changes.decline_preview(session, hand.policy_id)


def next_term(hand: Hand) -> NextTerm:
    """Return the term that a renewal would buy now; NotRenewable says why there is none."""
    with reading(hand.scope) as session:
        return next_terms.preview_next_term(session, hand.policy_id)


@dataclass(frozen=True, kw_only=True, slots=True)
class ActivationForm:
    """Input of the activation dialog; blank fields are filled as the preview shows.

    Without the insurer's acceptance the policy is issued by hand.
    """

    insurer_accepted: str | bool
    policy_number: str
    start_on: date | None
    expiration_on: date | None

    def preview(self, session: ScopedSession, hand: Hand) -> Activation:
        """Return the effect of activating now; InvalidInput names the invalid fields."""
        return changes.preview_activation(
            session,
            hand.policy_id,
            policy_number=self.policy_number,
            start_on=self.start_on,
            expiration_on=self.expiration_on,
        )


def activation(hand: Hand, form: ActivationForm) -> Activation:
    """Return the effect of activating now: policy number, days of cover, and whether they begin in the past."""
    with reading(hand.scope) as session:
        return form.preview(session, hand)


def activate(hand: Hand, form: ActivationForm, *, expected: Activation | None) -> str:
    """Activate the policy as it was previewed and return the success message."""

    def work(session: ScopedSession) -> str:
        would = form.preview(session, hand)
        if expected is not None and _days(would) != _days(expected):
            raise StateForbids("The days of cover have changed since they were shown: look at them again")
        change = changes.activate(
            session,
            hand.policy_id,
            actor=hand.person.actor,
            expected_version=hand.version,
            insurer_accepted=form.insurer_accepted,
            policy_number=form.policy_number,
            start_on=form.start_on,
            expiration_on=form.expiration_on,
        )
        how = "as its insurer accepted it" if form.insurer_accepted is not False else "issued by hand: tell its insurer"
        return f"The policy is active as {change.policy['meta']['policy_number']}, {how}."

    return _once(hand, work, "activate", str(form))


def _days(would: Activation) -> tuple[datetime, datetime]:
    return would.start_at, would.expiration_at


def decline(hand: Hand, *, reason: str, expected: Decimal) -> str:
    """Decline the pending policy and refund the whole premium, as it was shown."""

    def work(session: ScopedSession) -> str:
        change = changes.decline(
            session, hand.policy_id, actor=hand.person.actor, reason=reason, expected_version=hand.version
        )
        return f"The policy is declined; {_given_back(change, expected)} goes back."

    return _once(hand, work, "decline", reason)


def cancel(hand: Hand, *, reason: str, by_insurer: bool, expected: Decimal) -> str:
    """Cancel the policy today and refund the amount shown; StateForbids if that has changed since."""

    def work(session: ScopedSession) -> str:
        change = changes.cancel(
            session,
            hand.policy_id,
            actor=hand.person.actor,
            reason=reason,
            by_insurer=by_insurer,
            expected_version=hand.version,
        )
        return f"The policy is cancelled; {_given_back(change, expected)} goes back."

    return _once(hand, work, "cancel", reason, str(by_insurer))


def renew(hand: Hand, *, expected: Decimal) -> str:
    """Renew the policy for one more term at the premium that was shown."""
    seller = Seller(distributor_id=hand.distributor_id, is_live=hand.is_live, actor=hand.person.actor, source="desk")

    def work(session: ScopedSession) -> str:
        renewed = renewals.renew(session, hand.policy_id, seller, expected_version=hand.version)
        _refuse_other(expected, renewed.price.total, "premium")
        return f"The policy is renewed for {_shown(expected)}."

    return _once(hand, work, "renew")


@dataclass(frozen=True, kw_only=True, slots=True)
class EndorsementForm:
    """Input of the endorsement dialog: every value as it stands there, changed or not."""

    values: Mapping[str, str]
    effective_on: date | None
    reason: str
    requested_by: str


def endorse(hand: Hand, form: EndorsementForm) -> str:
    """Endorse the policy; a registration number that another policy has is the fault of that field."""

    def work(session: ScopedSession) -> str:
        number = endorsing.endorse(
            session,
            hand.policy_id,
            form.values,
            effective_on=form.effective_on,
            reason=form.reason,
            requested_by=form.requested_by,
            expected_version=hand.version,
            by=hand.person,
        )
        return f"The policy has endorsement {number}. Its insurer is still to be told."

    try:
        return _once(hand, work, "endorse", str(form))
    except DuplicateRisk as error:
        other = error.detail["policy_number"] or "a pending policy without a number"
        name = next(name for name in REGISTRATION.names if name in form.values)
        raise InvalidInput.for_field(name, f"is insured in these days by {other}") from None


def _given_back(change: PolicyChange, expected: Decimal) -> str:
    assert change.refund is not None, "a policy that ends has a refund"  # noqa: S101 - the service's promise
    _refuse_other(expected, change.refund.price.total, "refund")
    return _shown(expected)


def _refuse_other(expected: Decimal, actual: Decimal, what: str) -> None:
    """Raise StateForbids, which rolls back, if the sum differs from the one that the person saw and confirmed."""
    if actual != expected:
        raise StateForbids(f"The {what} has changed to {_shown(actual)}: look at it again.")


def _shown(naira: Decimal) -> str:
    return money.format_naira(money.to_minor(naira))


def _once(hand: Hand, work: Callable[[ScopedSession], str], *given: str) -> str:
    return attempts.run_once(hand.scope, hand.token, work, str(hand.policy_id), *given)
