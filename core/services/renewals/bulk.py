"""Renewing several policies at once, each at the price and from the end that were shown (contract R4)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from core import money
from core.errors import DuplicateRisk, InvalidInput, NotAllowed, NotFound, NotRenewable
from core.services.people.staff import Person
from core.services.policies import policies
from core.services.renewals import next_terms, renewals
from core.services.renewals.next_terms import NextTerm
from core.services.selling.buying import Seller
from core.store.access import ScopedSession
from core.store.schema.tables import Policy

MOST_AT_ONCE: Final = 50
ROLES: Final = ("operations",)
RENEWED, REPRICED = "it was renewed meanwhile", "its price has changed: look at it again"


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownTerm:
    """One policy as its preview showed it: the end of its cover, and what one more term costs in kobo."""

    policy_id: UUID
    expiration_at: datetime
    total_minor: int


@dataclass(frozen=True, kw_only=True, slots=True)
class BulkRenewal:
    """Result: how many policies were renewed for how much in kobo, and how many were left out by reason."""

    done: int
    total_minor: int
    left_out: Mapping[str, int]


def renew_each(session: ScopedSession, shown: Sequence[ShownTerm], *, by: Person) -> BulkRenewal:
    """Renew these policies in one transaction; one that is not any more as it was shown is left out, with the reason.

    Asked for again, it renews nothing: the end that was shown is past. InvalidInput for none or too many.
    """
    if not by.has_role(*ROLES):
        raise NotAllowed("Policies are renewed by operations")
    # Sorted, so that two callers with the same policies cannot deadlock.
    chosen = sorted({each.policy_id: each for each in shown}.values(), key=lambda each: each.policy_id)
    if not 0 < len(chosen) <= MOST_AT_ONCE:
        raise InvalidInput.for_field("policies", f"choose between 1 and {MOST_AT_ONCE} policies")
    terms = next_terms.get_next_terms(session, [each.policy_id for each in chosen])
    reasons = [_renew_one(session, each, terms.get(each.policy_id), by) for each in chosen]
    done = [each for each, reason in zip(chosen, reasons, strict=True) if reason is None]
    return BulkRenewal(
        done=len(done),
        total_minor=sum(each.total_minor for each in done),
        left_out=Counter(reason for reason in reasons if reason),
    )


def _renew_one(
    session: ScopedSession, shown: ShownTerm, term: NextTerm | NotRenewable | None, by: Person
) -> str | None:
    """Renew one policy, or return why not; everything is checked before anything is written."""
    try:
        policy = policies.get_for_update(session, shown.policy_id)
        if policy.expiration_at != shown.expiration_at:
            return RENEWED
        if term is None or isinstance(term, NotRenewable):
            return str(term or NotFound("Policy not found"))
        if money.to_minor(term.price.total) != shown.total_minor:
            return REPRICED
        renewals.renew(session, policy.id, _get_seller(policy, by), expected_version=policy.version)
    except (NotRenewable, DuplicateRisk, NotFound) as error:
        return str(error)
    return None


def _get_seller(policy: Policy, by: Person) -> Seller:
    return Seller(distributor_id=policy.distributor_id, is_live=policy.is_live, actor=by.actor, source="desk")
