"""An export holds exactly the selection, to the kobo, and its receipt says so."""

import csv
import hashlib
import io
from dataclasses import replace
from uuid import UUID

import pytest
import sqlalchemy as sa

from core import clock, ids, money
from core.desk import export_runs
from core.desk.export_runs import ExportOrder
from core.services.audit import log as audit
from core.services.lists import exports
from core.services.lists.dimensions import load_choices
from core.services.lists.exports import CSV, Tally
from core.services.lists.paging import Paging
from core.services.lists.windows import Window
from core.services.sales import figures
from core.services.sales.figures import METRICS_BY_KEY
from core.services.sales.purchases import PURCHASES, PurchaseFilter, sum_purchases
from core.store.access import Scope, Store
from core.store.schema.tables import Policy, Product, Purchase
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import NOW, Portfolio, Sales, lagos

pytestmark = pytest.mark.frozen_at(NOW)

# Scripts of other people read these by their names.
COLUMNS = (
    *("id", "created_at", "created_on", "policy_number"),
    *("total", "provider_share", "mca_profit", "distributor_profit"),
    *("refunded", "refunded_provider_share", "refunded_mca_profit", "refunded_distributor_profit"),
    *("distributor", "provider", "product", "category"),
    *("customer_name", "customer_email", "customer_phone"),
    *("mode", "request_source", "payment_option", "payment_channel", "premium_frequency"),
    *("policy_state", "payment_state"),
)
WINDOW = Window.from_days(lagos(NOW).replace(month=9, day=1), lagos(NOW))


@pytest.fixture
def sales() -> Sales:
    return Sales(
        fixture="sold", of_both=(Portfolio(seed=3, size=120),), of_partner=(Portfolio(seed=4, size=30, is_live=False),)
    )


@pytest.fixture
def sold(store: Store, partner: Partner, stranger: Partner) -> Store:
    return store


def selections(store: Store, partner: Partner) -> list[PurchaseFilter]:
    """Selections of every kind within the window."""
    with store.reading(Scope.staff(is_live=True)) as session:
        columns = (Product.id, Product.provider_id, Product.product_category_id)
        product = session.execute(sa.select(*columns).order_by(Product.name)).first()
        email = session.execute(sa.select(Policy.email)).scalars().first()
    assert product
    days = PurchaseFilter(created=WINDOW.span)
    return [
        days,
        PurchaseFilter(),
        replace(days, distributor_ids=(partner.id,)),
        replace(days, provider_ids=(product.provider_id,), distributor_ids=(partner.id,)),
        replace(days, category_ids=(product.product_category_id,)),
        replace(days, product_ids=(product.id,)),
        replace(days, request_sources=("desk",)),
        replace(days, customer_email=email),
        replace(days, product_ids=(ids.new(),)),
    ]


def exported(store: Store, selection: PurchaseFilter, *, is_live: bool = True) -> tuple[list[dict[str, str]], Tally]:
    tally = Tally()
    with store.reading(Scope.staff(is_live=is_live)) as session:
        text = b"".join(exports.stream_lines(session, PURCHASES, selection, tally)).decode()
    return list(csv.DictReader(io.StringIO(text, newline=""))), tally


def minor(row: dict[str, str], column: str) -> int:
    return int(row[column].replace(".", ""))


@pytest.mark.both_databases
def test_tile_footer_table_and_export_are_one_number_under_every_filter(sold: Store, partner: Partner) -> None:
    for selection in selections(sold, partner):
        rows, tally = exported(sold, selection)
        with sold.reading(Scope.staff(is_live=True)) as session:
            names = load_choices(session)
            footer = sum_purchases(session, selection)
            table = PURCHASES.read_page(session, selection, names, paging=Paging(1, 500))
            summary = figures.build_summary(session, WINDOW, selection)
        assert len(rows) == tally.rows == footer.sold == len(table)
        assert sum(minor(row, "total") for row in rows) == tally.sum_minor == footer.sold_minor
        assert sum(minor(row, "mca_profit") for row in rows) == footer.sold_mca_minor
        assert sum(minor(row, "distributor_profit") for row in rows) == footer.sold_distributor_minor
        if selection.created:
            assert summary.value(METRICS_BY_KEY["policies_sold"]) == footer.sold
            assert summary.current.totals.sold_minor == footer.sold_minor


@pytest.mark.both_databases
def test_export_rows_equal_the_table_rows_in_order_and_in_every_column(sold: Store) -> None:
    rows, _ = exported(sold, PurchaseFilter())
    with sold.reading(Scope.staff(is_live=True)) as session:
        table = PURCHASES.read_page(session, PurchaseFilter(), load_choices(session), paging=Paging(1, 500))
        emails = dict(session.execute(sa.select(Policy.purchase_id, Policy.email)).all())
    assert list(rows[0]) == list(COLUMNS)
    for row, sale in zip(rows, table, strict=True):
        assert row["id"] == str(sale.id)
        assert row["created_at"] == clock.to_wire(sale["sold"])
        assert row["created_on"] == str(lagos(sale["sold"]))
        assert row["policy_number"] == (sale["policy"] or "")
        assert row["total"] == money.to_wire(sale["total"])
        assert row["provider_share"] == money.to_wire(sale["share"])
        assert (row["distributor"], row["provider"]) == (sale["distributor"], sale["provider"])
        assert (row["product"], row["category"]) == (sale["product"], sale["category"])
        assert row["customer_name"].removeprefix("'") == sale["customer"]
        assert row["customer_email"] == sale["email"] == emails[sale.id]
        assert (row["mode"], row["premium_frequency"]) == ("live", sale["frequency"])
        assert row["request_source"] == (sale["source"] or "")
        assert (row["policy_state"], row["payment_state"]) == (sale["state"], sale["payment"])
        parts = minor(row, "provider_share") + minor(row, "mca_profit") + minor(row, "distributor_profit")
        assert parts == minor(row, "total")


def test_names_that_are_formulas_are_defused_and_quotes_and_commas_survive(sold: Store) -> None:
    names = {row["customer_name"] for row in exported(sold, PurchaseFilter())[0]}
    assert names <= {"Ngozi Okafor", "Bola O'Neil, Jr.", '\'=Tunde "Quoted"', "Zoë Ọládélé", "'@Sum -1+1"}
    assert {'\'=Tunde "Quoted"', "'@Sum -1+1", "Bola O'Neil, Jr."} <= names


def test_an_export_never_mixes_the_modes(sold: Store) -> None:
    live, test = (exported(sold, PurchaseFilter(), is_live=mode)[0] for mode in (True, False))
    assert {row["mode"] for row in live} == {"live"}
    assert {row["mode"] for row in test} == {"test"}
    assert len(test) == 30


@pytest.mark.both_databases
@every_case("order", ["newest", "oldest", "largest", "smallest"])
def test_pages_of_the_table_are_in_order_without_gap_or_repeat(sold: Store, order: str) -> None:
    with sold.reading(Scope.staff(is_live=True)) as session:
        names, wanted = load_choices(session), PurchaseFilter()
        whole = PURCHASES.read_page(session, wanted, names, order=order, paging=Paging(1, 500))
        pages = [PURCHASES.read_page(session, wanted, names, order=order, paging=Paging(n, 50)) for n in (1, 2, 3, 4)]
    assert [row for page in pages for row in page] == whole
    key = {"newest": "sold", "oldest": "sold"}.get(order, "total")
    values = [row[key] for row in whole]
    assert values == sorted(values, reverse=order in {"newest", "largest"})
    assert pages[3] == []


def ordered(selection: PurchaseFilter = PurchaseFilter(), *, staff_id: UUID | None = None) -> ExportOrder:
    export = {"kind": PURCHASES, "format": CSV, "selection": selection, "is_live": True}
    return ExportOrder(id=ids.new(), actor="tests", staff_id=staff_id, **export)


def test_a_whole_export_leaves_a_receipt_and_two_lines_in_the_log(sold: Store, partner: Partner) -> None:
    order = ordered(PurchaseFilter(distributor_ids=(partner.id,)))
    out = io.BytesIO()
    tally = export_runs.write_file(order, out)
    with sold.reading(Scope.system()) as session:
        receipt = export_runs.get_receipt(session, order.id)
        log = [
            (entry.action, entry.after) for entry in audit.list_history(session, audit.subject_of("export", order.id))
        ]
    assert receipt
    assert (receipt.rows, receipt.sum_minor) == (tally.rows, tally.sum_minor)
    assert receipt.sha256 == hashlib.sha256(out.getvalue()).hexdigest()
    assert receipt.who == "command line"
    assert [action for action, _ in log] == ["export started", "export finished"]
    assert log[0][1]["filters"] == {"distributor": [str(partner.id)]}
    assert log[1][1]["sha256"] == receipt.sha256
    assert PurchaseFilter.read(log[0][1]["filters"]) == order.selection


def test_an_export_that_is_broken_off_is_in_the_log_and_has_no_receipt(sold: Store) -> None:
    order = ordered()
    stream = export_runs.stream(order, Tally())
    next(stream)
    assert export_runs.get_row_count(order.id) is not None
    stream.close()
    assert export_runs.get_row_count(order.id) is None
    with sold.reading(Scope.system()) as session:
        assert export_runs.get_receipt(session, order.id) is None
        assert [entry.action for entry in audit.list_history(session, audit.subject_of("export", order.id))] == [
            "export started"
        ]


def test_a_sale_during_an_export_is_not_in_it(sold: Store, partner: Partner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "CHUNK", 10)
    order, tally = ordered(), Tally()
    with sold.reading(Scope.staff(is_live=True)) as session:
        before = sum_purchases(session, PurchaseFilter())
    stream = export_runs.stream(order, tally)
    next(stream)
    Portfolio(seed=9, size=5, sellers=(partner.id,)).write(sold)
    list(stream)
    assert (tally.rows, tally.sum_minor) == (before.sold, before.sold_minor)


def test_an_empty_selection_is_a_heading_and_a_receipt(store: Store) -> None:
    order, out = ordered(), io.BytesIO()
    tally = export_runs.write_file(order, out)
    assert out.getvalue().decode() == ",".join(COLUMNS) + "\r\n"
    assert (tally.rows, tally.sum_minor) == (0, 0)


@pytest.mark.both_databases
def test_deleted_purchases_are_in_no_export_and_no_table(sold: Store) -> None:
    with sold.writing(Scope.system()) as session:
        session.execute(
            sa.update(Purchase).where(Purchase.is_live).values(deleted_at=clock.now()),
            execution_options={"synchronize_session": False},
        )
    rows, _ = exported(sold, PurchaseFilter())
    assert rows == []
