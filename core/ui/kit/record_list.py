"""A list of records as the browser shows it: a real table whose rows are links and whose headers sort on the server.

It is a component of our own (`browser/record_list.js`), mounted with a payload of plain values:

    columns: name, label, classes, width, says, href (the same address in another order) and sorted (aria-sort)
    rows:    key, href, name (for screen readers), acts (whether it has the button), cells (text, or text and colour)
    act:     label of the button in a row · choosing, chosen, mark: whether rows can be ticked, which are, since when

`core.ui.kit.tables` makes the payload; nothing else should.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from core.ui.kit import page_links

_mount = st.components.v2.component(
    "coverdesk_record_list",
    html='<div class="root"></div>',
    css=(page_links.BROWSER / "record_list.css").read_text(),
    js=page_links.VISIT + (page_links.BROWSER / "record_list.js").read_text(),
)


def draw(
    payload: Mapping[str, Any], *, key: str, acted: Callable[[str], None], picked: Callable[[Sequence[str]], None]
) -> None:
    """Show a list; `acted` is called with the key of a row whose button was pressed, `picked` with all ticked keys."""

    def on_acted() -> None:
        if row := st.session_state[key].get("acted"):
            acted(str(row))

    def on_picked() -> None:
        # What was ticked on other rows says nothing of these.
        said = st.session_state[key].get("picked") or {}
        if said.get("mark") == payload["mark"]:
            picked([str(row) for row in said["keys"]])

    _mount(key=key, data=dict(payload), on_acted_change=on_acted, on_picked_change=on_picked)
