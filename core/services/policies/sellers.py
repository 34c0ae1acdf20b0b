"""Makers of a cover: who sold, renewed, endorsed or issued it, or may have as another; its loan books (K2, K3)."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.covers.endorsements import CONTACTS
from core.services.audit import log as audit
from core.services.people import four_eyes, role_grants
from core.services.policies import changes
from core.states.loan_books import RowOutcome
from core.store.access import ScopedSession
from core.store.expressions import is_among
from core.store.schema.tables import AuditEntry, LoanBook, LoanBookRow, Staff

STAFF: Final = "staff "
# As the audit log has the acts by which somebody makes a premium.
SOLD, RENEWED = "policy sold", "policy renewed"
_SALES: Final = frozenset({SOLD, RENEWED})


def list_sellers(session: ScopedSession, policy_id: UUID, *, by_book: bool = True) -> set[str]:
    """Return the actors who sold or renewed a policy and, with `by_book`, who uploaded the loan book that sold it."""
    log = audit.list_history(session, audit.subject_of("policy", policy_id))
    books = list_books(session, policy_id, RowOutcome.COVERED) if by_book else ()
    return {entry.actor for entry in log if entry.action in _SALES} | {book.uploaded_by for book in books}


def list_makers(session: ScopedSession, policy_id: UUID) -> set[str]:
    """Return the staff who made the cover of a policy: who sold or renewed it, put it in force, or endorsed it.

    So did who issued the key that sold it, and who counts as one of them by a password link (contract A2). Another
    address, e-mail or phone changes no cover.
    """
    log = audit.list_history(session, audit.subject_of("policy", policy_id))
    made = {(entry.actor, entry.created_at) for entry in log if _makes_cover(entry)}
    made |= {(book.uploaded_by, book.created_at) for book in list_books(session, policy_id, RowOutcome.COVERED)}
    actors = {actor for actor, _ in made}
    as_one = four_eyes.list_as_one(session, made)
    held = role_grants.list_holders(session, actors)
    return {each for each in actors.union(held, *as_one.values()) if each.startswith(STAFF)}


def list_acts(session: ScopedSession, policy_ids: Iterable[UUID], action: str) -> list[tuple[UUID, datetime]]:
    """Return who of the staff did this to policies, by id, and when."""
    subjects = [audit.subject_of("policy", each) for each in policy_ids]
    query = (
        sa.select(col(Staff.id), col(AuditEntry.created_at))
        .join(Staff, sa.literal(STAFF) + col(Staff.email) == col(AuditEntry.actor))
        .where(is_among(col(AuditEntry.subject), subjects), col(AuditEntry.action) == action)
    )
    return [(row.id, row.created_at) for row in session.execute(query)] if subjects else []


def _makes_cover(entry: AuditEntry) -> bool:
    if entry.action == "policy endorsed":
        return not CONTACTS.issuperset((entry.after or {}).get("fields", ()))
    return entry.action in _SALES or entry.action in changes.ISSUED


def list_books(session: ScopedSession, policy_id: UUID, *outcomes: RowOutcome) -> Sequence[LoanBook]:
    """Return the loan books that sold or ended a policy, or those that did one of both."""
    done = [str(each) for each in outcomes or (RowOutcome.COVERED, RowOutcome.ENDED)]
    query = (
        sa.select(LoanBook)
        .join(LoanBookRow, col(LoanBookRow.book_id) == col(LoanBook.id))
        .where(col(LoanBookRow.policy_id) == policy_id, col(LoanBookRow.outcome).in_(done))
    )
    return session.execute(query).scalars().all()
