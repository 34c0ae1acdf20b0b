"""Saved views of the record lists, and the view with which a person's list starts."""

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from core import clock, ids
from core.store.schema.columns import Row, json_field


class SavedView(Row, table=True):
    """Filters, order and columns of a list under a name; `shared_role` is the role that sees it beside its owner."""

    __tablename__ = "saved_view"
    __table_args__ = (sa.UniqueConstraint("staff_id", "screen", "name"), sa.Index(None, "screen", "shared_role"))
    id: UUID = Field(default_factory=ids.new, primary_key=True)
    staff_id: UUID
    screen: str = Field(max_length=60)
    name: str = Field(max_length=60)
    shared_role: str | None = Field(default=None, max_length=20)
    parameters: dict[str, list[str]] = json_field()
    created_at: datetime = Field(default_factory=clock.now)


class StartView(Row, table=True):
    """The view that the menu opens for a person in place of the whole list."""

    __tablename__ = "start_view"
    staff_id: UUID = Field(primary_key=True)
    screen: str = Field(primary_key=True, max_length=60)
    view_id: UUID = Field(foreign_key="saved_view.id", ondelete="CASCADE", index=True)
