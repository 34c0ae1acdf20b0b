"""The notice of a demonstration says for how long its papers are still being written."""

import pytest

from core import demo
from core.demo import background
from core.services.audit import demonstration as store_demonstration
from core.store.access import Scope, Store
from core.ui.frame import demonstration
from core.ui.sign_in import gate
from pages.admin import system
from tests.conftest import add_colleague
from tests.portfolio import NOW
from tests.ui.conftest import Screen, texts

INVENTED, NOT_YET = "are invented.", "are being written: they come within a minute or two."


def test_what_is_kept_of_one_store_is_not_said_of_another(store: Store) -> None:
    """A parameter of Streamlit's cache that begins with an underscore is no part of its key."""
    with store.reading(Scope.system()) as session:
        assert not store_demonstration.is_demonstration(session)
    kept = (demonstration._is_demonstration, gate._has_admin, system.looked)
    empty = [function("sqlite:///one") for function in kept]
    demo.write(store, purchases=20, seed=5, until=NOW)
    with store.writing(Scope.system()) as session:
        add_colleague(session, "Root", "admin")
    assert [function("sqlite:///one") for function in kept] == empty, "for some seconds"
    assert [function("sqlite:///two") for function in kept[:2]] == [True, True]
    assert system.looked("sqlite:///two") != empty[2]


class Writing:
    """A process that writes until it is told to be done."""

    is_done = False

    def is_writing(self) -> bool:
        return not self.is_done


def test_a_screen_says_that_papers_are_still_being_written_and_no_more_once_they_are(
    store: Store, screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    demo.write(store, purchases=20, seed=5, until=NOW)
    writer = Writing()
    monkeypatch.setattr(background, "_begun", [writer])
    at = screen("finance")
    assert INVENTED in texts(at)
    assert NOT_YET in texts(at)
    writer.is_done = True
    at.run()
    assert INVENTED in texts(at)
    assert NOT_YET not in texts(at)


def test_a_store_of_ones_own_says_nothing(store: Store, screen: Screen) -> None:
    assert INVENTED not in texts(screen("finance"))
