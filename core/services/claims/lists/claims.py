"""Listing claims and reading one (contract P2, P6, C4)."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.errors import NotFound
from core.services.claims.lists import records as claim_records
from core.services.claims.lists import search as claim_search
from core.services.claims.lists.search import ClaimFilter
from core.services.claims.lists.shapes import ClaimRecord
from core.services.paging import Page, Paging, newest
from core.store.access.scope import ScopedSession
from core.store.schema.tables import Claim

EVERYTHING = ClaimFilter()


def page(session: ScopedSession, wanted: ClaimFilter = EVERYTHING, paging: Paging = Paging()) -> Page[ClaimRecord]:
    """Return a page of claims, newest first, with the exact total (contract P2)."""
    found = sa.select(col(Claim.id)).where(*claim_search.conditions_of(wanted))

    def read(ids: list[UUID]) -> list[ClaimRecord]:
        return claim_records.read(session, claim_records.embedding([col(Claim.id).in_(ids)]))

    return newest(session, Claim, found, paging, read)


def one(session: ScopedSession, claim_id: UUID) -> ClaimRecord:
    """Return one claim in full; NotFound when it does not exist in this scope."""
    conditions = [col(Claim.id) == claim_id, col(Claim.deleted_at).is_(None)]
    found = claim_records.read(session, claim_records.embedding(conditions))
    if not found:
        raise NotFound("Claim not found")
    return found[0]
