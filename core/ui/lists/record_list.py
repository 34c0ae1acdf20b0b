"""The record list component: an HTML table whose rows are links and whose headers sort on the server.

It is a custom Streamlit component (`browser/record_list.js`), mounted with a payload of plain values:

    columns: name, label, classes, width, says, href (the same URL in another order) and sorted (aria-sort)
    rows:    key, href, name (for screen readers), acts (labels of its buttons), cells (text, or text and colour)
    acts:    a row has a button · choosing, chosen, mark: can rows be ticked, which are, version of the rows

The payload is built by `core.ui.lists.tables` only.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from core.ui.frame import page_links

_mount = st.components.v2.component(
    "coverdesk_record_list",
    html='<div class="root"></div>',
    css=(page_links.BROWSER / "record_list.css").read_text(),
    js=page_links.VISIT + (page_links.BROWSER / "record_list.js").read_text(),
)


def draw(
    payload: Mapping[str, Any], *, key: str, acted: Callable[[str, str], None], picked: Callable[[Sequence[str]], None]
) -> None:
    """Draw a list; `acted` is called with the key of a row and the label of its button that is clicked.

    `picked` is called with the ticked keys.
    """

    def on_acted() -> None:
        if event := st.session_state[key].get("acted"):
            acted(str(event["key"]), str(event["act"]))

    def on_picked() -> None:
        # Ticks made on a previous set of rows are ignored.
        event = st.session_state[key].get("picked") or {}
        if event.get("mark") == payload["mark"]:
            picked([str(row) for row in event["keys"]])

    _mount(key=key, data=dict(payload), on_acted_change=on_acted, on_picked_change=on_picked)
