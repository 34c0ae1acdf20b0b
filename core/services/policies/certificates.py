"""Certificates: one per paid term of a policy, opened and verified by its code (contract S10)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.covers import registry
from core.errors import NotFound
from core.services.policies import certificate_lines, endorsements
from core.settings import settings
from core.states.policies import PolicyStage
from core.store.access import AnyRow, AnySelect, ScopedSession
from core.store.schema.tables import (
    Certificate,
    Distributor,
    Policy,
    PolicyEndorsement,
    Product,
    Provider,
    Purchase,
    Renewal,
)

TEST_MODE = "Test mode - not a certificate of insurance"
_CODE = re.compile(r"[a-z2-7]{26}")


@dataclass(frozen=True, kw_only=True, slots=True)
class CertificateFacts:
    """The content of one certificate: its term, policy, insurer and distributor.

    It shows the policy as it was last endorsed within the term: `endorsement` is the number and day of that one.
    """

    code: str
    policy_number: str
    insurer: str
    title: str
    product: str
    distributor: str
    holder: str
    covered: tuple[tuple[str, str], ...]
    start_at: datetime
    expiration_at: datetime
    sum_insured_minor: int | None
    premium_minor: int
    issued_at: datetime
    cancelled_at: datetime | None
    is_live: bool
    endorsement: tuple[int, date] | None = None

    @property
    def status(self) -> PolicyStage:
        """The current status of its term; a cancellation after its end does not change it."""
        if self.cancelled_at is not None:
            return PolicyStage.CANCELLED
        if self.expiration_at <= clock.now():
            return PolicyStage.EXPIRED
        return PolicyStage.NOT_STARTED if self.start_at > clock.latest_start() else PolicyStage.IN_FORCE

    @property
    def file_name(self) -> str:
        """The name of its file, by the policy's number: "certificate-ACC-AR-11-26-HQ-5300.pdf"."""
        return f"certificate-{'-'.join(re.findall('[A-Za-z0-9]+', self.policy_number))}.pdf"

    @property
    def verification_url(self) -> str:
        """The URL of the page that verifies this certificate; encoded in its QR code."""
        return f"{settings().base_url}/verify/{self.code}"


def build_certificate(policy: Policy, *, start_at: datetime, expiration_at: datetime, at: datetime) -> Certificate:
    """Build the certificate of one term, to be inserted by the caller; sets the policy's certificate code."""
    policy.certificate_code = ids.new_code()
    return Certificate(
        distributor_id=policy.distributor_id,
        is_live=policy.is_live,
        code=policy.certificate_code,
        policy_id=policy.id,
        start_at=start_at,
        expiration_at=expiration_at,
        created_at=at,
    )


def get_by_code(session: ScopedSession, code: str) -> CertificateFacts:
    """Return the content of the certificate with this code; NotFound for an unknown code."""
    found = session.execute(_build_query(code)).one_or_none() if _CODE.fullmatch(code) else None
    if found is None:
        raise NotFound("Certificate not found")
    end_on = clock.to_lagos_day(found.Certificate.expiration_at)
    made = endorsements.find_rows(session, found.Policy.id)
    return _build_facts(found, [row for row in made if row.effective_on < end_on])


def _build_query(code: str) -> AnySelect:
    """Build the query for a certificate and its related rows, with the renewal that paid for its term, if any."""
    paid_by_renewal = sa.and_(
        col(Renewal.policy_id) == col(Certificate.policy_id), col(Renewal.start_at) == col(Certificate.start_at)
    )
    return (
        sa.select(Certificate, Policy, Product, Provider, Distributor, Purchase, Renewal)
        .join(Policy, col(Policy.id) == col(Certificate.policy_id))
        .join(Product, col(Product.id) == col(Policy.product_id))
        .join(Provider, col(Provider.id) == col(Policy.provider_id))
        .join(Distributor, col(Distributor.id) == col(Policy.distributor_id))
        .join(Purchase, col(Purchase.id) == col(Policy.purchase_id))
        .outerjoin(Renewal, paid_by_renewal)
        .where(col(Certificate.code) == code)
    )


def _build_facts(row: AnyRow, endorsed: Sequence[PolicyEndorsement]) -> CertificateFacts:
    certificate, policy = row.Certificate, row.Policy
    cancelled_at = policy.cancelled_at
    return CertificateFacts(
        code=certificate.code,
        policy_number=policy.policy_number,
        insurer=row.Provider.company_name,
        title=_build_title(row.Product),
        product=row.Product.name,
        distributor=row.Distributor.business_name,
        holder=f"{policy.first_name} {policy.last_name}",
        covered=tuple(certificate_lines.list_lines(endorsements.apply(policy.submitted, endorsed))),
        start_at=certificate.start_at,
        expiration_at=certificate.expiration_at,
        sum_insured_minor=policy.sum_insured_minor,
        premium_minor=(row.Renewal or row.Purchase).total_minor,
        issued_at=certificate.created_at,
        cancelled_at=cancelled_at if cancelled_at and cancelled_at < certificate.expiration_at else None,
        is_live=certificate.is_live,
        endorsement=(endorsed[-1].number, endorsed[-1].effective_on) if endorsed else None,
    )


def _build_title(product: Product) -> str:
    cover = registry.get_cover(product.prefix, product.route_name)
    name = (cover.title if cover else product.name).lower()
    for ending in (" insurance", " cover"):
        name = name.removesuffix(ending)
    return f"Certificate of {name} insurance"
