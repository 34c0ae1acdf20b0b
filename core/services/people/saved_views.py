"""Saved views of the record lists: filters, order and columns under a name, for oneself or for a role."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final
from uuid import UUID

import sqlalchemy as sa
from pydantic import AfterValidator, Field
from sqlmodel import col

from core.covers import request
from core.covers.fields import fault
from core.covers.request import Request
from core.errors import InvalidInput, NotAllowed, NotFound
from core.services.audit import log as audit
from core.services.people.staff import ROLES, Person
from core.store.access import AnySelect, ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import SavedView, Staff, StartView, ViewWatch

_UNKNOWN: Final = "No such view"
MOST: Final = 50
_LONGEST_ADDRESS: Final = 4_000
# The page and the mode are those of the moment; a search for a person is no view, and their data would outlive them.
_NOT_KEPT: Final = frozenset({"page", "mode", "find", "q", "email", "phone", "first_name", "last_name", "owner"})


def _check_name(name: str) -> str:
    name = " ".join(name.split())
    if not name.isprintable() or not name:
        raise fault("must be plain text")
    return name


class ViewInput(Request):
    """Input: the name of a view, and the role that shares it, if any."""

    name: Annotated[str, Field(min_length=1, max_length=60), AfterValidator(_check_name)]
    shared_role: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """One view that a person sees; `parameters` are those of the list's URL, without the page and the mode."""

    id: UUID
    name: str
    shared_role: str | None
    owner: str
    is_own: bool
    is_start: bool
    parameters: Mapping[str, Sequence[str]]


def keep_parameters(parameters: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the parameters of a URL that a view keeps."""
    return {name: list(given) for name, given in parameters.items() if name not in _NOT_KEPT and any(given)}


def save_view(
    session: ScopedSession,
    screen: str,
    parameters: Mapping[str, Sequence[str]],
    inputs: Mapping[str, Any],
    *,
    by: Person,
) -> UUID:
    """Save the parameters of a list under a name, in place of the person's earlier view of that name; returns its id.

    InvalidInput names what is wrong: the name, a role that the person does not have, too many views.
    """
    validated: ViewInput = request.validate(ViewInput, dict(inputs))
    if validated.shared_role and (validated.shared_role not in ROLES or not by.has_role(validated.shared_role)):
        raise InvalidInput.for_field("shared_role", "must be a role of your own")
    kept = keep_parameters(parameters)
    if sum(len(name) + sum(map(len, given)) for name, given in kept.items()) > _LONGEST_ADDRESS:
        raise InvalidInput.for_field("parameters", "are too many: take some filters away")
    own = sa.select(SavedView).where(col(SavedView.staff_id) == by.id, col(SavedView.screen) == screen)
    held = {row.name: row for row in session.execute(own).scalars()}
    row = held.get(validated.name)
    if row is None and len(held) >= MOST:
        raise InvalidInput.for_field("name", f"is one too many: delete one of your {MOST} views of this list first")
    if row is None:
        row = SavedView(staff_id=by.id, screen=screen, name=validated.name, parameters=kept)
        row.shared_role = validated.shared_role
        session.insert(row)
    else:
        row.parameters, row.shared_role = kept, validated.shared_role
        session.flush()
    _record(session, "view saved", row, by)
    return row.id


def list_views(session: ScopedSession, screen: str, *, by: Person) -> list[View]:
    """Return the person's own views of a list and those shared with their roles, by name; own ones first."""
    is_shared = col(SavedView.shared_role).is_not(None)
    seen = is_shared if by.has_role() else col(SavedView.shared_role).in_(by.roles)
    query: AnySelect = (
        sa.select(SavedView, col(Staff.name).label("owner"))
        .outerjoin(Staff, col(Staff.id) == col(SavedView.staff_id))
        .where(col(SavedView.screen) == screen, sa.or_(col(SavedView.staff_id) == by.id, seen))
    )
    starts = sa.select(col(StartView.view_id)).where(col(StartView.staff_id) == by.id, col(StartView.screen) == screen)
    start = session.execute(starts).scalar_one_or_none()
    found = [
        build_row(View, row, owner=owner or "?", is_own=row.staff_id == by.id, is_start=row.id == start)
        for row, owner in session.execute(query)
    ]
    return sorted(found, key=lambda view: (not view.is_own, view.name.lower(), view.owner))


def get_view(session: ScopedSession, view_id: UUID, *, by: Person) -> SavedView:
    """Return a view that the person sees; NotFound for any other."""
    row = _get(session, view_id, by)
    session.expunge(row)
    return row


def delete_view(session: ScopedSession, view_id: UUID, *, by: Person) -> None:
    """Delete a view for everybody; only its owner or an admin may."""
    row = _get(session, view_id, by)
    if row.staff_id != by.id and not by.has_role():
        raise NotAllowed("A shared view is deleted by whoever saved it, or by an admin")
    _record(session, "view deleted", row, by)
    for entity in (StartView, ViewWatch):
        session.execute(sa.delete(entity).where(col(entity.view_id) == view_id))
    session.delete(row)
    session.flush()


def set_start(session: ScopedSession, screen: str, view_id: UUID | None, *, by: Person) -> None:
    """Choose the view that the menu opens for this person; None for the whole list."""
    if view_id is not None and _get(session, view_id, by).screen != screen:
        raise NotFound(_UNKNOWN)
    session.execute(
        sa.delete(StartView).where(col(StartView.staff_id) == by.id, col(StartView.screen) == screen),
        execution_options={"synchronize_session": False},
    )
    if view_id is not None:
        session.insert(StartView(staff_id=by.id, screen=screen, view_id=view_id))


def list_starts(session: ScopedSession, *, by: Person) -> dict[str, dict[str, list[str]]]:
    """Return the parameters of the person's start views by screen, without those that are no longer shared."""
    query = (
        sa.select(SavedView)
        .join(StartView, col(StartView.view_id) == col(SavedView.id))
        .where(col(StartView.staff_id) == by.id)
    )
    return {row.screen: row.parameters for row in session.execute(query).scalars() if _sees(row, by)}


def _sees(row: SavedView, by: Person) -> bool:
    return row.staff_id == by.id or (row.shared_role is not None and by.has_role(row.shared_role))


def _get(session: ScopedSession, view_id: UUID, by: Person) -> SavedView:
    row = session.find_scalar(sa.select(SavedView).where(col(SavedView.id) == view_id), otherwise=_UNKNOWN)
    if not _sees(row, by):
        raise NotFound(_UNKNOWN)
    return row


def _record(session: ScopedSession, action: str, row: SavedView, by: Person) -> None:
    shared = {"shared_role": row.shared_role} if row.shared_role else {}
    audit.note(session, "staff", by.id, action, actor=by.actor, screen=row.screen, name=row.name, **shared)
