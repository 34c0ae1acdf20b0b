"""Column shapes that every table shares: ids, instants, JSON, and the owner of a row."""

from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field, SQLModel

from core import clock, ids

SQLModel.metadata.naming_convention = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


def json_field(default: Any = dict) -> Any:
    """A JSON column; `default` makes its empty value."""
    return Field(default_factory=default, sa_type=sa.JSON, nullable=False)


def minor_field() -> Any:
    """An amount in integer kobo."""
    return Field(sa_type=sa.BigInteger, nullable=False)


class Record(SQLModel):
    """A row with an id of its own and the times of its life, all UTC."""

    id: UUID = Field(default_factory=ids.new, primary_key=True)
    created_at: datetime = Field(default_factory=clock.now)
    updated_at: datetime = Field(default_factory=clock.now)
    deleted_at: datetime | None = None


class Owned(SQLModel):
    """A row of one distributor in one mode: the store shows it to nobody else (contract M1, M2)."""

    distributor_id: UUID = Field(foreign_key="distributor.id")
    is_live: bool


def among(column: str, values: tuple[str, ...], name: str) -> sa.CheckConstraint:
    """A check that a text column holds one of a few words."""
    words = ", ".join(f"'{value}'" for value in values)
    return sa.CheckConstraint(f"{column} IN ({words})", name=name)
