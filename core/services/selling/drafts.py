"""Drafts of sales: what a person has typed into the form of a cover, kept sealed until it is sold or discarded."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, seal
from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.store.schema.tables import SaleDraft

# Personal data of somebody who bought nothing is not kept for longer.
KEPT_FOR: Final = timedelta(days=30)
_VALUES: Final = "values"


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """One unfinished sale: the cover's key, its distributor and product, and the typed values as plain JSON."""

    cover: str
    distributor_id: UUID
    product_id: UUID
    values: Mapping[str, Any]
    updated_at: datetime


def keep_draft(
    session: ScopedSession,
    cover: str,
    distributor_id: UUID,
    product_id: UUID,
    values: Mapping[str, Any],
    *,
    is_live: bool,
    by: Person,
) -> None:
    """Store the person's draft of a cover in place of an earlier one; drop drafts that nobody finished."""
    session.execute(
        sa.delete(SaleDraft).where(col(SaleDraft.updated_at) < clock.now() - KEPT_FOR),
        execution_options={"synchronize_session": False},
    )
    sealed = seal.seal({_VALUES: json.dumps(dict(values))}) or ""
    draft = SaleDraft(
        staff_id=by.id,
        is_live=is_live,
        cover=cover,
        distributor_id=distributor_id,
        product_id=product_id,
        sealed=sealed,
    )
    if session.insert_if_absent(draft):
        return
    held = _find(session, cover, is_live=is_live, by=by)
    if held is not None:
        held.distributor_id, held.product_id = distributor_id, product_id
        held.sealed, held.updated_at = sealed, clock.now()
        session.flush()


def discard_draft(session: ScopedSession, cover: str, *, is_live: bool, by: Person) -> None:
    """Delete the person's draft of a cover; nothing happens if there is none."""
    held = _find(session, cover, is_live=is_live, by=by)
    if held is not None:
        session.delete(held)
        session.flush()


def list_drafts(session: ScopedSession, *, is_live: bool, by: Person) -> list[Draft]:
    """Return the person's drafts of one mode, the latest first; nobody reads those of others."""
    query = sa.select(SaleDraft).where(
        col(SaleDraft.staff_id) == by.id,
        col(SaleDraft.is_live) == is_live,
        col(SaleDraft.updated_at) >= clock.now() - KEPT_FOR,
    )
    rows = session.execute(query.order_by(col(SaleDraft.updated_at).desc())).scalars()
    return [_build_draft(row) for row in rows]


def _find(session: ScopedSession, cover: str, *, is_live: bool, by: Person) -> SaleDraft | None:
    query = sa.select(SaleDraft).where(
        col(SaleDraft.staff_id) == by.id, col(SaleDraft.is_live) == is_live, col(SaleDraft.cover) == cover
    )
    row: SaleDraft | None = session.execute(query.with_for_update()).scalar_one_or_none()
    return row


def _build_draft(row: SaleDraft) -> Draft:
    return Draft(
        cover=row.cover,
        distributor_id=row.distributor_id,
        product_id=row.product_id,
        values=json.loads(seal.unseal(row.sealed)[_VALUES]),
        updated_at=row.updated_at,
    )
