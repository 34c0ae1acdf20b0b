"""Commission shares of single distributors: proposed by one admin, confirmed by another, never before tomorrow.

What holds is never changed: a newer share takes its place, and one without a percentage ends it (contract F2).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Final
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock, ids, money
from core.covers import fields, request
from core.covers.request import Request
from core.errors import FieldFault, InvalidInput, StateForbids, raise_faults
from core.services.audit import log as audit
from core.services.catalogue import changes, rate_changes
from core.services.catalogue.shares import Share, find_excess, find_newest, load_confirmed
from core.services.people import approvals, four_eyes
from core.services.people.accounts import require_admin
from core.services.people.approvals import Subject
from core.services.people.four_eyes import NotedProposals, refuse_faults
from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import BankAccount, CommissionShare, Distributor, Product, ProductVersion

KIND: Final = "commission share"
_MOST_NAMED: Final = 3


def _note(session: ScopedSession, row: CommissionShare, action: str, by: Person) -> None:
    facts = {
        "share_id": str(row.id),
        "product_id": str(row.product_id) if row.product_id else "all products",
        "commission": "the product's" if row.commission_bp is None else f"{money.to_naira(row.commission_bp)}",
        "effective_at": clock.to_wire(row.effective_at),
    }
    audit.note(session, "distributor", row.distributor_id, action, actor=by.actor, **facts)


PROPOSALS: Final = NotedProposals(
    CommissionShare,
    "share",
    allow=require_admin,
    note=_note,
    actions={
        "confirmed": "commission share confirmed",
        "refused": "commission share refused",
        "withdrawn": "commission share taken back",
    },
)
refuse, take_back = PROPOSALS.refuse, PROPOSALS.take_back


class ShareInput(Request):
    """Input: the share of one product, or of every product where none is named; no percentage ends what was agreed."""

    product_id: UUID | None = None
    commission: Annotated[Decimal, Field(ge=0, le=100, decimal_places=2)] | None = None
    starts_on: fields.Day


@dataclass(frozen=True, kw_only=True, slots=True)
class AgreedShare:
    """One own share of a distributor; `before_bp` is the own share that held until then, None for the product's."""

    id: UUID
    product_id: UUID | None
    product: str | None
    commission_bp: int | None
    effective_at: datetime
    state: str
    proposed_by: UUID
    proposer: str
    proposed_at: datetime
    decider: str | None
    decided_at: datetime | None
    before_bp: int | None
    is_held: bool

    @property
    def starts_on(self) -> date:
        """Its first day in Lagos."""
        return clock.to_lagos_day(self.effective_at)


def propose(session: ScopedSession, distributor_id: UUID, typed: Mapping[str, Any], *, by: Person) -> UUID:
    """Propose an own share and return its id; it holds once another admin has confirmed it.

    InvalidInput names every fault, StateForbids says that nothing would change or that another proposal waits.
    """
    require_admin(by)
    changes.get_distributor_name(session, distributor_id)
    given: ShareInput = request.validate(ShareInput, typed)
    if given.product_id and session.get(Product, given.product_id) is None:
        raise InvalidInput.for_field("product_id", "must be a product of the catalogue")
    _refuse_own(session, distributor_id, by)
    row = CommissionShare(
        id=ids.new(),
        distributor_id=distributor_id,
        product_id=given.product_id,
        effective_at=clock.lagos_midnight(given.starts_on),
        commission_bp=None if given.commission is None else money.to_minor(given.commission),
        proposed_by=by.id,
        proposed_at=clock.now(),
    )
    raise_faults(_find_faults(session, row))
    _refuse_no_change(session, row)
    if not session.insert_if_absent(row):
        raise StateForbids("A change of this distributor's shares waits for a second admin already: decide it first")
    _note(session, row, "commission share proposed", by)
    return row.id


def confirm(session: ScopedSession, share_id: UUID, *, by: Person) -> None:
    """Let a proposed share hold from its day on; its bounds are checked again, as rates may have changed since."""
    row = PROPOSALS.open_for(session, share_id, by)
    subject = audit.subject_of("distributor", row.distributor_id)
    with audit.keep_refusal(actor=by.actor, action="commission share confirmation", subject=subject):
        _refuse_own(session, row.distributor_id, by)
        PROPOSALS.require_second(session, row, by)
        refuse_faults(_find_faults(session, row))
    PROPOSALS.end(session, row, "confirmed", by)
    approvals.approve(session, build_subject(row), staff_id=by.id, role="admin", limit_minor=None, at=clock.now())


def _refuse_own(session: ScopedSession, distributor_id: UUID, by: Person) -> None:
    distributor, is_theirs = session.get_one(Distributor, distributor_id), col(BankAccount.distributor_id)
    four_eyes.refuse_own(four_eyes.load_people(session, [distributor], is_theirs == distributor_id), by)


def build_subject(row: CommissionShare) -> Subject:
    """Return what the confirmation of a share is of: whose, of which product, from when, and how much."""
    parts = {
        "the distributor": row.distributor_id,
        "the product": row.product_id,
        "the beginning": clock.to_wire(row.effective_at),
        "the percentage": row.commission_bp,
    }
    return Subject(kind=KIND, id=row.id, amount_minor=None, parts=parts)


def find_unconfirmed(session: ScopedSession) -> Iterator[str]:
    """Shares that are not what two admins confirmed, for `coverdesk check` (contract K3)."""
    query = (
        sa.select(CommissionShare, col(Distributor.business_name))
        .join(Distributor, col(Distributor.id) == col(CommissionShare.distributor_id))
        .where(col(CommissionShare.state) == "confirmed")
        .order_by(col(CommissionShare.effective_at), col(CommissionShare.id))
    )
    for row, name in session.execute(query).all():
        if why := approvals.describe_difference(approvals.find_latest(session, KIND, row.id), build_subject(row)):
            share = "no own share" if row.commission_bp is None else f"{money.to_naira(row.commission_bp)} %"
            day = clock.format_day(clock.to_lagos_day(row.effective_at))
            yield f"{share} of {name} from {day}: {why}"


def list_shares(session: ScopedSession, distributor_id: UUID) -> list[AgreedShare]:
    """List the own shares of a distributor with who proposed and decided them, the newest first."""
    query = (
        PROPOSALS.select_with_names()
        .add_columns(col(Product.name))
        .outerjoin(Product, col(Product.id) == col(CommissionShare.product_id))
        .where(col(CommissionShare.distributor_id) == distributor_id)
        .order_by(col(CommissionShare.effective_at).desc(), col(CommissionShare.proposed_at).desc())
    )
    confirmed = load_confirmed(session, distributor_id).get(distributor_id, [])
    return [_build(row, product, made, decided, confirmed) for row, made, decided, product in session.execute(query)]


def _build(
    row: CommissionShare, product: str | None, proposer: str, decider: str | None, confirmed: list[Share]
) -> AgreedShare:
    newest = find_newest(confirmed, row.product_id, clock.now())
    before = _find_before(confirmed, row)
    return build_row(
        AgreedShare,
        row,
        product=product,
        proposer=proposer,
        decider=decider,
        before_bp=before.commission_bp if before else None,
        is_held=newest is not None and newest.id == row.id,
    )


def _find_before(confirmed: Iterable[Share], row: CommissionShare) -> Share | None:
    others = [share for share in confirmed if share.id != row.id]
    return find_newest(others, row.product_id, row.effective_at)


def _refuse_no_change(session: ScopedSession, row: CommissionShare) -> None:
    confirmed = load_confirmed(session, row.distributor_id).get(row.distributor_id, [])
    before = _find_before(confirmed, row)
    if (before.commission_bp if before else None) == row.commission_bp:
        raise StateForbids("This is the share that holds at that time already: nothing would change")


def _find_faults(session: ScopedSession, row: CommissionShare) -> list[FieldFault]:
    """List the faults of a share that takes effect; checked when proposed and again when confirmed."""
    found = []
    if row.effective_at < rate_changes.earliest():
        found.append(FieldFault("starts_on", "must be tomorrow in Lagos at the earliest"))
    if row.effective_at > clock.now() + rate_changes.FARTHEST:
        found.append(FieldFault("starts_on", "must be within five years"))
    too_much = list(_find_excesses(session, row))
    if too_much:
        more = f" and {len(too_much) - _MOST_NAMED} more" if len(too_much) > _MOST_NAMED else ""
        named = ", ".join(too_much[:_MOST_NAMED]) + more
        message = f"must be at most what both commissions are, with the insurer's least share kept: {named}"
        found.append(FieldFault("commission", message))
    return found


def _find_excesses(session: ScopedSession, row: CommissionShare) -> Iterator[str]:
    """Yield the products of which more would be given than both commissions are, each with what is available.

    Locks them, so that their rates and this share are not changed side by side.
    """
    held = load_confirmed(session, row.distributor_id).get(row.distributor_id, [])
    shares = [*held, Share(row.id, row.product_id, row.effective_at, row.commission_bp, clock.now())]
    most = int((100 - rate_changes.floor()) * 100)
    for product_id, (name, versions) in _load_available(session, row.product_id).items():
        available = [(at, min(together, most)) for at, together in versions]
        if excess := find_excess(shares, available, product_id, row.effective_at):
            yield f"{name} {money.to_naira(excess.available_bp)} %"


def _load_available(
    session: ScopedSession, product_id: UUID | None
) -> dict[UUID, tuple[str, list[tuple[datetime, int]]]]:
    both = col(ProductVersion.mca_commission_bp) + col(ProductVersion.distributor_commission_bp)
    query = (
        sa.select(col(Product.id), col(Product.name), col(ProductVersion.effective_at), both)
        .join(ProductVersion, col(ProductVersion.product_id) == col(Product.id))
        .where(
            col(Product.deleted_at).is_(None),
            col(ProductVersion.withdrawn_at).is_(None),
            col(ProductVersion.share_id).is_(None),
            *([col(Product.id) == product_id] if product_id else []),
        )
        .order_by(sa.func.lower(col(Product.name)), col(Product.id))
        .with_for_update(of=Product)
    )
    found: dict[UUID, tuple[str, list[tuple[datetime, int]]]] = {}
    for key, name, at, together in session.execute(query):
        found.setdefault(key, (name, []))[1].append((at, together))
    return found
