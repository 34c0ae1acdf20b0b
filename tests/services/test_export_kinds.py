"""Every kind of export holds what its screen shows, in every format, and lets nothing out that it must not."""

import codecs
import csv
import io
import re
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from core import ids
from core.desk import export_runs
from core.desk.export_runs import ExportOrder
from core.desk.exported_lists import TITLES, get_kind
from core.errors import InvalidInput, TooLarge
from core.services.audit import log as audit
from core.services.claims.intake import submitted
from core.services.claims.lists import queue as claim_queue
from core.services.claims.lists import totals as claim_totals
from core.services.claims.lists.filter import ClaimFilter
from core.services.customers import customers
from core.services.finance import movements
from core.services.lists.dimensions import load_choices
from core.services.lists.exports import CSV, EXCEL_CSV, FORMATS, XLSX, Format
from core.services.lists.listing import Column, Listing
from core.services.lists.paging import Paging
from core.services.lists.spreadsheets import DATE, DAY, INSTANT, TEXT
from core.services.policies import policies
from core.services.renewals.records import compute_total
from core.services.sales import purchases
from core.store.access import Scope, ScopedSession, Store
from core.store.schema.tables import (
    Claim,
    Customer,
    Distributor,
    Policy,
    Product,
    ProductCategory,
    Provider,
    Purchase,
    Renewal,
    Staff,
)
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import NOW, Portfolio, Sales
from tests.spreadsheets import cells, moment

pytestmark = pytest.mark.frozen_at(NOW)

# The audit log is no record of sales, and each export adds to it: it has a test of its own beside its search; what was
# paid on claims has one beside its payments, what their losses cost beside the figures, credit notes and payments of
# parties, statements and reconciliations beside their steps, what is due beside its calls, what waits for insurers
# beside its screen.
_ELSEWHERE = {
    *("audit", "claim-payments", "loss-ratios", "credit-notes", "payments", "due", "awaiting"),
    *("statements", "reconciliations"),
}
_OF_SALES = {"from", "to", "provider", "category", "product", "distributor", "email", "source"}
PARAMETERS = {
    "purchases": {*_OF_SALES, "premium_from", "premium_to", "find", "policy", "payment"},
    "renewals": {*_OF_SALES, "find", "expires_from", "expires_to", "status"},
    "policies": {*_OF_SALES, "find", "force", "role", "expires_from", "expires_to"},
    "movements": {*_OF_SALES, "find", "kind"},
    "customers": {"q", "from", "to", "distributor", "active", "force", "merged"},
    "claims": {
        *("view", "status", "type", "reason", "assigned", "from", "to", "incident_from", "incident_to"),
        *("decided_from", "decided_to", "q", "first_name", "last_name", "phone", "email", "owner"),
        *("amount", "offer", "estimate", "distributor"),
    },
}
# The log of the office has tests of its own.
OF_DESK = [kind for kind in map(get_kind, TITLES) if kind.name not in _ELSEWHERE]
EVERY_CLAIM = ClaimFilter()


def test_every_list_stands_under_its_own_name_and_title() -> None:
    assert [(kind.name, kind.title) for kind in map(get_kind, TITLES)] == list(TITLES.items())


@pytest.fixture
def sales() -> Sales:
    return Sales(
        fixture="sold", of_both=(Portfolio(seed=31, size=40),), of_partner=(Portfolio(seed=32, size=12, is_live=False),)
    )


@pytest.fixture
def sold(store: Store, partner: Partner, stranger: Partner) -> Store:
    return store


def ordered(
    kind: Listing[Any], format_: Format = CSV, address: dict[str, list[str]] | None = None, **changes: Any
) -> ExportOrder:
    export = {"kind": kind, "format": format_, "selection": kind.read(address or {}), "is_live": True}
    return ExportOrder(**{"id": ids.new(), "actor": "tests", **export, **changes})


def made(order: ExportOrder) -> bytes:
    out = io.BytesIO()
    export_runs.write_file(order, out)
    return out.getvalue()


def file_columns(kind: Listing[Any]) -> list[Column]:
    return [kind.in_files[name] for name in kind.for_machines]


def lines(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode(), newline="")))


def records(content: bytes) -> list[dict[str, str]]:
    heading, *rows = lines(content)
    return [dict(zip(heading, row, strict=True)) for row in rows]


Shown = tuple[int, int | None]


def purchases_shown(session: ScopedSession, wanted: Any) -> Shown:
    total = purchases.sum_purchases(session, wanted)
    return total.sold, total.sold_minor


def renewals_shown(session: ScopedSession, wanted: Any) -> Shown:
    whole = compute_total(session, wanted).all_rows
    return whole.renewals, whole.total_minor


def policies_shown(session: ScopedSession, wanted: Any) -> Shown:
    page = policies.search_policies(session, wanted, load_choices(session), paging=Paging())
    return page.total_count, None


def customers_shown(session: ScopedSession, wanted: Any) -> Shown:
    return customers.list_customers(session, wanted).total_count, None


def claims_shown(session: ScopedSession, wanted: Any) -> Shown:
    total = claim_totals.get_totals(session, wanted)
    return total.count, total.claimed_minor


def movements_shown(session: ScopedSession, wanted: Any) -> Shown:
    total = movements.compute_totals(session, wanted)
    return movements.count(total), total.net.total_minor


SHOWN: dict[str, Callable[[ScopedSession, Any], Shown]] = {
    "purchases": purchases_shown,
    "renewals": renewals_shown,
    "policies": policies_shown,
    "customers": customers_shown,
    "claims": claims_shown,
    "movements": movements_shown,
}
NARROWED = {
    "movements": {"kind": ["refund", "renewal"]},
    "purchases": {"source": ["api"]},
    "renewals": {"status": ["true"], "expires_from": ["2026-10-01"]},
    "policies": {"find": ["ngozi"], "force": ["yes"]},
    "customers": {"q": ["ngozi"]},
    "claims": {"status": ["Paid"], "view": ["all"]},
}


@pytest.mark.both_databases
def test_every_kind_holds_the_rows_and_the_sum_that_its_screen_shows(sold: Store, partner: Partner) -> None:
    shared: list[dict[str, list[str]]] = [{}, {"distributor": [str(partner.id)]}, {"from": ["2026-11-01"]}]
    for kind, address in ((each, address) for each in OF_DESK for address in (*shared, NARROWED[each.name])):
        order = ordered(kind, address=address)
        rows = records(made(order))
        with sold.reading(Scope.staff(is_live=True)) as session:
            count, summed = SHOWN[kind.name](session, order.selection)
            receipt = export_runs.get_receipt(session, order.id)
        assert receipt
        assert len(rows) == receipt.rows == count, (kind.name, address)
        assert rows or address, kind.name
        assert summed in (None, receipt.sum_minor)
        assert {row["mode"] for row in rows} <= {"live"}
        assert [row["created_at"] for row in rows] == sorted((row["created_at"] for row in rows), reverse=True)


def test_a_workbook_holds_the_rows_of_the_csv_as_numbers_days_and_text(sold: Store) -> None:
    for kind in OF_DESK:
        _hold_the_same(sold, kind)


def _hold_the_same(store: Store, kind: Listing[Any]) -> None:
    order = ordered(kind, XLSX)
    content, (heading, *rows) = made(order), lines(made(ordered(kind)))
    head, *sheet = cells(content)
    assert [head[place] for place in range(len(heading))] == heading == list(kind.for_machines)
    assert len(sheet) == len(rows)
    for row, texts in zip(sheet, rows, strict=True):
        for place, (column, text) in enumerate(zip(file_columns(kind), texts, strict=True)):
            cell = row.get(place, "")
            if isinstance(cell, float) and column.type in (INSTANT, DAY, DATE):
                shown = moment(cell).isoformat(timespec="milliseconds")
                assert text in (f"{shown}Z", shown[:10])
            else:
                assert cell == column.type.parse_cell(text) if text else cell == ""
    facts = {row[0]: row[1] for row in cells(content, sheet=2)}
    with store.reading(Scope.system()) as session:
        receipt = export_runs.get_receipt(session, order.id)
    assert receipt
    assert (facts["Rows"], facts["Receipt"]) == (len(rows), str(order.id))
    assert facts["SHA-256 of the rows as CSV"] == receipt.content_sha256 != receipt.sha256


FORMULA = "=1+1"
WRITTEN_BY_OTHERS: dict[Any, tuple[str, ...]] = {
    Customer: (
        *("title", "first_name", "last_name", "email", "phone_number", "gender", "address", "city"),
        *("state_of_residence", "country", "date_of_birth"),
    ),
    Policy: (
        *("first_name", "last_name", "email", "phone", "policy_number", "plate_key", "device_serial_number"),
        *("provider_policy_id", "request_source", "payment_option", "payment_channel"),
    ),
    Purchase: ("request_source", "payment_option", "payment_channel", "premium_frequency"),
    Renewal: ("request_source", "payment_option", "payment_channel"),
    Claim: (
        *("claim_type", "claim_owner_first_name", "claim_owner_last_name", "claim_owner_email", "incident_date"),
        *("claim_owner_phone_number", "decline_reason", "payment_reference"),
    ),
    Provider: ("company_name",),
    Staff: ("email",),
}
# No two of these are called the same.
NAMED = {ProductCategory: "name", Product: "name", Distributor: "business_name"}
ACCOUNT = "0123456789"
# Words of ours, and what is printed by the database.
OURS = {"mode", "state", "status", "reference", "customer_role", "claimant_account"}


@pytest.fixture
def hostile(sold: Store, partner: Partner) -> Store:
    """A store in which every text that somebody else writes is a formula."""
    with sold.writing(Scope.system()) as session:
        officer = Staff(email="officer@example.com", name="Officer", roles=["claims"])
        session.insert(officer)
        meta = {"incident_type": FORMULA, "account_number": ACCOUNT}
        more: dict[Any, dict[str, Any]] = {Claim: {"gadget_claim_meta": meta, "assigned_to": officer.id}}
        changes = {
            table: {**dict.fromkeys(names, FORMULA), **more.get(table, {})}
            for table, names in WRITTEN_BY_OTHERS.items()
        }
        for table, name in NAMED.items():
            changes[table] = {name: sa.literal(FORMULA) + sa.func.lower(sa.cast(table.id, sa.String))}
        for table, values in changes.items():
            session.execute(sa.update(table).values(values), execution_options={"synchronize_session": False})
    return sold


def test_no_text_of_others_is_a_formula_in_any_column(hostile: Store) -> None:
    for kind in OF_DESK:
        rows = records(made(ordered(kind)))
        typed = [name for name in kind.for_machines if kind.in_files[name].type in (TEXT, DATE) and name not in OURS]
        named = [name for name in kind.in_files if name in ("distributor", "provider", "product", "category")]
        assert rows
        for row in rows:
            assert {name: row[name] for name in (*typed, *named) if not row[name].startswith("'=1+1")} == {}, kind.name
            assert not [text for text in row.values() if text.startswith("=")]
        sheet = cells(made(ordered(kind, XLSX)))
        assert sum(str(cell).startswith("=1+1") for cell in sheet[1].values()) >= len(typed)
        assert not [cell for row in sheet for cell in row.values() if str(cell).startswith("'")]


def test_personal_numbers_show_their_last_four_in_every_format(hostile: Store) -> None:
    content = made(ordered(get_kind("claims")))
    assert {row["claimant_account"] for row in records(content)} == {"******6789"}
    assert ACCOUNT not in content.decode()
    assert ACCOUNT not in str(cells(made(ordered(get_kind("claims"), XLSX))))


@every_case("kind", OF_DESK, ids=lambda kind: kind.name)
def test_every_parameter_of_a_selection_has_its_name_and_is_told(kind: Listing[Any]) -> None:
    assert {parameter.name for parameter in kind.parameters} == PARAMETERS[kind.name]
    assert all(parameter.title and parameter.help for parameter in kind.parameters)


@pytest.mark.both_databases
def test_states_days_and_references_are_those_of_the_screens(sold: Store) -> None:
    with sold.reading(Scope.staff(is_live=True)) as session:
        stages = {str(row.id): policies.get_stage(row) for row in session.execute(sa.select(Policy)).scalars()}
        queue = {str(row.id): row for row in claim_queue.list_rows(session, EVERY_CLAIM, paging=Paging(1, 500))}
    assert {row["id"]: row["state"] for row in records(made(ordered(get_kind("policies"))))} == stages
    assert len(set(stages.values())) > 3
    for row in records(made(ordered(get_kind("claims")))):
        shown = queue[row["id"]]
        assert row["reference"] == submitted.format_reference(shown.id)
        assert row["days"] == str(shown.clock.age_days)
        assert row["days_counted"] == str(shown.clock.elapsed.days)
        assert row["days_left"] == ("" if shown.clock.is_decided else str(shown.clock.days_left))
        assert bool(row["decided_at"]) == shown.clock.is_decided


def test_a_workbook_of_too_many_rows_is_refused_before_it_starts(sold: Store) -> None:
    order = ordered(get_kind("purchases"), replace(XLSX, max_rows=39))
    with pytest.raises(TooLarge, match="holds 39 rows and this selection has 40: take it as CSV"):
        made(order)
    with sold.reading(Scope.system()) as session:
        assert audit.list_history(session, audit.subject_of("export", order.id)) == []


def test_a_workbook_that_is_broken_off_leaves_neither_receipt_nor_file(
    sold: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    order = ordered(get_kind("customers"), XLSX)
    stream = export_runs.stream(order, export_runs.Tally())
    assert next(stream) == b""
    (folder,) = tmp_path.glob("coverdesk-export-*")
    assert folder.stat().st_mode & 0o077 == 0
    stream.close()
    assert not list(tmp_path.glob("coverdesk-export-*"))
    with sold.reading(Scope.system()) as session:
        assert export_runs.get_receipt(session, order.id) is None


@pytest.mark.parametrize("format_", FORMATS.values(), ids=lambda format_: format_.name)
def test_an_export_that_is_run_again_equals_the_first_until_something_changes(
    sold: Store, partner: Partner, format_: Format
) -> None:
    orders = [ordered(get_kind("renewals"), format_)]
    first = made(orders[0])
    orders.append(replace(orders[0], id=ids.new(), again_of=orders[0].id))
    second = made(orders[1])
    Portfolio(seed=33, size=40, sellers=(partner.id,)).write(sold)
    orders.append(replace(orders[1], id=ids.new()))
    made(orders[2])
    with sold.reading(Scope.system()) as session:
        found = [export_runs.get_receipt(session, order.id) for order in orders]
        assert {later.id for later in export_runs.list_repeats(session, orders[0].id)} == {orders[1].id, orders[2].id}
    before, same, changed = (receipt for receipt in found if receipt)
    assert export_runs.compare_receipts(before, same) == export_runs.Difference(rows=0, sum_minor=0, is_same=True)
    assert first == second if format_ is CSV else first != second or before.sha256 == same.sha256
    difference = export_runs.compare_receipts(before, changed)
    assert not difference.is_same
    assert (difference.rows, difference.sum_minor) == (
        changed.rows - before.rows,
        changed.sum_minor - before.sum_minor,
    )
    assert difference.rows > 0


def test_a_repetition_of_something_else_is_refused_before_it_starts(sold: Store) -> None:
    first = ordered(get_kind("claims"))
    made(first)
    for other in (ordered(get_kind("customers")), ordered(get_kind("claims"), address={"q": ["x"]})):
        with pytest.raises(InvalidInput, match="the same export"):
            made(replace(other, again_of=first.id))


def test_the_times_of_a_workbook_say_their_zone(sold: Store) -> None:
    content = made(ordered(get_kind("purchases"), XLSX))
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        styles, sheet = (book.read(f"xl/{part}.xml").decode() for part in ("styles", "worksheets/sheet1"))
    (zoned,) = re.findall(r'numFmtId="(\d+)" formatCode="yyyy-mm-dd hh:mm:ss &quot;UTC&quot;"', styles)
    formats = re.findall(r'<xf numFmtId="(\d+)"', styles.partition("<cellXfs")[2])
    column = chr(ord("A") + next(p for p, c in enumerate(file_columns(get_kind("purchases"))) if c.type is INSTANT))
    used = set(re.findall(rf'<c r="{column}[2-9]\d*" s="(\d+)"', sheet))
    assert [formats[int(style)] for style in used] == [zoned]


@every_case("number", ["08031234567", "+2348031234567", "00123", "1234567890123456", "12E5", "11/26"])
def test_csv_for_excel_has_the_mark_of_its_alphabet_and_keeps_every_digit(
    sold: Store, partner: Partner, number: str
) -> None:
    with sold.writing(Scope.system()) as session:
        session.execute(
            sa.update(Policy).values(policy_number=number), execution_options={"synchronize_session": False}
        )
    plain, content = (made(ordered(get_kind("policies"), format_)) for format_ in (CSV, EXCEL_CSV))
    assert content.startswith(codecs.BOM_UTF8)
    assert not plain.startswith(codecs.BOM_UTF8)
    shown = records(content.removeprefix(codecs.BOM_UTF8))
    assert {row["policy_number"] for row in shown} == {f'="{number}"'}
    assert {row["policy_number"] for row in records(plain)} == {number}
    assert [row["created_at"] for row in shown] == [row["created_at"] for row in records(plain)]
