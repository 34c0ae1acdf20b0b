"""Every screen of the menu opens, full on PostgreSQL, as its own tests have it on SQLite, and empty on SQLite."""

import pytest

from core import demo
from core.store.access import Store
from core.ui.frame import menu
from tests.conftest import BOTH
from tests.pages import turn_to
from tests.ui.conftest import Screen


@pytest.fixture
def busy(store: Store) -> Store:
    demo.write(store, purchases=40, seed=5)
    return store


def open_all(screen: Screen) -> None:
    at = screen("admin")
    for page in menu.SCREENS:
        assert not turn_to(at, page.path).run().exception, page.path


def test_every_screen_opens_on_an_empty_store(store: Store, screen: Screen) -> None:
    open_all(screen)


@pytest.mark.parametrize("database", BOTH[1:])
def test_every_screen_opens_on_a_busy_store(busy: Store, screen: Screen) -> None:
    open_all(screen)
