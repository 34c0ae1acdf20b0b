"""Month close on the screen: one person begins, the list says what stands against it, another closes."""

from datetime import date

import pytest
from streamlit.testing.v1 import AppTest

from core import demo
from core.services.closing import closing
from core.services.finance import months
from core.store.access import Store
from tests.portfolio import NOW
from tests.services.finance_office import Finance
from tests.ui.conftest import Screen, confirm, labels, press, texts

pytestmark = pytest.mark.frozen_at(NOW)

PAGE = "finance/close.py"


def open_page(screen: Screen, finance: Finance, by: str, month: str = "2026-10") -> AppTest:
    return screen(path=PAGE, signed_in=finance.people[by], month=month)


def test_a_closing_is_begun_by_one_and_refused_to_another_while_something_stands_against_it(
    store: Store, screen: Screen
) -> None:
    demo.write(store, purchases=40, seed=5, until=NOW)
    finance = Finance(store)
    at = confirm(press(open_page(screen, finance, "funmi"), "Start closing"))
    assert "Close the month" not in labels(at)
    assert any("Every statement is approved" in each.label for each in at.expander)
    at = press(open_page(screen, finance, "femi"), "Close the month")
    confirm(at)
    assert "This stands against it" in texts(at)
    assert finance.read(months.list_steps)[-1].state == "Closing"
    links = [link.proto.url for link in at.get("link_button")]
    assert links == ["/closes/2026-10/journal.csv"]
    assert "runs still" in texts(open_page(screen, finance, "funmi", "2026-11"))
    finance.do(closing.begin, date(2026, 8, 1), by="funmi")
    at = open_page(screen, finance, "funmi", "2026-09")
    assert "August 2026 comes first: months are closed one after the other" in [
        link.proto.label for link in at.get("page_link")
    ]
    assert [button.disabled for button in at.button if button.label == "Start closing"] == [True]
    for role in ("operations", "claims", "supervisor"):
        with pytest.raises(ValueError, match="close"):
            screen(role, path=PAGE)
