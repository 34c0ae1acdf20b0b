"""The parties that money is settled with: each distributor and each insurer has one account."""

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.errors import NotFound
from core.store.access import ScopedSession
from core.store.schema.tables import Distributor, Provider

Account = Literal["distributor", "provider"]


@dataclass(frozen=True, slots=True)
class Party:
    """A distributor or an insurer."""

    account: Account
    id: UUID

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that name the party in a row."""
        return {"account": self.account, "distributor_id": None, "provider_id": None, f"{self.account}_id": self.id}

    def owns(self, entity: Any) -> sa.ColumnElement[bool]:
        """Return the condition that a row is the party's."""
        found: sa.ColumnElement[bool] = col(getattr(entity, f"{self.account}_id")) == self.id
        return found


def get_name(session: ScopedSession, party: Party) -> str:
    """Return the name of a party; NotFound for one that does not exist."""
    entity: Any = Distributor if party.account == "distributor" else Provider
    column = Distributor.business_name if party.account == "distributor" else Provider.company_name
    found = session.execute(sa.select(col(column)).where(col(entity.id) == party.id)).scalar_one_or_none()
    if found is None:
        raise NotFound(f"There is no such {'distributor' if party.account == 'distributor' else 'insurer'}")
    return str(found)


def list_parties(session: ScopedSession) -> list[tuple[Party, str]]:
    """List every distributor and insurer with its name, distributors first, by name."""
    sellers = session.execute(sa.select(col(Distributor.id), col(Distributor.business_name)))
    insurers = session.execute(sa.select(col(Provider.id), col(Provider.company_name)))
    found: list[tuple[Party, str]] = [
        *((Party("distributor", row[0]), row[1]) for row in sorted(sellers, key=lambda row: row[1].lower())),
        *((Party("provider", row[0]), row[1]) for row in sorted(insurers, key=lambda row: row[1].lower())),
    ]
    return found
