"""A file has the columns and the order that were asked for, with the rows and the sum of the whole selection."""

import csv
import io
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.covers.insurers import insurer_f
from core.desk import export_runs
from core.desk.export_runs import ExportOrder, Receipt
from core.desk.exported_lists import TITLES, get_kind
from core.errors import InvalidInput
from core.services.audit import log as audit
from core.services.lists import exports
from core.services.lists.dimensions import load_choices
from core.services.lists.paging import Paging
from core.services.sales import purchases
from core.services.sales.purchases import PurchaseFilter
from core.store.access import Scope, Store
from core.store.schema.tables import Policy
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import NOW, Portfolio, Sales
from tests.services.selling import sell
from tests.spreadsheets import cells, moment

LIVE = Scope.staff(is_live=True)


@pytest.fixture(autouse=True)
def now() -> Iterator[None]:
    with clock.freeze(NOW):
        yield


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="sold", of_both=(Portfolio(seed=31, size=40),))


@pytest.fixture
def sold(store: Store, partner: Partner, stranger: Partner) -> Store:
    return store


def make(name: str, format_name: str = "csv", **address: list[str]) -> tuple[ExportOrder, bytes]:
    order, out = export_runs.create_order(name, format_name, address, by="tests"), io.BytesIO()
    export_runs.write_file(order, out)
    return order, out.getvalue()


def lines(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode(), newline="")))


def receipt_of(store: Store, order: ExportOrder) -> Receipt:
    with store.reading(Scope.system()) as session:
        found = export_runs.get_receipt(session, order.id)
    assert found
    return found


# What no sale makes: people of the desk do.
_MADE_BY_HAND = ("claim-payments", "credit-notes", "payments", "statements", "reconciliations", "awaiting")


def test_every_column_and_order_of_a_kind_can_be_had_with_the_rows_and_the_sum_of_all(sold: Store) -> None:
    # The audit log grows with each export: its rows have a test of their own.
    for kind in map(get_kind, list(TITLES)[:-1]):
        whole, content = make(kind.name)
        heading, *rows = lines(content)
        total = receipt_of(sold, whole).sum_minor
        for columns in ([",".join(heading[::-1])], heading[::-1]):
            assert lines(make(kind.name, columns=columns)[1]) == [row[::-1] for row in (heading, *rows)], kind.name
        for name in kind.orders:
            order, content = make(kind.name, columns=[heading[0]], order=[name])
            receipt = receipt_of(sold, order)
            assert sorted(lines(content)[1:]) == sorted([row[0]] for row in rows)
            assert (receipt.rows, receipt.sum_minor) == (len(rows), total)
        assert rows or kind.name in _MADE_BY_HAND, kind.name


def test_rows_come_in_the_order_of_the_list(sold: Store) -> None:
    for order in purchases.PURCHASES.orders:
        _, content = make("purchases", columns=["policy_state", "id"], order=[order])
        with sold.reading(LIVE) as session:
            rows = purchases.PURCHASES.read_page(
                session, PurchaseFilter(), load_choices(session), order=order, paging=Paging(1, 500)
            )
        assert lines(content)[1:] == [[row["state"], str(row.id)] for row in rows]


def test_a_column_that_is_often_empty_keeps_its_lines_in_every_format(sold: Store) -> None:
    with sold.writing(Scope.system()) as session:
        changed = sa.update(Policy).where(col(Policy.first_name) == "Ngozi").values(plate_key="ABC123XY")
        session.execute(changed, execution_options={"synchronize_session": False})
    _, plain = make("policies", columns=["plate"])
    _, excel = make("policies", "excel-csv", columns=["plate"])
    _, book = make("policies", "xlsx", columns=["plate"])
    plates = [row[0] for row in lines(plain)[1:]]
    assert len(plates) == 40
    assert {"", "ABC123XY"} <= set(plates)
    assert [row[0] for row in lines(excel)[1:]] == plates
    assert [row[0] for row in cells(book)] == ["plate", *filter(None, plates)]


def test_names_with_commas_and_quotes_survive_another_sequence(sold: Store) -> None:
    _, content = make("purchases", columns=["total,customer_name"])
    _, whole = make("purchases")
    place = lines(whole)[0].index("customer_name")
    assert [row[1] for row in lines(content)] == [row[place] for row in lines(whole)]
    assert {"'@Sum -1+1", "Bola O'Neil, Jr."} <= {row[1] for row in lines(content)}


def test_columns_and_order_stand_on_receipt_sheet_and_audit_log_and_a_rerun_repeats_them(sold: Store) -> None:
    parameters = {"columns": ["total", "customer_name"], "order": ["largest"], "source": ["api"]}
    first, content = make("purchases", "xlsx", **parameters)
    receipt = receipt_of(sold, first)
    assert receipt.filters == parameters
    with sold.reading(Scope.system()) as session:
        started = audit.list_history(session, audit.subject_of("export", first.id))[0].after
    assert started
    assert (started["columns"], started["order"]) == (["total", "customer_name"], "largest")
    facts = {row[0]: row[1] for row in cells(content, sheet=2)}
    assert (facts["Columns"], facts["Order"]) == ("total, customer_name", "largest")
    again, _ = make("purchases", "xlsx", **receipt.filters, again=[str(first.id)])
    assert receipt_of(sold, again).content_sha256 == receipt.content_sha256
    for other in ({"order": ["newest"]}, {"columns": ["customer_name", "total"]}):
        with pytest.raises(InvalidInput, match="the same export"):
            make("purchases", "xlsx", **parameters | other, again=[str(first.id)])


def test_the_usual_columns_and_order_are_written_down_as_before(sold: Store) -> None:
    order, _ = make("purchases", order=["newest"], columns=[""])
    assert receipt_of(sold, order).filters == {}
    with sold.reading(Scope.system()) as session:
        started = audit.list_history(session, audit.subject_of("export", order.id))[0].after
    assert started
    assert (started["columns"], started["order"]) == ("all", "newest")


@every_case(
    ("kind", "address", "says"),
    [
        ("purchases", {"columns": ["totl"]}, "columns has no totl, did you mean total?"),
        ("purchases", {"columns": ["id,nothing"]}, "columns has no nothing, use id, created_at"),
        ("purchases", {"columns": ["id", "id"]}, "columns must name id once"),
        ("purchases", {"columns": ["claimant_account"]}, "columns has no claimant_account"),
        ("customers", {"columns": ["bvn"]}, "columns has no bvn"),
        ("purchases", {"order": ["cheapest"]}, "order must be one of newest, oldest, largest"),
        ("purchases", {"order": ["newest", "oldest"]}, "order must be one of"),
        ("audit", {"order": ["newest"]}, "order is not known here"),
    ],
)
def test_what_a_kind_does_not_have_is_refused_by_name(
    store: Store, kind: str, address: dict[str, list[str]], says: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        make(kind, receipt=[str(ids.new())], **address)
    assert says in str(caught.value)


def test_a_personal_number_stays_masked_when_it_is_asked_for_alone(sold: Store) -> None:
    _, content = make("claims", columns=["claimant_account"])
    assert all(text == "" or text.startswith("*") for (text,) in lines(content)[1:])


def test_a_view_that_names_what_its_list_no_longer_has_gives_what_is_left() -> None:
    kind = get_kind("claims")
    people = {"form": ["people"]}
    assert exports.follow_list(kind, ["signals", "gone", "left"], "gone") == {"columns": ["days_left"], **people}
    assert exports.follow_list(kind, ["why"], "urgent") == {"order": ["urgent"], **people}


def test_a_file_as_shown_has_labels_units_and_the_time_of_lagos_and_its_name_says_the_selection(
    sold: Store, partner: Partner
) -> None:
    with clock.freeze(datetime(2026, 9, 30, 23, 30, tzinfo=UTC)):
        first = sell(sold, partner, insurer_f.COVERS[0], is_live=True).purchase_id
    parameters = {
        "from": ["2026-10-01"],
        "to": ["2026-10-31"],
        "columns": ["id", "created_at", "total", "policy_state", "payment_state"],
        "order": ["oldest"],
        "form": ["people"],
    }
    order, content = make("purchases", **parameters)
    heading, *rows = lines(content)
    assert heading == ["Reference", "Sold (Lagos time)", "Premium (NGN)", "Policy state", "Payment"]
    assert [str(first), "2026-10-01 00:30"] in [row[:2] for row in rows]
    assert order.file_name == f"purchases-2026-10-01-to-2026-10-31-{clock.today()}.csv"
    assert receipt_of(sold, order).filters["form"] == ["people"]
    _, book = make("purchases", "xlsx", **parameters)
    shown, last = cells(book), len(rows) + 1
    (its_row,) = (row for row in shown if row[0] == str(first))
    assert moment(float(its_row[1])) == datetime(2026, 10, 1, 0, 30)  # noqa: DTZ001 a cell knows no zone
    assert shown[last][0] == "Total"
    assert round(float(shown[last][2]) * 100) == receipt_of(sold, order).sum_minor
    with zipfile.ZipFile(io.BytesIO(book)) as parts:
        sheet = parts.read("xl/worksheets/sheet1.xml").decode()
    assert f'<autoFilter ref="A1:E{last}"/>' in sheet
    assert f"SUBTOTAL(109,C2:C{last})" in sheet
