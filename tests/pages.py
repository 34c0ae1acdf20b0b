"""The page that an AppTest shows next, for tests and for the bench, whose settings are its own."""

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from core.ui.frame import frame, menu, navigation


def turn_to(at: AppTest, path: str) -> AppTest:
    """Make the next run one of this page file, at its address; ValueError if the person's menu lacks it.

    `AppTest.switch_page` knows no page that is a function.
    """
    person = frame.current()
    screens = menu.allowed_screens(person) if person else []
    home = next((shown.path for shown in screens if not shown.hidden), None)
    if path not in {shown.path for shown in screens}:
        raise ValueError(f"no page of theirs: {path}")
    at._page_hash = calc_hash(navigation.HOME if path == home else menu.screen_of(path).address)
    return at
