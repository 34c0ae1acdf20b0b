"""Statements: every movement once, balances that follow each other, frozen figures, and two people."""

import csv
import hashlib
import io
import shutil
import subprocess
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest
import sqlalchemy as sa

from core import clock, ids, money
from core.errors import InvalidInput, NotAllowed, NotFound, StateForbids
from core.services.finance import adjustments, journal, parties, tax
from core.services.finance.parties import Party
from core.services.finance.statements import files as statement_files
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements import statements
from core.store.access import Scope, Store
from core.store.schema import migrating
from core.store.schema.tables import Statement, StatementLine, TaxRate
from tests.conftest import Partner, make_partner
from tests.every_case import every_case
from tests.planting import assert_named, planted
from tests.portfolio import NOW, Portfolio, sales_at
from tests.prefilled import prefilled
from tests.services.finance_office import LIVE, OUTSIDERS, Finance
from tests.spreadsheets import cells

pytestmark = pytest.mark.frozen_at(NOW)

AUGUST, SEPTEMBER, OCTOBER = (date(2026, month, 1) for month in (8, 9, 10))
TERMS = {"number": "AG/1", "starts_on": "2026-01-01", "tin": "12345678-0001"}


def sell(store: Store) -> tuple[Partner, Partner]:
    sellers = make_partner(store, "Swift Lenders"), make_partner(store, "Other Motors")
    Portfolio(seed=24, size=120, sellers=(sellers[0].id, sellers[1].id)).write(store)
    return sellers


@pytest.fixture
def sellers(store: Store) -> tuple[Partner, Partner]:
    """Two distributors and what they sold."""
    return prefilled(store, "statements", sell)


@pytest.fixture
def partner(sellers: tuple[Partner, Partner]) -> Partner:
    return sellers[0]


@pytest.fixture
def stranger(sellers: tuple[Partner, Partner]) -> Partner:
    return sellers[1]


@pytest.fixture
def finance(store: Store, sellers: tuple[Partner, Partner]) -> Finance:
    return Finance(store)


def prepared(finance: Finance, party: Party, *months: date, by: str = "funmi") -> list[UUID]:
    return [finance.do(statements.prepare, party, month, by=by) for month in months]


@pytest.fixture
def two_months(finance: Finance, party: Party) -> None:
    """Two statements that follow each other were prepared."""
    prepared(finance, party, AUGUST, SEPTEMBER)


def one(finance: Finance, statement_id: UUID) -> statement_reading.StatementRow:
    return finance.read(statement_reading.get_statement, statement_id)


def lines(finance: Finance, statement_id: UUID) -> list[object]:
    with finance.reading() as session:
        return [line for batch in statement_reading.batches_of(session, statement_id) for line in batch]


def csv_of(finance: Finance, statement_id: UUID) -> bytes:
    with finance.reading() as session:
        row = session.get_one(Statement, statement_id)
        return b"".join(statement_reading.csv_of(session, row))


def movements_of(finance: Finance, party: Party, month: date) -> list[object]:
    first, last = month, clock.add_days(clock.add_months(month, 1), -1)
    return finance.rows(**{party.account: str(party.id), "from": str(first), "to": str(last)})


def test_a_statement_holds_every_movement_of_its_month_once(finance: Finance, party: Party) -> None:
    made = prepared(finance, party, AUGUST, SEPTEMBER, OCTOBER)
    for statement_id, month in zip(made, (AUGUST, SEPTEMBER, OCTOBER), strict=True):
        rows, printed = movements_of(finance, party, month), lines(finance, statement_id)
        assert {str(row.id) for row in rows} == {line.movement_id for line in printed}
        assert len(rows) == len(printed) == one(finance, statement_id).paper.lines > 0
        assert sum(row.distributor_profit_minor for row in rows) == sum(line.commission_minor for line in printed)
    assert finance.money_faults() == []


def test_the_accounts_of_insurers_add_up_to_the_premium_without_commissions(finance: Finance) -> None:
    closing = []
    for party, _ in finance.read(parties.list_parties):
        if party.account == "provider" and movements_of(finance, party, AUGUST):
            (made,) = prepared(finance, party, AUGUST)
            paper = one(finance, made).paper
            rows = movements_of(finance, party, AUGUST)
            assert paper.closing_minor == sum(row.provider_share_minor for row in rows)
            assert paper.premium_minor == sum(row.total_minor for row in rows)
            assert (paper.vat_minor, paper.withheld_minor) == (0, 0)
            closing.append(paper.closing_minor)
    assert len(closing) > 2
    assert finance.money_faults() == []


def test_each_opens_where_the_one_before_closed_and_months_follow_each_other(finance: Finance, party: Party) -> None:
    with pytest.raises(StateForbids, match="August 2026 comes first"):
        prepared(finance, party, SEPTEMBER)
    first, second = prepared(finance, party, AUGUST, SEPTEMBER)
    assert one(finance, first).paper.opening_minor == 0
    assert one(finance, second).paper.opening_minor == one(finance, first).paper.closing_minor
    assert [one(finance, each).paper.number for each in (first, second)] == ["CS-0001", "CS-0002"]
    for month, reason in (
        (SEPTEMBER, "stated already"),
        (date(2026, 11, 1), "not over yet"),
        (date(2026, 9, 2), "whole"),
    ):
        with pytest.raises(StateForbids, match=reason):
            prepared(finance, party, month)


def test_the_sums_of_a_statement_are_those_of_its_lines(finance: Finance, party: Party) -> None:
    finance.agree(party, {**TERMS, "charges_vat": True})
    _, made = prepared(finance, party, AUGUST, SEPTEMBER)
    paper, printed = one(finance, made).paper, lines(finance, made)
    back = sum(line.commission_minor for line in printed if line.kind in {"cancellation", "decline"})
    earned = sum(line.commission_minor for line in printed) - back
    assert (paper.earned_minor, paper.clawback_minor) == (earned, back)
    assert paper.vat_minor == sum(line.vat_minor for line in printed) == money.share(earned + back, 750)
    assert paper.withheld_minor == sum(line.withheld_minor for line in printed) == money.share(earned + back, 500)
    assert paper.closing_minor - paper.opening_minor == earned + back + paper.vat_minor - paper.withheld_minor
    assert sum(minor for label, minor in paper.trailer if label != "Closing balance") == paper.closing_minor


@pytest.mark.parametrize(
    ("terms", "basis_points"),
    [
        (None, 1000),
        ({"tin": None}, 1000),
        ({}, 500),
        ({"is_resident": False}, 1000),
        ({"is_resident": False, "tin": None}, 2000),
        ({"is_small": True}, 0),
        ({"is_small": True, "tin": None}, 1000),
    ],
)
def test_withholding_tax_follows_residence_tax_number_and_size(
    finance: Finance, party: Party, terms: dict[str, object] | None, basis_points: int
) -> None:
    if terms is not None:
        given = {name: value for name, value in {**TERMS, **terms}.items() if value is not None}
        finance.agree(party, given)
    _, made = prepared(finance, party, AUGUST, SEPTEMBER)
    paper = one(finance, made).paper
    base = paper.earned_minor + paper.clawback_minor
    assert base > 0
    assert paper.withheld_minor == money.share(base, basis_points)
    assert "Withholding tax" in paper.facts["said"]


def add_rate(finance: Finance, kind: str, day: date, basis_points: int) -> None:
    given = {"effective_on": day, "resident_bp": basis_points, "non_resident_bp": basis_points}
    with finance.store.writing(Scope.system()) as session:
        session.add(TaxRate(id=ids.new(), kind=kind, source=f"Act of {day}", state="confirmed", **given))


def test_other_rates_of_the_taxes_hold_from_the_first_month_that_begins_with_them(
    finance: Finance, party: Party
) -> None:
    finance.agree(party, {**TERMS, "charges_vat": True})
    for day, more in ((date(2026, 9, 15), 0), (OCTOBER, 25)):
        add_rate(finance, "vat", day, 1000 + more)
        add_rate(finance, "withholding", day, 250 + more)
    _, september, october = prepared(finance, party, AUGUST, SEPTEMBER, OCTOBER)
    for made, rates in ((september, {"vat": 750, "withholding": 500}), (october, {"vat": 1025, "withholding": 275})):
        paper = one(finance, made).paper
        base, taxes = paper.earned_minor + paper.clawback_minor, {"vat": paper.vat_minor}
        taxes["withholding"] = paper.withheld_minor
        assert taxes == {kind: money.share(base, rate) for kind, rate in rates.items()}
        for kind in tax.KINDS:
            (line,) = [line for line in finance.read(tax.list_lines, kind, paper.month) if line.statement_id == made]
            assert (line.rate_bp, line.tax_minor) == (rates[kind], taxes[kind])
        entries = finance.read(journal.list_entries, paper.month)
        posted = {
            each.account: each.amount_minor for each in entries if each.account in {journal.VAT, journal.WITHHELD}
        }
        assert posted == {journal.VAT: taxes["vat"], journal.WITHHELD: -taxes["withholding"]}
    assert "Act of 2026-10-01" in one(finance, october).paper.facts["said"]["VAT"]
    assert finance.money_faults() == []


def test_a_distributor_that_holds_the_premium_owes_it_without_its_commission(finance: Finance, party: Party) -> None:
    finance.agree(party, {**TERMS, "collects": "distributor"})
    (made,) = prepared(finance, party, AUGUST)
    paper, rows = one(finance, made).paper, movements_of(finance, party, AUGUST)
    assert paper.premium_minor == -sum(row.total_minor for row in rows)
    assert paper.closing_minor < 0
    assert finance.money_faults() == []


def test_a_statement_is_approved_by_somebody_else_of_finance(finance: Finance, party: Party) -> None:
    (made,) = prepared(finance, party, AUGUST)
    with pytest.raises(NotAllowed, match="You prepared"):
        finance.do(statements.move, made, "Approved", by="funmi")
    for name in OUTSIDERS:
        with pytest.raises(NotAllowed):
            finance.do(statements.move, made, "Approved", by=name)
        with pytest.raises(NotAllowed):
            finance.do(statements.prepare, party, SEPTEMBER, by=name)
    resting = finance.rest("femi", NOW + timedelta(hours=1))
    with pytest.raises(NotAllowed, match="gave you your password"):
        finance.do(statements.move, made, "Approved", by=resting)
    with pytest.raises(StateForbids, match="cannot become Sent"):
        finance.do(statements.move, made, "Sent", by="wale")
    finance.do(statements.move, made, "Approved", by="wale")
    finance.do(statements.move, made, "Sent", by="funmi")
    with pytest.raises(InvalidInput, match="say why"):
        finance.do(statements.move, made, "Disputed", by="funmi")
    finance.do(statements.move, made, "Disputed", by="funmi", note="Two policies are missing")
    found = one(finance, made)
    assert (found.paper.state, found.sent_at) == ("Disputed", NOW)
    steps = finance.read(statement_reading.list_steps, made)
    assert [(step.name, step.person) for step in steps[1:3]] == [("Approved", "Wale"), ("Sent", "Funmi")]


@pytest.mark.both_databases
def test_a_dispute_and_its_settlement_stay_and_the_day_of_sending_with_them(finance: Finance, party: Party) -> None:
    (made,) = prepared(finance, party, AUGUST)
    steps = (
        ("Approved", "femi", ""),
        ("Sent", "funmi", ""),
        ("Disputed", "funmi", "Two policies are missing"),
        ("Sent", "wale", "They were of September"),
        ("Disputed", "femi", "The rate is another one"),
        ("Sent", "wale", "It is that of the agreement"),
    )
    for day, (state, by, note) in enumerate(steps):
        with clock.freeze(NOW + timedelta(days=day)):
            finance.do(statements.move, made, state, by=by, note=note)
    history = finance.read(statement_reading.list_steps, made)
    assert [(step.name, step.person, step.note) for step in history] == [
        ("Prepared", "Funmi", None),
        ("Approved", "Femi", None),
        ("Sent", "Funmi", None),
        ("Disputed", "Funmi", "Two policies are missing"),
        ("Dispute settled", "Wale", "They were of September"),
        ("Disputed", "Femi", "The rate is another one"),
        ("Dispute settled", "Wale", "It is that of the agreement"),
    ]
    assert [step.at for step in history[1:]] == [NOW + timedelta(days=day) for day in range(6)]
    assert one(finance, made).sent_at == NOW + timedelta(days=1)
    for change in ("UPDATE statement_step SET note = 'x'", "DELETE FROM statement_step"):
        with pytest.raises(sa.exc.DBAPIError, match="keeps what it holds"), finance.store.writing(LIVE) as session:
            session.connection().exec_driver_sql(change)


@pytest.mark.both_databases
def test_the_steps_of_statements_from_before_are_those_of_the_audit_log(finance: Finance, party: Party) -> None:
    (made,) = prepared(finance, party, AUGUST)
    for day, (state, note) in enumerate((("Approved", ""), ("Sent", ""), ("Disputed", "Not so"), ("Sent", "It is so"))):
        with clock.freeze(NOW + timedelta(days=day)):
            finance.do(statements.move, made, state, by="femi", note=note)
    kept = finance.read(statement_reading.list_steps, made)
    with finance.store.writers.begin() as connection:
        moved = sa.update(Statement).values(sent_at=NOW + timedelta(days=3))
        connection.execute(moved)
        connection.exec_driver_sql("DROP TABLE statement_step")
        # The migrations after this one are left out.
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0076'")
        migrating.upgrade(connection, "0061")
    assert finance.read(statement_reading.list_steps, made) == kept
    assert one(finance, made).sent_at == NOW + timedelta(days=1)


def test_a_list_takes_as_many_statements_of_sql_for_one_paper_as_for_many(finance: Finance, party: Party) -> None:
    counts = []
    for month in (AUGUST, SEPTEMBER):
        prepared(finance, party, month)
        sent: list[str] = []
        with finance.reading() as session:
            connection = session.connection()
            sa.event.listen(connection, "before_cursor_execute", lambda *given, sent=sent: sent.append(given[2]))
            assert len(statement_reading.list_statements(session)) == len(counts) + 1
        counts.append(len(sent))
    assert counts == [1, 1]


def test_the_one_who_prepared_sees_no_button_that_is_refused(finance: Finance, party: Party) -> None:
    (made,) = prepared(finance, party, AUGUST)
    for name, labels in (("funmi", []), ("femi", ["Approve"]), ("oye", [])):
        allowed = finance.read(statements.list_allowed, made, finance.people[name])
        assert [each.label for each in allowed] == labels


def test_a_reversal_in_two_hands_voids_a_statement_and_frees_its_movements(finance: Finance, party: Party) -> None:
    first, second = prepared(finance, party, AUGUST, SEPTEMBER)
    with pytest.raises(StateForbids, match="Only the newest"):
        finance.do(statements.reverse, first, reason="The agreement was another", by="funmi")
    reversal = finance.do(statements.reverse, second, reason="The agreement was another", by="funmi")
    with pytest.raises(StateForbids, match="waits"):
        finance.do(statements.reverse, second, reason="The agreement was another", by="femi")
    with pytest.raises(StateForbids, match="waits"):
        prepared(finance, party, OCTOBER)
    with pytest.raises(NotAllowed, match="You prepared"):
        finance.do(statements.move, reversal, "Approved", by="funmi")
    finance.do(statements.move, reversal, "Approved", by="femi")
    assert one(finance, second).paper.state == "Void"
    assert one(finance, reversal).paper.reverses == "CS-0002"
    (again,) = prepared(finance, party, SEPTEMBER)
    assert one(finance, again).paper.number == "CS-0004"
    assert one(finance, again).paper.closing_minor == one(finance, second).paper.closing_minor
    assert {line.movement_id for line in lines(finance, again)} == {line.movement_id for line in lines(finance, second)}
    assert finance.money_faults() == []


def test_a_reversal_that_is_given_up_leaves_the_statement_as_it_is(finance: Finance, party: Party) -> None:
    (made,) = prepared(finance, party, AUGUST)
    reversal = finance.do(statements.reverse, made, reason="The agreement was another", by="funmi")
    finance.do(statements.move, reversal, "Void", by="femi", note="It was right after all")
    assert one(finance, made).paper.state == "Prepared"
    finance.do(statements.reverse, made, reason="It was wrong nevertheless", by="femi")
    assert finance.money_faults() == []


def test_an_adjustment_after_a_month_was_stated_is_on_the_next_statement(finance: Finance, party: Party) -> None:
    stated = [row for month in (AUGUST, SEPTEMBER, OCTOBER) for row in movements_of(finance, party, month)]
    sold = max(stated, key=lambda row: row.total_minor)
    prepared(finance, party, AUGUST, SEPTEMBER, OCTOBER)
    typed = {"premium": "0", "platform_commission": "0", "distributor_commission": "-12.34", "reason": "Paid twice, so"}
    finance.do(adjustments.confirm, finance.do(adjustments.propose, sold.id, typed, by="funmi"), by="femi")
    with clock.freeze(datetime(2026, 12, 2, tzinfo=UTC)):
        (made,) = prepared(finance, party, date(2026, 11, 1))
        paper = one(finance, made).paper
        assert paper.adjusted_minor == -1_234
        assert [line.kind for line in lines(finance, made)].count("adjustment") == 1
        assert finance.money_faults() == []


@pytest.mark.both_databases
def test_what_came_late_is_on_the_next_statement_and_never_twice(finance: Finance, party: Party) -> None:
    prepared(finance, party, AUGUST)
    late = datetime(2026, 8, 31, 12, tzinfo=UTC)
    with finance.store.writing(Scope.system()) as session:
        sales_at(session, party.id, late)
    (made,) = prepared(finance, party, SEPTEMBER)
    assert late in [line.occurred_at for line in lines(finance, made)]
    with finance.reading() as session:
        twice = sa.select(StatementLine.movement_id).group_by(StatementLine.movement_id).having(sa.func.count() > 1)
        assert session.execute(twice).all() == []


def test_the_hash_is_that_of_the_csv_and_the_same_whenever_it_is_made(finance: Finance, party: Party) -> None:
    _, made = prepared(finance, party, AUGUST, SEPTEMBER)
    text, paper = csv_of(finance, made), one(finance, made).paper
    assert hashlib.sha256(text).hexdigest() == paper.sha256
    finance.do(statements.move, made, "Approved", by="femi")
    assert csv_of(finance, made) == text
    rows = list(csv.DictReader(io.StringIO(text.decode())))
    assert Decimal(rows[-1]["net"]) == money.to_naira(paper.closing_minor)
    assert sum(Decimal(row["net"]) for row in rows[:-1]) == Decimal(rows[-1]["net"])
    printed = rows[1:-1]
    assert [row["number"] for row in printed] == [str(number) for number in range(1, paper.lines + 1)]
    for column, minor in (("commission", paper.earned_minor), ("clawback", paper.clawback_minor)):
        assert minor
        assert sum(Decimal(row[column]) for row in printed) == money.to_naira(minor)


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="SKIPPED LOUDLY: no pdftotext here")
def test_the_workbook_has_the_lines_and_the_pdf_the_balances(finance: Finance, party: Party, tmp_path: Path) -> None:
    (made,) = prepared(finance, party, AUGUST)
    paper = one(finance, made).paper
    with finance.reading() as session:
        row = session.get_one(Statement, made)
        statement_files.write_workbook(tmp_path / "s.xlsx", paper, statement_reading.csv_of(session, row))
        first = statement_files.render(paper, statement_reading.batches_of(session, made))
        second = statement_files.render(paper, statement_reading.batches_of(session, made))
    assert first == second
    table = cells((tmp_path / "s.xlsx").read_bytes())
    assert len(table) == paper.lines + 3
    with finance.reading() as session:
        heading = b"".join(statement_reading.csv_of(session, session.get_one(Statement, made))).split(b"\r\n")[0]
    assert list(table[0].values()) == heading.decode().split(",")
    (tmp_path / "s.pdf").write_bytes(first)
    command = ["pdftotext", "-layout", tmp_path / "s.pdf", "-"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for word in ("Commission statement", "CS-0001", paper.sha256, money.format_naira(paper.closing_minor)):
        assert word in output


def test_the_files_of_a_statement_are_the_same_whenever_they_are_made(
    finance: Finance, party: Party, tmp_path: Path
) -> None:
    (made,) = prepared(finance, party, AUGUST)
    finance.do(statements.move, made, "Approved", by="femi")
    kept = []
    for place, later in enumerate((timedelta(0), timedelta(days=40))):
        with clock.freeze(clock.now() + later), finance.reading() as session:
            paper = statement_reading.get_statement(session, made).paper
            path = tmp_path / f"{place}.xlsx"
            statement_files.write_workbook(
                path, paper, statement_reading.csv_of(session, session.get_one(Statement, made))
            )
            pdf = statement_files.render(paper, statement_reading.batches_of(session, made))
            kept.append((path.read_bytes(), pdf))
        if not place:
            finance.do(statements.move, made, "Sent", by="femi")
    assert kept[0] == kept[1]


def test_a_month_without_a_rate_of_withholding_tax_is_not_stated_silently(finance: Finance, stranger: Partner) -> None:
    with finance.store.writing(Scope.system()) as session:
        sales_at(session, stranger.id, datetime(2024, 11, 5, 12, tzinfo=UTC))
    party, november = Party("distributor", stranger.id), date(2024, 11, 1)
    with pytest.raises(StateForbids, match="No rate of withholding tax is on file for November 2024"):
        finance.do(statements.prepare, party, november, by="funmi")
    made = finance.do(statements.prepare, party, november, by="funmi", without_withholding=True)
    paper = one(finance, made).paper
    assert paper.withheld_minor == 0
    assert "none was withheld" in paper.facts["said"]["Withholding tax"]


@pytest.mark.both_databases
def test_the_store_itself_refuses_other_figures_and_one_person_in_both_roles(finance: Finance, party: Party) -> None:
    (made,) = prepared(finance, party, AUGUST)
    maker = finance.people["funmi"].id
    mine = Statement.id == made
    for attempt in (
        sa.update(Statement).where(mine).values(closing_minor=1),
        sa.update(Statement).where(mine).values(sha256="0" * 64),
        sa.update(Statement).where(mine).values(state="Approved", approved_by=maker, approved_at=clock.now()),
        sa.update(Statement).where(mine).values(state="Paid"),
        sa.delete(Statement),
        sa.update(StatementLine).values(net_minor=1),
        sa.delete(StatementLine),
    ):
        with pytest.raises(sa.exc.DBAPIError), finance.store.writing(Scope.system()) as session:
            session.execute(attempt)


@pytest.mark.both_databases
@every_case(
    ("trigger", "table", "error", "fault"),
    [
        ("statement_figures", "statement", "UPDATE statement SET sha256 = 'x'", "not what its hash says"),
        (
            *("statement_figures", "statement"),
            "UPDATE statement SET opening_minor = opening_minor + 1, closing_minor = closing_minor + 1",
            "does not open with the balance",
        ),
        ("statement_figures", "statement", "UPDATE statement SET number = number + 5", "have a gap"),
        (
            *("statement_line_printed", "statement_line"),
            "UPDATE statement_line SET net_minor = net_minor + 1 WHERE position = 1",
            "does not have the sums of its lines",
        ),
        ("statement_line_delete", "statement_line", "DELETE FROM statement_line WHERE position = 1", "on no statement"),
    ],
)
@pytest.mark.usefixtures("two_months")
def test_check_finds_a_planted_error(finance: Finance, trigger: str, table: str, error: str, fault: str) -> None:
    with planted(finance.store, error, without={trigger: table}) as session:
        assert_named(session, fault)


@pytest.mark.both_databases
def test_a_distributor_reads_its_own_once_they_were_sent(
    finance: Finance, store: Store, party: Party, partner: Partner, stranger: Partner
) -> None:
    (made,) = prepared(finance, party, AUGUST)

    def seen(who: Partner, *, is_live: bool = True) -> list[UUID]:
        with store.reading(who.scope(is_live=is_live)) as session:
            return [row.id for row in statement_reading.list_statements(session)]

    finance.do(statements.move, made, "Approved", by="femi")
    assert seen(partner) == []
    finance.do(statements.move, made, "Sent", by="femi")
    assert seen(partner) == [made]
    assert seen(stranger) == seen(partner, is_live=False) == []
    with store.reading(stranger.scope(is_live=True)) as session, pytest.raises(NotFound):
        statement_reading.get_statement(session, made)
