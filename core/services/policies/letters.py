"""E-mail to policyholders: the certificate of a policy, on request of a person at the desk (contract W1)."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.errors import NotAllowed, StateForbids
from core.services.audit import log as audit
from core.services.lists import records
from core.services.mail import mail
from core.services.people.staff import Person
from core.services.policies import policies
from core.store.access import ScopedSession
from core.store.schema.tables import Distributor, Policy, Product, Provider, Purchase

CERTIFICATE: Final = "policy certificate"
ROLES: Final = ("operations",)
_ONCE_WITHIN: Final = timedelta(minutes=1)


def send_certificate(session: ScopedSession, policy_id: UUID, *, by: Person) -> UUID:
    """Queue the e-mail with the link to a policy's certificate, to the policyholder; returns its id.

    Asked for again within a minute, it is the same e-mail. StateForbids for a test policy and one without certificate.
    """
    if not by.has_role(*ROLES):
        raise NotAllowed("Certificates are sent by operations")
    policy = policies.get_for_update(session, policy_id)
    check_sendable(policy)
    url = records.certificate_url(policy.certificate_code)
    if url is None:
        raise StateForbids("There is no certificate yet: it comes as the policy becomes active")
    premium = session.execute(
        sa.select(col(Purchase.total_minor)).where(col(Purchase.id) == policy.purchase_id)
    ).scalar_one()
    values = {**describe(session, policy), "premium": naira(premium), "certificate": url}
    return queue(session, policy, CERTIFICATE, values, by=by.actor)


def check_sendable(policy: Policy) -> None:
    """Raise StateForbids for a test policy: its e-mail address may be anybody's."""
    if not policy.is_live:
        raise StateForbids("Test policies send no e-mail: the address may be a stranger's")


def queue(session: ScopedSession, policy: Policy, template: str, values: Mapping[str, str], *, by: str) -> UUID:
    """Queue one e-mail to the policyholder with an entry in the audit log; returns its id."""
    about = audit.subject_of("policy", policy.id)
    sent = mail.find_recent(session, policy.email, template, about, _ONCE_WITHIN)
    if sent:
        return sent
    mail_id = mail.send(session, policy.email, template, values, about=about, by=by)
    audit.write(session, actor=by, action="e-mail queued", subject=about, after={"text": template})
    return mail_id


def describe(session: ScopedSession, policy: Policy) -> dict[str, str]:
    """Return the values that every letter about a policy may use, by name."""
    query = (
        sa.select(col(Product.name), col(Provider.company_name), col(Distributor.business_name))
        .join(Provider, col(Provider.id) == col(Product.provider_id))
        .join(Distributor, col(Distributor.id) == policy.distributor_id)
        .where(col(Product.id) == policy.product_id)
    )
    product, insurer, seller = session.execute(query).one()
    return {
        "name": f"{policy.first_name} {policy.last_name}",
        "policy_number": policy.policy_number or "",
        "cover": product,
        "insurer": insurer,
        "seller": seller,
        "starts": _day(policy.start_at),
        "ends": _day(policy.expiration_at),
    }


def naira(minor: int) -> str:
    """Return an amount as letters show it: "₦1,068.75"."""
    return money.format_naira(minor)


def _day(at: datetime | None) -> str:
    return clock.format_lagos(at, "%-d %b %Y") if at else "–"
