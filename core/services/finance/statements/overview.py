"""A month of statements at a glance: what is prepared, and for the rest what the month holds until now."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.finance import parties
from core.services.finance.parties import Party
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements.reading import StatementRow
from core.services.lists.windows import Window
from core.states.finance import StatementState
from core.store.access import ScopedSession
from core.store.schema.tables import Movement

DRAFT = "Draft"
_ACCOUNT_NAMES = {"distributor": "Distributor", "provider": "Insurer"}


@dataclass(frozen=True, kw_only=True, slots=True)
class StatementSummary:
    """One account of a month; a draft has no number, and its figures move until it is prepared, without taxes."""

    party: Party
    name: str
    month: date
    state: str
    lines: int
    change_minor: int
    statement_id: UUID | None = None
    number: str | None = None
    opening_minor: int | None = None
    closing_minor: int | None = None
    is_reversal: bool = False

    @property
    def key(self) -> str:
        """Key in the page address: of the statement, or of the party if there is none yet."""
        return (
            str(self.statement_id) if self.statement_id else f"{self.party.account}.{self.party.id}.{self.month:%Y-%m}"
        )

    @property
    def account_name(self) -> str:
        """The kind of account as people read it."""
        return _ACCOUNT_NAMES[self.party.account]


def list_month(session: ScopedSession, month: date) -> list[StatementSummary]:
    """List every statement of a month, and a draft for each party with movements that has none."""
    found = statement_reading.list_statements(session, month=month)
    stated = {row.party for row in found if row.paper.state != StatementState.VOID and row.reverses_id is None}
    names = dict(parties.list_parties(session))
    drafts = [
        StatementSummary(party=party, name=names[party], month=month, state=DRAFT, lines=lines, change_minor=minor)
        for party, (lines, minor) in _sum_movements(session, month).items()
        if party not in stated
    ]
    rows = [*map(_build, found), *drafts]
    return sorted(rows, key=lambda row: (row.party.account, row.name.lower(), row.number or ""))


def list_months(session: ScopedSession) -> list[date]:
    """List the months from the first movement to this one, the newest first."""
    first = session.execute(sa.select(sa.func.min(col(Movement.created_at)))).scalar()
    month, months = clock.today().replace(day=1), []
    oldest = clock.to_lagos_day(first).replace(day=1) if first else month
    while month >= oldest:
        months.append(month)
        month = clock.add_months(month, -1)
    return months


def _build(row: StatementRow) -> StatementSummary:
    paper = row.paper
    return StatementSummary(
        party=row.party,
        name=paper.party,
        month=paper.month,
        state=paper.state,
        lines=paper.lines,
        change_minor=paper.closing_minor - paper.opening_minor,
        statement_id=row.id,
        number=paper.number,
        opening_minor=paper.opening_minor,
        closing_minor=paper.closing_minor,
        is_reversal=row.reverses_id is not None,
    )


def _sum_movements(session: ScopedSession, month: date) -> Mapping[Party, tuple[int, int]]:
    """The number of movements of each party in a month, and its commission or share of them, before taxes."""
    span = Window(month, clock.add_months(month, 1)).span
    found: dict[Party, tuple[int, int]] = {}
    for account, amount in (("distributor", "distributor_profit_minor"), ("provider", "provider_share_minor")):
        owner: Any = col(getattr(Movement, f"{account}_id"))
        query = (
            sa.select(owner, sa.func.count(), sa.func.sum(col(getattr(Movement, amount))))
            .where(*span.on(col(Movement.created_at)))
            .group_by(owner)
        )
        for party_id, lines, minor in session.execute(query):
            found[Party(account, party_id)] = (lines, int(minor))  # type: ignore[arg-type]
    return found
