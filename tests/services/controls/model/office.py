"""Ten people of all roles over one store, the moment in which they act, and what they have in their hands."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cache
from random import Random
from typing import Any, TypeVar
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.covers import request as requests
from core.covers.claims.lines import MotorClaimRequest
from core.covers.credit_life import CREDIT_LIFE
from core.covers.insurers import insurer_a, insurer_b
from core.services.claims.intake import lodging, submitted
from core.services.claims.intake.new_claims import CreditLifeClaimRequest
from core.services.files import files
from core.services.files.files import ReceivedFile
from core.services.finance import agreements, bank_accounts
from core.services.finance.parties import Party
from core.services.finance.statements import statements
from core.services.people import staff
from core.services.people.staff import Person
from core.services.policies import changes
from core.store.access import Owner, Scope, ScopedSession, Store
from core.store.schema.tables import LoanBook, LoanBookRow, Policy, Product, Staff
from tests import papers
from tests.conftest import Partner, make_partner
from tests.prefilled import prefilled
from tests.services.loan_books import Lender, as_csv, loan
from tests.services.selling import sell

T = TypeVar("T")
START = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
LIVE, SYSTEM = Scope.staff(is_live=True), Scope.system()
PASSWORD = "correct-horse-battery-9"
# Roles and the claim limit in naira. Chi, Wale and Third are in league with each other; Wale is a customer, too.
PEOPLE: dict[str, tuple[list[str], str | None]] = {
    "ada": (["claims"], "100000"),
    "bola": (["claims"], None),
    "chi": (["claims", "finance"], "50000"),
    "sade": (["supervisor"], None),
    "uche": (["supervisor", "finance"], None),
    "root": (["admin"], None),
    "second": (["admin"], None),
    "third": (["admin"], None),
    "funmi": (["finance"], None),
    "wale": (["finance", "operations"], None),
}
BORROWER = {"first_name": "Cheap", "last_name": "Borrower"}
_parse = cache(sa.text)


def plain(value: Any) -> str:
    """An id as both databases give it."""
    return str(value).replace("-", "")


def moment(value: Any) -> datetime:
    """An instant as both databases give it."""
    at = datetime.fromisoformat(value) if isinstance(value, str) else value
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


@dataclass
class Sold:
    """A policy as it was sold; the most that its claims come to, and what its customer owes, in kobo."""

    id: UUID
    number: str
    is_loan: bool
    most_minor: int
    plate: str = ""
    # Sold under the e-mail of a customer by somebody else, whose name it has.
    is_borrowed: bool = False


@dataclass
class Office:
    """Policies, claims, debts and parties as everybody sees them; `trail` is who did what so far."""

    store: Store
    partner: Partner
    people: list[UUID]
    sold: list[Sold]
    parties: list[Party]
    now: datetime = START
    claims: list[UUID] = field(default_factory=list)
    debts: dict[UUID, int] = field(default_factory=dict)
    trail: list[str] = field(default_factory=list)
    acting: str = ""
    who: str = ""
    what: str = ""
    papers: int = 0
    customers: int = 0
    held: sa.Connection | None = None

    def copied(self, store: Store) -> "Office":
        """Return the same office over a store with the same rows, in which nobody has acted."""
        return Office(store, self.partner, list(self.people), list(self.sold), self.parties)

    def do(self, work: Callable[[ScopedSession, Person], T], by: UUID | None, *, system: bool = False) -> T | None:
        """Let a person act in a transaction; None where the account is disabled."""
        with self.store.writing(SYSTEM if system else LIVE) as session:
            person = staff.find_by_id(session, by) if by else None
            return work(session, person) if person is not None else None

    def read(self, statement: str, **given: Any) -> list[Any]:
        """Rows of plain SQL."""
        if self.held is not None:
            return list(self.held.execute(_parse(statement), given))
        with self.store.engine.connect() as connection:
            return list(connection.execute(_parse(statement), given))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read by one connection meanwhile."""
        with self.store.engine.connect() as connection:
            self.held = connection
            try:
                yield
            finally:
                self.held = None

    def today(self, days: int = 0) -> str:
        """A day from now, as somebody types it."""
        return str(clock.to_lagos_day(self.now + timedelta(days=days)))

    def sell(self, dice: Random) -> None:
        """A sale over the distributor's key; a start may lie in the past."""
        self.customers += 1
        is_loan = dice.random() < 0.7
        # Cover that waits for its insurer until somebody at the desk puts it in force.
        waits = not is_loan and dice.random() < 0.5
        back = dice.choice((0, 0, 30, 120))
        email = "wale@x.example" if dice.random() < 0.1 else f"customer{self.customers}@x.example"
        is_borrowed = dice.random() < 0.1
        whose = {"email": email, "phone_number": f"0806{self.customers:07d}"}
        if is_borrowed:
            whose |= {"email": f"first{dice.randrange(6)}@x.example", **BORROWER}
        # A car that another insurer covers too.
        cars = [each for each in self.sold if each.plate and not each.is_loan]
        twin = dice.choice(cars).plate if not is_loan and not waits and dice.random() < 0.5 else ""
        made = _sell(
            self.store, self.partner, self.customers, is_loan=is_loan, back=back, waits=waits, twin=twin, **whose
        )
        made.is_borrowed = is_borrowed
        self.sold.append(made)

    def lodge(self, sold: Sold, dice: Random, *, actor: str, day: str | None = None) -> UUID:
        """A claim on a policy, with its papers, some of them seen before, and figures that may be made up."""
        debt = dice.choice((20_000, 49_999, 75_000, 75_000, 75_000, 100_000, 100_000, 450_000))
        day = day or self.today(-dice.choice((1, 3, 10, 40, 80)))
        text = self.text(dice)
        account = {"bank_name": "Lagoon Bank", "account_name": "Ngozi Okafor", "account_number": "0123456789"}
        given: dict[str, Any]
        if sold.is_loan:
            kind = dice.choice(("Loss of job", "Loss of job", "Permanent disability"))
            needed = submitted.list_required_of_incident(kind, accidental=False)
            model: Any = CreditLifeClaimRequest
            given = {"accidental": "false", "loan_offer_date": "2026-08-22", "loan_repayment_date": "2027-08-22"}
            given |= {"loan_amount": "100000", "pending_repayment_amount": str(debt), "incident_date": day}
        else:
            kind, model = "Third party property damage", MotorClaimRequest
            needed = ("police_report", "driving_licence", "third_party_demand")
            given = {"incident_date": day, "incident_place": "Lagos Road 1, Ikeja", "incident_description": "A crash"}
            given |= {"registration_number": sold.plate, "cost_of_repair": str(debt), **account}
            # Whose damage it is: a car that somebody else may be asked for, too.
            if dice.random() < 0.3:
                given["third_party_registration_number"] = dice.choice(("GGE-111AA", "GGE-222BB"))
        given |= {"policy_number": sold.number, "incident_type": kind}
        arriving = [
            ReceivedFile(field=name, file_name="a.pdf", content=papers.pdf(text=f"{text} {name}")) for name in needed
        ]
        request = requests.validate(model, {**given, **{file.field: file.url for file in arriving}})
        owner = Owner(distributor_id=self.partner.id, is_live=True)
        with files.store_files(arriving) as kept, self.store.writing(self.partner.scope(is_live=True)) as session:
            record = lodging.lodge_claim(session, request, kept, owner=owner, actor=actor)
        self.claims.append(ids.parse(record["id"]))
        self.debts[self.claims[-1]] = debt * 100
        return self.claims[-1]

    def text(self, dice: Random) -> str:
        """The text of a paper; now and then that of another paper."""
        self.papers += 1
        number = dice.randrange(1, self.papers + 1) if dice.random() < 0.1 else self.papers
        return f"Paper number {number}, as it was received by us on the counter"


def open_office(store: Store, *, collects: str) -> Office:
    """An office of ten people with policies of some months; `collects` says who holds the premium, and so who pays."""
    made: Office = prefilled(store, "model of an office", _fill)
    office = made.copied(store)
    with clock.freeze(START), store.writing(LIVE) as session:
        places = (list(PEOPLE).index(name) for name in ("root", "second"))
        root, second = (staff.find_by_id(session, office.people[place]) for place in places)
        assert root
        assert second
        terms = {"number": "AG/2", "starts_on": "2026-10-01", "collects": collects}
        made = agreements.add(session, office.parties[0], terms, by=root)
        if collects == "distributor":
            agreements.confirm(session, made, by=second)
    return office


def _fill(store: Store) -> Office:
    partner = make_partner(store, "Swift Lenders")
    with clock.freeze(START - timedelta(days=120)), store.writing(SYSTEM) as session:
        people = [
            staff.add_or_update(
                session,
                email=f"{name}@x.example",
                name=name.title(),
                roles=roles,
                claim_limit=limit,
                password=f"{PASSWORD}-{name}",
                actor="command line",
            )
            for name, (roles, limit) in PEOPLE.items()
        ]
        session.execute(sa.update(Staff).values(confirms_from=None))
    sold = []
    for number, (is_loan, days) in enumerate(
        ((True, 90), (True, 85), (False, 80), (True, 60), (False, 50), (True, 40))
    ):
        with clock.freeze(START - timedelta(days=days)):
            email = "wale@x.example" if number == 3 else f"first{number}@x.example"
            whose = {"email": email, "phone_number": f"0805{number:07d}"}
            sold.append(_sell(store, partner, 1_000 + number, is_loan=is_loan, back=0, **whose))
    with clock.freeze(START - timedelta(days=30)):
        # Another insurer covers a car of these too, and somebody buys under the e-mail of a borrower.
        whose = {"email": "first6@x.example", "phone_number": "08050000006"}
        sold.append(_sell(store, partner, 1_006, is_loan=False, back=0, twin=sold[2].plate, **whose))
        whose = {"email": "first0@x.example", "phone_number": "08050000007", **BORROWER}
        sold.append(_sell(store, partner, 1_007, is_loan=False, back=0, **whose))
        sold[-1].is_borrowed = True
    with clock.freeze(START - timedelta(days=20)):
        # Cars that are paid for by the month, whose term is about to end.
        for number in (1_010, 1_011):
            whose = {"email": f"first{number}@x.example", "phone_number": f"0805000{number}"}
            sold.append(_sell(store, partner, number, is_loan=False, back=0, waits=True, **whose))
            sold[-1].number = _put_in_force(store, sold[-1].id, people[list(PEOPLE).index("wale")])
    for number, name in enumerate(("wale", "sade")):
        sold += _sell_by_book(
            store, partner, people[list(PEOPLE).index(name)], people[list(PEOPLE).index("uche")], number
        )
    parties = [Party("distributor", partner.id), *_insurers(store)]
    _agree(store, people, parties)
    _state(store, people, parties)
    return Office(store, partner, people, sold, parties)


def _put_in_force(store: Store, policy_id: UUID, by: UUID) -> str:
    """Put a cover in force as its insurer said by telephone, and return its number."""
    number = f"BY/HAND/{policy_id.hex[-6:]}"
    with store.writing(LIVE) as session:
        person = staff.find_by_id(session, by)
        assert person
        given = {"insurer_accepted": "By telephone", "policy_number": number, "expected_version": 1}
        changes.activate(session, policy_id, actor=person.actor, **given)
    return number


def _sell_by_book(store: Store, partner: Partner, by: UUID, second: UUID, number: int) -> list[Sold]:
    """Loans of a lender's file that one person of the desk uploaded and another confirmed."""
    with clock.freeze(START - timedelta(days=25)):
        with store.reading(SYSTEM) as session:
            uploader, confirmer = (staff.find_by_id(session, each) for each in (by, second))
        rows = [
            loan(100 + 10 * number + row, phone_number=f"0807000{number}00{row}", loan_start_date="2026-10-26")
            for row in range(3)
        ]
        lender = Lender(store, partner, is_live=True)
        dated = {"month": "2026-10", "attested_on": "2026-10-26"}
        lender.carry_out(lender.read(as_csv(rows), by=uploader, **dated), confirmer)
    with store.reading(SYSTEM) as session:
        found = session.execute(
            sa.select(col(Policy.id), col(Policy.policy_number))
            .join(LoanBookRow, col(LoanBookRow.policy_id) == col(Policy.id))
            .join(LoanBook, col(LoanBook.id) == col(LoanBookRow.book_id))
            .where(col(LoanBook.uploader_id) == by)
            .order_by(col(Policy.created_at), col(Policy.id))
        )
        return [Sold(row.id, row.policy_number or "", True, 10_000_000) for row in found]


def _insurers(store: Store) -> list[Party]:
    with store.reading(SYSTEM) as session:
        query = sa.select(col(Product.provider_id)).join(Policy, col(Policy.product_id) == col(Product.id)).distinct()
        return [Party("provider", each) for each in sorted(session.execute(query).scalars())]


def _agree(store: Store, people: list[UUID], parties: list[Party]) -> None:
    """The terms and the bank account of each party, by two admins."""
    with clock.freeze(START - timedelta(days=119)), store.writing(LIVE) as session:
        root, second = (staff.find_by_id(session, people[list(PEOPLE).index(name)]) for name in ("root", "second"))
        assert root
        assert second
        for party in parties:
            agreements.add(session, party, {"number": "AG/1", "starts_on": "2026-01-01"}, by=root)
            details = {"bank_name": "First Bank", "account_name": "The firm", "account_number": "0123456780"}
            account = bank_accounts.propose(session, party, details, by=root)
            bank_accounts.confirm(session, account, by=second)


def _state(store: Store, people: list[UUID], parties: list[Party]) -> None:
    """The statements of the first two months, sent."""
    with clock.freeze(START - timedelta(days=2)), store.writing(LIVE) as session:
        funmi, uche = (staff.find_by_id(session, people[list(PEOPLE).index(name)]) for name in ("funmi", "uche"))
        assert funmi
        assert uche
        for party in parties:
            while (month := statements.find_due_month(session, party)) and month < date(2026, 10, 1):
                made = statements.prepare(session, party, month, by=funmi, without_withholding=True)
                for state in ("Approved", "Sent"):
                    statements.move(session, made, state, by=uche)


def _sell(
    store: Store,
    partner: Partner,
    number: int,
    *,
    is_loan: bool,
    back: int,
    waits: bool = False,
    twin: str = "",
    **whose: str,
) -> Sold:
    plate = twin or f"KJA-{number % 1000:03d}AA"
    if is_loan:
        started = clock.to_lagos_day(clock.now() - timedelta(days=back)).isoformat()
        loan = {"loan_start_date": started, "loan_tenure": 12, **whose}
        sale = sell(store, partner, CREDIT_LIFE, is_live=True, **loan)
    else:
        car = {"registration_number": plate, "chassis_number": f"CHASSIS{number:010d}"}
        cover = insurer_a.COMPREHENSIVE if waits else insurer_b.THIRD_PARTY if twin else insurer_a.THIRD_PARTY
        sale = sell(store, partner, cover, is_live=True, **car, **whose)
    named = sale.policy["meta"]["policy_number"]
    most = 10_000_000 if is_loan else 300_000_000
    if waits:
        with store.reading(SYSTEM) as session:
            most = session.get_one(Policy, sale.policy_id).sum_insured_minor or most
    return Sold(sale.policy_id, named or "", is_loan, most, "" if is_loan else plate)
