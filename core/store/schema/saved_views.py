"""Saved views of the record lists, the view with which a person's list starts, and what is mailed of a view."""

from datetime import date, datetime
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from core import clock, ids
from core.store.schema.columns import Row, json_field, one_of


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


class ViewWatch(Row, table=True):
    """A person's wish to be mailed the figures of a view: regularly, when one of them crosses a bound, or both.

    `figure` is the number of rows or their sum in kobo; `is_crossed` is how it stood when it was looked at last, so
    that a warning is sent once for each crossing.
    """

    __tablename__ = "view_watch"
    __table_args__ = (
        sa.UniqueConstraint("view_id", "staff_id"),
        one_of("every", ("day", "week", "month"), "every"),
        one_of("figure", ("rows", "sum"), "figure"),
        sa.CheckConstraint("(figure IS NULL) = (bound IS NULL)", name="warning"),
    )
    id: UUID = Field(default_factory=ids.new, primary_key=True)
    view_id: UUID = Field(foreign_key="saved_view.id", ondelete="CASCADE")
    staff_id: UUID = Field(foreign_key="staff.id", index=True)
    is_live: bool
    every: str | None = Field(default=None, max_length=10)
    sent_on: date | None = None
    figure: str | None = Field(default=None, max_length=10)
    is_above: bool = True
    bound: int | None = Field(default=None, sa_type=sa.BigInteger)
    is_crossed: bool = False
    checked_at: datetime | None = None
    last_error: str | None = Field(default=None, max_length=200)
    created_at: datetime = Field(default_factory=clock.now)
