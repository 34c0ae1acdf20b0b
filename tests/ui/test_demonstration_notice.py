"""The notice of a demonstration says for how long its papers are still being written."""

import pytest
import streamlit as st

from core import demo
from core.demo import background
from core.store.access import Store
from tests.portfolio import NOW
from tests.ui.conftest import Screen, texts

INVENTED, NOT_YET = "are invented.", "are being written: they come within a minute or two."


@pytest.fixture(autouse=True)
def forget_other_stores() -> None:
    st.cache_data.clear()


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
