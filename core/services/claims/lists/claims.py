"""Listing claims and reading one (contract P2, P6, C4)."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.errors import NotFound
from core.services.claims.lists import records as claim_records
from core.services.claims.lists.filter import ClaimFilter, build_conditions
from core.services.claims.lists.shapes import ClaimRecord
from core.services.lists.paging import Page, Paging, fetch_newest
from core.store.access import ScopedSession
from core.store.schema.tables import Claim

UNFILTERED = ClaimFilter()


def list_claims(
    session: ScopedSession, criteria: ClaimFilter = UNFILTERED, paging: Paging = Paging()
) -> Page[ClaimRecord]:
    """Return a page of claims, newest first, with the exact total (contract P2)."""
    query = sa.select(col(Claim.id)).where(*build_conditions(criteria))

    def read(ids: list[UUID]) -> list[ClaimRecord]:
        return claim_records.load_records(session, claim_records.build_query([col(Claim.id).in_(ids)]))

    return fetch_newest(session, Claim, query, paging, read)


def get_claim(session: ScopedSession, claim_id: UUID) -> ClaimRecord:
    """Return one claim in full; NotFound when it does not exist in this scope."""
    conditions = [col(Claim.id) == claim_id, col(Claim.deleted_at).is_(None)]
    records = claim_records.load_records(session, claim_records.build_query(conditions))
    if not records:
        raise NotFound("Claim not found")
    return records[0]
