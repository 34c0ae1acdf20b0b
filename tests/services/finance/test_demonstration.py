"""The demonstration of finance: closed months, one in dispute, one open, and a file that differs in every way."""

import re
import shutil
from collections import Counter
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlmodel import SQLModel, col

from core import clock, demo, ids
from core.demo.papers import finance as finance_papers
from core.desk import store_check
from core.services.catalogue import changes
from core.services.compliance import filings, return_figures
from core.services.finance import agreements, journal, parties
from core.services.finance.bordereaux import bordereaux
from core.services.finance.parties import Party
from core.services.finance.payments import payouts, settlement
from core.services.finance.payments import reading as payment_reading
from core.services.finance.reconciling import matching, table_files
from core.services.finance.reconciling.matching import Entry
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements import statements
from core.services.lists.windows import Window
from core.services.people import staff
from core.services.people.staff import Person
from core.states.finance import MonthState
from core.store.access import Scope, ScopedSession, Store
from core.store.schema.tables import (
    Approval,
    AuditEntry,
    Bordereau,
    BordereauLine,
    NumberCounter,
    PartyPayment,
    Payment,
    PaymentSettlement,
    PayoutBatch,
    Staff,
    Statement,
    StatementLine,
    StatementPayment,
    StatementStep,
    Transfer,
)

LIVE = Scope.staff(is_live=True)
UNTIL = datetime(2026, 11, 22, 12, tzinfo=UTC)
pytestmark = [pytest.mark.both_databases, pytest.mark.frozen_at(UNTIL)]
SEPTEMBER = Window(date(2026, 9, 1), date(2026, 10, 1))
# What statements, payments and bordereaux are made of; the lines of claims and movements have ids of the portfolio.
PAPERS: tuple[type[SQLModel], ...] = (
    *(Statement, StatementLine, StatementStep, StatementPayment, PayoutBatch, Payment, PartyPayment, PaymentSettlement),
    *(Transfer, Bordereau, BordereauLine, NumberCounter, Approval, AuditEntry),
)
DRAWN = {
    *("id", "statement_id", "payment_id", "batch_id", "bank_account_id", "payee_id", "transfer_id", "sha256"),
    *(
        "bordereau_id",
        "reference",
        "reference_key",
        "hash",
        "chain",
        "subject",
        "subject_id",
        "trace_id",
        "parts",
        "fingerprint",
    ),
    # The place of an entry in its chain, which is that of its subject.
    *("position",),
}
SUBJECTS = ("statement", "payment", "payout", "bordereau")
ACCOUNTS = {"finance": ["finance"], "second.finance": ["finance"], "admin": ["admin"], "second.admin": ["admin"]}


def begin(store: Store, purchases: int) -> list[date]:
    """Write a small demonstration with its people and terms; returns the months that are over."""
    demo.write(store, purchases=purchases, seed=4, until=UNTIL)
    add_accounts(store)
    with store.writing(LIVE) as session:
        over = finance_papers.list_closed(session, UNTIL)
        finance_papers.write_terms(session, over[0])
    return over


def add_accounts(store: Store) -> None:
    with store.writing(Scope.system()) as session:
        for name, roles in ACCOUNTS.items():
            given = {"email": f"{name}@coverdesk.example", "name": name, "roles": roles}
            staff.add_or_update(session, **given, password="correct horse battery", actor="tests")
        # They have been admins for long.
        session.execute(sa.update(Staff).values(confirms_from=None))


def check_client_account(session: ScopedSession) -> None:
    """The return of each quarter has the balances of its last statements, and what the journal has of the bank."""
    names, moved = {"provider": "insurers", "distributor": "distributors"}, 0
    for months in ([clock.add_months(date(2025, first, 1), later) for later in range(3)] for first in (1, 4, 7, 10)):
        window = Window(months[0], clock.add_months(months[-1], 1))
        account = {each.figure: int(each.value) for each in return_figures.compute(session, "client_account", window)}
        stated = statement_reading.list_statements(session, month=months[-1])
        for party, name in names.items():
            closing = sum(row.paper.closing_minor for row in stated if row.party.account == party)
            assert account.get(f"Owed to {name}", 0) - account.get(f"Owed by {name}", 0) == closing
        entries = [entry for month in months for entry in journal.list_entries(session, month)]
        banked = sum(entry.amount_minor for entry in entries if entry.account == journal.BANK)
        paid = sum(
            account.get(f"Paid to {name}", 0) - account.get(f"Received from {name}", 0) for name in names.values()
        )
        assert paid == -banked
        moved += paid
    assert moved > 0


@pytest.mark.parametrize("database", ["sqlite"])
def test_months_are_closed_but_the_newest_and_everything_holds(store: Store) -> None:
    over = begin(store, purchases=4)
    with store.writing(LIVE) as session:
        admin, key = staff.get_by_email(session, "admin@coverdesk.example"), ids.new()
        changes.add_distributor(session, key, {"name": "Somebody New", "email": None}, by=admin)
        # What is there already is left as it is, so that the command can be repeated.
        for month in [*over, *over]:
            finance_papers.write_month(session, month)
            finance_papers.close_month(session, month)
        finance_papers.settle(session)
        finance_papers.write_terms(session, over[0])
    with store.reading(LIVE) as session:
        terms = agreements.get_in_force(session, Party("distributor", key), clock.today())
        assert terms is not None
        assert terms.starts_on == over[-2], "the first month that is not closed"
        closed = [month for month in over if journal.state_of(session, month) == MonthState.CLOSED]
        assert closed == over[:-2], "one waits for approval, and one has a statement in dispute"
        statements = Counter(row.paper.state for row in statement_reading.list_statements(session))
        assert statements["Disputed"] == 1
        assert statements["Prepared"] > 0
        check_client_account(session)
    with store.reading(Scope.system()) as session:
        assert store_check.list_faults(session) == []
        licences = {row.state for row in filings.list_licences(session)}
        assert {"Active"} <= licences <= {"Active", "Ends soon", "Missing"}, "distributors are licensed today"


@pytest.mark.exhaustive
@pytest.mark.parametrize("database", ["sqlite"])
def test_months_in_bulk_are_what_the_services_write_one_by_one(
    store: Store, sqlite_template: Path, tmp_path: Path
) -> None:
    shutil.copy(sqlite_template, tmp_path / "twin.db")
    twin = Store(f"sqlite:///{tmp_path / 'twin.db'}")
    for each, write_month in ((store, finance_papers.write_month), (twin, write_by_the_services)):
        over = begin(each, purchases=6)
        for month in over:
            with each.writing(LIVE) as session:
                write_month(session, month)
                if each is store:
                    # What is there already is left as it is.
                    write_month(session, month)
        with each.reading(Scope.system()) as session:
            assert store_check.list_faults(session) == []
    ours, theirs = papers(store), papers(twin)
    assert {
        name: (ours[name] - theirs[name], theirs[name] - ours[name]) for name in ours if ours[name] != theirs[name]
    } == {}
    assert all(ours.values())
    twin.close()


def write_by_the_services(session: ScopedSession, month: date) -> None:
    """State, send, pay and report a month by one act after the other, as two people of finance would."""
    maker, checker = (
        staff.get_by_email(session, f"{name}@coverdesk.example") for name in ("finance", "second.finance")
    )
    last = clock.add_months(clock.today().replace(day=1), -1)
    with finance_papers.in_time(month, finance_papers.STATED_ON):
        due = [
            party for party, _ in parties.list_parties(session) if statements.find_due_month(session, party) == month
        ]
        made = [statements.prepare(session, party, month, by=maker, without_withholding=True) for party in due]
        for statement_id in made if month < last else ():
            statements.move(session, statement_id, "Approved", by=checker)
            statements.move(session, statement_id, "Sent", by=maker)
        if made and clock.add_months(month, 1) == last:
            note = "Two policies of the month are said to be missing"
            statements.move(session, made[0], "Disputed", by=maker, note=note)
    if clock.add_months(month, 1) < last:
        pay(session, month, maker, checker)
    with finance_papers.in_time(month, finance_papers.STATED_ON):
        for provider_id, _, kind in bordereaux.list_due(session, month) if month < last else ():
            issued = bordereaux.issue(session, provider_id, kind, month, by=maker)
            bordereaux.move(session, issued, "Sent", by=maker)
            bordereaux.move(session, issued, "Acknowledged", by=maker)


def pay(session: ScopedSession, month: date, maker: Person, checker: Person) -> None:
    """Pay what is due, each payment confirmed with its reference."""
    with finance_papers.in_time(month, finance_papers.PAID_ON):
        due = {balance.party: None for balance in payouts.list_payable(session)}
        if not due:
            return
        batch = payouts.prepare(session, due, by=maker)
        payouts.approve(session, batch, by=checker)
        for place, row in enumerate(payment_reading.list_of_batch(session, batch), 1):
            answer = {"bank_reference": f"DEMO/{clock.today():%y%m}/{place}", "value_on": str(clock.today())}
            settlement.confirm(session, row.id, answer, by=checker)


def papers(store: Store) -> dict[str, Counter[str]]:
    """Every row of the papers and their audit entries, without ids and what is made of them: each store has others."""
    found = {}
    with store.reading(LIVE) as session:
        names = {
            str(person_id): email for person_id, email in session.execute(sa.select(col(Staff.id), col(Staff.email)))
        }
        for entity in PAPERS:
            columns = [column for column in sa.inspect(entity).local_table.columns if column.name not in DRAWN]
            query = sa.select(*columns)
            if entity is AuditEntry:
                query = query.where(sa.or_(*(col(AuditEntry.subject).startswith(each) for each in SUBJECTS)))
            elif entity is NumberCounter:
                # This series numbers nothing: whoever counts in it waits for the others.
                query = query.where(col(NumberCounter.series) != "closing of months")
            rows = (
                ", ".join(f"{name}={names.get(str(value), value)}" for name, value in row.items())
                for row in session.execute(query).mappings()
            )
            found[entity.__name__] = Counter(re.sub(r"'(sha256|bank_reference)': '[^']+'", r"\1", row) for row in rows)
    return found


def test_the_file_of_the_demonstration_has_every_kind_of_difference() -> None:
    def entry(number: str, day: int, minor: int = 100_000) -> Entry:
        return Entry(number.upper(), number, "", minor, date(2026, 9, day), 2_000, number)

    ours = [*(entry(f"P/{number}", 3) for number in range(6)), entry("P/LATE", 29), entry("", 4)]
    content = finance_papers.build_file(ours, SEPTEMBER)
    assert content is not None
    file = table_files.read("a.csv", content)
    columns = {"policy_number": "Policy No", "amount": "Net", "date": "Date", "rate": "Rate %"}
    theirs = table_files.read_entries(file, "insurer", columns)
    found = matching.match(ours, theirs, window=SEPTEMBER, tolerance_minor=100, timing_days=5)
    assert {each.result for each in found} == {
        *("matched", "amount differs", "rate differs", "only ours", "only theirs", "timing", "not checked")
    }
    assert finance_papers.build_file(ours[:3], SEPTEMBER) is None
