"""Drafts of sales: what a person has typed into the form of a cover, kept sealed until it is sold or discarded."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, seal
from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import SaleDraft

# Personal data of somebody who bought nothing is not kept for longer.
KEPT_FOR: Final = timedelta(days=30)
_VALUES, _GIVEN = "values", "given"


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """One unfinished sale: the cover's key, its distributor and product, and the typed values as plain JSON.

    `given` are the fields that the screen asked for before the form, such as the figures of a loan.
    """

    id: UUID
    cover: str
    distributor_id: UUID
    product_id: UUID
    values: Mapping[str, Any]
    given: Mapping[str, Any] = field(default_factory=dict)
    updated_at: datetime

    @property
    def customer(self) -> str:
        """Name of the customer as far as it is typed, otherwise the e-mail address; may be empty."""
        name = " ".join(str(self.values.get(part, "")) for part in ("first_name", "last_name")).strip()
        return name or str(self.values.get("email", ""))


def keep_draft(session: ScopedSession, draft: Draft, *, is_live: bool, by: Person) -> None:
    """Store the draft in place of its earlier content; drop drafts that nobody finished.

    Another person's draft is left as it is.
    """
    session.execute(
        sa.delete(SaleDraft).where(col(SaleDraft.updated_at) < clock.now() - KEPT_FOR),
        execution_options={"synchronize_session": False},
    )
    content = {_VALUES: json.dumps(dict(draft.values)), _GIVEN: json.dumps(dict(draft.given))}
    row = SaleDraft(
        id=draft.id,
        staff_id=by.id,
        is_live=is_live,
        cover=draft.cover,
        distributor_id=draft.distributor_id,
        product_id=draft.product_id,
        sealed=seal.seal(content) or "",
    )
    if session.insert_if_absent(row):
        return
    held = _find(session, draft.id, by)
    if held is not None:
        held.distributor_id, held.product_id = row.distributor_id, row.product_id
        held.sealed, held.updated_at = row.sealed, clock.now()
        session.flush()


def discard_draft(session: ScopedSession, draft_id: UUID, *, by: Person) -> None:
    """Delete a draft of this person; nothing happens if there is none."""
    held = _find(session, draft_id, by)
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
    rows = session.execute(query.order_by(col(SaleDraft.updated_at).desc(), col(SaleDraft.id))).scalars()
    return [_build_draft(row) for row in rows]


def _find(session: ScopedSession, draft_id: UUID, by: Person) -> SaleDraft | None:
    query = sa.select(SaleDraft).where(col(SaleDraft.id) == draft_id, col(SaleDraft.staff_id) == by.id)
    row: SaleDraft | None = session.execute(query.with_for_update()).scalar_one_or_none()
    return row


def _build_draft(row: SaleDraft) -> Draft:
    content = seal.unseal(row.sealed)
    values, given = json.loads(content[_VALUES]), json.loads(content.get(_GIVEN, "{}"))
    return build_row(Draft, row, values=values, given=given)
