"""Renewal of a policy for another term, one or many at a time."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.covers.cover import Cover, Price, Term
from core.errors import DuplicateRisk, InvalidInput, NotAllowed, NotFound, NotRenewable, StaleVersion
from core.services.audit import log as audit
from core.services.catalogue import products
from core.services.lists.records import PolicyRecord
from core.services.people.staff import Person
from core.services.policies import certificates, policies
from core.services.renewals import next_terms
from core.services.renewals.next_terms import NextTerm
from core.services.selling import duplicate_guard
from core.services.selling.buying import Seller
from core.store.access import ScopedSession
from core.store.schema.tables import Policy, Renewal


@dataclass(frozen=True, kw_only=True, slots=True)
class RenewalResult:
    """The result of a renewal: its id, its price, and the updated policy."""

    renewal_id: UUID
    policy: PolicyRecord
    price: Price


def renew(
    session: ScopedSession,
    policy_id: UUID,
    seller: Seller,
    *,
    cover: Cover[Any] | None = None,
    expected_version: int | None = None,
) -> RenewalResult:
    """Renew a policy for one more term; with `cover`, only a policy of that cover.

    NotFound if the policy is unknown in this scope; NotRenewable, with the reason and the dates in its detail, if the
    term
    cannot be renewed now; DuplicateRisk if another policy now covers the same risk; StaleVersion if the policy does not
    have
    the expected version.
    """
    policy = policies.get_for_update(session, policy_id)
    if expected_version not in (None, policy.version):
        raise StaleVersion(detail={"version": policy.version})
    next_term = next_terms.get_next_term(session, policy, cover)
    duplicate_guard.lock_risk_again(session, policy, next_term.term)
    version_id = products.get_sold_version(session, next_term.sale)
    renewal = _build_renewal(policy, next_term, version_id, seller=seller)
    if not session.insert_if_absent(renewal):
        next_terms.raise_not_renewable(
            policy, "This term was renewed already", renewal_id=_get_existing_id(session, policy)
        )
    _extend_policy(session, policy, renewal)
    _record(session, seller.actor, renewal)
    return RenewalResult(
        renewal_id=renewal.id, policy=policies.build_record(policy, next_term.cover), price=next_term.price
    )


def _build_renewal(policy: Policy, next_term: NextTerm, version_id: UUID, *, seller: Seller) -> Renewal:
    sale = next_term.sale
    split = money.split(
        money.to_minor(next_term.price.total),
        mca_bp=sale.mca_commission_bp,
        distributor_bp=sale.distributor_commission_bp,
    )
    return Renewal(
        distributor_id=policy.distributor_id,
        is_live=policy.is_live,
        policy_id=policy.id,
        purchase_id=policy.purchase_id,
        customer_id=policy.customer_id,
        product_id=policy.product_id,
        product_version_id=version_id,
        product_category_id=policy.product_category_id,
        provider_id=policy.provider_id,
        total_minor=split.total_minor,
        mca_profit_minor=split.mca_profit_minor,
        distributor_profit_minor=split.distributor_profit_minor,
        previous_expiration_at=next_term.last.expiration_at,
        start_at=next_term.start_at,
        expiration_at=_get_end(next_term.term),
        payment_option="wallet",
        payment_channel=seller.source,
        request_source=seller.source,
    )


def _extend_policy(session: ScopedSession, policy: Policy, renewal: Renewal) -> None:
    policy.expiration_at = renewal.expiration_at
    policy.version += 1
    policy.updated_at = renewal.created_at
    certificate = certificates.build_certificate(
        policy, start_at=renewal.start_at, expiration_at=renewal.expiration_at, at=renewal.created_at
    )
    session.flush()
    session.insert(certificate)


def _record(session: ScopedSession, actor: str, renewal: Renewal) -> None:
    audit.write(
        session,
        actor=actor,
        action="policy renewed",
        subject=audit.subject_of("policy", renewal.policy_id),
        before={"expiration_date": clock.to_wire(renewal.previous_expiration_at)},
        after={
            "expiration_date": clock.to_wire(renewal.expiration_at),
            "renewal_id": str(renewal.id),
            "total": money.to_wire(renewal.total_minor),
        },
    )


def _get_existing_id(session: ScopedSession, policy: Policy) -> str:
    query = sa.select(col(Renewal.id)).where(
        col(Renewal.policy_id) == policy.id, col(Renewal.previous_expiration_at) == policy.expiration_at
    )
    return str(session.execute(query).scalar_one())


def _get_end(term: Term) -> datetime:
    assert term.expiration_at is not None, "a term that was paid for has an end"  # noqa: S101 - next_term's promise
    return term.expiration_at


# Renewing several policies at once, each at the price and from the end that were shown (contract R4).

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
        renew(session, policy.id, _get_seller(policy, by), expected_version=policy.version)
    except (NotRenewable, DuplicateRisk, NotFound) as error:
        return str(error)
    return None


def _get_seller(policy: Policy, by: Person) -> Seller:
    return Seller(distributor_id=policy.distributor_id, is_live=policy.is_live, actor=by.actor, source="desk")
