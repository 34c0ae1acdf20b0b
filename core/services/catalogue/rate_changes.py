"""Other rates for a product: proposed by one admin, confirmed by another, never before tomorrow (contract S4).

Every change names the version of the product that was seen, and makes the next one.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids, money
from core.covers import pricing, request
from core.covers.tariff import DISTRIBUTOR, HUNDRED, MCA, Tariff, parse_tariff
from core.errors import FieldFault, StateForbids, first_of, raise_faults
from core.services.audit import log as audit
from core.services.catalogue import changes, product_list
from core.services.catalogue.product_list import ProductDetail, Proposal, RatesVersion
from core.services.catalogue.shares import find_excess, load_confirmed
from core.services.catalogue.shipped import build_first_id
from core.services.people import approvals
from core.services.people.accounts import require_admin
from core.services.people.approvals import Subject
from core.services.people.four_eyes import Proposals, refuse_faults
from core.services.people.staff import Person
from core.settings import settings
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Product, ProductVersion, RateProposal

PROPOSALS: Final = Proposals(RateProposal, "change")
KIND: Final = "rates"
FARTHEST: Final = timedelta(days=5 * 365)
_FIGURES: Final = ("price_minor", "mca_commission_bp", "distributor_commission_bp", "cover_months", "meta")


def floor() -> Decimal:
    """The part of the premium, in percent, that must be left to the insurer."""
    return settings().insurer_share_floor


def earliest() -> datetime:
    """The first instant from which other rates may hold: midnight of tomorrow in Lagos."""
    return clock.lagos_midnight(clock.add_days(clock.today(), 1))


def propose(
    session: ScopedSession,
    product_id: UUID,
    typed: Mapping[str, Any],
    *,
    start: UUID,
    effective_at: datetime,
    seen: int,
    by: Person,
) -> UUID:
    """Propose other figures from an instant on; they hold once another admin has confirmed them. The proposal's id.

    `typed` are figures by their fields (`covers.tariff`); what is not typed is that of the version
    `start`. InvalidInput names every fault, StateForbids says that nothing would change or that another proposal
    waits, StaleVersion that the product is not what was seen.
    """
    require_admin(by)
    row = changes.next_version(session, product_id, seen)
    product = product_list.get_product(session, product_id)
    tariff = parse_tariff(product.get_editable_tariff(_version(product, start)), typed)
    raise_faults(_check_rates(session, product, tariff, effective_at))
    _refuse_no_change(product, tariff, effective_at)
    proposal = RateProposal(
        id=ids.new(),
        product_id=row.id,
        effective_at=effective_at,
        price_minor=money.to_minor(tariff.price),
        mca_commission_bp=tariff.mca_bp,
        distributor_commission_bp=tariff.distributor_bp,
        cover_months=tariff.cover_months,
        meta=dict(tariff.meta),
        proposed_by=by.id,
        proposed_at=clock.now(),
    )
    if not session.insert_if_absent(proposal):
        raise StateForbids("A change of these rates waits for a second admin already: it has to be decided first")
    _note(session, product, "rates proposed", proposal.id, tariff, effective_at, by=by)
    return proposal.id


def confirm(session: ScopedSession, product_id: UUID, proposal_id: UUID, *, seen: int, by: Person) -> UUID:
    """Let proposed rates hold from their instant on; the id of the new version.

    NotAllowed for who proposed them and for who has a password that somebody else has just reset. What bounds a
    proposal is asked again: time has passed, and the floor may be another one.
    """
    product, proposal = _open(session, product_id, proposal_id, seen, by)
    with audit.keep_refusal(
        actor=by.actor, action="rates confirmation", subject=audit.subject_of("product", product_id)
    ):
        PROPOSALS.require_second(session, proposal, by)
        refuse_faults(_check_rates(session, product, proposal.tariff, proposal.effective_at))
        _refuse_no_change(product, proposal.tariff, proposal.effective_at)
    version_id = ids.new()
    figures = session.get_one(RateProposal, proposal_id)
    session.insert(
        ProductVersion(
            id=version_id,
            product_id=product_id,
            effective_at=proposal.effective_at,
            created_at=clock.now(),
            **{name: getattr(figures, name) for name in _FIGURES},
        )
    )
    PROPOSALS.decide(session, proposal_id, "confirmed", by=by, version_id=version_id)
    subject = build_subject(proposal_id, figures)
    approvals.approve(session, subject, staff_id=by.id, role="admin", limit_minor=None, at=clock.now())
    _note(session, product, "rates confirmed", version_id, proposal.tariff, proposal.effective_at, by=by)
    return version_id


def build_subject(proposal_id: UUID, figures: RateProposal | ProductVersion) -> Subject:
    """Return what the confirmation of rates is of: the product, the instant, and every figure of the version."""
    parts = {
        "the product": figures.product_id,
        "the beginning": clock.to_wire(figures.effective_at),
        "the tariff": [getattr(figures, name) for name in _FIGURES],
    }
    return Subject(kind=KIND, id=proposal_id, amount_minor=figures.price_minor, parts=parts)


def find_unconfirmed(session: ScopedSession) -> Iterator[str]:
    """Rates that are not what two admins confirmed, with their price, for `coverdesk check` (contract K3)."""
    query: AnySelect = (
        sa.select(ProductVersion, col(RateProposal.id).label("proposal_id"), col(Product.name).label("product"))
        .join(Product, col(Product.id) == col(ProductVersion.product_id))
        .outerjoin(RateProposal, col(RateProposal.version_id) == col(ProductVersion.id))
        .where(col(ProductVersion.share_id).is_(None))
        .order_by(col(ProductVersion.effective_at), col(ProductVersion.id))
    )
    for row in session.execute(query).all():
        version: ProductVersion = row.ProductVersion
        why: str | None = "nobody confirmed them"
        if row.proposal_id is not None:
            approval = approvals.find_latest(session, KIND, row.proposal_id)
            why = approvals.describe_difference(approval, build_subject(row.proposal_id, version))
        elif version.id == build_first_id(version.product_id):
            continue
        if why:
            day = clock.format_day(clock.to_lagos_day(version.effective_at))
            yield f"the rates of {row.product} from {day}, {money.format_naira(version.price_minor)}: {why}"


def refuse(session: ScopedSession, product_id: UUID, proposal_id: UUID, *, reason: str, seen: int, by: Person) -> None:
    """Refuse what another admin proposed, with the reason."""
    product, proposal = _open(session, product_id, proposal_id, seen, by)
    PROPOSALS.refuse_maker(proposal, by)
    reason = request.validate_text("reason", reason, least=3, most=500)
    PROPOSALS.decide(session, proposal_id, "refused", by=by, reason=reason)
    _note_end(session, product, "rates refused", proposal, by=by, reason=reason)


def take_back(session: ScopedSession, product_id: UUID, proposal_id: UUID, *, seen: int, by: Person) -> None:
    """Take one's own proposal back; NotAllowed for anybody else, who refuses it instead."""
    product, proposal = _open(session, product_id, proposal_id, seen, by)
    PROPOSALS.require_maker(proposal, by)
    PROPOSALS.decide(session, proposal_id, "withdrawn", by=by)
    _note_end(session, product, "rates taken back", proposal, by=by)


def withdraw(session: ScopedSession, product_id: UUID, version_id: UUID, *, seen: int, by: Person) -> None:
    """Cancel a confirmed change that is still to come; StateForbids once it is in force, or was withdrawn already.

    One admin is enough: what then goes on to hold was confirmed by two.
    """
    require_admin(by)
    changes.next_version(session, product_id, seen)
    planned = _version(product_list.get_product(session, product_id), version_id)
    if planned.state != "Planned":
        raise StateForbids("Only a change that is still to come can be withdrawn")
    session.change(ProductVersion, col(ProductVersion.id) == version_id, withdrawn_at=clock.now())
    before = {"effective_at": clock.to_wire(planned.effective_at), **build_audit_facts(planned.tariff)}
    after = {"version_id": str(version_id), "withdrawn": True}
    changes.audit_change(session, product_id, "rates withdrawn", by=by, before=before, after=after)


def build_audit_facts(tariff: Tariff) -> dict[str, Any]:
    """Return the rates as plain data for the audit log."""
    return {
        "price": pricing.format_price(pricing.list_price(tariff.rates)),
        "platform_commission": f"{tariff.mca_commission:.2f}",
        "distributor_commission": f"{tariff.distributor_commission:.2f}",
        "cover_months": tariff.cover_months,
        "meta": dict(tariff.meta),
    }


def check_insurer_share(tariff: Tariff) -> list[FieldFault]:
    """List the faults of commissions that leave the insurer less than the floor; empty if they leave enough."""
    if HUNDRED - tariff.mca_commission - tariff.distributor_commission >= floor():
        return []
    message = f"must leave the insurer at least {floor().normalize():f} % of the premium, both commissions together"
    return [FieldFault(name, message) for name in (MCA, DISTRIBUTOR)]


def _open(
    session: ScopedSession, product_id: UUID, proposal_id: UUID, seen: int, by: Person
) -> tuple[ProductDetail, Proposal]:
    """The product, held as its next version, with the proposal that waits for a decision."""
    require_admin(by)
    changes.next_version(session, product_id, seen)
    product = product_list.get_product(session, product_id)
    if product.proposal is None or product.proposal.id != proposal_id:
        raise StateForbids("This change does not wait for a decision any more")
    return product, product.proposal


def _check_rates(session: ScopedSession, product: ProductDetail, tariff: Tariff, at: datetime) -> list[FieldFault]:
    """List the faults of rates that take effect at `at`; checked when proposed and again when confirmed."""
    return [
        *check_insurer_share(tariff),
        *_check_own_shares(session, product, tariff, at),
        *_faults_of_time(product, at),
    ]


def _check_own_shares(
    session: ScopedSession, product: ProductDetail, tariff: Tariff, at: datetime
) -> Iterator[FieldFault]:
    """Yield a fault if a distributor's own share is above both commissions: the platform's would be below zero."""
    available = [*list_available(product), (at, tariff.mca_bp + tariff.distributor_bp)]
    for shares in load_confirmed(session).values():
        if excess := find_excess(shares, available, product.id, at):
            own = f"{money.to_naira(excess.commission_bp)} %"
            yield FieldFault(MCA, f"must leave, with the distributor's, {own} for a distributor's own share")
            return


def list_available(product: ProductDetail) -> list[tuple[datetime, int]]:
    """List what both commissions of a product are together, in basis points, each from an instant on."""
    kept = [version for version in product.versions if version.withdrawn_at is None]
    return [(version.effective_at, version.tariff.mca_bp + version.tariff.distributor_bp) for version in kept]


def _refuse_no_change(product: ProductDetail, tariff: Tariff, at: datetime) -> None:
    if product.get_rates_at(at).tariff == tariff:
        raise StateForbids("These are the rates that hold at that time already: nothing would change")


def _faults_of_time(product: ProductDetail, at: datetime) -> list[FieldFault]:
    wrong = {
        "must be tomorrow in Lagos at the earliest": at < earliest(),
        "must be within five years": at > clock.now() + FARTHEST,
        "must be another time: a change is planned for this one already": any(
            version.effective_at == at and version.withdrawn_at is None for version in product.versions
        ),
    }
    return [FieldFault("effective_at", message) for message, holds in wrong.items() if holds]


def _version(product: ProductDetail, version_id: UUID) -> RatesVersion:
    found = [version for version in product.versions if version.id == version_id]
    return first_of(found, otherwise="The product has no such rates")


def _note(
    session: ScopedSession,
    product: ProductDetail,
    action: str,
    record_id: UUID,
    tariff: Tariff,
    at: datetime,
    *,
    by: Person,
) -> None:
    before = build_audit_facts(product.get_rates_at(at).tariff)
    after = {"effective_at": clock.to_wire(at), "record_id": str(record_id), **build_audit_facts(tariff)}
    changes.audit_change(session, product.id, action, by=by, before=before, after=after)


def _note_end(
    session: ScopedSession, product: ProductDetail, action: str, proposal: Proposal, *, by: Person, **more: str
) -> None:
    before = {"effective_at": clock.to_wire(proposal.effective_at), **build_audit_facts(proposal.tariff)}
    after = {"proposal_id": str(proposal.id), **more}
    changes.audit_change(session, product.id, action, by=by, before=before, after=after)
