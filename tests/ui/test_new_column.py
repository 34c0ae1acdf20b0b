"""A column that is declared while the tests run is on every door: list, order, files, workbook, command and name."""

import csv
import io
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import typer
from sqlmodel import col
from typer.testing import CliRunner

from core.commands import export
from core.desk import export_runs
from core.desk.export_runs import ReceiptFilter
from core.desk.exported_lists import TITLES, get_kind
from core.errors import InvalidInput
from core.services.lists.dimensions import load_choices
from core.services.lists.listing import Column
from core.services.lists.paging import Paging
from core.services.lists.spreadsheets import WORD
from core.services.sales import purchases
from core.services.sales.purchases import PurchaseFilter
from core.store.access import Scope, Store
from core.store.schema.tables import Purchase
from tests.conftest import Partner
from tests.portfolio import NOW, Portfolio
from tests.spreadsheets import cells
from tests.ui.conftest import Screen, lists, texts

pytestmark = pytest.mark.frozen_at(NOW)

DESK = Scope.staff(is_live=True)
WORDS = {"monthly": "Each month", "quarterly": "Each quarter"}
SHOWN = {"columns": ["policy_number", "paid_how_often"], "order": ["often"], "form": ["people"]}


@pytest.fixture
def planted(store: Store, partner: Partner, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store of sales, and one more line in the declaration of the list of purchases."""
    column = Column(
        *("How often", WORD, col(Purchase.premium_frequency)), machine="paid_how_often", words=WORDS, is_sortable=True
    )
    monkeypatch.setitem(purchases.PURCHASES.columns, "often", column)  # type: ignore[misc]
    Portfolio(seed=71, size=30, sellers=(partner.id,)).write(store)
    return store


def by_hand(store: Store) -> list[str]:
    """The value of each purchase, in the order of the new column."""
    with store.reading(DESK) as session:
        rows = purchases.PURCHASES.read_page(
            session, PurchaseFilter(), load_choices(session), shown=("often",), order="often", paging=Paging(1, 100)
        )
    values = [row["often"] or "" for row in rows]
    known = [text for text in values if text]
    assert known == sorted(known)
    assert len(set(known)) > 1
    assert values == known + [""] * (len(values) - len(known))
    return values


def made(name: str, format_name: str = "csv", **address: list[str]) -> bytes:
    out = io.BytesIO()
    export_runs.write_file(export_runs.create_order(name, format_name, address, by="tests"), out)
    return out.getvalue()


def lines(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode(), newline="")))


def test_the_list_shows_it_and_its_header_sorts_all_pages(planted: Store, screen: Screen) -> None:
    at = screen("operations", path="sales/purchases.py", show=["policy", "often"], order="often")
    values = by_hand(planted)
    assert list(lists(at)[0]["How often"]) == [WORDS.get(text, text) or "–" for text in values]
    assert "How often" in at.pills(key="show").options
    assert at.selectbox(key="order").value == "often"
    assert {"often", "often-back"} <= set(purchases.PURCHASES.orders)
    assert "2 columns, how often, ascending, times of Lagos" in texts(at)
    links = {button.proto.label: urlsplit(button.proto.url) for button in at.get("link_button")}
    query = parse_qs(links["XLSX as shown"].query)
    assert {name: query[name] for name in SHOWN} == SHOWN


def test_files_have_it_by_its_machine_name_and_as_shown_by_its_label_and_words(planted: Store) -> None:
    values = by_hand(planted)
    heading, *rows = lines(made("purchases", order=["often"]))
    assert [row[heading.index("paid_how_often")] for row in rows] == values
    heading, *rows = lines(made("purchases", **SHOWN))
    assert heading == ["Policy number", "How often"]
    assert [row[1] for row in rows] == [WORDS.get(text, text) for text in values]
    book = cells(made("purchases", "xlsx", **SHOWN))
    assert book[0] == {0: "Policy number", 1: "How often"}
    assert [row.get(1, "") for row in book[1:]] == [WORDS.get(text, text) for text in values]


def test_the_command_takes_it_and_the_receipt_tells_it(planted: Store, tmp_path: Path) -> None:
    app, target = typer.Typer(), tmp_path / "purchases.csv"
    app.command("purchases")(export.build_command(get_kind("purchases")))
    options = ["--columns", "paid_how_often", "--order", "often-back", "--out", str(target)]
    ended = CliRunner().invoke(app, options)
    assert ended.exception is None
    known = [text for text in by_hand(planted) if text]
    assert [row[0] for row in lines(target.read_bytes())[1:] if row[0]] == known[::-1]
    with planted.reading(Scope.system()) as session:
        (receipt,) = export_runs.list_receipts(session, ReceiptFilter()).items
    assert receipt.filters == {"columns": ["paid_how_often"], "order": ["often-back"]}


def test_a_name_near_it_is_told_its_name(planted: Store) -> None:
    with pytest.raises(InvalidInput, match="did you mean paid_how_often"):
        made("purchases", columns=["paid_how_oftn"])


def test_no_list_has_two_columns_of_one_name_and_each_is_shown_or_in_a_file() -> None:
    for kind in map(get_kind, TITLES):
        names = [column.machine or name for name, column in kind.columns.items() if column.is_in_files]
        assert len(set(names)) == len(names), kind.name
        for name, column in kind.columns.items():
            assert column.is_in_files or name in kind.on_screen, (kind.name, name)
            assert column.label, (kind.name, name)
