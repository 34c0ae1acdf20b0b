"""A record's page without its record: a title, the reason, and the way back to the list."""

import re

import pytest

from core import ids
from core.store.access import Store
from core.ui.frame import menu
from tests.ui.conftest import ROOT, Screen, texts

RECORD = re.compile(r"record_pages\.|= record\(")
# Pages that stand below a list and are opened by the id of one record.
RECORD_PAGES = {
    screen.path
    for screen in menu.SCREENS
    if screen.hidden and RECORD.search((ROOT / "pages" / screen.path).read_text())
}


@pytest.mark.usefixtures("store")
def test_every_kind_of_record_is_loaded_in_one_way() -> None:
    assert len(RECORD_PAGES) > 15


@pytest.mark.parametrize("path", sorted(RECORD_PAGES))
def test_an_address_without_a_record_says_why(store: Store, screen: Screen, path: str) -> None:
    roles = next(each.roles for each in menu.SCREENS if each.path == path)
    at = screen(*roles, path=path, id="nonsense")
    assert at.title[0].value
    assert "has to be a UUID" in at.error[0].value
    at = screen(*roles, path=path, id=str(ids.new()))
    assert at.title[0].value
    assert at.error[0].value
    assert "Traceback" not in texts(at)
