"""Detail view of one customer: contact data, purchases, policies, renewals and claims."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.desk import pii_reveal
from core.desk.pii_reveal import HiddenField
from core.services.customers import merging
from core.services.customers import table as customers_table
from core.services.customers.merging import Group
from core.services.customers.table import PurchaseTotals
from core.services.lists.dimensions import UNKNOWN, Choices
from core.services.lists.listing import Row
from core.services.lists.paging import Page, Paging
from core.services.policies import policies
from core.services.policies.policies import PolicyFilter
from core.services.renewals import due, records
from core.services.renewals.due import DueRow
from core.services.renewals.records import DueFilter, RenewalFilter
from core.services.sales import purchases
from core.services.sales.purchases import PurchaseFilter
from core.store.access import ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import Claim, ClaimPayment, Customer, Policy

# Holds a person's whole history; customers with more, such as fleets, continue in the lists.
MAX_ROWS = 50
_FIRST_PAGE = Paging(1, MAX_ROWS)


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimLine:
    """One claim of the customer; amounts in kobo."""

    id: UUID
    created_at: datetime
    claim_type: str
    status: str
    policy_number: str | None
    claimed_minor: int
    offered_minor: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SameEmailCustomer:
    """A customer with the same e-mail address at another distributor (contract S2)."""

    id: UUID
    distributor: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonalValue:
    """A hidden personal value of the customer, and the policy that it was given for."""

    label: str
    masked: str
    hidden: HiddenField
    policy_number: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class CustomerDetail:
    """Everything that the screen of one customer shows; each list has the newest rows and the exact total."""

    id: UUID
    created_at: datetime
    updated_at: datetime
    name: str
    title: str | None
    email: str
    phone: str | None
    gender: str | None
    date_of_birth: str | None
    place: Sequence[str]
    distributor: str
    same_email_customers: Sequence[SameEmailCustomer]
    bought: PurchaseTotals
    claims_paid_minor: int
    personal: Sequence[PersonalValue]
    purchases: Page[Row]
    renewals: Page[Row]
    policies: Page[Row]
    claims: Page[ClaimLine]
    due: Sequence[DueRow]
    group: Group


def get_customer(session: ScopedSession, customer_id: UUID, names: Choices) -> CustomerDetail:
    """Return the detail view of a customer, with the records merged into it; NotFound if unknown in this mode."""
    query = sa.select(Customer).where(col(Customer.id) == customer_id, col(Customer.deleted_at).is_(None))
    row = session.find_scalar(query, otherwise="There is no such customer in this mode")
    group = merging.get_group(session, customer_id)
    everyone = group.ids if group.kept_id == customer_id else (customer_id,)
    claims, paid_minor = _claims(session, everyone)
    return build_row(
        CustomerDetail,
        row,
        name=f"{row.first_name} {row.last_name}",
        phone=row.phone_number,
        place=_join_place(row.address, row.city, row.state_of_residence, row.country),
        distributor=names.names["distributor"].get(row.distributor_id, UNKNOWN),
        same_email_customers=_list_same_email_customers(session, row, names),
        bought=customers_table.add_totals(customers_table.sum_purchases(session, everyone).values()),
        claims_paid_minor=paid_minor,
        personal=_list_personal_values(session, everyone),
        purchases=_purchases(session, PurchaseFilter(customer_ids=everyone), names),
        renewals=_renewals(session, RenewalFilter(customer_ids=everyone), names),
        policies=policies.search_policies(
            session, PolicyFilter(customer_ids=everyone), names, order="to-do", paging=_FIRST_PAGE
        ),
        claims=claims,
        due=due.list_due_rows(session, None, DueFilter(customer_ids=everyone), names, paging=_FIRST_PAGE),
        group=group,
    )


def _join_place(*parts: str | None) -> list[str]:
    """Return the parts of a place, each once: the address often ends with the city already."""
    return list(dict.fromkeys(piece for part in parts if part for piece in part.split(", ")))


def _purchases(session: ScopedSession, criteria: PurchaseFilter, names: Choices) -> Page[Row]:
    rows = purchases.PURCHASES.read_page(session, criteria, names, paging=_FIRST_PAGE)
    return Page(rows, len(rows) if len(rows) < MAX_ROWS else purchases.sum_purchases(session, criteria).sold)


def _renewals(session: ScopedSession, criteria: RenewalFilter, names: Choices) -> Page[Row]:
    rows = records.RENEWALS.read_page(session, criteria, names, paging=_FIRST_PAGE)
    return Page(rows, len(rows) if len(rows) < MAX_ROWS else records.compute_total(session, criteria).all_rows.renewals)


def _claims(session: ScopedSession, customer_ids: Sequence[UUID]) -> tuple[Page[ClaimLine], int]:
    """Return the newest claims with their number, and the total paid on all claims in kobo."""
    mine = (col(Claim.customer_id).in_(customer_ids), col(Claim.deleted_at).is_(None))
    payments = sa.select(sa.func.sum(col(ClaimPayment.amount_minor)))
    payments = payments.select_from(ClaimPayment).join(Claim, col(Claim.id) == col(ClaimPayment.claim_id))
    minor = session.execute(payments.where(*mine)).scalar_one()
    query = (
        sa.select(Claim, col(Policy.policy_number))
        .join(Policy, col(Policy.id) == col(Claim.policy_id))
        .where(*mine)
        .order_by(col(Claim.created_at).desc(), col(Claim.id).desc())
        .limit(MAX_ROWS)
    )
    lines = [
        build_row(
            ClaimLine,
            claim,
            status=claim.claim_status,
            policy_number=policy_number,
            claimed_minor=claim.claim_amount_minor,
            offered_minor=claim.offer_amount_minor,
        )
        for claim, policy_number in session.execute(query)
    ]
    return Page(lines, session.count_rows(Claim, *mine)), int(minor or 0)


def _list_same_email_customers(session: ScopedSession, row: Customer, names: Choices) -> list[SameEmailCustomer]:
    query = sa.select(col(Customer.id), col(Customer.distributor_id)).where(
        col(Customer.email_key) == row.email_key, col(Customer.id) != row.id, col(Customer.deleted_at).is_(None)
    )
    distributor_names = names.names["distributor"]
    return [
        SameEmailCustomer(id=key, distributor=distributor_names.get(seller, UNKNOWN))
        for key, seller in session.execute(query)
    ]


def _list_personal_values(session: ScopedSession, customer_ids: Sequence[UUID]) -> list[PersonalValue]:
    """List the personal values of the newest policies, each value once."""
    query = (
        sa.select(Policy)
        .where(col(Policy.customer_id).in_(customer_ids), col(Policy.deleted_at).is_(None))
        .order_by(col(Policy.created_at).desc())
        .limit(MAX_ROWS // 2)
    )
    found: dict[tuple[str, str], PersonalValue] = {}
    for policy in session.execute(query).scalars():
        for path, masked in pii_reveal.list_hidden_values(policy):
            label = path.removeprefix("submitted.")
            hidden = HiddenField(kind="policy", record_id=policy.id, path=path)
            known = PersonalValue(label=label, masked=masked, hidden=hidden, policy_number=policy.policy_number)
            if label != path:
                found.setdefault((label, masked), known)
    return list(found.values())
