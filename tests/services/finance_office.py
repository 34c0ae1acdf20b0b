"""A finance department for tests: three people of finance, one of each other role, and how they read the store."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from core import clock
from core.desk import store_check
from core.services.finance import agreements, bank_accounts, movements
from core.services.finance.movements import MovementFilter, MovementRow
from core.services.finance.parties import Party
from core.services.finance.payments import payouts
from core.services.finance.statements import statements
from core.services.lists.dimensions import load_choices
from core.services.lists.paging import Paging
from core.services.people import staff
from core.services.people.staff import Person
from core.store.access import Scope, ScopedSession, Store
from core.store.schema.tables import Staff
from tests.planting import find_faults
from tests.portfolio import NOW

LIVE = Scope.staff(is_live=True)
PEOPLE = {
    "funmi": ["finance"],
    "femi": ["finance"],
    "wale": ["finance"],
    "oye": ["operations"],
    "chi": ["claims"],
    "sade": ["supervisor"],
    "root": ["admin"],
    "second": ["admin"],
}
BANK = {"bank_name": "First Bank", "account_name": "Swift Lenders Ltd", "account_number": "0123456789"}
ACCOUNT = {"payee_bank": "First Bank", "payee_account": "0123456780"}
# Rules of the check that name one of these in their title.
_OF_MONEY = re.compile(
    "movement|daybook|adjustment|limit|statement|payment|payout|bank|credit note"
    "|refund goes|on refunds|given back|a return|bordereau|month|reconciliation|transfer|debt"
    "|commission share|share of a|terms|approval|claims were paid",
    re.IGNORECASE,
)
OUTSIDERS = ("oye", "chi", "sade")


class Finance:
    """Everything that a test of money needs."""

    def __init__(self, store: Store, scope: Scope = LIVE) -> None:
        self.store, self.scope = store, scope
        with store.writing(Scope.system()) as session:
            for name, roles in PEOPLE.items():
                row = Staff(email=f"{name}@f.example", name=name.title(), roles=roles)
                session.add(row)
                if roles == ["admin"]:
                    row.password_hash = "of their own"
                    session.flush()
                    staff.record_change(session, row, "staff added", actor="tests", before=None)
        self.people = {name: self.person(name) for name in PEOPLE}

    def person(self, name: str) -> Person:
        with self.store.reading(Scope.system()) as session:
            return staff.get_by_email(session, f"{name}@f.example")

    def rest(self, name: str, until: Any) -> Person:
        """Somebody else has reset the password of this person."""
        person = self.people[name]
        with self.store.writing(Scope.system()) as session:
            session.get_one(Staff, person.id).approves_from = until
        return self.person(name)

    @contextmanager
    def reading(self) -> Iterator[ScopedSession]:
        with self.store.reading(self.scope) as session:
            yield session

    def do(self, verb: Any, *given: Any, by: str | Person | None = None, **more: Any) -> Any:
        """One write of a service in a transaction of its own."""
        if by is not None:
            more["by"] = self.people[by] if isinstance(by, str) else by
        with self.store.writing(self.scope) as session:
            return verb(session, *given, **more)

    def agree(self, party: Party, terms: dict[str, Any], *, by: str = "root", second: str = "second") -> UUID:
        """Terms with a party that one admin adds, and another confirms where they decide money."""
        made: UUID = self.do(agreements.add, party, terms, by=by)
        if self.read(agreements.find_waiting, party):
            self.do(agreements.confirm, made, by=second)
        return made

    def change_person(self, name: str, **columns: Any) -> None:
        """Change the account of a person past the services."""
        with self.store.writing(Scope.system()) as session:
            session.execute(sa.update(Staff).where(Staff.id == self.people[name].id).values(**columns))
        self.people[name] = self.person(name)

    def read(self, verb: Any, *given: Any, **more: Any) -> Any:
        with self.reading() as session:
            return verb(session, *given, **more)

    def rows(self, limit: int = 10_000, page: int = 1, *, order: Any = "newest", **address: Any) -> list[MovementRow]:
        selection = select(**address)
        with self.reading() as session:
            paging = Paging(page, limit)
            return movements.list_rows(session, selection, load_choices(session), order=order, paging=paging)

    def money_faults(self) -> list[str]:
        """List what the rules of the check find that are of money and of sales which were made at random."""
        return [fault for rule in store_check._RULES if _OF_MONEY.search(rule) for fault in self.faults(rule)]

    def faults(self, rule: str = "") -> list[str]:
        """List what one rule of the check finds, or all of them."""
        with self.store.reading(Scope.system()) as opened:
            return find_faults(opened, rule) if rule else store_check.list_faults(opened)


def state(finance: Finance, party: Party, month: date, *moves: str) -> UUID:
    """A statement that Funmi prepared and Femi moved on."""
    made: UUID = finance.do(statements.prepare, party, month, by="funmi")
    for to in moves:
        finance.do(statements.move, made, to, by="femi")
    return made


def pay_out(finance: Finance, party: Party) -> UUID:
    """An approved payout of one payment: prepared by Funmi, approved by Femi, of a statement that was sent."""
    finance.agree(party, {"number": "AG/1", "starts_on": "2026-01-01"})
    with clock.freeze(NOW - timedelta(days=90)):
        account = finance.do(bank_accounts.propose, party, BANK, by="root")
        finance.do(bank_accounts.confirm, account, by="second")
    state(finance, party, date(2026, 8, 1), "Approved", "Sent")
    made: UUID = finance.do(payouts.prepare, {party: None}, by="funmi")
    finance.do(payouts.approve, made, by="femi")
    return made


def select(**address: Any) -> MovementFilter:
    """A selection as an address has it; `from_` is its `from`."""
    listed = {name.rstrip("_"): value if isinstance(value, list) else [str(value)] for name, value in address.items()}
    return MovementFilter.read(listed)


def refuse_statement(finance: Finance, statement: str) -> None:
    """The store itself refuses a statement that changes what was agreed."""
    with (
        pytest.raises(sa.exc.DBAPIError, match="keeps what it holds"),
        finance.store.writing(Scope.system()) as session,
    ):
        session.connection().exec_driver_sql(statement)


def change(finance: Finance, table: str, trigger: str, statement: Any) -> None:
    """Change rows past the services and past what keeps them."""
    on = "" if finance.store.is_sqlite else f" ON {table}"
    with finance.store.writing(Scope.system()) as session:
        session.connection().exec_driver_sql(f"DROP TRIGGER {trigger}{on}")
        session.execute(statement.execution_options(synchronize_session=False))
