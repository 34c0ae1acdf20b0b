"""Reconciliation: every kind of difference, bad files refused by row, sums that explain both sides (contract F6)."""

import io
import re
import sys
import zipfile
from datetime import date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest
import sqlalchemy as sa
import xlsxwriter
from alembic import command

from core import clock, money
from core.demo.papers import finance as finance_papers
from core.desk import closing
from core.errors import CoverdeskError, InvalidInput, NotAllowed, NotFound, StateForbids, TooLarge
from core.services.audit import log as audit
from core.services.files import table_reader
from core.services.finance import adjustments, parties
from core.services.finance.bordereaux import bordereaux
from core.services.finance.reconciling import differences, matching, reconciliations, table_files
from core.services.finance.reconciling.matching import Entry
from core.services.lists.windows import Window
from core.store.access import Scope, Store
from core.store.schema import migrating
from core.store.schema.statements import RESULTS
from core.store.schema.tables import Difference, Movement, Policy, Reconciliation
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import NOW, Portfolio, Sales
from tests.services.finance_office import OUTSIDERS, Finance

pytestmark = pytest.mark.frozen_at(NOW)

# The rule of the check.
BOTH_SIDES = "Every reconciliation's differences make both sides equal"

SEPTEMBER = date(2026, 9, 1)
WINDOW = Window(SEPTEMBER, date(2026, 10, 1))
COLUMNS = {"policy_number": "Policy No", "amount": "Net", "date": "Date"}
FORM = {"kind": "insurer", "month": "2026-09-01", "file_name": "september.csv", "columns": COLUMNS}


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="finance", of_partner=(Portfolio(seed=21, size=120),))


@pytest.fixture
def finance(store: Store, partner: Partner) -> Finance:
    return Finance(store)


@pytest.fixture
def insurer(finance: Finance) -> UUID:
    """The insurer with the most movements of September."""
    names = [party.id for party, _ in finance.read(parties.list_parties) if party.account == "provider"]
    return max(names, key=lambda each: len(ours(finance, each)))


def ours(finance: Finance, insurer: UUID) -> dict[str, list[tuple[int, date]]]:
    """The insurer's shares and days of September by policy number, none for what has no number."""
    query = (
        sa.select(Movement.provider_share_minor, Movement.created_at, Policy.policy_number)
        .join(Policy, Policy.purchase_id == Movement.purchase_id)
        .where(Movement.provider_id == insurer)
    )
    found: dict[str, list[tuple[int, date]]] = {}
    with finance.reading() as session:
        for minor, at, number in session.execute(query):
            day = clock.to_lagos_day(at)
            if WINDOW.start <= day < WINDOW.end:
                found.setdefault(number or "", []).append((minor, day))
    return found


def file_of(rows: list[tuple[str, int, date]]) -> bytes:
    lines = ["Policy No,Net,Date", *(f"{number},{money.to_wire(minor)},{day}" for number, minor, day in rows)]
    return "\r\n".join(lines).encode()


def run(finance: Finance, insurer: UUID, content: bytes, *, by: str = "funmi", **more: object) -> UUID:
    made = finance.do(reconciliations.run, {**FORM, **more}, content, by=by, provider_id=insurer)
    return UUID(str(made))


def row_of(finance: Finance, made: UUID) -> reconciliations.ReconciliationRow:
    return finance.read(reconciliations.get_reconciliation, made)


@pytest.mark.both_databases
def test_every_kind_of_difference_is_found_and_they_make_both_sides_equal(finance: Finance, insurer: UUID) -> None:
    mine = ours(finance, insurer)
    mine.pop("", None)
    early = {number: lines for number, lines in mine.items() if all(day.day < 20 for _, day in lines)}
    same, other, missing = list(early)[:3]
    theirs = [
        (f" {number.lower()} ", minor, day)
        for number, lines in mine.items()
        if number != missing and (number in early)
        for minor, day in lines
    ]
    theirs = [(number, minor + (700 if other.lower() in number else 0), day) for number, minor, day in theirs]
    theirs += [("THEIRS/1", 12_345, SEPTEMBER)]
    made = run(finance, insurer, file_of(theirs))
    row = row_of(finance, made)
    found = {each.policy_number.strip(): each for each in finance.read(reconciliations.list_differences, made)}
    assert found[other].result == matching.AMOUNT
    assert found[other].difference_minor == -700 * len(mine[other])
    assert found[missing].result == matching.OURS
    assert found["THEIRS/1"].result == matching.THEIRS
    assert same not in found
    late = {number for number in mine if number not in early}
    assert all(found[number].result in {matching.TIMING, matching.OURS} for number in late)
    total = sum(each.difference_minor for each in found.values())
    assert total + row.tolerated_minor == row.ours_minor - row.theirs_minor
    assert row.ours_minor == sum(minor for lines in ours(finance, insurer).values() for minor, _ in lines)
    assert sum(number for _, number, _ in finance.read(reconciliations.sum_results, made)) == len(found)
    assert row.verdict == f"{len(found)} not explained"
    finance.do(finance_papers.explain_largest, made, by="funmi")
    explained = [each for each in finance.read(reconciliations.list_differences, made) if each.cause]
    assert len(explained) == 2
    assert all(each.cause == differences.PROPOSED[each.result] for each in explained), "as the demonstration does"
    assert finance.money_faults() == []


def entry(key: str, minor: int, day: date | None = SEPTEMBER, *, rate: int | None = None, kind: str = "") -> Entry:
    return Entry(key, key, kind, minor, day, rate, key)


def results(mine: list[Entry], theirs: list[Entry], tolerance: int = 100) -> dict[str, str]:
    found = matching.match(mine, theirs, window=WINDOW, tolerance_minor=tolerance, timing_days=5)
    assert sum(each.difference_minor for each in found) == sum(
        each.amount_minor for each in mine if each.on and WINDOW.start <= each.on < WINDOW.end
    ) - sum(each.amount_minor for each in theirs)
    return {each.group.key: each.result for each in found}


def test_many_lines_of_one_side_make_one_of_the_other_and_pennies_pass() -> None:
    mine = [entry("A", 60), entry("A", 40), entry("B", 1_000), entry("C", 5_000)]
    theirs = [entry("A", 100), entry("B", 500), entry("B", 450), entry("C", 4_800)]
    assert results(mine, theirs) == {"A": "matched", "B": "matched", "C": "amount differs"}
    assert results(mine, theirs, tolerance=0)["B"] == "amount differs"


def test_transactions_rates_and_neighbouring_months_are_told_apart() -> None:
    mine = [
        *(entry("A", 100, kind="new"), entry("A", -100, kind="cancellation")),
        entry("B", 900, rate=1_000),
        entry("C", 100, date(2026, 9, 28)),
        entry("D", 100, date(2026, 8, 30)),
        entry("", 50),
    ]
    theirs = [entry("A", 100, kind="new"), entry("B", 850, rate=1_500), entry("D", 100)]
    found = results(mine, theirs)
    assert found == {"A": "only ours", "B": "rate differs", "C": "timing", "D": "timing", "": "not checked"}


@every_case(
    ("name", "content", "message"),
    [
        ("a.pdf", b"%PDF", "is a PDF: send the table"),
        ("a.csv", "Policy No,Net\nÉ,1".encode("latin-1"), "UTF-8"),
        ("a.csv", b"Policy No,Net\n", "no rows"),
        ("a.csv", b"", "is empty"),
        ("a.csv", b"Policy No,,Net\nA,1,2", "names every column"),
        ("a.csv", b"Net,net\n1,2", "two columns of the same name"),
        ("a.csv", b"Policy No,Net\nA,1\nA,1", "row 3 is the same as row 2"),
        ("a.csv", b"Policy No,Net\nA,=1+1", "row 2 has a formula"),
        ("a.csv", b"Policy No,Net\nA,1,2", "row 2 has more cells"),
        ("a.csv", b'Policy No,Net\nA,"1', "a quote that does not end"),
        ("a.csv", b"Policy No,Net\nA,ten", "row 2 has no amount"),
        ("a.csv", b"Policy No,Net\nA,1.234", "row 2 has no amount"),
        ("a.csv", b"Policy No,Net\nA,NaN", "row 2 has no amount"),
        ("a.csv", b"Policy No,Net\n ,one", "row 2 has no amount"),
        ("a.csv", b"Policy No,Net,Date\nA,1,31/09/2026", "row 2 has no date"),
        ("a.csv", b"Policy,Net\nA,1", "policy_number is mapped to a column that the file does not have"),
        ("a.xlsx", b"PK\x03\x04 no workbook", "is damaged"),
    ],
)
def test_a_bad_file_is_refused_by_name_or_row_and_nothing_is_kept(
    finance: Finance, insurer: UUID, name: str, content: bytes, message: str
) -> None:
    columns = {key: value for key, value in COLUMNS.items() if key != "date" or b"Date" in content}
    with pytest.raises(InvalidInput, match=message) as refused:
        run(finance, insurer, content, file_name=name, columns=columns)
    assert "ten" not in str(refused.value)
    with finance.reading() as session:
        for table in (Reconciliation, Difference):
            assert session.execute(sa.select(sa.func.count()).select_from(table)).scalar_one() == 0
        assert reconciliations.get_mapping(session, insurer) is None


def workbook(*rows: list[object], formula: bool = False) -> bytes:
    made = io.BytesIO()
    with xlsxwriter.Workbook(made) as book:
        sheet, days = book.add_worksheet(), book.add_format({"num_format": "yyyy-mm-dd"})
        for number, row in enumerate([["Policy No", "Net", "Date"], *rows]):
            for place, cell in enumerate(row):
                if isinstance(cell, date):
                    sheet.write_datetime(number, place, datetime.combine(cell, datetime.min.time()), days)
                else:
                    sheet.write(number, place, cell)
        if formula:
            sheet.write_formula(2, 1, "=1+1", None, 2)
    return made.getvalue()


def test_a_workbook_is_read_with_its_numbers_and_days_and_its_formulas_are_refused() -> None:
    file = table_files.read("a.xlsx", workbook(["A/1", 1250.5, date(2026, 9, 3)], ["B", -7, date(2026, 9, 4)]))
    first, second = table_files.read_entries(file, "insurer", COLUMNS)
    assert (first.key, first.amount_minor, first.on) == ("A/1", 125_050, date(2026, 9, 3))
    assert (second.amount_minor, second.subject) == (-700, "3")
    with pytest.raises(InvalidInput, match="row 3 has a formula"):
        table_files.read("a.xlsx", workbook(["A", 1, SEPTEMBER], ["B", 1, SEPTEMBER], formula=True))


def test_a_formula_is_found_in_the_sheet_that_is_read_wherever_it_is_stored() -> None:
    made, moved = io.BytesIO(), io.BytesIO()
    with xlsxwriter.Workbook(made) as book:
        for name in ("Figures", "Notes"):
            book.add_worksheet(name).write_row(0, 0, ["Policy No", "Net"])
        book.get_worksheet_by_name("Figures").write_row(1, 0, ["A", 1])
        book.get_worksheet_by_name("Figures").write_formula(2, 1, "=1+1", None, 2)
    parts = {"sheet1.xml": "sheet2.xml", "sheet2.xml": "sheet1.xml"}
    with zipfile.ZipFile(made) as before, zipfile.ZipFile(moved, "w") as after:
        for each in before.infolist():
            folder, _, name = each.filename.rpartition("worksheets/")
            content = before.read(each)
            if each.filename == "xl/_rels/workbook.xml.rels":
                content = re.sub(rb"sheet[12]\.xml", lambda found: parts[found[0].decode()].encode(), content)
            after.writestr(f"{folder}worksheets/{parts[name]}" if name in parts else each.filename, content)
    with pytest.raises(InvalidInput, match="row 3 has a formula"):
        table_files.read("a.xlsx", moved.getvalue())


def test_a_workbook_is_opened_by_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    assert table_files.read("a.xlsx", workbook(["A/1", 1250.5, SEPTEMBER])).rows[0][1][:2] == ("A/1", "1250.5")


def test_amounts_and_days_are_read_as_people_write_them() -> None:
    lines = ["Policy No;Net;Date", "A;(1,250.50);03/09/2026", "B;₦ 12;2026-09-03", "C;-1,000,000;3.9.2026"]
    file = table_files.read("a.csv", "\n".join(lines).encode("utf-8-sig"))
    found = table_files.read_entries(file, "insurer", COLUMNS)
    assert [each.amount_minor for each in found] == [-125_050, 1_200, -100_000_000]
    assert {each.on for each in found} == {date(2026, 9, 3)}
    assert table_files.guess(("Date", "Policy number", "Net premium"), table_files.MEANINGS["insurer"]) == {
        "policy_number": "Policy number",
        "amount": "Net premium",
        "date": "Date",
    }


BORDEREAU = ("coverholder", "agreement_number", "period_start", "policy_number", "inception", "transaction_type")
BORDEREAU = (*BORDEREAU, "transaction_at", "transaction_on", "gross_premium", "commission_percent", "net", "final_net")
AMOUNTS = ("2026-09-03T09:00:00.000Z", "2026-09-03", "100.00", "10.00", "90.00", "80.00")


@every_case(
    ("heading", "row", "wanted"),
    [
        (
            ("Policy Type", "Date of birth", "Policy No.", "Premium date", "Premium", "Net due"),
            ("Motor", "", "HQ/4967", "2026-09-03", "1,250.00", "1,000.50"),
            {"policy_number": "Policy No.", "amount": "Net due", "date": "Premium date"},
        ),
        (
            ("Net of what", "Ref", "Betrag", "Amount in words", "Booked"),
            ("yes", "HQ/1", "12.50", "twelve", "03/09/2026"),
            {"policy_number": "Ref", "amount": "Betrag", "date": "Booked"},
        ),
        (
            BORDEREAU,
            ("C", "AG/1", "2026-09-01", "HQ/1", "2026-09-02", "new", *AMOUNTS),
            {
                "policy_number": "policy_number",
                "amount": "final_net",
                "transaction": "transaction_type",
                "date": "transaction_on",
            },
        ),
    ],
)
def test_columns_are_guessed_by_heading_and_by_what_is_in_them(
    heading: tuple[str, ...], row: tuple[str, ...], wanted: dict[str, str]
) -> None:
    assert table_files.guess(heading, table_files.MEANINGS["insurer"], [row] * 3) == wanted


STATEMENT = "Date,Description,Debit,Credit,Balance"
IN_TWO = {"reference": "Description", "money_in": "Credit", "money_out": "Debit", "date": "Date"}


def test_a_statement_of_the_bank_has_its_amounts_in_two_columns() -> None:
    rows = ["2026-09-03,NIP/1,,1250.50,1250.50", "2026-09-04,NIP/2,1000.00,0.00,250.50", "Total,,1000.00,1250.50,"]
    file = table_files.read("a.csv", "\n".join([STATEMENT, *rows]).encode())
    meanings = table_files.MEANINGS["bank"]
    assert table_files.guess(file.heading, meanings, [cells for _, cells in file.rows]) == IN_TWO
    assert table_files.guess(("Reference", "Credit to", "Amount"), meanings) == {
        "reference": "Reference",
        "amount": "Amount",
    }
    assert table_files.suits(file, IN_TWO)
    entries = table_files.read_entries(file, "bank", IN_TWO)
    assert [(each.key, each.amount_minor) for each in entries] == [("nip/1", 125_050), ("nip/2", -100_000)]
    first = table_files.read_first(file, "bank", IN_TWO)[0]
    assert (first.number, first.found) == (2, entries[0])
    for columns, why in (
        ({**IN_TWO, "money_out": ""}, "amount must be mapped to a column, or money in and money out both"),
        ({**IN_TWO, "amount": "Balance"}, "money_in must not be mapped beside the amount"),
        ({"reference": "Description"}, "amount must be mapped to a column"),
    ):
        with pytest.raises(InvalidInput, match=why):
            table_files.read_entries(file, "bank", columns)


@every_case(
    "amounts, why",
    [
        (",", "has neither money in nor money out"),
        ("0.00,0.00", "has neither money in nor money out"),
        ("1.00,2.00", "has both money in and money out"),
        ("-1.00,", "has an amount below 0"),
        ("much,", "has no amount"),
    ],
)
def test_a_row_with_money_in_and_out_or_with_neither_is_named(amounts: str, why: str) -> None:
    rows = ["2026-09-03,NIP/1,,5.00,5.00", f"2026-09-04,NIP/2,{amounts},5.00"]
    file = table_files.read("a.csv", "\n".join([STATEMENT, *rows]).encode())
    with pytest.raises(InvalidInput, match=f"row 3 {why}"):
        table_files.read_entries(file, "bank", IN_TWO)


def test_a_row_that_will_be_refused_does_not_take_the_column_from_its_heading() -> None:
    rows = [("HQ/1", "1,000.50"), ("", "20.00"), ("HQ/3", "nothing")]
    found = table_files.guess(("Policy No", "Net due"), table_files.MEANINGS["insurer"], rows)
    assert found == {"policy_number": "Policy No", "amount": "Net due"}


def test_a_mapping_that_was_used_last_is_offered_only_for_a_file_that_it_suits() -> None:
    file = table_files.read("a.csv", b"Policy No,Net,Date\nHQ/1,12.50,2026-09-03")
    assert table_files.suits(file, COLUMNS)
    assert not table_files.suits(file, {**COLUMNS, "amount": "Net due"}), "a column that the file does not have"
    assert not table_files.suits(file, {**COLUMNS, "amount": "Date"}), "a column that holds no amounts"
    (first,) = table_files.read_first(file, "insurer", {"policy_number": "Policy No", "amount": "Date"})
    assert (first.number, first.found) == (2, "has no amount with at most two decimals, such as -1,250.50")
    assert first.texts == {"policy_number": "HQ/1", "amount": "2026-09-03"}


def test_a_row_without_a_number_is_not_checked_and_a_row_of_totals_is_none() -> None:
    sold = ["A/1,100.00", ",50.00", ",50.00", "B/2,25.00"]
    lines = ["Policy No,Net", *sold, ",225.00", "Total,225.00", "Signed by Ada,"]
    file = table_files.read("a.csv", "\n".join(lines).encode())
    columns = {"policy_number": "Policy No", "amount": "Net"}
    with pytest.raises(InvalidInput, match="row 8 has no amount"):
        table_files.read_entries(file, "insurer", columns)
    kept = [*lines[:5], ",", *lines[5:7]]
    for rows in (kept, lines[:6], [*lines[:5], lines[6]]):
        file = table_files.read("a.csv", "\n".join(rows).encode())
        found = table_files.read_entries(file, "insurer", columns)
        assert [(each.key, each.amount_minor) for each in found] == [
            ("A/1", 10_000),
            ("", 5_000),
            ("", 5_000),
            ("B/2", 2_500),
        ]


def test_our_own_bordereau_is_taken_back_as_it_is_without_a_difference(finance: Finance, insurer: UUID) -> None:
    for month in (date(2026, 8, 1), SEPTEMBER):
        made = finance.do(bordereaux.issue, insurer, "premium", month, by="funmi")
    with finance.reading() as session:
        row = bordereaux.get_bordereau(session, made)
        content = b"".join(bordereaux.csv_of(session, row))
    file = table_files.read("BP-0002.csv", content)
    columns = table_files.guess(file.heading, table_files.MEANINGS["insurer"], [cells for _, cells in file.rows])
    found = row_of(finance, run(finance, insurer, content, columns=columns))
    assert (found.theirs_minor, found.theirs_rows) == (row.totals["final_net"], row.rows)
    unnumbered = finance.read(reconciliations.list_differences, found.id)
    assert {each.result for each in unnumbered} <= {matching.UNCHECKED}
    assert sum(each.difference_minor for each in unnumbered) == 0


def test_the_file_of_differences_adds_up_to_ours_less_theirs(finance: Finance, insurer: UUID) -> None:
    number, lines = next(each for each in ours(finance, insurer).items() if each[0])
    total = sum(minor for minor, _ in lines)
    row = row_of(finance, run(finance, insurer, file_of([(number, total - 1, SEPTEMBER)])))
    rows = finance.read(reconciliations.list_differences, row.id)
    content = b"".join(reconciliations.csv_chunks(rows, tolerated_minor=row.tolerated_minor)).decode()
    passed, last = (line.split(",") for line in content.split("\r\n")[-3:-1])
    assert (passed[0], passed[5]) == ("within the tolerance", "0.01")
    assert (last[0], last[5]) == ("total", money.to_wire(row.ours_minor - row.theirs_minor))


def test_a_file_beyond_the_limit_is_refused_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_files, "MAX_ROWS", 3)
    lines = "\n".join(["Policy No,Net", *(f"P{number},1" for number in range(4))])
    with pytest.raises(TooLarge, match="at most 3 rows"):
        table_files.read("a.csv", lines.encode())


def test_only_finance_reconciles_whole_months_of_live_records_and_a_file_once(finance: Finance, insurer: UUID) -> None:
    content = file_of([("A", 1, SEPTEMBER)])
    for name in OUTSIDERS:
        with pytest.raises(NotAllowed):
            run(finance, insurer, content, by=name)
    for more, refusal in (
        ({"month": "2026-11-01"}, StateForbids),
        ({"month": "2026-01-01"}, StateForbids),
        ({"kind": "bank"}, InvalidInput),
        ({"kind": "other"}, InvalidInput),
        ({"columns": {"policy_number": "Net", "amount": "Net"}}, InvalidInput),
    ):
        with pytest.raises(refusal):
            run(finance, insurer, content, **more)
    with pytest.raises(NotFound):
        run(finance, UUID(int=7), content)
    run(finance, insurer, content)
    with pytest.raises(StateForbids, match="This very file"):
        run(finance, insurer, content)
    mapping = finance.read(reconciliations.get_mapping, insurer)
    assert (mapping.columns, mapping.tolerance_minor) == (COLUMNS, 100)


def test_the_newest_file_can_be_read_in_another_way_and_an_older_one_cannot_come_back(
    finance: Finance, insurer: UUID
) -> None:
    rows = [(number, sum(minor for minor, _ in lines), SEPTEMBER) for number, lines in ours(finance, insurer).items()]
    content = file_of([row for row in rows if row[0]])
    mistaken = row_of(finance, run(finance, insurer, content, amount_is="gross"))
    meant = row_of(finance, run(finance, insurer, content))
    assert meant.matched_rows == meant.theirs_rows > mistaken.matched_rows
    assert row_of(finance, mistaken.id).is_superseded
    with pytest.raises(StateForbids, match="with the same columns"):
        run(finance, insurer, content)
    run(finance, insurer, file_of([("A", 1, SEPTEMBER)]))
    for more in ({}, {"amount_is": "gross"}, {"timing_days": 7}):
        with pytest.raises(StateForbids, match="a newer one counts"):
            run(finance, insurer, content, **more)


def test_a_store_of_before_keeps_its_files_and_their_differences(finance: Finance, insurer: UUID) -> None:
    row = difference(finance, insurer)
    before = row_of(finance, row.reconciliation_id)
    with finance.store.writers.begin() as connection:
        command.downgrade(migrating._config(connection), "0093")
    migrating.migrate(finance.store)
    assert migrating.differences(finance.store) == []
    assert row_of(finance, before.id) == before
    assert finance.read(reconciliations.get_difference, row.id) == row
    for attempt in (sa.delete(Reconciliation), sa.update(Reconciliation).values(ours_minor=0)):
        with pytest.raises(sa.exc.DBAPIError), finance.store.writing(Scope.system()) as session:
            session.execute(attempt)
    assert finance.faults(BOTH_SIDES) == []


def difference(finance: Finance, insurer: UUID, minor: int = 1_000) -> reconciliations.DifferenceRow:
    """The difference of a file that has the largest policy of ours with another amount."""
    mine = ours(finance, insurer).items()
    number, lines = max((each for each in mine if each[0]), key=lambda each: each[1][0][0])
    total = sum(each for each, _ in lines)
    made = run(finance, insurer, file_of([(number, total + minor, SEPTEMBER)]))
    found = finance.read(reconciliations.list_differences, made)
    return next(each for each in found if each.policy_number == number)


def state(finance: Finance, row: reconciliations.DifferenceRow) -> str:
    return finance.read(reconciliations.get_difference, row.id).state


def test_a_difference_is_explained_and_written_off_by_two_people_within_their_limits(
    finance: Finance, insurer: UUID
) -> None:
    row = difference(finance, insurer)
    for refused in (
        lambda: finance.do(differences.ask_write_off, row.id, by="funmi"),
        lambda: finance.do(differences.adjust, row.id, by="funmi"),
        lambda: finance.do(differences.write_off, row.id, by="femi"),
    ):
        with pytest.raises(StateForbids, match="cannot become"):
            refused()
    with pytest.raises(InvalidInput):
        finance.do(differences.explain, row.id, {"cause": "Magic", "note": "Nobody knows"}, by="funmi")
    explanation = {"cause": "Wrong amount of theirs", "note": "They rounded up"}
    for name in OUTSIDERS:
        for verb, given in (
            (differences.explain, (explanation,)),
            (differences.write_off, ()),
            (differences.adjust, ()),
        ):
            with pytest.raises(NotAllowed):
                finance.do(verb, row.id, *given, by=name)
    finance.do(differences.explain, row.id, explanation, by="funmi")
    finance.do(differences.ask_write_off, row.id, by="funmi")
    with pytest.raises(NotAllowed, match="You asked"):
        finance.do(differences.write_off, row.id, by="funmi")
    resting = finance.rest("femi", NOW + timedelta(hours=1))
    with pytest.raises(NotAllowed, match="gave you your password"):
        finance.do(differences.write_off, row.id, by=resting)
    finance.do(differences.write_off, row.id, by="wale")
    assert state(finance, row) == "Written off"
    with pytest.raises(StateForbids):
        finance.do(differences.explain, row.id, explanation, by="funmi")


def test_a_large_difference_is_written_off_by_an_admin_only(finance: Finance, insurer: UUID) -> None:
    row = difference(finance, insurer, differences.WRITE_OFF_LIMIT + 1)
    finance.do(differences.explain, row.id, {"cause": "Other", "note": "Nobody knows"}, by="funmi")
    finance.do(differences.ask_write_off, row.id, by="funmi")
    with pytest.raises(NotAllowed, match="an admin approves"):
        finance.do(differences.write_off, row.id, by="femi")
    finance.do(differences.write_off, row.id, by="root")
    assert state(finance, row) == "Written off"


@pytest.mark.both_databases
def test_a_difference_is_adjusted_by_a_movement_that_two_people_made_since(finance: Finance, insurer: UUID) -> None:
    row = difference(finance, insurer)
    finance.do(differences.explain, row.id, {"cause": "Wrong amount of ours", "note": "We were wrong"}, by="funmi")
    with pytest.raises(StateForbids, match="propose one"):
        finance.do(differences.adjust, row.id, by="funmi")
    for premium in ("7.00", "10.00"):
        given = {"premium": premium, "platform_commission": "0", "distributor_commission": "0"}
        given["reason"] = "It is as they say"
        proposal = finance.do(adjustments.propose, UUID(row.subjects[0]), given, by="funmi")
        finance.do(adjustments.confirm, proposal, by="femi")
        if premium == "7.00":
            # Any adjustment at all would end a difference of any size, which two people write off within a limit.
            with pytest.raises(StateForbids, match=r"leaves a difference of -₦3\.00: two people of finance make one"):
                finance.do(differences.adjust, row.id, by="funmi")
    finance.do(differences.adjust, row.id, by="funmi")
    assert state(finance, row) == "Adjusted"


def test_a_limit_of_write_offs_is_not_split_over_the_differences_of_a_party(finance: Finance, insurer: UUID) -> None:
    """Two differences of 30,000 naira are above what finance writes off of a party within 30 days."""
    mine = [each for each in ours(finance, insurer).items() if each[0]][:2]
    lines = [(number, sum(minor for minor, _ in found) + 3_000_000, SEPTEMBER) for number, found in mine]
    made = run(finance, insurer, file_of(lines))
    shown = finance.read(reconciliations.list_differences, made)
    first, second = (next(row for row in shown if row.policy_number == number) for number, _ in mine)
    for row in (first, second):
        finance.do(differences.explain, row.id, {"cause": "Other", "note": "Nobody knows"}, by="funmi")
        finance.do(differences.ask_write_off, row.id, by="funmi")
    finance.do(differences.write_off, first.id, by="femi")
    with pytest.raises(NotAllowed, match=r"with the ₦30,000\.00 of this party within 30 days, an admin approves"):
        finance.do(differences.write_off, second.id, by="wale")
    with finance.store.reading(Scope.system()) as session:
        last = audit.list_history(session, f"difference {second.id}")[-1]
    assert (last.actor, last.action) == ("staff wale@f.example", "difference write-off refused")
    finance.do(differences.write_off, second.id, by="root")


@pytest.mark.both_databases
def test_the_store_itself_keeps_figures_and_two_people(finance: Finance, insurer: UUID) -> None:
    row = difference(finance, insurer)
    for attempt in (
        sa.update(Difference).values(ours_minor=0, difference_minor=0, theirs_minor=0),
        sa.update(Difference).values(state="Written off", asked_by=row.asked_by, decided_by=row.asked_by),
        sa.update(Difference).values(state="Adjusted"),
        sa.update(Reconciliation).values(ours_minor=0),
        sa.delete(Difference),
        sa.delete(Reconciliation),
    ):
        with pytest.raises(sa.exc.DBAPIError), finance.store.writing(Scope.system()) as session:
            session.execute(attempt)
    with finance.store.writers.begin() as connection:
        on = "" if finance.store.is_sqlite else " ON reconciliation"
        connection.exec_driver_sql(f"DROP TRIGGER reconciliation_update{on}")
        connection.exec_driver_sql("UPDATE reconciliation SET ours_minor = ours_minor + 1")
    assert any("do not make both sides equal" in fault for fault in finance.faults(BOTH_SIDES))


def test_numbers_of_a_file_are_exact_to_the_kobo() -> None:
    for kobo in (1, 10, 105_030, 99, 123_456_789_012):
        text = table_reader._text(float(Decimal(kobo) / 100))
        assert table_files.read_amount(text) == kobo
    for text in ("1e3", "0x10", "1_000", "NaN", "1,00", "1000000000000000"):
        with pytest.raises(table_files.RowFault, match="has no amount"):
            table_files.read_amount(text)
    assert issubclass(TooLarge, CoverdeskError)


def test_several_are_explained_by_their_results_assigned_and_ended_each_by_two_people(
    finance: Finance, insurer: UUID
) -> None:
    content = file_of([*((f"THEIRS/{row}", 1_000 * row, SEPTEMBER) for row in range(1, 4)), ("", 77, SEPTEMBER)])
    made = run(finance, insurer, content)
    rows = finance.read(reconciliations.list_differences, made)
    keys = [row.id for row in rows]
    note = {"note": "They were asked by e-mail"}
    with pytest.raises(InvalidInput, match="cause"):
        finance.do(differences.explain_each, keys, {**note, "cause": "Weather"}, by="funmi")
    with pytest.raises(NotAllowed):
        finance.do(differences.explain_each, keys, {**note, "cause": differences.AS_PROPOSED}, by="oye")
    assert all(row.cause is None for row in finance.read(reconciliations.list_differences, made))
    given = {**note, "cause": differences.AS_PROPOSED}
    assert finance.do(differences.explain_each, keys, given, by="funmi") == len(keys)
    explained = finance.read(reconciliations.list_differences, made)
    assert {row.result for row in explained} >= {matching.THEIRS, matching.OURS, matching.UNCHECKED}
    assert all(row.cause == differences.PROPOSED[row.result] and row.owner == "Funmi" for row in explained)
    femi = finance.people["femi"].id
    assert finance.do(differences.assign, keys, femi, by="funmi") == len(keys)
    assert {row.owner for row in finance.read(reconciliations.list_differences, made)} == {"Femi"}
    with pytest.raises(InvalidInput, match="owner"):
        finance.do(differences.assign, keys, finance.people["oye"].id, by="funmi")
    assert set(differences.PROPOSED) == set(RESULTS)


def test_what_is_ended_is_not_assigned_and_one_that_cannot_be_explained_keeps_all_as_they_are(
    finance: Finance, insurer: UUID
) -> None:
    made = run(finance, insurer, file_of([(f"THEIRS/{row}", 1_000 * row, SEPTEMBER) for row in range(1, 4)]))
    keys = [row.id for row in finance.read(reconciliations.list_differences, made)]
    given = {"note": "They were asked by e-mail", "cause": differences.AS_PROPOSED}
    finance.do(differences.explain_each, keys, given, by="funmi")
    finance.do(differences.ask_write_off, keys[-1], by="funmi")
    with pytest.raises(NotAllowed):
        finance.do(differences.write_off, keys[-1], by="funmi")
    finance.do(differences.write_off, keys[-1], by="femi")
    with pytest.raises(StateForbids, match="written off already"):
        finance.do(differences.assign, keys, finance.people["femi"].id, by="funmi")
    with pytest.raises(StateForbids):
        finance.do(differences.explain_each, keys, {**given, "cause": "Other"}, by="funmi")
    left = finance.read(reconciliations.list_differences, made)
    assert "Other" not in {row.cause for row in left}
    assert {row.owner for row in left} == {"Funmi"}


@pytest.mark.both_databases
def test_a_newer_file_of_the_same_party_and_month_counts_and_keeps_what_was_said_of_the_same_difference(
    finance: Finance, insurer: UUID
) -> None:
    rows = [("THEIRS/1", 1_000, SEPTEMBER), ("THEIRS/2", 2_000, SEPTEMBER), ("THEIRS/3", 3_000, SEPTEMBER)]
    first = run(finance, insurer, file_of(rows))
    before = {row.policy_number: row for row in finance.read(reconciliations.list_differences, first)}
    explanation = {"cause": "Other", "note": "Policies of another agent"}
    for name in ("THEIRS/1", "THEIRS/2", "THEIRS/3"):
        finance.do(differences.explain, before[name].id, explanation, by="funmi")
    finance.do(differences.ask_write_off, before["THEIRS/3"].id, by="funmi")
    finance.do(differences.write_off, before["THEIRS/3"].id, by="femi")
    second = run(finance, insurer, file_of([rows[0], ("THEIRS/2", 2_500, SEPTEMBER), rows[2]]), by="wale")
    after = {row.policy_number: row for row in finance.read(reconciliations.list_differences, second)}
    kept = {name: (after[name].state, after[name].owner, after[name].cause) for name, _, _ in rows}
    explained = ("Explained", "Funmi", "Other")
    assert kept == {"THEIRS/1": explained, "THEIRS/2": ("Open", None, None), "THEIRS/3": explained}
    old, new = row_of(finance, first), row_of(finance, second)
    assert (old.is_superseded, old.unexplained, old.verdict) == (True, 0, "A newer file counts")
    assert (new.is_superseded, new.verdict) == (False, f"{new.unexplained} not explained")
    assert new.unexplained == sum(row.state == "Open" for row in after.values()) == new.differences - 2
    # Whoever closes the month looks at what a newer file does not have, whoever made that file.
    replaced = next(check for check in finance.read(closing.run, SEPTEMBER) if check.key == "replaced")
    assert replaced.rows == (
        f"{old.party}: 1 difference, -₦20.00, of {old.file_name} of Funmi is not in {new.file_name} of Wale",
    )
    assert not replaced.is_blocking
    stale = finance.read(reconciliations.get_difference, before["THEIRS/1"].id)
    assert differences.list_allowed(stale, finance.people["funmi"]) == []
    with pytest.raises(StateForbids, match="newer file"):
        finance.do(differences.explain, stale.id, explanation, by="funmi")
    names = [party.id for party, _ in finance.read(parties.list_parties) if party.account == "provider"]
    run(finance, next(key for key in names if key != insurer and ours(finance, key)), file_of(rows))
    assert not row_of(finance, second).is_superseded
    assert finance.money_faults() == []
