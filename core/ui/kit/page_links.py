"""Navigation by script: one entry in the browser's history for each act, where `st.switch_page` makes two.

A link is `st.page_link`, or a row of a record list. Who has to finish something first (a form, a click on a chart)
does so and then calls `go`:

    if st.button("Open the purchase"):
        forget(receipt)
        page_links.go("sales/purchase.py", id=receipt.purchase_id)
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlencode

import streamlit as st

from core import ids
from core.ui.kit import frame

BROWSER = Path(__file__).with_name("browser")
VISIT = (BROWSER / "visit.js").read_text()
_mount = st.components.v2.component("coverdesk_page_links", js=VISIT + (BROWSER / "page_links.js").read_text())


def go(path: str, *, replaces: bool = False, **query: str | Sequence[str]) -> NoReturn:
    """Open another page with a query in the mode of the screens, and end this run.

    With `replaces` the page left behind is no station of Back: for one whose address leads on by itself.
    """
    token = ids.token()
    _mount(key=f"go {token}", data={"href": frame.link(path, **query), "token": token, "replaces": replaces})
    st.stop()


def keep_mode() -> None:
    """Let the links of the menu carry the mode, which the framework leaves out of them."""
    _mount(key="menu links", data={"query": urlencode(frame.mode_query())}, height=1)
