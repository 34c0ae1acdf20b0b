"""Pages of finance, opened by the people of `Finance`."""

from streamlit.testing.v1 import AppTest

from tests.services.finance_office import Finance
from tests.ui.conftest import Screen


def open_page(screen: Screen, finance: Finance, path: str, *, by: str = "funmi", **query: str) -> AppTest:
    """Open a page as somebody of finance or an admin; `by` is their name in `Finance`."""
    return screen(path=path, signed_in=finance.people[by], **query)
